"""A module's text, changed by splices so that the rest stays as it was.

The syntax tree says where a thing stands; only those lines are touched.
"""
from __future__ import annotations

import ast
import textwrap

from graft.errors import GraftError


class Text:
    """The text of one module and the splices to be made in it.

    All positions are those of the text as it was given; the splices are
    made together, by :meth:`spliced`.

    :param path: the module's path, for messages
    :param source: its text
    """

    def __init__(self, path: str, source: str) -> None:
        self.path = path
        self.source = source
        self.lines = source.splitlines(keepends=True)
        try:
            self.tree = ast.parse(source, path)
        except SyntaxError as error:
            raise GraftError(f'{path}: not Python: {error}') from error
        self._splices: list[tuple[int, int, int, str]] = []

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
        self._splices.append((start, end, len(self._splices), text))

    def spliced(self) -> str:
        """The text with all splices made.

        :raises GraftError: where two of them touch the same lines
        """
        done, at = [], 0
        for start, end, _, text in sorted(self._splices):
            if start < at:
                raise GraftError(
                    f'{self.path}: two edits touch the same lines near line '
                    f'{self.source.count(chr(10), 0, start) + 1}',
                    'Make one edit of them.')
            done += [self.source[at:start], text]
            at = end
        return ''.join(done) + self.source[at:]

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
        while comments and self.line(first - 1).lstrip().startswith('#'):
            first -= 1
        return first

    def indent(self, node: ast.stmt) -> str:
        """The white space before a statement."""
        line = self.lines[node.lineno - 1]
        return line[:len(line) - len(line.lstrip())]


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
    inside = _inside_strings(code, margin)
    return ''.join(
        line if number in inside or not line.strip()
        else indent + line.removeprefix(margin)
        for number, line in enumerate(code.splitlines(keepends=True), 1))


def _inside_strings(code: str, margin: str) -> set[int]:
    """The numbers of the lines that begin within a string."""
    head = 'if 1:\n' if margin else ''
    try:
        tree = ast.parse(head + code)
    except SyntaxError:
        return set()
    return {number - len(head.splitlines())
            for node in ast.walk(tree)
            if isinstance(node, (ast.Constant, ast.JoinedStr)) and
            _is_string(node)
            for number in range(node.lineno + 1, node.end_lineno + 1)}


def _is_string(node: ast.AST) -> bool:
    value = getattr(node, 'value', '')
    return isinstance(node, ast.JoinedStr) or isinstance(value, (str, bytes))
