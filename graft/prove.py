# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Proof: a change's tests fail on the stock release and pass on the fork."""
from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import enum
import re

from graft.change import Change
from graft.environment import Environment
from graft.environment import find_interpreter
from graft.errors import UnavailableError
from graft.fork import Fork
from graft.fork import State
from graft.project import Project
from graft.series import Series
from graft.suite import Outcome
from graft.suite import Suite
from graft.tree import Tree


class Verdict(enum.Enum):
    """What running a change's tests on both has shown."""

    PROVEN = 'proven'
    ADDS = 'adds to it'
    PINNED = 'fixed upstream'
    UNAFFECTED = 'not affected'
    UNAVAILABLE = 'not proven here'
    UNPROVEN = 'NOT PROVEN'

    def __str__(self) -> str:
        return self.value


@dataclasses.dataclass(frozen=True)
class Proof:
    """A change proven, or not, on one series.

    :ivar verdict: what came of it
    :ivar reasons: why it is not proven
    :ivar stock: how its tests went on the release
    :ivar fork: how they went on the fork
    """

    change: Change
    series: Series
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    stock: Outcome | None = None
    fork: Outcome | None = None


def prove(
    project: Project, series: Series, changes: Sequence[Change],
) -> list[Proof]:
    """Run the tests of changes on a series' release and on its fork.

    :raises graft.errors.UnavailableError: where the release or an
        interpreter is missing
    """
    fork = Fork.of(project, series)
    concerned = [one for one in changes if one.concerns(series)]
    proofs = [Proof(one, series, Verdict.UNAFFECTED)
              for one in changes if one not in concerned]
    if not concerned:
        return proofs
    environment = Environment(project, series).make()
    names = [name for change in concerned for name in change.tests]
    both = [Suite(environment, Tree(fork, stock=stock).make(),
                  names).outcome() for stock in (True, False)]
    for change in concerned:
        stock, forked = (_of(outcome, change) for outcome in both)
        proofs.append(judge(change, fork, stock, forked))
    return proofs


def unavailable(series: Series, changes: Sequence[Change]) -> list[Proof]:
    """What to say of changes where a series' Python is not here.

    :returns: nothing where it is
    """
    try:
        find_interpreter(series)
    except UnavailableError as error:
        return [Proof(change, series, Verdict.UNAVAILABLE, (error.message,))
                for change in changes if change.concerns(series)]
    return []


def judge(
    change: Change, fork: Fork, stock: Outcome, forked: Outcome,
) -> Proof:
    """What two runs of the same tests say of a change."""
    reasons = [f'does not load: {name}'
               for name in (*stock.broken, *forked.broken)]
    reasons += [f'fails on the fork: {name}' for name in forked.failed]
    if stock.ran != forked.ran:
        reasons += [f'ran on one side only: {name}'
                    for name in sorted(stock.ran ^ forked.ran)]
    if not forked.ran:
        reasons.append('no test ran')
    state = fork.state(change)
    if not fork.project.mirrors_of(change):
        # It changes nothing that upstream has, so nothing can fail there.
        verdict = Verdict.ADDS
    elif state is State.FIXED:
        verdict = Verdict.PINNED
        reasons += [f'fixed upstream, but fails there: {name}'
                    for name in stock.failed]
    else:
        verdict = Verdict.PROVEN
        if not stock.failed:
            reasons.append('no test fails on the stock release: upstream has '
                           'fixed it, or the tests do not see it')
    if reasons:
        verdict = Verdict.UNPROVEN
    return Proof(change, fork.series, verdict, tuple(reasons), stock, forked)


def _of(outcome: Outcome, change: Change) -> Outcome:
    """The part of an outcome that is a change's own tests."""
    def own(name: str) -> bool:
        return any(re.search(rf'(?:^|\.){re.escape(test)}(?!\w)', name)
                   for test in change.tests)

    return Outcome(
        tuple(name for name in outcome.passed if own(name)),
        {name: said for name, said in outcome.failed.items() if own(name)},
        {name: said for name, said in outcome.broken.items() if own(name)},
        outcome.seconds)


def unproven(proofs: Sequence[Proof]) -> list[Proof]:
    """Those that did not come out as they should."""
    return [proof for proof in proofs if proof.verdict is Verdict.UNPROVEN]


def tell(proof: Proof) -> str:
    """A proof in words: a line, and what went wrong below it."""
    line = f'{proof.change.name} on {proof.series}: {proof.verdict}'
    if proof.stock and proof.fork:
        line += (f' (stock: {len(proof.stock.failed)} of '
                 f'{len(proof.stock.ran)} tests fail; fork: '
                 f'{len(proof.fork.failed)} of {len(proof.fork.ran)})')
    lines = [line, *(f'    {reason}' for reason in proof.reasons)]
    if proof.verdict is Verdict.UNPROVEN and proof.fork:
        for name, said in {**proof.fork.broken, **proof.fork.failed}.items():
            tail = said.strip().splitlines()[-8:]
            lines += [f'    {name}', *(f'        {one}' for one in tail)]
    return '\n'.join(lines)
