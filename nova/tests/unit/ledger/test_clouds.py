# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The audit on clouds made row by row, lawful or not.

Where test_properties makes servers in known states, this makes records: any
vm_state with any task, any migrations, two records of one server, compute
nodes that share a name, that are deleted or were rebalanced, consumers that
nobody knows. The oracle looks each thing that is held up in the table of
rightful holders, slowly, going through all rows each time.
"""

import collections

import hypothesis
from hypothesis import strategies as st
from oslo_utils.fixture import uuidsentinel as uuids

from nova.compute import task_states
from nova.compute import vm_states
from nova.ledger import audit
from nova.ledger import records as rec
from nova import test
from nova.tests.unit.ledger import fakes

CELLS = [uuids.cell1, uuids.cell2]
# uuid, host, name, cell, deleted
NODES = [
    ('n1', 'h1', 'h1', 0, False),
    ('n2', 'h2', 'h2', 0, False),
    ('iron1', 'h2', 'iron1', 0, False),  # several nodes of a host
    ('iron2', 'h1', 'iron2', 0, False),
    ('twin1', 't1', 'twin', 0, False),  # several hosts of a node's name
    ('twin2', 't2', 'twin', 0, False),
    ('gone', 'h3', 'h3', 0, True),
    ('n3', 'h1', 'h1', 1, False),  # the same names in another cell
    ('n4', 'h4', 'h4', 1, False),
]
NODE_UUIDS = [getattr(uuids, node[0]) for node in NODES]
CHILDREN = {'n1.numa': 'n1', 'gone.gpu': 'gone', 'alien.child': 'alien'}
SHARED = {'pool': {'n1', 'n3'}, 'pool2': {'n2'}, 'lone': set()}
PLACES = ([node[0] for node in NODES] + list(CHILDREN) + list(SHARED) +
          ['alien'])
OVER = ['cancelled', 'completed', 'confirmed', 'done', 'error', 'failed',
        'reverted']
GOING_ON = ['accepted', 'preparing', 'running', 'post-migrating', 'finished',
            'confirming', 'reverting']
OURS = ['INSTANCE', 'MIGRATION', 'unknown']

settings = hypothesis.settings(
    derandomize=True, database=None, deadline=None, max_examples=500,
    suppress_health_check=list(hypothesis.HealthCheck))

places = st.sets(st.sampled_from(PLACES), max_size=3)
tasks = st.sampled_from([None] * 5 + [task_states.MIGRATING,
                                      task_states.RESIZE_REVERTING,
                                      task_states.DELETING])
states = st.sampled_from([
    vm_states.ACTIVE, vm_states.ACTIVE, vm_states.STOPPED, vm_states.ERROR,
    vm_states.SHELVED, vm_states.SHELVED_OFFLOADED, vm_states.SOFT_DELETED,
    vm_states.RESIZED, vm_states.BUILDING])
wheres = st.sampled_from(
    [(host, name) for _, host, name, _, _ in NODES] +
    [(None, None), ('h1', 'iron1'), ('h9', 'iron2'), ('t3', 'twin'),
     ('h8', 'h3'), ('lost', 'lost')])
instances = st.fixed_dictionaries({
    'cell': st.sampled_from(CELLS), 'where': wheres, 'vm_state': states,
    'task_state': tasks, 'deleted': st.sampled_from([False, False, True]),
    'compute_id': st.sampled_from([None, 5, 6])})
statuses = st.sampled_from(OVER + GOING_ON)
migrations = st.fixed_dictionaries({
    'status': statuses, 'in_other_cell': statuses, 'holds': places})
servers = st.fixed_dictionaries({
    'instance': st.one_of(st.none(), instances, instances, instances),
    'hidden': st.one_of(st.none(), st.none(), instances),
    'migrations': st.lists(migrations, max_size=2),
    'build_request': st.sampled_from([False, False, False, True]),
    'mapping': st.sampled_from(['right', 'right', 'right', 'none', 'no cell',
                                'other']),
    'holds': places})
strangers = st.fixed_dictionaries({
    'holds': places, 'type': st.sampled_from(OURS + ['CONTAINER'])})
clouds = st.fixed_dictionaries({
    'servers': st.lists(servers, min_size=1, max_size=3),
    'strangers': st.lists(strangers, max_size=2),
    'version': st.sampled_from([(1, 36), (1, 39)])})


def make(made):
    """The cloud that hypothesis has thought of."""
    cloud = fakes.Cloud(made['version'])
    for number, (name, host, node, cell, deleted) in enumerate(NODES, 1):
        cloud.add_node(
            node, host, id=number, uuid=getattr(uuids, name),
            cell=CELLS[cell], deleted=deleted,
            aggregates=[pool for pool in SHARED if name in SHARED[pool]])
    for name in list(SHARED) + ['alien']:
        cloud.placement.add(name, aggregates=[name] if name in SHARED and
                            SHARED[name] else [])
    for name, parent in CHILDREN.items():
        cloud.placement.add(name, parent=getattr(uuids, parent))

    def hold(consumer, names, **more):
        cloud.placement.hold(consumer, {
            getattr(uuids, name): dict(fakes.USUAL) for name in names},
            **more)

    for number, server in enumerate(made['servers']):
        uuid = getattr(uuids, 'server%d' % number)
        hold(uuid, server['holds'])
        for record, hidden in [('instance', False), ('hidden', True)]:
            values = dict(server[record] or {})
            if not values:
                continue
            host, node = values.pop('where')
            if hidden and server['instance']:
                values['cell'] = CELLS[
                    1 - CELLS.index(server['instance']['cell'])]
            cloud.run(fakes.instance(
                host, node=node, uuid=uuid, hidden=hidden, **values))
        # Migrations are where the server is, and where it is hidden too.
        cell = (server['instance'] or server['hidden'] or
                {'cell': CELLS[0]})['cell']
        for nth, move in enumerate(server['migrations']):
            consumer = getattr(uuids, 'migration%d.%d' % (number, nth))
            copies = [(cell, move['status'])]
            if server['instance'] and server['hidden']:
                copies.append((CELLS[cell == CELLS[0]],
                               move['in_other_cell']))
            for where, status in copies:
                cloud.run(fakes.migration(
                    status, uuid=consumer, instance=uuid, cell=where))
            hold(consumer, move['holds'])
        if server['build_request']:
            cloud.nova.build_requests.add(uuid)
        mapping = {'right': cell, 'no cell': None,
                   'other': CELLS[cell == CELLS[0]]}
        if server['mapping'] in mapping:
            cloud.nova.mappings[uuid] = mapping[server['mapping']]
    for number, stranger in enumerate(made['strangers']):
        hold(getattr(uuids, 'stranger%d' % number), stranger['holds'],
             type=stranger['type'])
    return cloud


class Oracle(object):
    """Who may hold what, and who may not.

    Of what is neither it says nothing: it is not to be deleted, and need not
    be found.
    """

    def __init__(self, cloud):
        self.cloud = cloud
        self.nova = cloud.nova
        self.silent = {cell for cell, why in self.nova.cells.items() if why}

    def rows(self, kind):
        """Those that can be read."""
        return [row for row in self.nova.of(kind)
                if row.cell not in self.silent]

    def server_of(self, consumer):
        """Which server it is about, and whether it is a migration."""
        for row in self.rows(rec.Migration):
            if row.uuid == consumer:
                return row.instance, True
        return consumer, False

    def living(self, server):
        """Its living records, the one that counts first."""
        return sorted(
            (row for row in self.rows(rec.Instance)
             if row.uuid == server and not row.deleted),
            key=lambda row: row.hidden)

    def in_flight(self, server):
        return any(
            row.task_state or row.vm_state in (vm_states.BUILDING,
                                               vm_states.RESIZED)
            for row in self.living(server)) or bool(
            self.living(server) and any(
                row.instance == server and row.status in GOING_ON
                for row in self.rows(rec.Migration)))

    def homes(self, row):
        """The compute nodes that a record may mean: one if all is well."""
        named = [node for node in self.rows(rec.Node)
                 if (node.cell, node.node) == (row.cell, row.node)]
        there = [node for node in named if not node.deleted] or named
        for this in ([n for n in there if n.id == row.compute_id],
                     [n for n in there if n.host == row.host]):
            if this and len(there) > 1:
                return {node.uuid for node in this}
        return {node.uuid for node in there}

    def rightful(self, consumer, provider):
        server, is_migration = self.server_of(consumer)
        if self.in_flight(server) or consumer in self.nova.build_requests:
            return True
        rows = self.living(server)
        if not rows or is_migration:
            return False
        row = rows[0]
        if not row.host or row.vm_state == vm_states.SHELVED_OFFLOADED:
            return False
        root = self.cloud.placement.providers[provider].root
        if root in self.homes(row):
            return True
        return any(getattr(uuids, name) in self.homes(row)
                   for pool, names in SHARED.items()
                   if provider == getattr(uuids, pool) for name in names)

    def contradicts(self, server):
        """Whether the cell that the server is mapped to lacks it."""
        cell = self.nova.mappings.get(server)
        return cell is not None and cell not in {
            row.cell for row in self.rows(rec.Instance)
            if row.uuid == server}

    def silence(self, consumer):
        """Whether a cell that does not answer could know of it."""
        server, _ = self.server_of(consumer)
        if self.nova.mappings.get(server) in self.silent:
            return True
        return bool(self.silent) and self.nova.mappings.get(server) is None \
            and not any(row.uuid == server for row in self.rows(rec.Instance))

    def nobodys(self, consumer, provider):
        """When all cells answer."""
        server, is_migration = self.server_of(consumer)
        if self.rightful(consumer, provider):
            return False
        if server in self.nova.build_requests:
            # Which has moved before it was built.
            return False
        root = self.cloud.placement.providers[provider].root
        known = [row for row in self.rows(rec.Instance)
                 if row.uuid == server]
        if not known:
            if self.contradicts(server):
                return False
            if server in self.nova.mappings or is_migration:
                return True
            kind = self.cloud.placement.consumers[consumer].type
            return root in NODE_UUIDS and (
                kind in OURS or self.cloud.placement.version < (1, 38))
        living = self.living(server)
        if living and living[0].host and not is_migration and (
                living[0].vm_state != vm_states.SHELVED_OFFLOADED and
                root not in NODE_UUIDS):
            # Of whom it is known who shares it, and where the server is.
            sharing = [names for pool, names in SHARED.items()
                       if provider == getattr(uuids, pool) and names]
            return bool(sharing and self.homes(living[0]) and not any(
                node.deleted for node in self.rows(rec.Node)
                if node.uuid in self.homes(living[0])) and
                len(self.homes(living[0])) == 1)
        return True


class CloudsTestCase(test.NoDBTestCase):

    def _audit(self, cloud, **options):
        one = audit.Audit(
            audit.Options(workers=1, **options),
            audit.placement_client.Client(cloud.placement), cloud.nova,
            audit.Interrupt())
        one.look()
        one.tell(audit.report.Text(False, False))
        return {(finding.consumer.uuid, finding.provider)
                for finding in one.findings if finding.deletable}

    @staticmethod
    def _held(cloud):
        return {(consumer, provider)
                for consumer, where in cloud.placement.held().items()
                for provider in where}

    @settings
    @hypothesis.given(clouds)
    def test_nothing_rightful_all_that_is_nobodys(self, made):
        cloud = make(made)
        oracle = Oracle(cloud)
        held = self._held(cloud)
        found = self._audit(cloud)
        self.assertEqual(set(), {
            each for each in found if oracle.rightful(*each)})
        self.assertEqual(set(), {
            each for each in held if oracle.nobodys(*each)} - found)

    @settings
    @hypothesis.given(clouds, st.sets(st.sampled_from(CELLS), min_size=1))
    def test_nothing_that_a_silent_cell_could_know(self, made, silent):
        cloud = make(made)
        cloud.nova.cells.update(dict.fromkeys(silent, 'no answer'))
        oracle = Oracle(cloud)
        found = self._audit(cloud)
        self.assertEqual(set(), {
            each for each in found if oracle.silence(each[0])})
        self.assertEqual(set(), {
            each for each in found if oracle.rightful(*each)})

    @settings
    @hypothesis.given(clouds, st.sets(st.sampled_from(CELLS), max_size=1))
    def test_just_what_is_found_is_deleted(self, made, silent):
        cloud = make(made)
        cloud.nova.cells.update(dict.fromkeys(silent, 'no answer'))
        before = cloud.placement.held()
        untouched = dict(cloud.placement.consumers)
        found = self._audit(cloud)
        self.assertEqual(before, cloud.placement.held())
        self.assertEqual(found, self._audit(cloud, delete=True))
        expected = collections.defaultdict(dict)
        for consumer, where in before.items():
            for provider, resources in where.items():
                if (consumer, provider) not in found:
                    expected[consumer][provider] = resources
        self.assertEqual(expected, cloud.placement.held())
        # Who holds nothing wrongly is not even written anew.
        wrong = {consumer for consumer, _ in found}
        self.assertEqual(
            {uuid: held for uuid, held in untouched.items()
             if uuid not in wrong},
            {uuid: held for uuid, held in cloud.placement.consumers.items()
             if uuid not in wrong})
        self.assertEqual(set(), self._audit(cloud))
