# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Reading the project's TOML files."""
from __future__ import annotations

import pathlib
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib  # type: ignore[no-redef]

from graft.errors import GraftError


def load(path: pathlib.Path) -> dict[str, Any]:
    """A TOML file's content.

    :raises GraftError: where it can't be read or is no TOML
    """
    try:
        return tomllib.loads(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise GraftError(f'{path}: {error.strerror}') from error
    except tomllib.TOMLDecodeError as error:
        raise GraftError(f'{path}: not TOML: {error}') from error
