# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Where the plays are played: each series' stock release and its fork."""
from __future__ import annotations

from collections.abc import Sequence
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import subprocess

from demo import scenarios
from graft.environment import Environment
from graft.fork import Fork
from graft.fork import State
from graft.progress import Progress
from graft.project import Project
from graft.tree import Tree

#: Seconds that all plays in one tree may take.
_TIMEOUT = 300


@dataclasses.dataclass(frozen=True)
class Moment:
    """One row of a play: when, what was seen, whether that was right."""

    when: str
    seen: str
    is_right: bool


@dataclasses.dataclass(frozen=True)
class Play:
    """How one play went.

    :ivar moments: what was seen, in order
    :ivar outcome: what came of it
    :ivar said: what the audit printed; None where there was no audit
    :ivar names: what the uuids in it stand for
    :ivar noise: all that it said, where it could not be played
    """

    moments: tuple[Moment, ...] = ()
    outcome: str = 'could not be played'
    said: tuple[str, ...] | None = None
    names: dict[str, str] = dataclasses.field(default_factory=dict)
    noise: str = ''

    @classmethod
    def of(cls, data: dict) -> Play:
        """A play as :mod:`demo.plays` tells of it."""
        if data['noise']:
            return cls(noise=data['noise'])
        said = data['said']
        return cls(
            moments=tuple(Moment(*moment) for moment in data['seen']),
            outcome=data['outcome'], names=data['names'],
            said=None if said is None else tuple(said))

    @property
    def is_right(self) -> bool:
        """Whether it was played and all was right."""
        return bool(self.moments) and all(
            moment.is_right for moment in self.moments)

    @property
    def has_bug(self) -> bool:
        """Whether it was played and something was wrong."""
        return bool(self.moments) and not self.is_right


@dataclasses.dataclass(frozen=True)
class Pair:
    """A scenario played on a series: on the stock release and on the fork.

    :ivar state: what the change is to the series, by looking at its code
    """

    scenario: scenarios.Scenario
    fork: Fork
    state: State
    stock: Play
    fixed: Play

    @property
    def all_right(self) -> bool:
        """Whether neither went wrong."""
        return self.stock.is_right and self.fixed.is_right

    @property
    def surprise(self) -> str:
        """What is not as it should be; empty where all is."""
        where = f'{self.scenario.title}, on {self.fork.series}'
        if self.stock.noise or self.fixed.noise:
            return f'{where}: could not be played.'
        if not self.fixed.is_right:
            return f'{where}: the fork does not do what is right.'
        if self.state is State.APPLIES and self.stock.is_right:
            return f'{where}: the stock release does not show the bug.'
        if self.state is not State.APPLIES and self.stock.has_bug:
            return (f'{where}: the stock release shows the bug, but the '
                    f'change is "{self.state}".')
        return ''


def play(
    project: Project, environments: Sequence[Environment],
) -> list[Pair]:
    """Play all that can be played in some environments.

    :returns: how it went, in the order of the scenarios
    """
    stages = [(environment, Fork.of(project, environment.series), stock)
              for environment in environments for stock in (True, False)]
    # Two processes at least, so that stock and fork play side by side.
    workers = min(len(stages), max(2, os.cpu_count() or 1))
    with (Progress('playing', len(stages)) as progress,
          concurrent.futures.ThreadPoolExecutor(workers or 1) as pool):
        waiting = {}
        for environment, fork, stock in stages:
            done = pool.submit(_play_all, project, environment,
                               Tree(fork, stock=stock).make())
            done.add_done_callback(lambda _: progress.advance())
            waiting[fork.series, stock] = fork, done
        played = {key: (fork, done.result())
                  for key, (fork, done) in waiting.items()}
    pairs = []
    for scenario in scenarios.SCENARIOS:
        for one in scenarios.series_of(project, scenario):
            if (one, True) in played:
                fork, stocks = played[one, True]
                _, fork_plays = played[one, False]
                pairs.append(Pair(
                    scenario, fork,
                    fork.state(project.change(scenario.change)),
                    stocks[scenario.play], fork_plays[scenario.play]))
    return pairs


def _play_all(
    project: Project, environment: Environment, tree: pathlib.Path,
) -> dict[str, Play]:
    """Play what is for a series in one of its trees, in one process."""
    names = [scenario.play for scenario in scenarios.SCENARIOS
             if environment.series in scenarios.series_of(project, scenario)]
    paths = os.pathsep.join(['.', str(project.root)])
    try:
        done = subprocess.run(
            [str(environment.python), '-m', 'demo.plays', *names], cwd=tree,
            capture_output=True, text=True, check=False, timeout=_TIMEOUT,
            env={**os.environ, **environment.variables(),
                 'PYTHONPATH': paths})
    except subprocess.TimeoutExpired as error:
        return dict.fromkeys(names, Play(noise=str(error)))
    if done.returncode:
        return dict.fromkeys(names, Play(noise=done.stdout + done.stderr))
    told = json.loads(done.stdout.splitlines()[-1])
    return {name: Play.of(told[name]) for name in names}
