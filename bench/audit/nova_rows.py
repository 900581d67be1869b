# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The cloud as rows of Nova's tables.

A row has what any series wants of it; a writer leaves out what a table does
not have.
"""
from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import json
from typing import Any
import uuid

from bench.audit.cloud import Cloud
from bench.audit.cloud import Flavor
from bench.audit.cloud import Host
from bench.audit.cloud import Server

Row = dict[str, Any]
Tables = Iterator[tuple[str, Iterable[Row]]]

#: Each server of this many has been migrated before.
MOVED_BEFORE = 10

_USER = 'b5d2e6a0c1f94c5e8a7d3f2b1c0e9d8a'
_IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'
_CPU_INFO = json.dumps({
    'arch': 'x86_64', 'model': 'Cascadelake-Server', 'vendor': 'Intel',
    'topology': {'cells': 2, 'sockets': 1, 'cores': 16, 'threads': 2},
    'features': ['aes', 'avx', 'avx2', 'avx512f', 'fma', 'pcid', 'sse4.2',
                 'ssse3', 'vmx', 'x2apic', 'xsave', 'xsaveopt']})


def api(cloud: Cloud, urls: Sequence[str]) -> Tables:
    """Rows of the API database.

    :param urls: the databases of cell0 and of the cells
    """
    yield 'cell_mappings', (
        {'id': number + 1, 'uuid': str(uuid.UUID(int=number)),
         'name': f'cell{number}', 'disabled': False,
         'transport_url': 'none:///' if number == 0 else
                          f'rabbit://nova:nova@127.0.0.1:5672/cell{number}',
         'database_connection': url, 'created_at': cloud.created_at}
        for number, url in enumerate(urls))
    yield 'host_mappings', (
        {'host': host.name, 'cell_id': host.cell + 1,
         'created_at': cloud.created_at} for host in cloud.hosts)
    yield from api_servers(cloud, cloud.servers + cloud.deleted)


def api_servers(cloud: Cloud, servers: Iterable[Server]) -> Tables:
    """Rows of the API database that are a server's."""
    yield 'instance_mappings', (
        {'instance_uuid': server.uuid, 'cell_id': server.host.cell + 1,
         'project_id': server.project, 'user_id': _USER,
         'queued_for_delete': server.deleted, 'created_at': cloud.created_at}
        for server in servers)


def cell(cloud: Cloud, number: int) -> Tables:
    """Rows of a cell's database.

    :param number: of the cell, from 1
    """
    hosts = [host for host in cloud.hosts if host.cell == number]
    servers = [server for server in cloud.servers + cloud.deleted
               if server.host.cell == number]
    yield 'services', (_service(cloud, host) for host in hosts)
    yield 'compute_nodes', (_compute_node(cloud, host) for host in hosts)
    yield from cell_servers(cloud, servers)
    yield 'migrations', (
        _migration(cloud, server, server.migration, server.target, 'running',
                   cloud.moving_since)
        for server in servers if server.target)
    yield 'migrations', (
        _migration(cloud, server, str(uuid.uuid5(uuid.NAMESPACE_OID,
                                                 server.uuid)),
                   server.host, 'completed', cloud.created_at)
        for server in servers[::MOVED_BEFORE])


def cell_servers(cloud: Cloud, servers: Sequence[Server]) -> Tables:
    """Rows of a cell's database that are a server's."""
    yield 'instances', (_instance(cloud, server) for server in servers)
    yield 'instance_extra', (
        {'instance_uuid': server.uuid, 'deleted': int(server.deleted),
         'created_at': cloud.created_at, 'updated_at': cloud.created_at,
         'flavor': json.dumps({'cur': _primitive(server.flavor),
                               'old': None, 'new': None}),
         'pci_requests': '[]'}
        for server in servers)


def _service(cloud: Cloud, host: Host) -> Row:
    return {
        'id': host.number, 'host': host.name, 'deleted': 0,
        'uuid': str(uuid.uuid5(uuid.NAMESPACE_DNS, host.name)),
        'binary': 'nova-compute', 'topic': 'compute', 'version': 0,
        'report_count': 259200, 'disabled': False, 'forced_down': False,
        'created_at': cloud.created_at, 'updated_at': cloud.moving_since,
        'last_seen_up': cloud.moving_since}


def _compute_node(cloud: Cloud, host: Host) -> Row:
    return {
        'id': host.number, 'uuid': host.uuid, 'host': host.name,
        'service_id': None, 'hypervisor_hostname': host.name, 'deleted': 0,
        'vcpus': 64, 'memory_mb': 262144, 'local_gb': 4000,
        'vcpus_used': 20, 'memory_mb_used': 41472, 'local_gb_used': 400,
        'free_ram_mb': 220672, 'free_disk_gb': 3600, 'running_vms': 20,
        'current_workload': 0, 'disk_available_least': 3200,
        'hypervisor_type': 'QEMU', 'hypervisor_version': 7002000,
        'cpu_info': _CPU_INFO, 'host_ip': '192.0.2.1', 'mapped': 1,
        'metrics': '[]', 'pci_stats': None, 'numa_topology': None,
        'supported_instances': '[["x86_64", "kvm", "hvm"]]',
        'stats': '{"failed_builds": "0"}', 'extra_resources': None,
        'cpu_allocation_ratio': 4.0, 'ram_allocation_ratio': 1.0,
        'disk_allocation_ratio': 1.0,
        'created_at': cloud.created_at, 'updated_at': cloud.moving_since}


def _instance(cloud: Cloud, server: Server) -> Row:
    gone = cloud.created_at if server.deleted else None
    name = f'server-{server.uuid[:8]}'
    return {
        'uuid': server.uuid, 'display_name': name, 'hostname': name,
        'display_description': name, 'project_id': server.project,
        'user_id': _USER, 'image_ref': _IMAGE, 'kernel_id': '',
        'ramdisk_id': '', 'launch_index': 0, 'key_name': 'key',
        'reservation_id': f'r-{server.uuid[:8]}', 'power_state': 1,
        'vm_state': 'deleted' if server.deleted else 'active',
        'task_state': 'migrating' if server.target else None,
        'vcpus': server.flavor.vcpus, 'memory_mb': server.flavor.memory_mb,
        'root_gb': server.flavor.root_gb, 'ephemeral_gb': 0,
        'instance_type_id': server.flavor.id, 'host': server.host.name,
        'node': server.host.name, 'compute_id': server.host.number,
        'launched_on': server.host.name, 'availability_zone': 'nova',
        'launched_at': cloud.created_at, 'terminated_at': gone,
        'deleted_at': gone, 'deleted': int(server.deleted),
        'created_at': cloud.created_at,
        'updated_at': cloud.moving_since if server.target
                      else cloud.created_at,
        'cleaned': int(server.deleted), 'hidden': False, 'locked': False,
        'progress': 0, 'root_device_name': '/dev/vda', 'config_drive': '',
        'auto_disk_config': False, 'disable_terminate': False,
        'shutdown_terminate': False}


def _primitive(flavor: Flavor) -> Row:
    """A flavor as an instance's record has it."""
    return {
        'nova_object.name': 'Flavor', 'nova_object.namespace': 'nova',
        'nova_object.version': '1.2', 'nova_object.changes': ['extra_specs'],
        'nova_object.data': {
            'id': flavor.id, 'name': flavor.name, 'flavorid': flavor.name,
            'vcpus': flavor.vcpus, 'memory_mb': flavor.memory_mb,
            'root_gb': flavor.root_gb, 'ephemeral_gb': 0, 'swap': 0,
            'rxtx_factor': 1.0, 'vcpu_weight': 0, 'disabled': False,
            'is_public': True, 'description': None,
            'extra_specs': flavor.extra_specs, 'deleted': False,
            'deleted_at': None, 'updated_at': None, 'created_at': None}}


def _migration(cloud: Cloud, server: Server, migration: str, target: Host,
               status: str, since: Any) -> Row:
    source = server.host.name
    return {
        'uuid': migration, 'instance_uuid': server.uuid, 'status': status,
        'migration_type': 'live-migration', 'hidden': False, 'deleted': 0,
        'source_compute': source, 'source_node': source,
        'dest_compute': target.name, 'dest_node': target.name,
        'dest_compute_id': target.number, 'dest_host': None,
        'old_instance_type_id': server.flavor.id,
        'new_instance_type_id': server.flavor.id, 'cross_cell_move': False,
        'user_id': _USER, 'project_id': server.project,
        'created_at': since, 'updated_at': since}
