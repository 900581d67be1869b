# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The audit on clouds that nobody thought of.

What it does is held against an oracle that is simple and slow: it looks up
each thing that is held in the table of rightful holders as it is told to
people, knowing how the cloud was made.
"""

import os

import fixtures
import hypothesis
from hypothesis import strategies as st
from oslo_utils.fixture import uuidsentinel as uuids

from nova.compute import task_states
from nova.compute import vm_states
from nova.ledger import audit
from nova import test
from nova.tests.unit.ledger import fakes

CELLS = {'n1': 'cell1', 'n2': 'cell1', 'n3': 'cell1', 'n4': 'cell2'}
# Providers that are of a compute node, and which.
OF_NODE = {'n1': 'n1', 'n1_numa': 'n1', 'n2': 'n2', 'n3': 'n3', 'n4': 'n4'}
SHARED_BY = {'pool': {'n1', 'n2'}}
PROVIDERS = list(OF_NODE) + ['pool', 'alien']

RIGHTFUL = 'rightful'
NOBODYS = 'nobodys'
LEAVE = 'not to be judged'

# What may be going on with a server: what its record says.
STATES = {
    'at rest': {},
    'task': dict(task_state=task_states.MIGRATING),
    'building': dict(vm_state=vm_states.BUILDING, host=None, node=None),
    'verify': dict(vm_state=vm_states.RESIZED),
    'soft-deleted': dict(vm_state=vm_states.SOFT_DELETED),
    'offloaded': dict(vm_state=vm_states.SHELVED_OFFLOADED, host=None,
                      node=None),
    'failed': dict(vm_state=vm_states.ERROR, host=None, node=None),
    'deleted': dict(deleted=True),
    'requested': None,
    'never built': None,
    'purged': None,
    'lost': None,
}
IN_FLIGHT = {'task', 'building', 'verify', 'requested'}
AT_REST = {'at rest', 'soft-deleted'}

servers = st.fixed_dictionaries({
    'state': st.sampled_from(sorted(STATES)),
    'node': st.sampled_from(sorted(CELLS)),
    'migration': st.sampled_from([None, 'running', 'finished', 'completed',
                                  'error', 'no such status']),
    'holds': st.sets(st.sampled_from(PROVIDERS)),
    'migration_holds': st.sets(st.sampled_from(PROVIDERS)),
})
clouds = st.lists(servers, min_size=1, max_size=4)
silences = st.sets(st.sampled_from(['cell1', 'cell2']))

settings = hypothesis.settings(
    derandomize=True, deadline=None, max_examples=150, database=None,
    suppress_health_check=list(hypothesis.HealthCheck))


def consumer(number, kind='server'):
    return getattr(uuids, '%s%d' % (kind, number))


def in_flight(server):
    return server['state'] in IN_FLIGHT or (
        server['state'] in ('at rest', 'soft-deleted', 'offloaded',
                            'failed') and
        server['migration'] in ('running', 'finished', 'no such status'))


def oracle(server, provider, of_migration, silent):
    """Whether a server, or its migration, may hold a provider."""
    state, cell = server['state'], CELLS[server['node']]
    if state == 'requested':
        # No server has moved before it was built.
        return LEAVE if of_migration else RIGHTFUL
    if state in ('purged', 'never built') and silent:
        return LEAVE
    if state == 'purged' and provider not in OF_NODE and not (
            of_migration and server['migration']):
        return LEAVE
    if cell in silent or state == 'lost':
        return LEAVE
    if in_flight(server):
        return RIGHTFUL if not of_migration or server['migration'] else LEAVE
    if of_migration and not server['migration']:
        # Of nobody who is known.
        return LEAVE
    if state in AT_REST and not of_migration:
        if OF_NODE.get(provider) == server['node']:
            return RIGHTFUL
        if provider == 'alien' or (
                server['node'] in SHARED_BY.get(provider, ())):
            return RIGHTFUL
        if silent and CELLS.get(OF_NODE.get(provider)) not in (
                {'cell1', 'cell2'} - silent):
            # It may be of a compute node of that cell.
            return LEAVE
    return NOBODYS


class PropertiesTestCase(test.NoDBTestCase):

    def _cloud(self, made, silent=()):
        cloud = fakes.Cloud()
        for number, (name, cell) in enumerate(sorted(CELLS.items()), 1):
            cloud.add_node(name, id=number, cell=getattr(uuids, cell),
                           aggregates=[uuids.disks]
                           if name in SHARED_BY['pool'] else [])
        cloud.placement.add('n1_numa', parent=uuids.n1)
        cloud.placement.add('pool', aggregates=[uuids.disks])
        cloud.placement.add('alien')
        for number, server in enumerate(made):
            self._add(cloud, number, server)
        for cell in silent:
            cloud.nova.cells[getattr(uuids, cell)] = 'no answer'
        return cloud

    @staticmethod
    def _add(cloud, number, server):
        uuid, cell = consumer(number), getattr(uuids, CELLS[server['node']])
        said = STATES[server['state']]
        if said is not None:
            cloud.run(fakes.instance(
                **dict(dict(host=server['node']), **dict(
                    said, uuid=uuid, cell=cell, project='project'))))
        if server['state'] == 'requested':
            cloud.nova.build_requests.add(uuid)
        if server['state'] in ('requested', 'never built'):
            cloud.nova.mappings[uuid] = None
        elif server['state'] != 'purged':
            cloud.nova.mappings[uuid] = cell
        if server['migration']:
            cloud.run(fakes.migration(
                server['migration'], cell=cell, instance=uuid,
                uuid=consumer(number, 'migration')))
        for kind, where in [('server', 'holds'),
                            ('migration', 'migration_holds')]:
            cloud.placement.hold(consumer(number, kind), {
                getattr(uuids, name): dict(fakes.USUAL)
                for name in server[where]})

    @staticmethod
    def _audit(cloud, **options):
        """Look, and say what could be deleted, and what was found."""
        one = audit.Audit(
            audit.Options(**options),
            audit.placement_client.Client(cloud.placement), cloud.nova,
            audit.Interrupt())
        one.look()
        one.tell(audit.report.Text(False, False))
        one.remember()
        return one

    @staticmethod
    def _deletable(findings):
        return {(finding.consumer.uuid, finding.provider)
                for finding in findings if finding.deletable}

    @staticmethod
    def _told(made, silent, answer):
        """All that is held and that the oracle answers so."""
        return {
            (consumer(number, kind), getattr(uuids, name))
            for number, server in enumerate(made)
            for kind, where in [('server', 'holds'),
                                ('migration', 'migration_holds')]
            for name in server[where]
            if oracle(server, name, kind == 'migration', silent) == answer}

    @settings
    @hypothesis.given(clouds, silences)
    def test_nothing_rightful_or_unknown_is_deleted(self, made, silent):
        cloud = self._cloud(made, silent)
        found = self._deletable(self._audit(cloud).findings)
        self.assertEqual(set(), found & self._told(made, silent, RIGHTFUL))
        if silent:
            self.assertEqual(set(), found & self._told(made, silent, LEAVE))

    @settings
    @hypothesis.given(clouds)
    def test_all_that_is_nobodys_is_found(self, made):
        found = self._deletable(self._audit(self._cloud(made)).findings)
        self.assertEqual(set(), self._told(made, (), NOBODYS) - found)

    @settings
    @hypothesis.given(clouds, silences)
    def test_just_that_is_deleted(self, made, silent):
        cloud = self._cloud(made, silent)
        before = cloud.placement.held()
        found = self._deletable(self._audit(cloud).findings)
        self._audit(cloud, delete=True)
        expected = {
            uuid: {provider: resources
                   for provider, resources in held.items()
                   if (uuid, provider) not in found}
            for uuid, held in before.items()}
        self.assertEqual(
            {uuid: held for uuid, held in expected.items() if held},
            cloud.placement.held())
        self.assertEqual(set(), self._deletable(self._audit(cloud).findings))

    @settings
    @hypothesis.given(clouds, clouds, silences)
    def test_state_file_changes_nothing(self, made, then, silent):
        path = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'state')
        cloud = self._cloud(made)
        self._audit(cloud, state_file=path)
        # The servers of the same numbers change, and hold something else.
        cloud.nova.rows = cloud.nova.of(type(fakes.node('n1')))
        cloud.nova.build_requests.clear()
        cloud.nova.mappings.clear()
        for number, server in enumerate(then):
            self._add(cloud, number, server)
        for cell in silent:
            cloud.nova.cells[getattr(uuids, cell)] = 'no answer'
        self.assertEqual(
            sorted(map(repr, self._audit(cloud).findings)),
            sorted(map(repr, self._audit(cloud, state_file=path).findings)))

    @settings
    @hypothesis.given(clouds, st.integers(0, 12), st.data())
    def test_who_comes_back_meanwhile_is_left_alone(self, made, when, data):
        cloud = self._cloud(made)
        number = data.draw(st.integers(0, len(made) - 1))
        uuid = consumer(number)
        moment = [when]

        def come_back(_request):
            moment[0] -= 1
            if moment[0] == 0:
                # A claim: the record first, the allocation after it.
                cloud.nova.rows = [
                    row for row in cloud.nova.rows
                    if row.uuid != uuid or row.deleted is None]
                cloud.nova.mappings[uuid] = uuids.cell1
                cloud.run(fakes.instance(
                    'n1', uuid=uuid, task_state=task_states.SPAWNING))
                cloud.placement.hold(uuid, {uuids.n1: dict(fakes.USUAL)})

        cloud.placement.before = come_back
        self._audit(cloud, delete=True)
        if moment[0] <= 0 < when:
            self.assertEqual({uuids.n1: fakes.USUAL},
                             cloud.placement.held().get(uuid))
