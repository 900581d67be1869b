# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Anchors: small Python patterns, matched on the syntax tree.

A pattern is Python in which ``...`` stands for anything: any expression, any
arguments of a call, any statements of a block.

``....drop_move_claim(...)``
    the statement that calls ``drop_move_claim`` on whatever object
``instance.old_flavor = None``
    that assignment
``if consumer_type is not None: ...``
    that ``if``, whatever it does; what is not said (an ``else``) may be there
several lines
    these statements in this order in one block, where a line of ``...``
    stands for any number of others
"""
from __future__ import annotations

import ast
from collections.abc import Iterator
import dataclasses
import textwrap

#: Fields of a node that say nothing of what the code means.
_SILENT = {'ctx', 'kind', 'type_comment', 'type_params'}
#: The blocks a compound statement may leave out of a pattern.
_OPTIONAL_BLOCKS = {'orelse', 'handlers', 'finalbody'}


@dataclasses.dataclass(frozen=True)
class Match:
    """Where a pattern was found.

    :ivar statements: the statements of one block that it covers, in order
    :ivar expression: the expression it matched, if it is one
    """

    statements: tuple[ast.stmt, ...]
    expression: ast.expr | None = None

    @property
    def line(self) -> int:
        return self.statements[0].lineno


class Pattern:
    """A parsed anchor.

    :param text: the pattern; indentation common to its lines is ignored
    :raises SyntaxError: where it is no Python
    """

    def __init__(self, text: str) -> None:
        self.text = textwrap.dedent(text).strip()
        self._statements = ast.parse(self.text).body
        if not self._statements or _is_any(self._statements[0]):
            raise SyntaxError('an anchor must begin with what it names')

    def __str__(self) -> str:
        return self.text

    def find(self, block: list[ast.stmt]) -> list[Match]:
        """Each place below a block of statements where the pattern fits."""
        first = self._statements[0]
        if len(self._statements) == 1 and isinstance(first, ast.Expr):
            return list(_find_expression(first.value, block))
        return list(_find_statements(self._statements, block))

    def names(self) -> set[str]:
        """The identifiers in the pattern, to look for what came near."""
        return {word for statement in self._statements
                for node in ast.walk(statement) for word in _words(node)}


def blocks(block: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """A block and every block nested in it."""
    yield block
    for statement in block:
        for node in _own_nodes(statement):
            for name in ('body', 'orelse', 'finalbody'):
                nested = getattr(node, name, None)
                if nested and isinstance(nested, list):
                    yield from blocks(nested)


def statements(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement of a block and of those nested in it."""
    for nested in blocks(block):
        yield from nested


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement's nodes without those of the statements in it."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop(0)
        yield node
        todo.extend(child for child in ast.iter_child_nodes(node)
                    if not isinstance(child, ast.stmt))


def _find_expression(
    wanted: ast.expr, block: list[ast.stmt],
) -> Iterator[Match]:
    for statement in statements(block):
        for node in _own_nodes(statement):
            if isinstance(node, ast.expr) and _same(wanted, node):
                yield Match((statement,), node)


def _find_statements(
    wanted: list[ast.stmt], block: list[ast.stmt],
) -> Iterator[Match]:
    for nested in blocks(block):
        for start in range(len(nested)):
            end = _end(wanted, nested, start)
            if end is not None:
                yield Match(tuple(nested[start:end]))


def _end(
    wanted: list[ast.stmt], block: list[ast.stmt], start: int,
) -> int | None:
    """Where the wanted statements end that begin at ``start``, if so."""
    if not wanted:
        return start
    if _is_any(wanted[0]):
        ends = (_end(wanted[1:], block, later)
                for later in range(start, len(block) + 1))
        return next((end for end in ends if end is not None), None)
    if start == len(block) or not _same(wanted[0], block[start]):
        return None
    return _end(wanted[1:], block, start + 1)


def _same(wanted: object, found: object) -> bool:
    """Whether a node is what a pattern's node asks for."""
    if _is_any(wanted):
        return True
    if type(wanted) is not type(found):
        return False
    if isinstance(wanted, list) and isinstance(found, list):
        return _same_list(wanted, found)
    if isinstance(wanted, ast.Call) and isinstance(found, ast.Call):
        return (_same(wanted.func, found.func) and
                _same_arguments(wanted, found))
    if not isinstance(wanted, ast.AST):
        return wanted == found
    open_ended = _is_open(wanted)
    for field in wanted._fields:
        if field in _SILENT:
            continue
        part = getattr(wanted, field, None)
        there = getattr(found, field, None)
        if field in _OPTIONAL_BLOCKS and not part and open_ended:
            continue
        if field in _OPTIONAL_BLOCKS and part and not there:
            return False
        if not _same(part, there):
            return False
    return True


def _same_list(wanted: list, found: list) -> bool:
    if not wanted:
        return not found
    if _is_any(wanted[0]):
        return any(_same_list(wanted[1:], found[at:])
                   for at in range(len(found) + 1))
    return (bool(found) and _same(wanted[0], found[0]) and
            _same_list(wanted[1:], found[1:]))


def _same_arguments(wanted: ast.Call, found: ast.Call) -> bool:
    if not _same_list(wanted.args, found.args):
        return False
    left = list(found.keywords)
    for keyword in wanted.keywords:
        fits = [one for one in left if _same(keyword, one)]
        if not fits:
            return False
        left.remove(fits[0])
    return not left or any(map(_is_any, wanted.args))


def _is_any(node: object) -> bool:
    if isinstance(node, ast.Expr):
        node = node.value
    return isinstance(node, ast.Constant) and node.value is ...


def _is_open(node: ast.AST) -> bool:
    """Whether a compound statement's pattern is silent about its block."""
    body = getattr(node, 'body', None)
    return isinstance(body, list) and len(body) == 1 and _is_any(body[0])


def _words(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
