# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Measuring both audits, and the floor, on one site."""
from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import statistics
from typing import NamedTuple

from bench.audit import findings
from bench.audit.pair import Pair
from bench.audit.site import Site
from bench.audit.subjects import Floor
from bench.audit.subjects import Look
from bench.audit.subjects import LookWithMemory
from bench.audit.subjects import StartUp


class Cost(NamedTuple):
    """What something took.

    :ivar database_cpu_s: None if nobody knows
    :ivar selects: those of the client, not Placement's
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    placement_cpu_s: float
    database_cpu_s: float | None
    requests: float
    selects: int = 0


class Trial:
    """Measures on a site.

    :param repeat: how many times; medians are taken
    :param advance: called after each run
    :ivar costs: what each thing took, by its name
    :ivar surprises: what the audits reported that they ought not, or did
        not that they ought
    """

    def __init__(self, site: Site, pair: Pair, repeat: int,
                 advance: Callable[[], None]) -> None:
        self.costs: dict[str, Cost] = {}
        self.surprises: list[str] = []
        self._site = site
        self._pair = pair
        self._repeat = repeat
        self._advance = advance

    @staticmethod
    def steps(pair: Pair, repeat: int) -> int:
        """How many runs it is."""
        return (5 + (3 if pair.memory else 0)) * (repeat + 1)

    def run(self) -> None:
        """Measure all."""
        site, pair = self._site, self._pair
        self._measure({
            'stock': Look(site, pair.stock, ()),
            'fork': Look(site, pair.fork, pair.workers),
            'floor': Floor(site, pair.fork),
            'stock_start_up': StartUp(site, pair.stock, ()),
            'fork_start_up': StartUp(site, pair.fork, pair.workers)})
        if pair.memory:
            self._look_again()

    def _look_again(self) -> None:
        """Measure the fork's audit with a state file."""
        saved = self._site.folder / 'saved-state'
        look = LookWithMemory(
            self._site, self._pair.fork, self._pair.workers, saved)
        self._measure({'fork_first': look})
        if not look.after.exists():
            self.surprises.append('fork writes no state file')
            return
        look.after.rename(saved)
        self._measure({'fork_unchanged': look})
        self._site.add_newcomers()
        self._measure({'fork_changed': look})

    def _measure(self, subjects: dict[str, Look | Floor]) -> None:
        """Measure some, in turns."""
        # Counted first: so nothing is compiled, nor read from the disk for
        # the first time, when it is measured.
        selects = {}
        for name, subject in subjects.items():
            selects[name] = subject.count()
            self._advance()
        costs: dict[str, list[Cost]] = {name: [] for name in subjects}
        for _ in range(self._repeat):
            for name, subject in subjects.items():
                costs[name].append(self._cost(subject))
                self._advance()
        for name, several in costs.items():
            self.costs[name] = Cost(*map(_median, zip(*several)))._replace(
                selects=selects[name])

    def _cost(self, subject: Look | Floor) -> Cost:
        before = self._site.meters()
        done = subject.run()
        after = self._site.meters()
        if subject.reports:
            self._check(subject.nova.name, done.stdout)
        database = None
        if after.database_cpu_s is not None:
            database = after.database_cpu_s - before.database_cpu_s
        return Cost(done.wall_s, done.cpu_s, done.peak_mb,
                    after.placement_cpu_s - before.placement_cpu_s, database,
                    after.requests - before.requests)

    def _check(self, name: str, output: str) -> None:
        surprise = findings.surprise(self._site.cloud, name, output)
        if surprise and surprise not in self.surprises:
            self.surprises.append(surprise)


def _median(values: Sequence[float | None]) -> float | None:
    return None if None in values else statistics.median(values)
