# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Grafts: files at a path that upstream has, which mirror what they touch.

A graft is valid Python that holds only our words. Its classes and functions
carry the names of the upstream ones they touch, and each function says with
:func:`graft.edit`, :func:`graft.add`, :func:`graft.replace` or
:func:`graft.remove` what happens and for which change. The imports at its
top are merged into upstream's as far as the added code needs them.
"""
from __future__ import annotations

import ast
import copy
import dataclasses
import pathlib
from typing import Any
import warnings

from graft import imports
from graft.body import Body
from graft.body import Function
from graft.change import Change
from graft.errors import AnchorError
from graft.errors import GraftError
from graft.pattern import Pattern
from graft.series import AllSeries
from graft.series import Series
from graft.text import reindent
from graft.text import Text

WORDS = ('edit', 'add', 'replace', 'remove')


@dataclasses.dataclass(frozen=True)
class Item:
    """One function of a graft and what it asks for.

    :ivar word: edit, add, replace or remove
    :ivar node: the function
    :ivar owner: the names of the classes it is in
    :ivar neighbours: the names of its fellow members, in order
    """

    word: str
    node: Function
    owner: tuple[str, ...]
    neighbours: tuple[str, ...]
    change: str
    series: str = ''
    fixed_when: str = ''

    @property
    def name(self) -> str:
        return '.'.join((*self.owner, self.node.name))


class Mirror:
    """A graft file.

    :param root: the folder that holds ``nova/``
    :param path: the file's path below it, which is upstream's too
    """

    def __init__(self, root: pathlib.Path, path: str) -> None:
        self.path = path
        self.text = Text(path, (root / path).read_text(encoding='utf-8'))
        self.items = self._read(self.text.tree.body, ())

    def changes(self) -> set[str]:
        """The names of the changes that the graft belongs to."""
        return {item.change for item in self.items}

    def items_of(
        self, change: Change, series: Series, all_series: AllSeries,
    ) -> list[Item]:
        """What a change asks for in a series."""
        return [item for item in self.items if item.change == change.name and
                (not item.series or
                 series in all_series.range(item.series))]

    def fixed_upstream(self, upstream: Text, item: Item) -> bool:
        """Whether a release has by itself what an item would do."""
        if not item.fixed_when:
            return False
        function = _find(upstream, item.name)
        return function is not None and bool(
            Pattern(item.fixed_when).find(function.body))

    def apply(
        self, source: str, change: Change, series: Series,
        all_series: AllSeries,
    ) -> str:
        """The upstream module with a change's items made in it.

        :param source: the module's text in the release
        :raises GraftError: where an item does not fit
        """
        upstream = Text(self.path, source)
        added: list[str] = []
        for item in self.items_of(change, series, all_series):
            if not self.fixed_upstream(upstream, item):
                added += self._do(upstream, item, series)
        imports.merge(upstream, imports.needed(self.text, added))
        result = upstream.spliced()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                compile(result, self.path, 'exec', dont_inherit=True)
        except SyntaxError as error:
            raise GraftError(
                f'{self.path} ({series}): {change.name} makes it invalid '
                f'Python: {error}') from error
        return result

    def _read(
        self, block: list[ast.stmt], owner: tuple[str, ...],
    ) -> list[Item]:
        names = tuple(node.name for node in block
                      if isinstance(node, Function | ast.ClassDef))
        items = []
        for node in block:
            if isinstance(node, ast.ClassDef):
                items += self._read(node.body, (*owner, node.name))
            elif isinstance(node, Function):
                items.append(self._item(node, owner, names))
            elif not _is_silent(node):
                raise GraftError(
                    f'{self.path}: line {node.lineno} would go nowhere:\n'
                    f'    {self.text.line(node.lineno).strip()}',
                    'A graft holds imports and functions, in classes or '
                    'not.')
        return items

    def _item(
        self, node: Function, owner: tuple[str, ...],
        neighbours: tuple[str, ...],
    ) -> Item:
        for decorator in node.decorator_list:
            if (isinstance(decorator, ast.Call) and
                    isinstance(decorator.func, ast.Name) and
                    decorator.func.id in WORDS):
                try:
                    told = {str(keyword.arg): ast.literal_eval(keyword.value)
                            for keyword in decorator.keywords}
                    item = Item(decorator.func.id, node, owner, neighbours,
                                **told)
                    if item.word == 'edit' and not isinstance(
                            node, ast.FunctionDef):
                        raise TypeError('an edit is a plain function')
                    if item.fixed_when:
                        Pattern(item.fixed_when)
                except (TypeError, ValueError, SyntaxError) as error:
                    raise GraftError(
                        f'{self.path}: line {decorator.lineno}: {error}',
                        f'@{decorator.func.id} takes change=, series= and '
                        f'fixed_when=, each a plain string.') from error
                return item
        raise GraftError(
            f'{self.path}: {".".join((*owner, node.name))} says neither '
            f'@edit, @add, @replace nor @remove',
            'Each function of a graft names what it does and its change.')

    def _do(self, upstream: Text, item: Item, series: Series) -> list[str]:
        function = _find(upstream, item.name)
        if item.word == 'add':
            if function is not None:
                raise AnchorError(
                    f'{self.path}: {item.name} is there already in {series}',
                    'Say @replace if it is to be ours, or mend its series.')
            return [self._add(upstream, item)]
        if function is None:
            raise AnchorError(
                f'{self.path}: {series} has no function {item.name}',
                'Look where upstream has it now, or mend the edit\'s series.')
        if item.word == 'replace':
            code = self._code(item, upstream.indent(function))
            assert function.end_lineno is not None
            upstream.splice(upstream.first_line(function, comments=False),
                            function.end_lineno + 1, code)
            return [code]
        if item.word == 'remove':
            self._remove(upstream, function)
            return []
        body = Body(upstream, function, item.name, series)
        self._run(item, body)
        return body.added

    def _run(self, item: Item, body: Body) -> None:
        """Let an edit say what happens to a body."""
        alone = copy.copy(item.node)
        alone.decorator_list = []
        module = ast.Module(body=[alone], type_ignores=[])
        space: dict = {}
        exec(compile(module, self.path, 'exec', dont_inherit=True), space)
        try:
            space[item.node.name](body)
        except GraftError:
            raise
        except Exception as error:
            raise GraftError(
                f'{self.path}: {item.name}: the edit itself fails: '
                f'{type(error).__name__}: {error}') from error

    @staticmethod
    def _remove(upstream: Text, function: ast.stmt) -> None:
        """Take a function out, and the gap above it."""
        first = upstream.first_line(function)
        while upstream.is_blank(first - 1):
            first -= 1
        assert function.end_lineno is not None
        upstream.splice(first, function.end_lineno + 1, '')

    def _add(self, upstream: Text, item: Item) -> str:
        at = item.neighbours.index(item.node.name)
        for name in item.neighbours[at + 1:]:
            node = _find(upstream, '.'.join((*item.owner, name)))
            if node is not None:
                code = self._code(item, upstream.indent(node))
                line = upstream.first_line(node)
                upstream.splice(line, line, code + _gap(item))
                return code
        for name in reversed(item.neighbours[:at]):
            node = _find(upstream, '.'.join((*item.owner, name)))
            if node is not None:
                break
        else:
            node = self._last(upstream, item)
        code = self._code(item, upstream.indent(node))
        assert node.end_lineno is not None
        line = node.end_lineno + 1
        upstream.splice(line, line, _gap(item) + code)
        return code

    def _last(self, upstream: Text, item: Item) -> ast.stmt:
        """The last statement of where an item goes."""
        owner = (_find(upstream, '.'.join(item.owner)) if item.owner
                 else upstream.tree)
        if not isinstance(owner, (ast.ClassDef, ast.Module)):
            raise AnchorError(
                f'{self.path}: there is no class {".".join(item.owner)}',
                'Look where upstream has it now.')
        if not owner.body or upstream.not_alone(owner.body[-1:]):
            raise AnchorError(
                f'{self.path}: {item.name} finds no room, since what it is '
                f'to be in has no lines of its own')
        return owner.body[-1]

    def _code(self, item: Item, indent: str) -> str:
        """An item's code as it shall stand upstream, without our word."""
        first = self.text.first_line(item.node)
        assert item.node.end_lineno is not None
        hidden: set[int] = set()
        for decorator in item.node.decorator_list:
            name = getattr(getattr(decorator, 'func', None), 'id', None)
            if name in WORDS:
                assert decorator.end_lineno is not None
                hidden.update(range(decorator.lineno,
                                    decorator.end_lineno + 1))
        code = ''.join(self.text.line(number)
                       for number in range(first, item.node.end_lineno + 1)
                       if number not in hidden)
        return reindent(code, indent, self.text.indent(item.node))


def _gap(item: Item) -> str:
    """The blank lines between members."""
    return '\n' if item.owner else '\n\n'


def _find(text: Text, dotted: str):
    """The class or function of a dotted name in a module, or None.

    ``__body__`` is the class or module itself that it is in.

    :raises AnchorError: where there are several
    """
    block: list[ast.stmt] = text.tree.body
    found: Any = text.tree
    for name in dotted.split('.'):
        if name == '__body__':
            return found
        named = [node for node in block
                 if isinstance(node, Function | ast.ClassDef) and
                 node.name == name]
        if len(named) > 1:
            raise AnchorError(
                f'{text.path}: {dotted} is there {len(named)} times, in '
                f'lines {", ".join(str(node.lineno) for node in named)}',
                'graft can\'t tell which is meant.')
        if not named:
            return None
        found = named[0]
        block = found.body
    return found


def _is_silent(node: ast.stmt) -> bool:
    """Whether a statement of a graft rightly leads to nothing."""
    return (isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)) or
            isinstance(node, ast.Expr) and
            isinstance(node.value, ast.Constant))
