"""The fork of one release: which changes it takes and what they make."""
from __future__ import annotations

import dataclasses
import enum
import functools
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

    @functools.cache
    def modules_of(self, change: Change) -> dict[str, str]:
        """The upstream modules as they read after a change.

        The changes before it are made first.

        :returns: texts by path; none where upstream has fixed it
        :raises AnchorError: where an anchor does not fit
        """
        if self.is_fixed_upstream(change):
            return {}
        if self.series not in change.fixes:
            raise AnchorError(
                f'{change.name} does not say how to fix {self.series}, and '
                f'upstream is not seen to have fixed it there.',
                'Mend its "fixes" or its "fixed_when".')
        return {mirror.path: mirror.apply(
                    self._before(change, mirror.path), change, self.series,
                    self.project.series)
                for mirror in self.project.mirrors_of(change)}

    def files_of(self, change: Change, own: bool = True) -> list[str]:
        """The new files a change brings: tests and its note.

        A release note goes only where the change does something.

        :param own: whether with those for the fork alone
        """
        fixed = self.is_fixed_upstream(change)
        return [path for path in
                (*change.files, *(change.own_files if own else ()))
                if not (fixed and path.startswith('releasenotes/'))]

    def write(
        self, change: Change, tree: pathlib.Path, *, fix: bool = True,
        own: bool = True,
    ) -> list[str]:
        """Make a change in a tree.

        :param fix: whether to change upstream's modules, or bring only what
            is new
        :param own: whether to bring what is for the fork alone
        :returns: the paths written
        :raises GraftError: where a new file would hide one of upstream's
        """
        modules = self.modules_of(change) if fix else {}
        new = {path: (self.project.root / path).read_text(encoding='utf-8')
               for path in self.files_of(change, own)
               if fix or not path.startswith('releasenotes/')}
        for path in new:
            if (tree / path).exists():
                raise GraftError(
                    f'{path} is there already in {self.series}.',
                    'Give the file of ours another name.')
        for path, text in {**modules, **new}.items():
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding='utf-8')
        return [*modules, *new]

    def _before(self, change: Change, path: str) -> str:
        """A module's text before a change."""
        for earlier in reversed(self.changes()[
                :self.changes().index(change)]):
            if path in (made := self.modules_of(earlier)):
                return made[path]
        source = self.release.read(path)
        if source is None:
            raise AnchorError(
                f'{self.series} has no {path}.',
                'Look where upstream has it now.')
        return source
