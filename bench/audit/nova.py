# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A tree of Nova, and the commands that run its programs."""
from __future__ import annotations

import dataclasses
import os
import pathlib

from bench.audit import process

_INSIDE = pathlib.Path(__file__).resolve().parent / 'inside'

#: What programs get of our own environment: nothing that has a say in how
#: Nova runs.
_HANDED_ON = ('HOME', 'LANG', 'PATH', 'TMPDIR')


@dataclasses.dataclass(frozen=True)
class Nova:
    """A tree of Nova and what it runs with.

    :ivar name: ``stock`` or ``fork``
    :ivar version: its version
    :ivar tree: its folder
    :ivar python: the interpreter of its series' environment
    """

    name: str
    version: str
    tree: pathlib.Path
    python: pathlib.Path

    @property
    def environ(self) -> dict[str, str]:
        """The whole environment of its programs."""
        return {**{name: os.environ[name] for name in _HANDED_ON
                   if name in os.environ},
                'PYTHONPATH': str(self.tree)}

    def main(self, module: str, *words: str) -> list[str]:
        """The command that a module's console script is."""
        return [str(self.python), '-c',
                f'import sys; from {module} import main; sys.exit(main())',
                *words]

    def manage(self, conf: pathlib.Path, *words: str) -> list[str]:
        """The command ``nova-manage``, with a configuration."""
        return self.main('nova.cmd.manage', '--config-file', str(conf),
                         *words)

    def inside(self, script: str, *words: str) -> list[str]:
        """The command that runs one of the scripts in ``inside/``."""
        return [str(self.python), str(_INSIDE / script), *words]

    def audit_help(self) -> str:
        """What the audit tells of its options; empty if there is none."""
        done = process.run(self.manage(
            pathlib.Path(os.devnull), 'placement', 'audit', '--help'),
            self.environ)
        return '' if done.code else done.stdout
