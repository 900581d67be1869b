# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What there is in the cloud that is audited.

The same size gives the same cloud, uuids and all.
"""
from __future__ import annotations

from collections.abc import Iterator
import dataclasses
import datetime
import random
from typing import NamedTuple
import uuid

#: So many in a thousand servers are followed by an orphan.
ORPHANS = 5
#: So many in a thousand servers are in a live migration.
MOVES = 3
#: Each server of this many holds a GPU, where hosts have some.
GPU_SHARE = 5
#: So many hosts get one more server for the second look.
NEWCOMERS = 10

#: A consumer and a provider on which it holds something.
Held = tuple[str, str]


class Flavor(NamedTuple):
    """What servers are made of."""

    id: int
    name: str
    extra_specs: dict[str, str]
    vcpus: int = 1
    memory_mb: int = 2048
    root_gb: int = 20


PLAIN = Flavor(1, 'small', {})
WITH_GPU = Flavor(2, 'small-gpu', {'resources:VGPU': '1'})


class Size(NamedTuple):
    """How large a cloud is.

    :ivar shape: ``flat`` or ``nested``
    """

    hosts: int
    cells: int
    shape: str
    servers_per_host: int
    projects: int

    @property
    def label(self) -> str:
        """A word for it."""
        return (f'{self.hosts}x{self.servers_per_host}_{self.cells}_'
                f'{self.shape}')


@dataclasses.dataclass(frozen=True)
class Host:
    """A compute node.

    :ivar number: from 1; its id in its cell's database
    :ivar uuid: that of the compute node, and of its resource provider
    :ivar cell: the number of its cell, from 1
    :ivar child: the provider below it that has GPUs; None if there is none
    """

    number: int
    uuid: str
    cell: int
    child: str | None

    @property
    def name(self) -> str:
        return f'compute-{self.number:05}.example.org'


class Holding(NamedTuple):
    """What a consumer holds on one provider.

    :ivar type: ``INSTANCE`` or ``MIGRATION``
    """

    consumer: str
    type: str
    provider: str
    resources: dict[str, int]


@dataclasses.dataclass(frozen=True)
class Server:
    """A server.

    :ivar host: where it runs
    :ivar target: where it is moving to, live; None if it is at rest
    :ivar migration: the uuid of that migration
    :ivar deleted: whether it is, though it holds resources still
    """

    uuid: str
    host: Host
    project: str
    flavor: Flavor
    target: Host | None = None
    migration: str = ''
    deleted: bool = False

    def holdings(self) -> Iterator[Holding]:
        """What it and its migration hold."""
        if self.target is not None:
            yield from self._on(self.host, self.migration, 'MIGRATION')
        yield from self._on(self.target or self.host, self.uuid, 'INSTANCE')

    def _on(self, host: Host, consumer: str, kind: str) -> Iterator[Holding]:
        yield Holding(consumer, kind, host.uuid, {
            'VCPU': self.flavor.vcpus,
            'MEMORY_MB': self.flavor.memory_mb,
            'DISK_GB': self.flavor.root_gb})
        if host.child and self.flavor is WITH_GPU:
            yield Holding(consumer, kind, host.child, {'VGPU': 1})


class Cloud:
    """All of it.

    :ivar created_at: when all came to be, but for the migrations; UTC
    :ivar moving_since: when those began
    :ivar projects: ids of projects
    :ivar servers: those that live
    :ivar deleted: orphans whose instance is on record as deleted
    :ivar strangers: orphans of which nothing is on record
    :ivar newcomers: servers that are not there yet, each on another host
    """

    def __init__(self, size: Size) -> None:
        self.size = size
        self._random = random.Random(0)
        now = datetime.datetime.now(datetime.timezone.utc).replace(
            microsecond=0, tzinfo=None)
        self.created_at = now - datetime.timedelta(days=30)
        self.moving_since = now - datetime.timedelta(minutes=1)
        self.projects = [self._uuid().replace('-', '')
                         for _ in range(size.projects)]
        nested = size.shape == 'nested'
        self.hosts = [
            Host(number, self._uuid(), number % size.cells + 1,
                 self._uuid() if nested else None)
            for number in range(1, size.hosts + 1)]
        self.servers = self._servers()
        orphans = [self._server(host, self._random.randrange(GPU_SHARE),
                                deleted=True)
                   for host in self._random.choices(
                       self.hosts, k=max(2, self._share(ORPHANS)))]
        half = len(orphans) // 2
        self.deleted, self.strangers = orphans[:half], orphans[half:]
        self.newcomers = [
            self._server(host, 1) for host in self._random.sample(
                self.hosts, min(NEWCOMERS, len(self.hosts)))]

    @property
    def moving(self) -> list[Server]:
        """The servers in a live migration."""
        return [server for server in self.servers if server.target]

    def consumers(self) -> Iterator[Server]:
        """All that hold something, orphans included."""
        yield from self.servers
        yield from self.deleted
        yield from self.strangers

    def orphaned(self) -> set[Held]:
        """What orphans hold."""
        return {(holding.consumer, holding.provider)
                for server in (*self.deleted, *self.strangers)
                for holding in server.holdings()}

    def awaited(self) -> set[Held]:
        """What servers hold where they are moving to."""
        return {(holding.consumer, holding.provider)
                for server in self.moving for holding in server.holdings()
                if holding.consumer == server.uuid}

    def _servers(self) -> list[Server]:
        targets = {cell: [host for host in self.hosts if host.cell == cell]
                   for cell in range(1, self.size.cells + 1)}
        places = [(host, number) for host in self.hosts
                  for number in range(self.size.servers_per_host)]
        # A cell of one host has nowhere to move to.
        movers = set(self._random.sample(
            [place for place in places if len(targets[place[0].cell]) > 1],
            max(1, self._share(MOVES))) if len(self.hosts) > self.size.cells
            else ())
        servers = []
        for host, number in places:
            move = {}
            if (host, number) in movers:
                others = [one for one in targets[host.cell] if one != host]
                move = {'target': self._random.choice(others),
                        'migration': self._uuid()}
            servers.append(self._server(host, number, **move))
        return servers

    def _server(self, host: Host, number: int, **more) -> Server:
        gpu = host.child and number % GPU_SHARE == 0
        return Server(self._uuid(), host, self._random.choice(self.projects),
                      WITH_GPU if gpu else PLAIN, **more)

    def _share(self, of_thousand: int) -> int:
        size = self.size
        return round(size.hosts * size.servers_per_host * of_thousand / 1000)

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))
