# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The project: where its rooms are and what is in them."""
from __future__ import annotations

import dataclasses
import functools
import os
import pathlib

from graft import toml
from graft.change import Change
from graft.errors import GraftError
from graft.errors import UsageError
from graft.mirror import Mirror
from graft.series import AllSeries


@dataclasses.dataclass(frozen=True)
class Project:
    """A checkout of nova-ledger.

    :ivar root: its folder
    """

    root: pathlib.Path

    @classmethod
    def find(cls, start: pathlib.Path | None = None) -> Project:
        """The project around a folder, by default the working directory.

        :raises GraftError: where there is none
        """
        here = (start or pathlib.Path.cwd()).resolve()
        beside = [] if start else [pathlib.Path(__file__).resolve().parents[1]]
        for folder in (here, *here.parents, *beside):
            if (folder / 'series').is_dir() and (folder / 'changes').is_dir():
                return cls(folder)
        raise GraftError(
            f'{here} is not in a checkout of nova-ledger.',
            'Run graft in one, or name one with --root.')

    @functools.cached_property
    def series(self) -> AllSeries:
        """All series."""
        return AllSeries.of(self.root / 'series')

    @functools.cached_property
    def changes(self) -> list[Change]:
        """All changes, in the order they are made in."""
        return [Change.load(path, self.series)
                for path in sorted((self.root / 'changes').glob('*.toml'))]

    def change(self, name: str) -> Change:
        """The change of a name, or of a bug: ``bug-1798688``.

        :raises UsageError: where there is none
        """
        for change in self.changes:
            bugs = [f'bug-{bug}' for bug in change.bugs]
            if name in (change.name, *bugs):
                return change
        raise UsageError(
            f'There is no change "{name}".',
            'Known: ' + ', '.join(one.name for one in self.changes) + '.')

    @functools.cached_property
    def mirrors(self) -> list[Mirror]:
        """The grafts: those files in ``nova/`` that say what to edit."""
        found = []
        for path in sorted((self.root / 'nova').rglob('*.py')):
            if 'from graft import' in path.read_text(encoding='utf-8'):
                mirror = Mirror(self.root, str(path.relative_to(self.root)))
                for name in sorted(mirror.changes()):
                    self._check_known(mirror, name)
                found.append(mirror)
        return found

    def _check_known(self, mirror: Mirror, name: str) -> None:
        try:
            self.change(name)
        except UsageError as error:
            raise GraftError(f'{mirror.path}: {error.message}',
                             error.hint) from error

    def mirrors_of(self, change: Change) -> list[Mirror]:
        """The grafts that a change makes."""
        return [one for one in self.mirrors if change.name in one.changes()]

    def read(self, path: str) -> bytes:
        """The content of a file that a change brings."""
        try:
            return (self.root / path).read_bytes()
        except OSError as error:
            raise GraftError(
                f'{path}: {error.strerror}',
                'A change names it among its files.') from error

    @property
    def settings(self) -> dict:
        """``[tool.graft]`` of ``pyproject.toml``."""
        data = toml.load(self.root / 'pyproject.toml')
        return data.get('tool', {}).get('graft', {})

    @property
    def ledger(self) -> int:
        """The fork's own release, the N of ``34.0.0+ledger.N``."""
        try:
            return int(self.settings['ledger'])
        except (KeyError, ValueError) as error:
            raise GraftError(
                f'{self.root / "pyproject.toml"} gives no number as '
                f'"ledger" in [tool.graft].') from error

    @property
    def build(self) -> pathlib.Path:
        """Where trees, environments and results go."""
        return pathlib.Path(os.environ.get('GRAFT_BUILD') or
                            self.root / 'build')

    @property
    def test_paths(self) -> list[pathlib.Path]:
        """What the tests in ``nova/`` import besides nova."""
        return [self.root / path
                for path in self.settings.get('test_paths', [])]
