# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Running other programs."""
from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import os
import pathlib
import subprocess

from graft.errors import GraftError


def run(
    command: Sequence[str | os.PathLike], *,
    cwd: pathlib.Path | None = None,
    env: Mapping[str, str | None] | None = None,
    stdin: str | None = None,
) -> str:
    """Run a program quietly.

    :param env: variables to set beside the present ones; those that are
        None are left out
    :returns: what it printed
    :raises GraftError: with what it said, where it failed
    """
    variables = {name: value
                 for name, value in {**os.environ, **(env or {})}.items()
                 if value is not None}
    try:
        done = subprocess.run(
            [str(word) for word in command], cwd=cwd, input=stdin,
            env=variables, encoding='utf-8', errors='replace', check=False,
            capture_output=True)
    except FileNotFoundError as error:
        raise GraftError(f'There is no program {command[0]}.',
                         'Install it and try again.') from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise GraftError(
            f'{pathlib.Path(command[0]).name} {command[1]} failed '
            f'({done.returncode}):\n' +
            '\n'.join(f'    {line}' for line in said[-12:]))
    return done.stdout
