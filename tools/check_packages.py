#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Check that the patches go onto the releases by the tools of packagers.

Each format of ``graft export`` is written for each series, and applied to
the release as its maintainers published it by the program that a packager
uses: quilt, ``git am``, patch as kolla-build calls it, ``git clone``. Every
file then has to be, byte for byte, that of ``graft checkout``, less what is
for the fork's own tests.

usage: check_packages.py [SERIES...]     (by default 2026.2 and queens)
"""
from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from graft import export
from graft.errors import GraftError
from graft.fork import Fork
from graft.project import Project
from graft.tree import Tree

# As a packager's machine has it, whatever its user has set.
ENVIRONMENT = {
    'PATH': os.environ['PATH'],
    'HOME': '/nonexistent',
    'LC_ALL': 'C.UTF-8',
    'GIT_CONFIG_NOSYSTEM': '1',
    'GIT_COMMITTER_NAME': 'packager',
    'GIT_COMMITTER_EMAIL': 'packager@example.org',
    'GIT_AUTHOR_NAME': 'packager',
    'GIT_AUTHOR_EMAIL': 'packager@example.org',
}

SITE_PACKAGES = '/var/lib/kolla/venv/lib/python3/site-packages'

Files = dict[str, bytes]


class Failure(Exception):
    """What a packager would complain of."""


def run(folder: pathlib.Path, *words: object, **env: str) -> None:
    """Run a program of the packager's in a folder."""
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, text=True, check=False,
        env={**ENVIRONMENT, **env}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise Failure(f'{" ".join(map(str, words))} failed:\n{done.stdout}')


def files_below(folder: pathlib.Path, *without: str) -> Files:
    """What is in a folder, by path.

    :param without: names at its top to leave out
    """
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob('*') if path.is_file() and
            path.relative_to(folder).parts[0] not in without}


def by_quilt(release: pathlib.Path, patches: pathlib.Path) -> Files:
    """As in a Debian source package."""
    shutil.copytree(patches, release / 'debian' / 'patches')
    run(release, 'quilt', 'push', '-a', '--fuzz=0',
        QUILT_PATCHES='debian/patches')
    return files_below(release, '.pc', 'debian')


def by_git_am(release: pathlib.Path, patches: pathlib.Path) -> Files:
    """As on a branch that a packager keeps in git."""
    run(release, 'git', 'init', '--quiet')
    run(release, 'git', 'add', '--all', '--force')
    run(release, 'git', 'commit', '--quiet', '--message=release')
    run(release, 'git', 'am', '--quiet', *sorted(patches.glob('*.patch')))
    return files_below(release, '.git')


def by_kolla(release: pathlib.Path, patches: pathlib.Path) -> Files:
    """As kolla-build has it done in an image."""
    with tempfile.TemporaryDirectory() as image:
        site = pathlib.Path(image, SITE_PACKAGES.strip('/'))
        site.parent.mkdir(parents=True)
        shutil.copytree(release, site)
        folder = patches / 'nova-base'
        for name in (folder / 'series').read_text().split():
            run(pathlib.Path(image), 'patch', '-p0', '--fuzz=0',
                '--ignore-whitespace', '--input', folder / name)
        return files_below(site)


def by_git_clone(release: pathlib.Path, patches: pathlib.Path) -> Files:
    """As somebody who fetches the branch."""
    bundle, = patches.glob('*.bundle')
    clone = release / 'clone'
    run(release, 'git', 'clone', '--quiet', '--branch',
        f'ledger/{patches.parent.name}', bundle, clone)
    return files_below(clone, '.git')


APPLY: dict[str, Callable[[pathlib.Path, pathlib.Path], Files]] = {
    'quilt': by_quilt,
    'format-patch': by_git_am,
    'kolla': by_kolla,
    'bundle': by_git_clone,
}


def expected(tree: Tree, kind: str) -> Files:
    """What should be there."""
    files = files_below(tree.path, '.git')
    if kind == 'bundle':
        return files
    for change in tree.fork.changes():
        for path in change.own_files:
            files.pop(path, None)
    if kind == 'kolla':
        # An image has Nova itself, and none of its release notes.
        files = {path: data for path, data in files.items()
                 if not path.startswith('releasenotes/notes/')}
    return files


def compare(wanted: Files, found: Files) -> None:
    """Complain of what differs."""
    wrong = [f'{path}: {_difference(wanted.get(path), found.get(path))}'
             for path in sorted({*wanted, *found})
             if wanted.get(path) != found.get(path)]
    if wrong:
        raise Failure('\n'.join(wrong[:20]))


def _difference(wanted: bytes | None, found: bytes | None) -> str:
    if found is None:
        return 'is not there'
    return 'should not be there' if wanted is None else 'differs'


def check(project: Project, name: str, kind: str) -> int:
    """Check one format for one series.

    :returns: how many files the release has with the patches
    """
    fork = Fork.of(project, project.series.named(name))
    # A tree of its own: whatever has been run in build/ is not in it.
    with tempfile.TemporaryDirectory() as aside:
        top = pathlib.Path(aside)
        tree = Tree(fork, folder=top / 'tree')
        tree.make()
        patches = top / str(fork.series) / kind
        export.export(tree, kind, patches,
                      SITE_PACKAGES if kind == 'kolla' else '')
        release = top / 'release'
        release.mkdir()
        fork.release.unpack(release)
        found = APPLY[kind](release, patches)
        compare(expected(tree, kind), found)
        return len(found)


def main(names: Sequence[str]) -> int:
    project = Project.find()
    failed = False
    for name in names or ('2026.2', 'queens'):
        for kind in export.FORMATS:
            try:
                number = check(project, name, kind)
            except Failure as failure:
                failed = True
                print(f'{name} {kind}: {failure}')
            except GraftError as error:
                print(f'check_packages: {error}', file=sys.stderr)
                return 1
            else:
                print(f'{name} {kind}: {number} files, as they should be')
    return failed


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
