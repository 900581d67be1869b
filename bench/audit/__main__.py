# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""``python -m bench.audit``: what the audit costs, stock beside fork.

Exit code 0; 1 if an audit does not report what it ought to, or fails; 2 for
wrong options; 4 if something is missing, such as MariaDB.
"""
from __future__ import annotations

import argparse
from collections.abc import Iterator
import contextlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile

from bench.audit import options
from bench.audit import show
from bench.audit.cloud import Cloud
from bench.audit.cloud import Size
from bench.audit.databases import Databases
from bench.audit.databases import MySQL
from bench.audit.databases import SQLite
from bench.audit.mariadb import private_server
from bench.audit.nova import Nova
from bench.audit.schemas import schemas
from bench.audit.site import open_site
from bench.audit.trial import Trial
from graft.environment import Environment
from graft.errors import GraftError
from graft.errors import UsageError
from graft.fork import Fork
from graft.progress import Progress
from graft.project import Project
from graft.tree import Tree


def main() -> int:
    """Measure and show."""
    asked = options.parse()
    # So that what was started is stopped as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with _folder(asked.keep) as folder:
            return _main(asked, folder)
    except GraftError as error:
        print(f'bench-audit: {error}', file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def _main(asked: argparse.Namespace, folder: pathlib.Path) -> int:
    stock, fork = _sides(asked.series, folder)
    told = fork.audit_help()
    if not stock.audit_help():
        raise UsageError(f'nova {stock.version} has no placement audit.',
                         'It came with Ussuri.')
    if asked.workers and '--workers' not in told:
        raise UsageError('The audit of the fork knows no --workers.')
    memory = '--state-file' in told
    workers = ['--workers', str(asked.workers)] if asked.workers else []
    sizes = [Size(hosts, cells, shape, asked.servers_per_host,
                  asked.projects)
             for hosts, cells, shape in itertools.product(
                 asked.hosts, asked.cells, asked.shape)]
    found = []
    with (Progress('measuring', len(sizes) * Trial.steps(
              memory, asked.repeat)) as progress,
          _databases(asked, folder) as databases,
          schemas(databases, stock, folder)):
        progress.say(f'nova {stock.version} beside {fork.version}, '
                     f'{databases.description}, {os.cpu_count()} CPUs; '
                     f'medians of {asked.repeat}\n')
        if not memory:
            progress.say('The audit of the fork knows no --state-file: no '
                         'second looks.\n')
        for size in sizes:
            cloud = Cloud(size)
            place = folder / size.label
            place.mkdir()
            with open_site(cloud, databases, stock, place,
                           asked.keep) as site:
                trial = Trial(site, stock, fork, workers, memory,
                              asked.repeat, progress.advance)
                trial.run()
            progress.say(show.table(cloud, trial.costs, trial.surprises))
            found.append(show.data(cloud, trial.costs, trial.surprises))
        print(json.dumps({
            'stock': stock.version, 'fork': fork.version,
            'database': databases.description, 'cpus': os.cpu_count(),
            'workers': asked.workers, 'repeat': asked.repeat,
            'combinations': found}))
    return 1 if any(one['surprises'] for one in found) else 0


@contextlib.contextmanager
def _folder(keep: bool) -> Iterator[pathlib.Path]:
    """A temporary folder for all there is."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='bench-audit-'))
    # MariaDB may run as another user, who has to get at its own.
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        if keep:
            print(f'bench-audit: all is kept in {folder}', file=sys.stderr)
        else:
            shutil.rmtree(folder)


def _sides(series: str, folder: pathlib.Path) -> tuple[Nova, Nova]:
    """Lay out the stock release and the fork of a series.

    In trees of their own: those in ``build/`` may be made anew meanwhile.
    """
    project = Project.find()
    every = project.series
    one = every.named(series) if series else every.newest
    python = Environment(project, one).make().python
    fork = Fork.of(project, one)
    return (
        Nova('stock', one.nova, Tree(
            fork, stock=True, folder=folder / 'stock').make(), python),
        Nova('fork', fork.version, Tree(
            fork, folder=folder / 'fork').make(), python))


@contextlib.contextmanager
def _databases(asked: argparse.Namespace,
               folder: pathlib.Path) -> Iterator[Databases]:
    """Where databases are to be."""
    if asked.url:
        yield MySQL(asked.url)
    elif asked.database == 'sqlite':
        yield SQLite(folder)
    else:
        with private_server(folder / 'mariadb') as server:
            yield server


if __name__ == '__main__':
    sys.exit(main())
