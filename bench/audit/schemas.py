# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Empty databases, made once by Nova's and Placement's own tools.

Those of each cloud are copies of them: the tools take many seconds for each.
"""
from __future__ import annotations

from collections.abc import Iterator
import contextlib
import pathlib

from bench.audit import config
from bench.audit import process
from bench.audit.databases import Databases
from bench.audit.nova import Nova

API, CELL, PLACEMENT = 'empty_api', 'empty_cell', 'empty_placement'


@contextlib.contextmanager
def schemas(databases: Databases, nova: Nova, folder: pathlib.Path,
            ) -> Iterator[None]:
    """Make them; drop them in the end.

    :param nova: whose they are: both that are compared have the same
    :param folder: where configuration may go
    """
    names = (API, CELL, PLACEMENT)
    try:
        for name in names:
            databases.create(name)
        nova_conf = config.write_nova(
            folder, databases.url(API), databases.url(CELL), '')
        placement_conf = config.write_placement(
            folder, databases.url(PLACEMENT))
        for command in (
                nova.manage(nova_conf, 'api_db', 'sync'),
                nova.manage(nova_conf, 'db', 'sync', '--local_cell'),
                nova.main('placement.cmd.manage', '--config-file',
                          str(placement_conf), 'db', 'sync')):
            process.run(command, nova.environ).check()
        yield
    finally:
        for name in names:
            databases.drop(name)
