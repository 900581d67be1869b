# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""graft: grows the fork in ``nova/`` onto a released Nova.

The words that a graft says (see :mod:`graft.mirror`) are here to be
imported by it. They do nothing when they run: a graft is read, not run.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Member = TypeVar('Member', bound=Callable)


def edit(
    *, change: str, series: str = '', fixed_when: str = '',
) -> Callable[[Member], Member]:
    """An upstream function is changed at its anchors.

    The function below it takes one argument, the upstream function's
    :class:`graft.body.Body`, and says what happens to it.

    :param change: the change this belongs to, a name from ``changes/``
    :param series: where in the change's range it applies, if not all over
    :param fixed_when: a pattern that fits the upstream function once
        upstream has fixed this; the edit is then left out
    """
    return _unchanged


def add(*, change: str, series: str = '') -> Callable[[Member], Member]:
    """A function or method that upstream does not have is added.

    It goes before the next member of the same class that upstream has, else
    after the last one before it, else to the end.
    """
    return _unchanged


def replace(
    *, change: str, series: str = '', fixed_when: str = '',
) -> Callable[[Member], Member]:
    """An upstream function is replaced by one that is all ours."""
    return _unchanged


def remove(
    *, change: str, series: str = '', fixed_when: str = '',
) -> Callable[[Member], Member]:
    """An upstream function is taken out; the body here says nothing."""
    return _unchanged


def _unchanged(member: Member) -> Member:
    return member
