# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Trees: a release and the changes on it, as a git history.

A tree is the same, commit ids and all, wherever and whenever it is made
from the same release and the same changes.
"""
from __future__ import annotations

from collections.abc import Iterator
import contextlib
import hashlib
import pathlib
import shutil
import tempfile

from graft import message
from graft.change import Change
from graft.errors import GraftError
from graft.fork import Fork
from graft.git import Repository

IDENTITY = 'nova-ledger'

#: What running tests in a tree leaves behind.
EXCLUDE = '''\
__pycache__/
*.pyc
.coverage*
.hypothesis/
.stestr/
graft_suite/
'''


class Tree:
    """Where a fork, or the stock release beside it, is laid out.

    :param fork: what it holds
    :param stock: leave the fixes out: the release, and of each change only
        its tests
    :param folder: where it goes, by default ``build/<series>`` or
        ``build/<series>-stock``
    """

    def __init__(
        self, fork: Fork, *, stock: bool = False,
        folder: pathlib.Path | None = None,
    ) -> None:
        self.fork = fork
        self.stock = stock
        name = f'{fork.series}-stock' if stock else f'{fork.series}'
        self.path = (folder or fork.project.build / name).absolute()
        self.git = Repository(self.path, neutral=True)

    def make(self) -> pathlib.Path:
        """Lay the tree out, unless it is there as it should be.

        :returns: its path
        :raises GraftError: where something else, or someone's work, is there
        """
        if self.path.exists():
            self._check_ours()
            if self._stamp.read_text() == self._digest() + self.git.head():
                return self.path
        with self._aside() as aside:
            fresh, old = aside / 'fresh', aside / 'old'
            fresh.mkdir()
            self._fill(Repository(fresh, neutral=True))
            if self.path.exists():
                self.path.rename(old)
            fresh.rename(self.path)
        return self.path

    def commit_of(self, change: Change) -> str:
        """The id of a change's commit in the tree.

        :raises GraftError: where the tree has none
        """
        commits = self.git.git('log', '--format=%H',
                               f'--grep=^Change-Id: {change.change_id}$')
        if not commits:
            raise GraftError(
                f'{change.name} makes no commit in {self.fork.series}.',
                f'It is "{self.fork.state(change)}" there.')
        return commits.splitlines()[0]

    def commits(self) -> list[str]:
        """The ids of the changes' commits, oldest first."""
        return self.git.git(
            'log', '--reverse', '--format=%H', 'release..').splitlines()

    def _fill(self, git: Repository) -> None:
        git.git('init', '--quiet', '--initial-branch', str(self.fork.series))
        (git.folder / '.git/info').mkdir(exist_ok=True)
        (git.folder / '.git/info/exclude').write_text(EXCLUDE)
        self.fork.release.unpack(git.folder)
        self._commit(git, f'nova {self.fork.series.nova}\n\n'
                          f'The release as published.\n')
        git.git('tag', 'release')
        for change in self.fork.changes():
            self.fork.write(change, git.folder, fix=not self.stock)
            # What it brings may be there already, by an earlier change.
            if not git.is_clean():
                self._commit(git, message.compose(change))
        (git.folder / '.git/graft').write_text(self._digest() + git.head())

    def _commit(self, git: Repository, text: str) -> None:
        # --force: a user's or the tree's own ignore rules leave nothing out.
        git.git('add', '--all', '--force', '.')
        git.commit(text, identity=IDENTITY, date=self.fork.release.date)

    @contextlib.contextmanager
    def _aside(self) -> Iterator[pathlib.Path]:
        """A folder beside the tree's, gone afterwards.

        What is interrupted half-way so leaves no half of a tree.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(
            prefix=f'.{self.path.name}.', dir=self.path.parent)
        try:
            yield pathlib.Path(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def _stamp(self) -> pathlib.Path:
        """The file that says what a tree was made of, and its last commit."""
        return self.path / '.git/graft'

    def _digest(self) -> str:
        """What tells whether a tree is made of what is there now."""
        digest = hashlib.sha256(f'{self.stock}'.encode())
        digest.update(self.fork.release.wheel.read_bytes())
        for change in self.fork.changes():
            digest.update(message.compose(change).encode())
            content = self.fork.content_of(change, fix=not self.stock)
            digest.update(repr(content).encode())
        return digest.hexdigest() + '\n'

    def _check_ours(self) -> None:
        if not self._stamp.is_file():
            raise GraftError(
                f'{self.path} is there already and is none of graft\'s.',
                'Move it away, or name another place with --to.')
        if not self.git.is_clean() or self._has_own_commits():
            raise GraftError(
                f'{self.path} holds work that graft did not make.',
                'Commit it elsewhere or remove the folder; graft makes it '
                'anew.')

    def _has_own_commits(self) -> bool:
        authors = self.git.git('log', '--format=%cn', '--all').splitlines()
        return any(name != IDENTITY for name in authors)
