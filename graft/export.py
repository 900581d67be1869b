# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A series' changes as patches, for those who build their own packages."""
from __future__ import annotations

import pathlib
import re
import tempfile

from graft.errors import GraftError
from graft.tree import Tree

FORMATS = ('quilt', 'format-patch')


def export(tree: Tree, kind: str, folder: pathlib.Path) -> list[pathlib.Path]:
    """Write a tree's changes as patches.

    ``format-patch`` is for ``git am``; ``quilt`` is a folder of patches with
    a ``series`` file, as ``debian/patches`` and kolla take them. The tests
    for the fork alone are left out: a package has no use of them.

    :param folder: where they go; it must not hold anything yet
    :returns: the files written
    """
    if folder.exists() and any(folder.iterdir()):
        raise GraftError(f'{folder} is there already and not empty.',
                         'Name another folder, or remove it first.')
    tree.make()
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Beside it first: what is interrupted leaves no half of the patches.
    with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
        fresh = pathlib.Path(aside, 'fresh')
        tree.git.git(
            'format-patch', '--quiet', '--no-signature', '--zero-commit',
            '--no-numbered', '--output-directory', str(fresh), 'release..',
            '--', '.', *_excluded(tree))
        patches = sorted(fresh.glob('*.patch'))
        if not patches:
            raise GraftError(
                f'No change brings anything to {tree.fork.series}.')
        names = [path.name for path in patches]
        if kind == 'quilt':
            names = [_to_quilt(tree, path) for path in patches]
            (fresh / 'series').write_text(''.join(
                f'{name}\n' for name in names))
            names.append('series')
        fresh.rename(folder)
    return [folder / name for name in names]


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
