# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""git, as far as graft needs it."""
from __future__ import annotations

import os
import pathlib

from graft.process import run

#: What git sets for its hooks, and would take for the repository.
_LOCAL = ('GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX',
          'GIT_OBJECT_DIRECTORY', 'GIT_COMMON_DIR')
#: Settings of the user that must not change what graft makes.
_NEUTRAL = {
    'GIT_CONFIG_GLOBAL': '/dev/null',
    'GIT_CONFIG_NOSYSTEM': '1',
    'LC_ALL': 'C',
}


class Repository:
    """A git work tree.

    :param folder: its top
    :param neutral: whether to leave the user's configuration out of it
    """

    def __init__(self, folder: pathlib.Path, neutral: bool = False) -> None:
        self.folder = folder
        self._env: dict[str, str | None] = dict.fromkeys(_LOCAL)
        if neutral:
            self._env.update(dict.fromkeys(
                name for name in os.environ if name.startswith('GIT_')))
            self._env.update(_NEUTRAL)

    def git(
        self, *words: str, env: dict[str, str] | None = None,
        stdin: str | None = None,
    ) -> str:
        """Run git there and return what it printed, less the last line end.

        :raises graft.errors.GraftError: with git's own words
        """
        return run(['git', *words], cwd=self.folder, stdin=stdin,
                   env={**self._env, **(env or {})}).removesuffix('\n')

    def is_clean(self) -> bool:
        """Whether nothing there differs from the last commit."""
        return not self.git('status', '--porcelain',
                            '--untracked-files=normal')

    def head(self) -> str:
        """The last commit's id."""
        return self.git('rev-parse', 'HEAD')

    def commit(
        self, message: str, *, identity: str = '', email: str = '',
        date: str = '',
    ) -> str:
        """Commit what is staged and return the new commit's id.

        :param identity: author and committer, if not the user
        :param date: the time of both, if not now
        """
        env = {}
        for who in ('AUTHOR', 'COMMITTER'):
            if identity:
                env[f'GIT_{who}_NAME'] = identity
                env[f'GIT_{who}_EMAIL'] = email
            if date:
                env[f'GIT_{who}_DATE'] = date
        self.git('commit', '--quiet', '--no-verify', '--cleanup=verbatim',
                 '--file=-', env=env, stdin=message)
        return self.head()
