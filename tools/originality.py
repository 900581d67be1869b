#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Check that the repository holds only what was written for it.

Nova and Placement are dependencies and are never copied. A run of five or
more lines of code that stands here and in a release of theirs fails the
check. Lines are compared without their white space; blank lines, comments,
imports, lone punctuation and one-word statements do not count.

usage: originality.py [SERIES...]      (run in the repository)
"""
from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
import pathlib
import re
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from graft.environment import Environment  # noqa: E402
from graft.errors import GraftError  # noqa: E402
from graft.git import Repository  # noqa: E402
from graft.project import Project  # noqa: E402
from graft.release import Release  # noqa: E402

RUN = 5
SERIES = ('2026.2', 'wallaby', 'rocky')
_IDLE = re.compile(
    r'(#|import |from \S+ import |@|"""|\'\'\')|\W*$|'
    r'(pass|else:|try:|return|break|continue|finally:)$')

Line = tuple[int, str]


def code_lines(text: str) -> list[Line]:
    """The lines of a file that count, with their numbers."""
    lines = ((number, ' '.join(line.split()))
             for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines
            if not _IDLE.match(line)]


def runs(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Each run of lines in a file, with the numbers of its ends."""
    lines = code_lines(text)
    for at in range(len(lines) - RUN + 1):
        part = lines[at:at + RUN]
        yield (tuple(line for _, line in part), part[0][0], part[-1][0])


def ours() -> Iterator[tuple[str, str]]:
    """The repository's Python files: their names and texts."""
    for name in Repository(ROOT).git(
            'ls-files', '--cached', '--others', '--exclude-standard',
            '*.py').splitlines():
        if (ROOT / name).is_file():
            yield name, (ROOT / name).read_text(encoding='utf-8')


def theirs(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The Python files of releases of Nova, and of Placement."""
    project = Project(ROOT)
    for name in names:
        series = project.series.named(name)
        with zipfile.ZipFile(Release.get(project, series).wheel) as archive:
            for path in archive.namelist():
                if path.endswith('.py'):
                    yield (f'{path} ({series})',
                           archive.read(path).decode(errors='replace'))
    environment = Environment(project, project.series.newest).make()
    for folder in environment.path.glob('lib/*/site-packages/placement'):
        for file in folder.rglob('*.py'):
            yield (str(file.relative_to(folder.parent)),
                   file.read_text(encoding='utf-8', errors='replace'))


def main(names: list[str]) -> int:
    """Print what is shared; 1 if there is anything."""
    held: dict[tuple[str, ...], list[tuple[str, int, int]]] = {}
    count = 0
    for name, text in ours():
        count += 1
        for run, first, last in runs(text):
            held.setdefault(run, []).append((name, first, last))
    found = set()
    for other, text in theirs(names or SERIES):
        for run, _, _ in runs(text):
            for name, first, last in held.get(run, ()):
                found.add(f'{name}:{first}-{last} reads like {other}')
    for line in sorted(found):
        print(line)
    print(f'originality: {count} files, {len(found)} places like upstream')
    return 1 if found else 0


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv[1:]))
    except GraftError as error:
        sys.exit(f'originality: {error}')
