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
from typing import Any

from bench.audit import options
from bench.audit import show
from bench.audit.cloud import Cloud
from bench.audit.cloud import Size
from bench.audit.databases import Databases
from bench.audit.databases import MySQL
from bench.audit.databases import SQLite
from bench.audit.mariadb import private_server
from bench.audit.pair import Pair
from bench.audit.schemas import schemas
from bench.audit.site import open_site
from bench.audit.trial import Trial
from graft.errors import GraftError
from graft.progress import Progress


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
    with _databases(asked, folder) as databases:
        pair = Pair.lay_out(asked.series, folder, asked.workers)
        print(f'nova {pair.stock.version} beside {pair.fork.version}, '
              f'{databases.description}, {os.cpu_count()} CPUs; medians of '
              f'{asked.repeat}\n', flush=True)
        if not pair.memory:
            print('The audit of the fork knows no --state-file: no looks '
                  'with one.\n', flush=True)
        with schemas(databases, pair.stock, folder):
            found = _measure(asked, pair, databases, folder)
    print(json.dumps({
        'stock': pair.stock.version, 'fork': pair.fork.version,
        'database': databases.description, 'cpus': os.cpu_count(),
        'workers': asked.workers, 'repeat': asked.repeat,
        'combinations': found}))
    return 1 if any(one['surprises'] for one in found) else 0


def _measure(asked: argparse.Namespace, pair: Pair, databases: Databases,
             folder: pathlib.Path) -> list[dict[str, Any]]:
    """Measure each combination, and show it.

    :returns: all about each
    """
    sizes = [Size(*size, asked.servers_per_host, asked.projects)
             for size in itertools.product(
                 asked.hosts, asked.cells, asked.shape)]
    found = []
    with Progress('measuring', len(sizes) * Trial.steps(
            pair, asked.repeat)) as progress:
        for size in sizes:
            cloud = Cloud(size)
            place = folder / size.label
            place.mkdir()
            with open_site(cloud, databases, pair.stock, place,
                           asked.keep) as site:
                trial = Trial(site, pair, asked.repeat, progress.advance)
                trial.run()
            progress.say(show.table(cloud, trial.costs, trial.surprises))
            found.append(show.data(cloud, trial.costs, trial.surprises))
    return found


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
