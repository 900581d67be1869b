# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Nova's and Placement's configuration files."""
from __future__ import annotations

import pathlib


def write_nova(folder: pathlib.Path, api: str, cell: str,
               endpoint: str) -> pathlib.Path:
    """Write ``nova.conf``.

    :param api: the URL of the API database
    :param cell: the URL of the cell's database
    :param endpoint: where Placement is
    :returns: its path
    """
    return _write(folder / 'nova.conf', {
        'DEFAULT': {'state_path': str(folder)},
        'api_database': {'connection': api},
        'database': {'connection': cell},
        'placement': {'auth_type': 'none', 'endpoint_override': endpoint}})


def write_placement(folder: pathlib.Path, database: str) -> pathlib.Path:
    """Write ``placement.conf``.

    :param database: the URL of its database
    :returns: its path
    """
    return _write(folder / 'placement.conf', {
        'DEFAULT': {'log_file': str(folder / 'placement.log')},
        'api': {'auth_strategy': 'noauth2'},
        'placement_database': {'connection': database}})


def _write(path: pathlib.Path,
           sections: dict[str, dict[str, str]]) -> pathlib.Path:
    lines = []
    for section, options in sections.items():
        lines.append(f'[{section}]')
        # A dollar would begin the name of another option.
        lines += (f'{name} = {value.replace("$", "$$")}'
                  for name, value in options.items())
    path.write_text('\n'.join(lines) + '\n')
    path.chmod(0o600)
    return path
