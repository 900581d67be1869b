"""Merging a graft's imports into upstream's, in hacking order.

OpenStack's order (hacking's H306): three groups, the standard library's,
those of others, the project's own, each in alphabetical order of the whole
name imported.
"""
from __future__ import annotations

import ast
import dataclasses
import sys
import textwrap

from graft.errors import GraftError
from graft.text import Text


@dataclasses.dataclass(frozen=True)
class Import:
    """One name brought in.

    :ivar module: where it comes from; for ``import x`` that is all
    :ivar name: what is taken from it, empty for ``import x``
    :ivar alias: what it is called here, if not by its own name
    """

    module: str
    name: str = ''
    alias: str = ''

    @property
    def bound(self) -> str:
        """The name that it binds."""
        return self.alias or self.name or self.module.split('.')[0]

    @property
    def key(self) -> str:
        """What it is sorted by within its group."""
        return '.'.join(filter(None, (self.module, self.name))).lower()

    @property
    def group(self) -> int:
        root = self.module.split('.')[0]
        if root in sys.stdlib_module_names:
            return 0
        return 2 if root == 'nova' else 1

    def __str__(self) -> str:
        alias = f' as {self.alias}' if self.alias else ''
        if self.name:
            return f'from {self.module} import {self.name}{alias}\n'
        return f'import {self.module}{alias}\n'


def read(node: ast.stmt) -> list[Import]:
    """The names that an import statement brings in; none for others."""
    if isinstance(node, ast.Import):
        return [Import(one.name, '', one.asname or '') for one in node.names]
    if isinstance(node, ast.ImportFrom):
        return [Import(node.module or '', one.name, one.asname or '')
                for one in node.names]
    return []


def needed(graft: Text, added: list[str]) -> list[Import]:
    """Those of a graft's imports that code it adds makes use of."""
    used = {node.id for code in added for node in ast.walk(_parse(code))
            if isinstance(node, ast.Name)}
    return [one for node in graft.tree.body for one in read(node)
            if one.module not in ('graft', '__future__') and
            one.bound in used]


def merge(upstream: Text, wanted: list[Import]) -> None:
    """Add to a module the imports it lacks.

    :raises GraftError: where the module means something else by the name
    """
    there = [(one, node) for node in upstream.tree.body for one in read(node)]
    for new in wanted:
        same = [one for one, _ in there if one.bound == new.bound]
        if new in same:
            continue
        if same and new.alias + new.name:
            raise GraftError(
                f'{upstream.path}: "{new.bound}" is '
                f'{str(same[0]).strip()!r} there, not '
                f'{str(new).strip()!r}',
                'Give the graft\'s import a name of its own.')
        line, before, after = _place(new, there, upstream)
        upstream.splice(line, line, before + str(new) + after)


def _place(
    new: Import, there: list[tuple[Import, ast.stmt]], upstream: Text,
) -> tuple[int, str, str]:
    """The line an import goes to, and what stands around it."""
    fellows = [(one, node) for one, node in there if one.group == new.group]
    for one, node in fellows:
        if one.key > new.key:
            return node.lineno, '', ''
    if fellows:
        return fellows[-1][1].end_lineno + 1, '', ''
    earlier = [node for one, node in there if one.group < new.group]
    if earlier:
        return earlier[-1].end_lineno + 1, '\n', ''
    body = upstream.tree.body
    first = body[0]
    if ast.get_docstring(upstream.tree) is not None and len(body) > 1:
        first = body[1]
    return upstream.first_line(first), '', '\n'


def _parse(code: str) -> ast.AST:
    """The tree of a fragment of code, at whatever depth it stands."""
    try:
        return ast.parse(textwrap.dedent(code))
    except SyntaxError as error:
        raise GraftError(
            f'A graft adds what is no Python by itself: {error}\n{code}',
            'Add whole statements or expressions.') from error
