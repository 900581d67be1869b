# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The fork of one release: which changes it takes and what they make."""
from __future__ import annotations

import dataclasses
import enum
import pathlib

from graft.change import Change
from graft.errors import AnchorError
from graft.errors import GraftError
from graft.project import Project
from graft.release import Release
from graft.series import Series
from graft.text import Text


class State(enum.Enum):
    """What a change is to a release."""

    APPLIES = 'applies'
    FIXED = 'fixed upstream'
    UNAFFECTED = 'not affected'
    MOVED = 'anchor moved'

    def __str__(self) -> str:
        return self.value


@dataclasses.dataclass(frozen=True)
class Fork:
    """A release and the changes made to it.

    :ivar project: where the changes are
    :ivar release: what they are made to
    """

    project: Project
    release: Release
    _made: dict[str, dict[str, str]] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, project: Project, series: Series) -> Fork:
        """The fork of a series."""
        return cls(project, Release.get(project, series))

    @property
    def series(self) -> Series:
        return self.release.series

    @property
    def version(self) -> str:
        """``34.0.0+ledger.N``."""
        return f'{self.series.nova}+ledger.{self.project.ledger}'

    def changes(self) -> list[Change]:
        """The changes that concern the series, in order."""
        return [change for change in self.project.changes
                if change.concerns(self.series)]

    def state(self, change: Change) -> State:
        """What a change is to the release, by looking at its code."""
        if not change.concerns(self.series):
            return State.UNAFFECTED
        if self.is_fixed_upstream(change):
            return State.FIXED
        try:
            self.modules_of(change)
        except AnchorError:
            return State.MOVED
        return State.APPLIES

    def is_fixed_upstream(self, change: Change) -> bool:
        """Whether the release has by itself what a change would do."""
        for mirror in self.project.mirrors_of(change):
            source = self.release.read(mirror.path)
            if source is None:
                continue
            upstream = Text(mirror.path, source)
            if any(mirror.fixed_upstream(upstream, item)
                   for item in mirror.items if item.change == change.name):
                return True
        return False

    def modules_of(self, change: Change) -> dict[str, str]:
        """The upstream modules as they read after a change.

        The changes before it are made first.

        :returns: texts by path; none where upstream has fixed it
        :raises AnchorError: where an anchor does not fit
        """
        if change.name not in self._made:
            self._made[change.name] = self._make(change)
        return self._made[change.name]

    def content_of(
        self, change: Change, *, fix: bool = True, own: bool = True,
    ) -> dict[str, bytes]:
        """What a change puts into a tree, by path.

        A release note goes only where the change does something.

        :param fix: whether to change upstream's modules, or bring only what
            is new
        :param own: whether to bring what is for the fork alone
        :raises GraftError: where a new file would hide one of upstream's
        """
        content = {}
        if fix:
            content = {path: text.encode()
                       for path, text in self.modules_of(change).items()}
        silent = not fix or self.is_fixed_upstream(change)
        for path in (*change.files, *(change.own_files if own else ())):
            if silent and path.startswith('releasenotes/'):
                continue
            if self.release.read(path) is not None:
                raise GraftError(
                    f'{path} is there already in {self.series}.',
                    'Give the file of ours another name.')
            content[path] = self.project.read(path)
        return content

    def upstream_tests(self) -> list[str]:
        """Upstream's own tests of what the changes touch, as far as the
        release has them; dotted names."""
        names = [name for change in self.changes()
                 for name in change.upstream_tests if self._has_test(name)]
        return list(dict.fromkeys(names))

    def write(
        self, change: Change, tree: pathlib.Path, *, fix: bool = True,
        own: bool = True,
    ) -> list[str]:
        """Make a change in a tree, see :meth:`content_of`.

        :returns: the paths written
        """
        content = self.content_of(change, fix=fix, own=own)
        for path, data in content.items():
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return list(content)

    def _make(self, change: Change) -> dict[str, str]:
        mirrors = self.project.mirrors_of(change)
        if not mirrors or self.is_fixed_upstream(change):
            return {}
        made = {}
        if self.series in change.fixes:
            made = {mirror.path: mirror.apply(
                        self._before(change, mirror.path), change,
                        self.series, self.project.series)
                    for mirror in mirrors if mirror.items_of(
                        change, self.series, self.project.series)}
        if not made:
            raise AnchorError(
                f'{change.name} does not say how to fix {self.series}, and '
                f'upstream is not seen to have fixed it there.',
                'Mend its "fixes" or its "fixed_when".')
        return made

    def _earlier(self, change: Change) -> list[Change]:
        """The changes that are made before one, the last first."""
        changes = self.changes()
        return changes[:changes.index(change)][::-1]

    def _has_test(self, name: str) -> bool:
        """Whether the release has the module of a test's dotted name."""
        parts = name.split('.')
        return any(
            self.release.read('/'.join(parts[:length]) + '.py') is not None
            for length in range(1, len(parts) + 1))

    def _before(self, change: Change, path: str) -> str:
        """A module's text before a change."""
        for earlier in self._earlier(change):
            if any(one.path == path
                   for one in self.project.mirrors_of(earlier)):
                made = self.modules_of(earlier)
                if path in made:
                    return made[path]
        source = self.release.read(path)
        if source is None:
            raise AnchorError(
                f'{self.series} has no {path}.',
                'Look where upstream has it now.')
        return source
