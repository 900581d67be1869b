# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The two that are compared: the stock release of a series and the fork."""
from __future__ import annotations

import dataclasses
import pathlib

from bench.audit.nova import Nova
from graft.environment import Environment
from graft.errors import UsageError
from graft.fork import Fork
from graft.project import Project
from graft.tree import Tree


@dataclasses.dataclass(frozen=True)
class Pair:
    """Both, and how the fork's audit is run.

    :ivar workers: words that it is given besides
    :ivar memory: whether it knows a state file
    """

    stock: Nova
    fork: Nova
    workers: tuple[str, ...]
    memory: bool

    @classmethod
    def lay_out(cls, series: str, folder: pathlib.Path,
                workers: int | None) -> Pair:
        """Lay both out in a folder, and see what the audits know.

        Not in ``build/``, where the trees may be made anew meanwhile.

        :param series: its name; the newest if empty
        :param workers: given to the fork's audit, unless None
        :raises UsageError: where there is no audit, or not that option
        """
        project = Project.find()
        every = project.series
        one = every.named(series) if series else every.newest
        python = Environment(project, one).make().python
        fork = Fork.of(project, one)
        novas = [
            Nova(name, version, Tree(
                fork, stock=name == 'stock', folder=folder / name).make(),
                python)
            for name, version in (('stock', one.nova),
                                  ('fork', fork.version))]
        if not novas[0].audit_help():
            raise UsageError(f'nova {one.nova} has no placement audit.',
                             'It came with Ussuri.')
        told = novas[1].audit_help()
        if workers and '--workers' not in told:
            raise UsageError(f'The audit of {fork.version} knows no '
                             f'--workers.')
        return cls(*novas, ('--workers', str(workers)) if workers else (),
                   '--state-file' in told)
