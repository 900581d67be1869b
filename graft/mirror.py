"""Grafts: files at a path that upstream has, which mirror what they touch.

A graft is valid Python that holds only our words. Its classes and functions
carry the names of the upstream ones they touch, and each function says with
:func:`graft.edit`, :func:`graft.add` or :func:`graft.replace` what happens
and for which change. The imports at its top are merged into upstream's as
far as the added code needs them.
"""
from __future__ import annotations

import ast
import copy
import dataclasses
import pathlib

from graft import imports
from graft.body import Body
from graft.change import Change
from graft.errors import AnchorError
from graft.errors import GraftError
from graft.pattern import Pattern
from graft.series import AllSeries
from graft.series import Series
from graft.text import Text
from graft.text import reindent

WORDS = ('edit', 'add', 'replace')


@dataclasses.dataclass(frozen=True)
class Item:
    """One function of a graft and what it asks for.

    :ivar word: edit, add or replace
    :ivar node: the function
    :ivar owner: the names of the classes it is in
    :ivar neighbours: the names of its fellow members, in order
    """

    word: str
    node: ast.FunctionDef
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
        for item in self.items:
            if item.change != change.name:
                continue
            if item.series and series not in all_series.range(item.series):
                continue
            if self.fixed_upstream(upstream, item):
                continue
            added += self._do(upstream, item, series)
        imports.merge(upstream, imports.needed(self.text, added))
        result = upstream.spliced()
        try:
            compile(result, self.path, 'exec')
        except SyntaxError as error:
            raise GraftError(
                f'{self.path} ({series}): {change.name} makes it invalid '
                f'Python: {error}') from error
        return result

    def _read(
        self, block: list[ast.stmt], owner: tuple[str, ...],
    ) -> list[Item]:
        names = tuple(node.name for node in block
                      if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
        items = []
        for node in block:
            if isinstance(node, ast.ClassDef):
                items += self._read(node.body, (*owner, node.name))
            elif isinstance(node, ast.FunctionDef):
                items.append(self._item(node, owner, names))
        return items

    def _item(
        self, node: ast.FunctionDef, owner: tuple[str, ...],
        neighbours: tuple[str, ...],
    ) -> Item:
        for decorator in node.decorator_list:
            if (isinstance(decorator, ast.Call) and
                    isinstance(decorator.func, ast.Name) and
                    decorator.func.id in WORDS):
                told = {keyword.arg: ast.literal_eval(keyword.value)
                        for keyword in decorator.keywords}
                return Item(decorator.func.id, node, owner, neighbours,
                            **told)
        raise GraftError(
            f'{self.path}: {".".join((*owner, node.name))} says neither '
            f'@edit, @add nor @replace',
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
        body = Body(upstream, function, item.name, series)
        self._run(item, body)
        return body.added

    def _run(self, item: Item, body: Body) -> None:
        """Let an edit say what happens to a body."""
        alone = copy.copy(item.node)
        alone.decorator_list = []
        module = ast.Module(body=[alone], type_ignores=[])
        space: dict = {}
        exec(compile(module, self.path, 'exec'), space)
        space[item.node.name](body)

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
        if not item.owner:
            return upstream.tree.body[-1]
        owner = _find(upstream, '.'.join(item.owner))
        if owner is None:
            raise AnchorError(
                f'{self.path}: there is no class {".".join(item.owner)}',
                'Look where upstream has it now.')
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
    """The class or function of a dotted name in a module, or None."""
    block: list[ast.stmt] = text.tree.body
    found = None
    for name in dotted.split('.'):
        found = next((node for node in block
                      if isinstance(node, (ast.ClassDef, ast.FunctionDef))
                      and node.name == name), None)
        if found is None:
            return None
        block = found.body
    return found
