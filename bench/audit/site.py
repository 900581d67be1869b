# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A cloud that runs and can be audited."""
from __future__ import annotations

from collections.abc import Iterator
import contextlib
import pathlib
from typing import NamedTuple

from bench.audit import config
from bench.audit import nova_rows
from bench.audit import placement
from bench.audit import placement_rows
from bench.audit import schemas
from bench.audit.cloud import Cloud
from bench.audit.databases import Databases
from bench.audit.nova import Nova
from bench.audit.writer import read_ids
from bench.audit.writer import write


class Meters(NamedTuple):
    """What those who serve an audit have done so far.

    :ivar database_cpu_s: None if nobody knows
    """

    requests: int
    placement_cpu_s: float
    database_cpu_s: float | None


class Site:
    """A cloud's databases, filled, its Placement and its configuration.

    :ivar conf: the path of ``nova.conf``
    :ivar cells: the URLs of the databases of cell0 and of the cells
    """

    def __init__(self, cloud: Cloud, databases: Databases,
                 served: placement.Placement, folder: pathlib.Path) -> None:
        self.cloud = cloud
        self.placement = served
        self.folder = folder
        self._databases = databases
        self._api = databases.url(_name(cloud, 'api'))
        self._books = databases.url(_name(cloud, 'placement'))
        self.cells = [databases.url(name) for name in _cells(cloud)]
        self.conf = config.write_nova(
            folder, self._api, self.cells[0], served.url)

    def fill(self) -> None:
        """Write the cloud into the databases."""
        write(self._api, nova_rows.api(self.cloud, self.cells))
        for number, url in enumerate(self.cells[1:], 1):
            write(url, nova_rows.cell(self.cloud, number))
        write(self._books, placement_rows.all_of(
            self.cloud, read_ids(self._books, 'resource_classes')))

    def add_newcomers(self) -> None:
        """Have a few more servers: on record first, then with Placement."""
        newcomers = self.cloud.newcomers
        write(self._api, nova_rows.api_servers(self.cloud, newcomers))
        for server in newcomers:
            write(self.cells[server.host.cell],
                  nova_rows.cell_servers(self.cloud, [server]))
            self.placement.put(f'/allocations/{server.uuid}', {
                'allocations': {
                    holding.provider: {'resources': holding.resources}
                    for holding in server.holdings()},
                'consumer_generation': None,
                'project_id': server.project, 'user_id': 'nova'})

    def meters(self) -> Meters:
        """What has been done so far."""
        return Meters(*self.placement.meter(), self._databases.cpu_seconds())


@contextlib.contextmanager
def open_site(cloud: Cloud, databases: Databases, nova: Nova,
              folder: pathlib.Path, keep: bool) -> Iterator[Site]:
    """Set up a cloud, with the schemas there already.

    :param nova: in whose environment Placement runs
    :param folder: for configuration and logs
    :param keep: do not drop the databases in the end
    """
    books = _name(cloud, 'placement')
    copies = {_name(cloud, 'api'): schemas.API, books: schemas.PLACEMENT,
              **dict.fromkeys(_cells(cloud), schemas.CELL)}
    try:
        for name, source in copies.items():
            databases.copy(source, name)
        config.write_placement(folder, databases.url(books))
        # First, as it is Placement that writes the standard classes.
        with placement.serve(nova, folder) as served:
            site = Site(cloud, databases, served, folder)
            site.fill()
            yield site
    finally:
        if not keep:
            for name in copies:
                databases.drop(name)


def _cells(cloud: Cloud) -> list[str]:
    return [_name(cloud, f'cell{number}')
            for number in range(cloud.size.cells + 1)]


def _name(cloud: Cloud, what: str) -> str:
    """The name of a database of the cloud, which no other one has."""
    return f'{cloud.size.label}_{what}'
