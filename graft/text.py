# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A module's text, changed by splices so that the rest stays as it was.

The syntax tree says where a thing stands; only those lines are touched.
"""
from __future__ import annotations

import ast
from collections.abc import Sequence
import io
import re
import textwrap
import tokenize
import warnings

from graft.errors import GraftError


class Text:
    """The text of one module and the splices to be made in it.

    All positions are those of the text as it was given; the splices are
    made together, by :meth:`spliced`.

    :param path: the module's path, for messages
    :param source: its text, with the line ends that it has
    """

    def __init__(self, path: str, source: str) -> None:
        self.path = path
        # Lines are put together more simply if the last one has its end.
        self._ended = not source or source.endswith('\n')
        self.source = source if self._ended else source + '\n'
        self.lines = _lines(self.source)
        self._line_end = '\r\n' if '\r\n' in source else '\n'
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                self.tree = ast.parse(self.source, path)
        except SyntaxError as error:
            raise GraftError(f'{path}: not Python: {error}') from error
        self._splices: list[tuple[int, int, int, str]] = []
        self._cuts: list[tuple[int, int]] = []

    def splice(self, first: int, last: int, text: str) -> None:
        """Put a text in place of the lines from first up to last.

        :param first: the number of the first line to go, from 1
        :param last: that of the first line to stay; equal to ``first``
            where nothing goes
        """
        start, end = self._offset(first), self._offset(last)
        self.splice_span(start, end, text)

    def splice_span(self, start: int, end: int, text: str) -> None:
        """The same, by the offsets of characters."""
        text = re.sub('\r?\n', self._line_end, text)
        self._splices.append((start, end, len(self._splices), text))

    def cut(self, first: int, last: int) -> None:
        """Take lines out, from first up to last.

        Where a whole paragraph goes, by one cut or several, one of the blank
        lines around it goes too.
        """
        self._cuts.append((first, last))

    def spliced(self) -> str:
        """The text with all splices made.

        :raises GraftError: where two of them touch the same lines
        """
        for first, last in joined(self._cuts):
            blank = self.is_blank(first - 1) and self.is_blank(last)
            self.splice(first, last + blank, '')
        self._cuts = []
        done, at = [], 0
        for start, end, _, text in sorted(self._splices):
            if start < at:
                raise GraftError(
                    f'{self.path}: two edits touch the same lines near line '
                    f'{self.source.count(chr(10), 0, start) + 1}',
                    'Make one edit of them.')
            done += [self.source[at:start], text]
            at = end
        text = ''.join(done) + self.source[at:]
        if self._ended or at == len(self.source):
            return text
        return text[:-1]

    def offset(self, line: int, column: int) -> int:
        """The offset of a character from its line and its byte in it."""
        text = self.lines[line - 1].encode()[:column].decode()
        return self._offset(line) + len(text)

    def _offset(self, line: int) -> int:
        return sum(map(len, self.lines[:line - 1]))

    def line(self, number: int) -> str:
        """A line's text, empty outside the module."""
        if 1 <= number <= len(self.lines):
            return self.lines[number - 1]
        return ''

    def is_blank(self, number: int) -> bool:
        """Whether a line within the module holds nothing."""
        return bool(self.line(number)) and not self.line(number).strip()

    def first_line(self, node: ast.stmt, comments: bool = True) -> int:
        """The line a statement starts on, with what belongs to it above.

        :param comments: whether the comments right above it count
        """
        decorators = getattr(node, 'decorator_list', [])
        first = min([node.lineno] + [one.lineno for one in decorators])
        comment = self.indent(node) + '#'
        while comments and self.line(first - 1).startswith(comment):
            first -= 1
        return first

    def indent(self, node: ast.stmt) -> str:
        """The white space before a statement."""
        return _margin(self.lines[node.lineno - 1])

    def not_alone(self, statements: Sequence[ast.stmt]) -> str:
        """Why statements have not their lines for themselves, if so.

        An ``elif`` is a statement in the tree, but none in the text.
        """
        first, last = statements[0], statements[-1]
        assert last.end_lineno is not None
        assert last.end_col_offset is not None
        head = self.line(first.lineno)
        tail = self.line(last.end_lineno).encode()[last.end_col_offset:]
        if first.col_offset > len(_margin(head)):
            return 'begins in the middle of a line'
        if not re.fullmatch(rb'\s*(#.*)?', tail, re.DOTALL):
            return 'shares its line with another'
        if isinstance(first, ast.If) and head.lstrip().startswith('elif'):
            return 'is an "elif"'
        return ''


def block(code: str) -> str:
    """The code of a triple-quoted string: no first line end, no margin.

    Blank lines at its end are kept, since they are part of the layout.
    """
    code = textwrap.dedent(code.removeprefix('\n')).rstrip(' ')
    return code if code.endswith('\n') else code + '\n'


def reindent(code: str, indent: str, margin: str = '') -> str:
    """Code moved from one depth to another.

    The inner lines of its multi-line strings stay as they are.

    :param indent: the white space its lines shall begin with
    :param margin: that which they begin with now
    """
    if indent == margin:
        return code
    inside = _inside_strings(code)
    return ''.join(
        line if number in inside or not line.strip()
        else indent + (line.removeprefix(margin) if line.startswith(margin)
                       else line.lstrip())
        for number, line in enumerate(_lines(code), 1))


def _lines(text: str) -> list[str]:
    """The lines of a text, as Python counts them: no form feed ends one."""
    return io.StringIO(text, newline='').readlines()


def _margin(line: str) -> str:
    return line[:len(line) - len(line.lstrip())]


def _inside_strings(code: str) -> set[int]:
    """The numbers of the lines that begin within a string."""
    inside: set[int] = set()
    starts: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            kind = tokenize.tok_name[token.type]
            if kind == 'STRING':
                inside.update(range(token.start[0] + 1, token.end[0] + 1))
            elif kind == 'FSTRING_START':  # From Python 3.12 on.
                starts.append(token.start[0])
            elif kind == 'FSTRING_END':
                inside.update(range(starts.pop() + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        pass  # A fragment, such as code that ends within parentheses.
    return inside


def joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of lines, those that touch made one."""
    runs: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if runs and runs[-1][1] == first:
            first = runs.pop()[0]
        runs.append((first, last))
    return runs
