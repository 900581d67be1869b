# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The cloud as rows of Placement's tables."""
from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping

from bench.audit.cloud import Cloud
from bench.audit.cloud import Host
from bench.audit.nova_rows import Row
from bench.audit.nova_rows import Tables

_TYPES = {'INSTANCE': 1, 'MIGRATION': 2}
#: What a provider has of a class: total, and how far it is overcommitted.
_ROOT = {'VCPU': (64, 4.0), 'MEMORY_MB': (262144, 1.0),
         'DISK_GB': (4000, 1.0)}
_CHILD = {'VGPU': (64, 1.0)}


def all_of(cloud: Cloud, classes: Mapping[str, int]) -> Tables:
    """Rows of all tables.

    :param classes: the ids of resource classes by their names
    """
    times = {'created_at': cloud.created_at, 'updated_at': cloud.created_at}
    projects = {project: number
                for number, project in enumerate(cloud.projects, 1)}
    yield 'resource_providers', (
        row | times for host in cloud.hosts for row in _providers(host))
    yield 'inventories', (
        row | times for host in cloud.hosts
        for row in _inventories(host, classes))
    yield 'projects', ({'id': number, 'external_id': project} | times
                       for project, number in projects.items())
    yield 'users', [{'id': 1, 'external_id': 'nova'} | times]
    yield 'consumer_types', ({'id': number, 'name': name} | times
                             for name, number in _TYPES.items())
    yield 'consumers', (
        {'uuid': consumer, 'consumer_type_id': _TYPES[kind],
         'project_id': projects[server.project], 'user_id': 1,
         'generation': 1} | times
        for server in cloud.consumers()
        for consumer, kind in {(holding.consumer, holding.type)
                               for holding in server.holdings()})
    providers = {row['uuid']: row['id'] for host in cloud.hosts
                 for row in _providers(host)}
    yield 'allocations', (
        {'resource_provider_id': providers[holding.provider],
         'consumer_id': holding.consumer, 'used': amount,
         'resource_class_id': classes[name]} | times
        for server in cloud.consumers() for holding in server.holdings()
        for name, amount in holding.resources.items())


def _providers(host: Host) -> Iterator[Row]:
    root = 2 * host.number
    yield {'id': root, 'uuid': host.uuid, 'name': host.name,
           'generation': 100, 'root_provider_id': root,
           'parent_provider_id': None}
    if host.child:
        yield {'id': root + 1, 'uuid': host.child,
               'name': f'{host.name}_gpu', 'generation': 100,
               'root_provider_id': root, 'parent_provider_id': root}


def _inventories(host: Host, classes: Mapping[str, int]) -> Iterator[Row]:
    for provider, stock in zip(_providers(host), (_ROOT, _CHILD)):
        for name, (total, ratio) in stock.items():
            yield {'resource_provider_id': provider['id'],
                   'resource_class_id': classes[name], 'total': total,
                   'reserved': 0, 'min_unit': 1, 'max_unit': total,
                   'step_size': 1, 'allocation_ratio': ratio}
