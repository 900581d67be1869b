# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The body of an upstream function, as an edit sees it.

An edit says what happens to the function by anchors (see
:mod:`graft.pattern`); each must match exactly once.
"""
from __future__ import annotations

import ast
import difflib

from graft.errors import AnchorError
from graft.errors import GraftError
from graft.pattern import Match
from graft.pattern import Pattern
from graft.pattern import statements
from graft.series import Series
from graft.text import block
from graft.text import joined
from graft.text import reindent
from graft.text import Text

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Body:
    """A function's body and what is to happen to it.

    :param text: the module that holds the function
    :param function: the function's node in it
    :param name: its dotted name within the module
    :param series: the series of the release; comparable with a name, as in
        ``body.series < 'stein'``
    """

    def __init__(
        self, text: Text, function: Function, name: str,
        series: Series,
    ) -> None:
        self.text = text
        self.series = series
        self.name = name
        self._function = function
        #: every code an edit brings, to see which imports it needs
        self.added: list[str] = []

    def has(self, pattern: str) -> bool:
        """Whether a pattern fits anywhere in the function."""
        return bool(self._pattern(pattern).find(self._function.body))

    def insert(
        self, code: str, *, before: str | None = None,
        after: str | None = None,
    ) -> None:
        """Add statements before or after the anchored one."""
        line, indent = self._place(before, after)
        self.text.splice(line, line, self._code(code, indent))

    def replace(
        self, anchor: str, code: str, *, comment: bool = False,
    ) -> None:
        """Put code in place of an anchored expression or statement.

        :param comment: whether the comment above the statement goes too
        """
        match = self._match(anchor)
        if match.expression is not None and _is_expression(code):
            self._replace_expression(match.expression, code)
            return
        first, last = self._lines(anchor, comment)
        self.text.splice(first, last, self._code(code, self._indent(first)))

    def remove(self, *anchors: str) -> None:
        """Take statements out, with the comments right above them."""
        ranges = [self._lines(anchor) for anchor in anchors]
        for first, last in ranges:
            self.text.cut(first, last)

    def move(
        self, *anchors: str, before: str | None = None,
        after: str | None = None,
    ) -> None:
        """Put statements elsewhere, in the order given.

        The comments right above them go along. What was a paragraph of its
        own is one again.
        """
        line, indent = self._place(before, after)
        ranges = [self._lines(anchor) for anchor in anchors]
        moved = ''.join(self._moved(*lines, indent) for lines in ranges)
        if self._is_paragraph(ranges):
            moved = moved + '\n' if before else '\n' + moved
        self.text.splice(line, line, moved)
        for first, last in ranges:
            self.text.cut(first, last)

    def wrap(self, *anchors: str, code: str) -> None:
        """Put statements that follow each other into a new block.

        :param code: the new code; its line of ``...`` stands for them
        """
        ranges = [self._lines(anchor) for anchor in anchors]
        runs = joined(ranges)
        if len(runs) != 1:
            raise GraftError(
                f'{self._where}: the statements to wrap do not follow each '
                f'other:\n{self._quote(first for first, _ in runs)}',
                'Wrap them one by one, or name what is between them too.')
        first, last = runs[0]
        done = []
        code = self._code(code, self._indent(first))
        for line in code.splitlines(keepends=True):
            if line.strip() == '...':
                margin = line[:len(line) - len(line.lstrip())]
                line = self._moved(first, last, margin)
            done.append(line)
        self.text.splice(first, last, ''.join(done))

    def _code(self, code: str, indent: str) -> str:
        code = block(code)
        self.added.append(code)
        return reindent(code, indent)

    def _pattern(self, anchor: str) -> Pattern:
        try:
            return Pattern(anchor)
        except SyntaxError as error:
            raise GraftError(
                f'{self._where}: the anchor {anchor!r} is not a pattern: '
                f'{error.msg}',
                'An anchor is Python, with "..." for anything.') from error

    def _match(self, anchor: str) -> Match:
        pattern = self._pattern(anchor)
        found = pattern.find(self._function.body)
        if len(found) != 1:
            raise AnchorError(*self._story(pattern, found))
        return found[0]

    @property
    def _where(self) -> str:
        return f'{self.text.path}: {self.name} ({self.series})'

    def _head(self, pattern: Pattern) -> str:
        lines = ''.join(f'    {line}\n' for line in str(pattern).splitlines())
        return f'{self._where}: the anchor\n{lines}'

    def _story(
        self, pattern: Pattern, found: list[Match],
    ) -> tuple[str, str]:
        """What to say of an anchor that does not match exactly once."""
        head = self._head(pattern)
        if found:
            return (head + 'matches more than once:\n' + self._quote(
                        match.line for match in found),
                    'Say more in the anchor, so that it matches one of them.')
        near = self._near(pattern)
        if near:
            return (head + 'matches nothing; what comes near:\n' +
                    self._quote(near),
                    'Look whether upstream has changed or fixed this here; '
                    'then mend the anchor, or the edit\'s series.')
        return (head + 'matches nothing, and nothing comes near it.',
                'Look where upstream does this now, or whether it does.')

    def _near(self, pattern: Pattern) -> list[int]:
        wanted = pattern.names()
        scores = {}
        for statement in statements(self._function.body):
            line = self.text.line(statement.lineno).strip()
            shared = sum(name in line for name in wanted)
            likeness = difflib.SequenceMatcher(
                None, str(pattern), line).ratio()
            if likeness > (0.3 if shared else 0.6):
                scores[statement.lineno] = (shared, likeness)
        best = sorted(scores, key=lambda number: scores[number])[-3:]
        return sorted(best)

    def _quote(self, numbers) -> str:
        return '\n'.join(f'    line {number}: {self.text.line(number).strip()}'
                         for number in numbers)

    def _place(
        self, before: str | None, after: str | None,
    ) -> tuple[int, str]:
        """The line where something goes in, and its indentation."""
        if (before is None) == (after is None):
            raise GraftError(f'{self._where}: say either before= or after= '
                             f'which anchor.')
        first, last = self._lines(before or after or '')
        return (first if before else last), self._indent(first)

    def _lines(
        self, anchor: str, comments: bool = True,
    ) -> tuple[int, int]:
        """The lines of an anchor's match: its first, the first after it."""
        match = self._match(anchor)
        why = self.text.not_alone(match.statements)
        if why:
            raise AnchorError(
                f'{self._head(self._pattern(anchor))}'
                f'matches a statement that {why}:\n' +
                self._quote([match.line]),
                'Take the statement around it, or replace an expression.')
        first = self.text.first_line(match.statements[0], comments)
        end = match.statements[-1].end_lineno
        assert end is not None
        return first, end + 1

    def _indent(self, number: int) -> str:
        """The white space before a line."""
        line = self.text.line(number)
        return line[:len(line) - len(line.lstrip())]

    def _moved(self, first: int, last: int, indent: str) -> str:
        """Lines of the module as they read at another depth."""
        return reindent(''.join(self.text.lines[first - 1:last - 1]), indent,
                        self._indent(first))

    def _is_paragraph(self, ranges: list[tuple[int, int]]) -> bool:
        return (len(joined(ranges)) == 1 and
                self.text.is_blank(ranges[0][0] - 1) and
                self.text.is_blank(ranges[-1][1]))

    def _replace_expression(self, node: ast.expr, code: str) -> None:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        self.added.append(code.strip())
        start = self.text.offset(node.lineno, node.col_offset)
        # Its further lines stand as deep below its first as they are given.
        margin = ' ' * (start - self.text.offset(node.lineno, 0))
        self.text.splice_span(
            start, self.text.offset(node.end_lineno, node.end_col_offset),
            reindent(block(code), margin).strip())


def _is_expression(code: str) -> bool:
    try:
        ast.parse(code.strip(), mode='eval')
    except SyntaxError:
        return False
    return True
