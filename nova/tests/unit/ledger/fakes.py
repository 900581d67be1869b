# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What stands in for Placement and for Nova's databases.

Both are plain lists that answer as the real ones do, and that a test may
change while they are asked: each request and query first calls `before`.
"""

import copy
import datetime
import email.utils
import itertools

from oslo_utils.fixture import uuidsentinel as uuids

from nova.compute import vm_states
from nova.ledger import records as rec

NOW = datetime.datetime(2026, 2, 3, 4, 5, 6)
LONG_AGO = NOW - datetime.timedelta(days=400)

# What a server of the kind that instance() makes holds.
USUAL = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 10}


def ago(**how_long):
    return NOW - datetime.timedelta(**how_long)


# Nova's records

def node(name, host=None, **more):
    """A compute node; its uuid is uuids.<name> if not given."""
    values = dict(uuid=getattr(uuids, name), id=1, host=host or name,
                  node=name, cell=uuids.cell1)
    values.update(more)
    return rec.Node(**values)


def instance(host=None, **more):
    """A server, uuids.I, that runs on a host's node of the same name."""
    values = dict(uuid=uuids.I, cell=uuids.cell1, host=host, node=host,
                  vm_state=vm_states.ACTIVE, updated_at=LONG_AGO, vcpus=1,
                  memory_mb=512, disk_gb=10)
    values.update(more)
    return rec.Instance(**values)


def migration(status, **more):
    """A migration, uuids.M, of uuids.I."""
    values = dict(uuid=uuids.M, instance=uuids.I, cell=uuids.cell1,
                  status=status, updated_at=LONG_AGO)
    values.update(more)
    return rec.Migration(**values)


class Nova(object):
    """Nova's databases; answers like nova.ledger.cells.Cells.

    :ivar cells: {uuid: why it does not answer, or None}
    :ivar rows: compute nodes, instances and migrations, of all cells
    :ivar build_requests: uuids of instances
    :ivar mappings: {uuid of an instance: uuid of its cell, or None}
    :ivar known_flavors: {uuid of an instance: nova.ledger.amounts.Flavor}
    :ivar before: called with the name of each query
    """

    def __init__(self, *rows):
        self.cells = {uuids.cell1: None, uuids.cell2: None}
        self.rows = list(rows)
        self.build_requests = set()
        self.mappings = {}
        self.known_flavors = {}
        self.before = lambda query: None

    def of(self, kind, *cells):
        """The rows of a kind, in some cells or in all."""
        return [row for row in self.rows if isinstance(row, kind) and
                (not cells or row.cell in cells)]

    def change(self, row, **values):
        """Write a row anew, and return it."""
        changed = row._replace(**values)
        self.rows[self.rows.index(row)] = changed
        return changed

    # What Cells has

    def identity(self):
        return sorted(self.cells)

    def look(self):
        records = rec.Records()
        self.before('build requests')
        records.build_requests.update(self.build_requests)
        for cell, why in self.cells.items():
            records.cells.append(rec.Cell(cell, '', why))
            if why:
                continue
            self._write(
                records, cell, lambda row: row.in_progress,
                lambda row: not row.deleted)
        return records

    def look_at(self, consumers):
        wanted = set(consumers)
        records = rec.Records()
        self.before('build requests')
        records.build_requests.update(self.build_requests & wanted)
        self._map(records, wanted)
        for cell, why in self.cells.items():
            records.cells.append(rec.Cell(cell, '', why))
            if why:
                continue
            concerned = wanted | {
                row.instance for row in self.of(rec.Migration, cell)
                if row.uuid in wanted}
            self._write(
                records, cell,
                lambda row: row.uuid in wanted or row.instance in concerned,
                lambda row: row.uuid in concerned)
        self._map(records, {
            row.instance for row in records.migrations.values()} - wanted)
        return records

    def flavors(self, instances):
        return {each.uuid: self.known_flavors[each.uuid]
                for each in instances if each.uuid in self.known_flavors}

    def _map(self, records, wanted):
        self.before('mappings')
        for uuid in wanted & set(self.mappings):
            records.mappings[uuid] = rec.Mapping(uuid, self.mappings[uuid])

    def _write(self, records, cell, of_migrations, of_instances):
        for row in self.of(rec.Node, cell):
            records.add_node(row)
        self.before('migrations')
        for row in filter(of_migrations, self.of(rec.Migration, cell)):
            records.add_migration(row)
        self.before('instances')
        for row in filter(of_instances, self.of(rec.Instance, cell)):
            records.add_instance(row)


# Placement

class Response(object):
    def __init__(self, status_code, document=None, headers=None):
        self.status_code = status_code
        self.headers = headers or {}
        self._document = document

    def json(self):
        return copy.deepcopy(self._document)


class Page(Response):
    """A page of a web server that stands where Placement should."""

    def json(self):
        raise ValueError('Expecting value: line 1 column 1 (char 0)')


class Placement(object):
    """Placement; answers like a nova.scheduler.client.report client.

    :ivar version: its newest microversion, (major, minor)
    :ivar providers: rec.Provider by uuid
    :ivar aggregates: {uuid of a provider: set of aggregates}
    :ivar consumers: rec.Held by uuid, of those that hold something
    :ivar requests: each as '<METHOD> <path>'
    :ivar before: called with each of them, before it is answered
    :ivar faults: {request: what it is answered instead}: a status, a
        Response, None for no answer, or an exception
    """

    def __init__(self, version=(1, 39)):
        self.version = version
        self.providers = {}
        self.aggregates = {}
        self.consumers = {}
        self.requests = []
        self.before = lambda request: None
        self.faults = {}
        self._generations = itertools.count(1)

    # For tests

    def add(self, name, parent=None, aggregates=(), uuid=None):
        """A provider; its uuid is uuids.<name> if not given."""
        uuid = uuid or getattr(uuids, name)
        root = self.providers[parent].root if parent else uuid
        self.providers[uuid] = rec.Provider(uuid, name, 1, root)
        self.aggregates[uuid] = set(aggregates)
        return uuid

    def hold(self, consumer, allocations, type=None, changed_at=LONG_AGO):
        """Let a consumer hold {provider: resources}, and nothing else."""
        if not allocations:
            self.consumers.pop(consumer, None)
            return
        for provider in allocations:
            placed = self.providers[provider]
            self.providers[provider] = placed._replace(
                generation=placed.generation + 1)
        before = self.consumers.get(consumer)
        self.consumers[consumer] = rec.Held(
            consumer, copy.deepcopy(allocations), next(self._generations),
            type or (before.type if before else 'unknown'), 'project',
            'user', changed_at)

    def held(self):
        """Who holds what: {consumer: {provider: resources}}."""
        return {consumer: copy.deepcopy(held.allocations)
                for consumer, held in self.consumers.items()}

    # What the report client has

    def get(self, url, version=None, global_request_id=None):
        path, _, query = url.partition('?')
        return self._answer('GET ' + url, lambda: self._get(
            path.strip('/').split('/'), query, _parsed(version)))

    def put(self, url, data, version=None, global_request_id=None):
        return self._answer('PUT ' + url, lambda: self._put(
            url.strip('/').split('/')[1], data, _parsed(version)))

    def _answer(self, request, answer):
        self.requests.append(request)
        self.before(request)
        fault = self.faults.get(request, answer)
        if fault is answer:
            return answer()
        if isinstance(fault, Exception):
            raise fault
        return (Response(fault, {'errors': []}) if isinstance(fault, int)
                else fault)

    def _get(self, path, query, version):
        if path == ['']:
            return Response(200, {'versions': [
                {'id': 'v1.0', 'min_version': '1.0',
                 'max_version': '%d.%d' % self.version}]})
        if version > self.version:
            return Response(406)
        if path == ['resource_providers']:
            return Response(200, {'resource_providers': [
                {'uuid': each.uuid, 'name': each.name,
                 'generation': each.generation,
                 'root_provider_uuid': each.root}
                for each in self._list(query)]})
        if path == ['usages']:
            return self._usages(query.partition('=')[2], version)
        if path[0] == 'allocations':
            return self._of_consumer(path[1], version)
        if path[1] not in self.providers:
            return Response(404)
        if path[2] == 'aggregates':
            return Response(200, {
                'aggregates': sorted(self.aggregates[path[1]])})
        return Response(200, {'allocations': {
            consumer: {'resources': held.allocations[path[1]]}
            for consumer, held in self.consumers.items()
            if path[1] in held.allocations}})

    def _list(self, query):
        key, _, value = query.partition('=')
        providers = self.providers.values()
        if key == 'in_tree':
            known = self.providers.get(value)
            return [each for each in providers
                    if known and each.root == known.root]
        if key == 'member_of':
            wanted = set(value.partition('in:')[2].split(','))
            return [each for each in providers
                    if self.aggregates[each.uuid] & wanted]
        return list(providers)

    def _usages(self, project, version):
        usages = {}
        for held in self.consumers.values():
            if held.project != project:
                continue
            of_type = usages
            if version >= (1, 38):
                of_type = usages.setdefault(
                    held.type, {'consumer_count': 0})
                of_type['consumer_count'] += 1
            for resources in held.allocations.values():
                for name, amount in resources.items():
                    of_type[name] = of_type.get(name, 0) + amount
        return Response(200, {'usages': usages})

    def _of_consumer(self, uuid, version):
        held = self.consumers.get(uuid)
        headers = {'Date': _http(NOW)}
        if held is None:
            return Response(200, {'allocations': {}}, headers)
        document = {
            'allocations': {
                provider: {'resources': resources, 'generation': 1}
                for provider, resources in held.allocations.items()},
            'project_id': held.project, 'user_id': held.user,
        }
        if version >= (1, 15) and held.changed_at:
            headers['Last-Modified'] = _http(held.changed_at)
        if version >= (1, 28):
            document['consumer_generation'] = held.generation
        if version >= (1, 38):
            document['consumer_type'] = held.type
        return Response(200, document, headers)

    def _put(self, uuid, document, version):
        needed = {'allocations', 'project_id', 'user_id'}
        if version >= (1, 28):
            needed.add('consumer_generation')
        if version > self.version:
            return Response(406)
        if set(document) != needed or not all(
                isinstance(document[key], str)
                for key in ('project_id', 'user_id')):
            return Response(400)
        allocations = {
            provider: asked['resources']
            for provider, asked in document['allocations'].items()}
        if not set(allocations) <= set(self.providers):
            return Response(400)
        held = self.consumers.get(uuid)
        if version >= (1, 28) and document['consumer_generation'] != (
                held.generation if held else None):
            return Response(409)
        self.hold(uuid, allocations, changed_at=NOW)
        return Response(204)


def _parsed(version):
    major, minor = (version or '1.0').split('.')
    return int(major), int(minor)


def _http(when):
    return email.utils.format_datetime(
        when.replace(tzinfo=datetime.timezone.utc), usegmt=True)


# Both

class Cloud(object):
    """Nova and Placement, with the same compute nodes.

    :ivar nova: Nova
    :ivar placement: Placement
    """

    def __init__(self, version=(1, 39)):
        self.nova = Nova()
        self.placement = Placement(version)

    def add_node(self, name, host=None, aggregates=(), **more):
        """A compute node and its provider, whose uuid is returned."""
        row = node(name, host, **more)
        self.nova.rows.append(row)
        return self.placement.add(name, aggregates=aggregates, uuid=row.uuid)

    def run(self, *rows):
        """Let Nova have instances and migrations."""
        self.nova.rows += rows
