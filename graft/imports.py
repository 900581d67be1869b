# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Merging a graft's imports into upstream's, in hacking order.

OpenStack's order (hacking's H306): three groups, the standard library's,
those of others, the project's own, each in alphabetical order of the whole
name imported.
"""
from __future__ import annotations

import ast
import dataclasses
import itertools
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
        return 2 if root in ('', 'nova') else 1

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
        module = '.' * node.level + (node.module or '')
        return [Import(module, one.name, one.asname or '')
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
    lacking = [new for new in wanted if not _is_there(new, there, upstream)]
    lacking.sort(key=lambda new: (new.group, new.key))
    ordered = _ordered(there, upstream)
    for (_, (line, before, after)), some in itertools.groupby(
            lacking, lambda new: (new.group, _place(new, ordered, upstream))):
        upstream.splice(line, line, before + ''.join(map(str, some)) + after)


def _is_there(
    new: Import, there: list[tuple[Import, ast.stmt]], upstream: Text,
) -> bool:
    """Whether a module has an import."""
    same = [one for one, _ in there if one.bound == new.bound]
    if new in same:
        return True
    plain = not (new.name or new.alias)
    for one in same:
        # "import os" and "import os.path" get on with each other.
        if not plain or one.name or one.alias:
            raise GraftError(
                f'{upstream.path}: "{new.bound}" is {str(one).strip()!r} '
                f'there, not {str(new).strip()!r}',
                'Give the graft\'s import a name of its own.')
    return False


def _ordered(
    there: list[tuple[Import, ast.stmt]], upstream: Text,
) -> list[tuple[Import, ast.stmt]]:
    """The imports that stand in order.

    One that shares its line, as in ``import patch; patch.all()``, has to be
    made before all others: it and what precedes it stand out of order.
    """
    first = [number for number, (_, node) in enumerate(there, 1)
             if upstream.not_alone([node])]
    return there[first[-1]:] if first else there


def _place(
    new: Import, there: list[tuple[Import, ast.stmt]], upstream: Text,
) -> tuple[int, str, str]:
    """The line an import goes to, and what stands around it."""
    fellows = [(one, node) for one, node in there if one.group == new.group]
    for one, node in fellows:
        if one.key > new.key:
            return upstream.first_line(node), '', ''
    if fellows:
        return _after(fellows[-1][1]), '', ''
    earlier = [node for one, node in there if one.group < new.group]
    if earlier:
        return _after(earlier[-1]), '\n', ''
    body = upstream.tree.body
    if ast.get_docstring(upstream.tree) is None:
        return upstream.first_line(body[0]), '', '\n'
    if len(body) == 1:
        return _after(body[0]), '\n', ''
    return upstream.first_line(body[1]), '', '\n'


def _after(node: ast.stmt) -> int:
    """The number of the line after a statement."""
    assert node.end_lineno is not None
    return node.end_lineno + 1


def _parse(code: str) -> ast.AST:
    """The tree of a fragment of code, at whatever depth it stands."""
    try:
        return ast.parse(textwrap.dedent(code))
    except SyntaxError as error:
        raise GraftError(
            f'A graft adds what is no Python by itself: {error}\n{code}',
            'Add whole statements or expressions.') from error
