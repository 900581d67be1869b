# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The table of what is fixed where, by looking at every release's code."""
from __future__ import annotations

from collections.abc import Sequence
import re

from graft.errors import AnchorError
from graft.errors import GraftError
from graft.fork import Fork
from graft.fork import State
from graft.project import Project
from graft.series import Series

_BEGIN, _END = '<!-- graft status: begin -->', '<!-- graft status: end -->'


def states(
    project: Project, series: Sequence[Series], progress=None,
) -> dict[tuple[str, str], State]:
    """The state of each change in each series, by their names."""
    found = {}
    for one in series:
        fork = Fork.of(project, one)
        for change in project.changes:
            found[change.name, one.name] = fork.state(change)
        if progress:
            progress()
    return found


def stories(
    project: Project, found: dict[tuple[str, str], State],
) -> list[str]:
    """Of each anchor that moved, where, and what is there now."""
    told = []
    for (change, series), state in found.items():
        if state is State.MOVED:
            fork = Fork.of(project, project.series.named(series))
            try:
                fork.modules_of(project.change(change))
            except AnchorError as error:
                told.append(str(error))
    return told


def markdown(
    project: Project, series: Sequence[Series],
    found: dict[tuple[str, str], State],
) -> str:
    """The table, a row each series, a column each change."""
    names = [change.name for change in project.changes]
    rows = [['series', 'nova', *names]]
    rows += [[one.name, one.nova, *(str(found[name, one.name])
                                    for name in names)] for one in series]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ['| ' + ' | '.join(cell.ljust(width) for cell, width
                               in zip(row, widths)) + ' |' for row in rows]
    lines.insert(1, '|' + '|'.join('-' * (width + 2)
                                   for width in widths) + '|')
    return '\n'.join(lines) + '\n'


def update(text: str, table: str) -> str:
    """A page with the table between its two marks.

    :raises GraftError: where the page has no marks
    """
    pattern = re.compile(f'{_BEGIN}\n.*?{_END}', re.DOTALL)
    if not pattern.search(text):
        raise GraftError(f'The page has no line {_BEGIN} and {_END}.')
    return pattern.sub(lambda _: f'{_BEGIN}\n{table}{_END}', text)
