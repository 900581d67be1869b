# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A series' changes as patches, for those who build their own packages."""
from __future__ import annotations

import pathlib
import re
import tempfile

from graft.errors import GraftError
from graft.errors import UsageError
from graft.tree import Tree

FORMATS = ('quilt', 'format-patch', 'kolla', 'bundle')

#: The image of kolla that has Nova, on which all others of Nova are built.
_KOLLA_IMAGE = 'nova-base'


def export(tree: Tree, kind: str, folder: pathlib.Path,
           site_packages: str = '') -> list[pathlib.Path]:
    """Write a tree's changes for those who build packages.

    ``quilt``
        A folder of patches with a ``series`` file, as ``debian/patches``.
    ``format-patch``
        The same for ``git am``.
    ``kolla``
        What goes under the ``patches_path`` of kolla-build, which applies
        patches from the root of the image's file system.
    ``bundle``
        A git bundle of the release and the changes, with the branch
        ``ledger/<series>``, to be fetched or cloned.

    The tests for the fork alone are left out, but for the bundle, which is
    the tree as it is: a package has no use of them.

    :param folder: where they go; it must not hold anything yet
    :param site_packages: for ``kolla``, where Nova is in the image
    :returns: the files written
    """
    if kind == 'kolla':
        prefix = _in_image(site_packages)
    if folder.exists() and any(folder.iterdir()):
        raise GraftError(f'{folder} is there already and not empty.',
                         'Name another folder, or remove it first.')
    tree.make()
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Beside it first: what is interrupted leaves no half of the patches.
    with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
        fresh = pathlib.Path(aside, 'fresh')
        if kind == 'bundle':
            _bundle(tree, fresh)
        elif kind == 'format-patch':
            _patches(tree, fresh)
        elif kind == 'quilt':
            _quilt(tree, fresh, _patches(tree, fresh))
        else:
            image = fresh / _KOLLA_IMAGE
            _quilt(tree, image, _patches(
                tree, image, '--src-prefix', prefix, '--dst-prefix', prefix,
                only='nova'))
        names = sorted(path.relative_to(fresh) for path in fresh.rglob('*')
                       if path.is_file())
        fresh.rename(folder)
    return [folder / name for name in names]


def _in_image(site_packages: str) -> str:
    """What the names in patches begin with, seen from the image's root."""
    if not re.fullmatch(r'(/[\w.+-]+)+/?', site_packages):
        raise UsageError(
            f'"{site_packages}" is no absolute path of a folder.'
            if site_packages else 'Nothing tells where Nova is in the image.',
            'Say it with --site-packages, such as '
            '/var/lib/kolla/venv/lib/python3.12/site-packages.')
    return site_packages.strip('/') + '/'


def _bundle(tree: Tree, folder: pathlib.Path) -> None:
    series = tree.fork.series
    branch = f'ledger/{series}'
    folder.mkdir(parents=True)
    tree.git.git('branch', '--force', branch)
    try:
        tree.git.git('bundle', 'create', '--quiet',
                     str(folder / f'nova-{tree.fork.version}.bundle'), branch)
    finally:
        tree.git.git('branch', '--quiet', '-D', branch)


def _patches(tree: Tree, folder: pathlib.Path, *words: str,
             only: str = '.') -> list[pathlib.Path]:
    """Write a patch for each change that has something to bring.

    :param words: more options of ``git format-patch``
    :param only: what below this path is changed
    """
    tree.git.git(
        'format-patch', '--quiet', '--no-signature', '--zero-commit',
        '--no-numbered', '--output-directory', str(folder), *words,
        'release..', '--', only, *_excluded(tree))
    patches = sorted(folder.glob('*.patch'))
    if not patches:
        raise GraftError(
            f'No change brings anything to {tree.fork.series}.')
    return patches


def _quilt(tree: Tree, folder: pathlib.Path,
           patches: list[pathlib.Path]) -> None:
    """Make patches of git's those of quilt."""
    (folder / 'series').write_text(''.join(
        f'{_to_quilt(tree, path)}\n' for path in patches))


def _excluded(tree: Tree) -> list[str]:
    return [f':(exclude){path}' for change in tree.fork.changes()
            for path in change.own_files]


def _to_quilt(tree: Tree, patch: pathlib.Path) -> str:
    """Name a patch by its change and give it a DEP-3 header.

    :returns: its new name
    """
    text, _, diff = patch.read_bytes().partition(b'\ndiff --git')
    head = text.decode()
    found = re.search(r'^Change-Id: (I[0-9a-f]{40})$', head, re.MULTILINE)
    change = next(one for one in tree.fork.changes()
                  if found and one.change_id == found[1])
    paragraphs = change.message.splitlines()[2:]
    lines = [f'Description: {change.subject}']
    lines += [f' {line}' if line else ' .' for line in paragraphs]
    lines += ['Author: nova-ledger contributors',
              'Origin: other, nova-ledger',
              'Forwarded: not-needed']
    lines += [f'Bug: https://bugs.launchpad.net/nova/+bug/{bug}'
              for bug in change.bugs]
    patch.write_bytes('\n'.join(lines).encode() + b'\n---\ndiff --git' + diff)
    return patch.rename(patch.with_name(f'{change.name}.patch')).name
