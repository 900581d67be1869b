# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A change as a commit on a branch of a real clone of Nova."""
from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import re

from graft import message
from graft.change import Change
from graft.errors import GraftError
from graft.errors import UsageError
from graft.fork import Fork
from graft.fork import State
from graft.git import Repository
from graft.project import Project
from graft.series import Series

_PICKED = re.compile(r'^\(cherry picked from commit ([0-9a-f]{7,40})\)$',
                     re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Review:
    """A change to be made in a clone.

    :ivar project: where the change is
    :ivar change: the change
    :ivar clone: the clone's work tree
    """

    project: Project
    change: Change
    clone: Repository

    def commit(self, series_name: str = '', backport_of: str = '') -> str:
        """Commit the change on the branch that is checked out.

        :param series_name: the branch's series, if its name does not tell
        :param backport_of: a commit of the same change on a newer branch,
            as anything git understands; its own cherry-pick lines come along
        :returns: the new commit's id
        :raises GraftError: where the clone is not fit for it; nothing in it
            is changed then
        """
        self._check_clone()
        series = self._series(series_name)
        fork = CloneFork(self.project, series, self.clone)
        state = fork.state(self.change)
        if state is State.FIXED:
            raise GraftError(f'Upstream has fixed {self.change.name} on this '
                             f'branch already.')
        if state is State.UNAFFECTED:
            raise GraftError(f'{self.change.name} does not concern {series}.')
        text = message.compose(
            self.change, signer=self._signer(),
            picked=self._picked(backport_of))
        try:
            paths = fork.write(self.change, self.clone.folder, own=False)
            self.clone.git('add', '--force', '--', *paths)
            return self.clone.commit(text)
        except BaseException:
            # The clone was clean, so that all there is to lose is ours.
            self.clone.git('reset', '--quiet', '--hard')
            self.clone.git('clean', '--quiet', '--force', '-d')
            raise

    def _check_clone(self) -> None:
        folder = self.clone.folder
        if not (folder / '.git').exists():
            raise UsageError(f'{folder} is no git clone.',
                             'Name the top of a clone of openstack/nova.')
        if not (folder / 'nova' / 'compute' / 'manager.py').is_file():
            raise UsageError(f'{folder} is no clone of Nova: it has no '
                             f'nova/compute/manager.py.')
        if not self.clone.is_clean():
            raise GraftError(
                f'{folder} has changes that are not committed.',
                'Commit or stash them, so that the review holds only the '
                'change.')
        if self.clone.git('log', '--format=%h', '-1',
                          f'--grep=^Change-Id: {self.change.change_id}$'):
            raise GraftError(f'{self.change.name} is on this branch already.')

    def _series(self, name: str) -> Series:
        """The series of the branch that is checked out."""
        if name:
            return self.project.series.named(name)
        for ref in self._branches():
            found = re.search(r'(?:stable|unmaintained)/([^/]+)$', ref)
            if found:
                return self.project.series.named(found[1])
            if re.search(r'(?:^|/)(master|main)$', ref):
                return self.project.series.newest
        raise UsageError(
            'The branch that is checked out does not tell its series.',
            'Say it with --series.')

    def _branches(self) -> list[str]:
        """The branch's name and that of what it follows."""
        refs = [self.clone.git('rev-parse', '--abbrev-ref', 'HEAD')]
        with contextlib.suppress(GraftError):  # It may follow nothing.
            refs.append(self.clone.git('rev-parse', '--abbrev-ref',
                                       'HEAD@{upstream}'))
        return refs

    def _signer(self) -> str:
        try:
            return (f'{self.clone.git("config", "user.name")} '
                    f'<{self.clone.git("config", "user.email")}>')
        except GraftError:
            raise GraftError(
                'git does not know who you are.',
                'Set user.name and user.email, as Signed-off-by needs them.'
            ) from None

    def _picked(self, backport_of: str) -> list[str]:
        if not backport_of:
            return []
        try:
            commit = self.clone.git('rev-parse', '--verify', '--quiet',
                                    f'{backport_of}^{{commit}}')
        except GraftError:
            raise UsageError(
                f'There is no commit "{backport_of}" in the clone.') from None
        told = self.clone.git('log', '-1', '--format=%B', commit)
        if f'Change-Id: {self.change.change_id}' not in told:
            raise UsageError(
                f'{backport_of} is not a commit of {self.change.name}.',
                'A backport is of the same change: its Change-Id must be '
                'there.')
        return [*_PICKED.findall(told), commit]


class _Checkout:
    """A clone's work tree in the place of a release."""

    def __init__(self, series: Series, folder: pathlib.Path) -> None:
        self.series = series
        self.folder = folder

    def read(self, path: str) -> str | None:
        """A module's text, or None where the branch has no such file."""
        try:
            return (self.folder / path).read_bytes().decode()
        except FileNotFoundError:
            return None


class CloneFork(Fork):
    """The fork of what is checked out in a clone.

    The changes before the one in question are not made first: a reviewer
    gets one change on the branch as it is.
    """

    def __init__(
        self, project: Project, series: Series, clone: Repository,
    ) -> None:
        super().__init__(
            project, _Checkout(series, clone.folder))  # type: ignore

    def _earlier(self, change: Change) -> list[Change]:
        return []
