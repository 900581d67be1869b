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
    written = []
    with tempfile.TemporaryDirectory() as fresh:
        tree.git.git(
            'format-patch', '--quiet', '--no-signature', '--zero-commit',
            '--no-numbered', '--output-directory', fresh, 'release..',
            '--', '.', *_excluded(tree))
        patches = sorted(pathlib.Path(fresh).glob('*.patch'))
        if not patches:
            raise GraftError(
                f'No change has anything to fix in {tree.fork.series}.')
        folder.mkdir(parents=True, exist_ok=True)
        for patch in patches:
            text = patch.read_text(encoding='utf-8')
            name = patch.name
            if kind == 'quilt':
                name, text = _quilt(tree, text)
            (folder / name).write_text(text, encoding='utf-8')
            written.append(folder / name)
    if kind == 'quilt':
        names = ''.join(f'{path.name}\n' for path in written)
        (folder / 'series').write_text(names)
        written.append(folder / 'series')
    return written


def _excluded(tree: Tree) -> list[str]:
    return [f':(exclude){path}' for change in tree.fork.changes()
            for path in change.own_files]


def _quilt(tree: Tree, text: str) -> tuple[str, str]:
    """A patch named by its change, with a DEP-3 header."""
    head, _, diff = text.partition('\n---\n')
    _, _, diff = diff.partition('\ndiff --git')
    diff = 'diff --git' + diff
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
    return f'{change.name}.patch', '\n'.join(lines) + '\n---\n' + diff
