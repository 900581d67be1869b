# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import contextlib
import io
import time
from unittest import mock

from oslo_utils.fixture import uuidsentinel as uuids

from nova.cmd import manage
from nova.conductor.tasks import live_migrate
from nova import context
from nova import objects
from nova.tests.functional import integrated_helpers
from nova.virt import fake

# One of the images that nova's tests have.
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'

SILENT = (0, '')


class AuditDuringLiveMigrationTestCase(
    integrated_helpers.ProviderUsageBaseTestCase,
):
    """An audit must not take away what a moving guest holds.

    While a server is live migrated its migration record is the consumer of
    the allocation on the source, and the server itself of the one on the
    destination, though its host is still the source. ``nova-manage placement
    audit`` knew servers by the host they are on and migrations by both of
    their nodes, so it took the destination's allocation for an orphan, and,
    until the migration's nodes were on record, the source's as well. With
    ``--delete`` the guest ended up running where it held nothing, and the
    scheduler gave its room away.

    A server whose migration is in progress, or which has a task_state, is on
    its way: nothing that it or its migration holds is an orphan. What is left
    behind by servers and migrations that are done, or gone, still is.
    """

    compute_driver = 'fake.MediumFakeDriver'

    def setUp(self):
        super().setUp()
        self.providers = {}
        for host in ('source', 'dest'):
            self._start_compute(host)
            self.providers[host] = self._get_provider_uuid_by_host(host)
        # Ussuri still calls it placement_api.
        self.placement = getattr(self, 'placement_api', None) or self.placement
        self.flavor = self.api.get_flavors()[0]
        self.resources = {
            'VCPU': self.flavor['vcpus'],
            'MEMORY_MB': self.flavor['ram'],
            'DISK_GB': self.flavor['disk'],
        }
        self.server = self._boot()
        self.audits = []

    def _boot(self):
        server = self.api.post_server({'server': {
            'name': 'guest',
            'imageRef': IMAGE,
            'flavorRef': self.flavor['id'],
            'availability_zone': 'nova:source',
            'networks': 'none',
        }})
        return self._wait_for_state_change(server, 'ACTIVE')

    def _live_migrate_to_dest(self):
        self.api.post_server_action(self.server['id'], {
            'os-migrateLive': {'host': 'dest', 'block_migration': 'auto'}})
        self._wait_for_migration_status(self.server, ['completed'])
        self._wait_for_server_parameter(self.server, {
            'status': 'ACTIVE', 'OS-EXT-SRV-ATTR:host': 'dest'})
        # Nova lets go of the source last of all.
        migration = self.get_migration_uuid_for_instance(self.server['id'])
        for _ in range(200):
            if not self._holdings(migration):
                return
            time.sleep(0.1)
        self.fail('The migration still holds %s' % self._holdings(migration))

    def _audit(self, delete=True):
        """Run the audit as an operator would.

        :returns: its exit code and what it said
        """
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = manage.PlacementCommands().audit(
                verbose=True, delete=delete)
        return code, said.getvalue()

    def _audit_before(self, cls, name):
        """Let the audit run whenever this method of nova's is called."""
        original = getattr(cls, name)

        def audit_first(*args, **kwargs):
            self.audits.append(self._audit())
            return original(*args, **kwargs)

        self.stub_out(
            '%s.%s.%s' % (cls.__module__, cls.__name__, name), audit_first)

    def _holdings(self, consumer):
        """What Placement says that a consumer holds, by host."""
        held = self._get_allocations_by_server_uuid(consumer)
        return {
            host: held[provider]['resources']
            for host, provider in self.providers.items() if provider in held
        }

    def _allocate(self, consumer, *hosts):
        """Give a consumer the flavor's resources on hosts."""
        generation = self.placement.get(
            '/allocations/%s' % consumer, version='1.28',
        ).body.get('consumer_generation')
        response = self.placement.put('/allocations/%s' % consumer, {
            'allocations': {
                self.providers[host]: {'resources': self.resources}
                for host in hosts
            },
            'consumer_generation': generation,
            'project_id': uuids.project,
            'user_id': uuids.user,
        }, version='1.28')
        self.assertEqual(204, response.status)

    def _assert_orphan(self, consumer, host):
        """The audit finds one orphan, says so, and deletes it if asked."""
        code, said = self._audit(delete=False)
        self.assertEqual(3, code, said)
        self.assertIn(
            'Allocations for consumer UUID %s on Resource Provider %s can be '
            'deleted: ' % (consumer, self.providers[host]), said)
        self.assertIn('Processed 1 allocation.', said)

        code, said = self._audit()
        self.assertEqual(4, code, said)
        self.assertIn(
            'Allocations were set against consumer UUID %s but no existing '
            'instances or active migrations are related. ' % consumer, said)
        self.assertIn(
            'Deleted allocations for consumer UUID %s on Resource Provider '
            '%s: ' % (consumer, self.providers[host]), said)
        self.assertNotIn(host, self._holdings(consumer))
        self.assertEqual(SILENT, self._audit())

    def test_audit_while_the_guest_moves(self):
        self._audit_before(fake.FakeDriver, 'live_migration')

        self._live_migrate_to_dest()

        self.assertEqual(
            {'dest': self.resources}, self._holdings(self.server['id']))
        self.assertEqual([SILENT], self.audits)

    def test_audit_before_the_destination_is_known(self):
        self._audit_before(
            live_migrate.LiveMigrationTask, '_find_destination')

        self._live_migrate_to_dest()

        self.assertEqual([SILENT], self.audits)
        self.assertEqual(
            {'dest': self.resources}, self._holdings(self.server['id']))

    def test_audit_finds_the_orphan_beside_a_moving_guest(self):
        self._allocate(uuids.nobody, 'dest')
        self._audit_before(fake.FakeDriver, 'live_migration')

        self._live_migrate_to_dest()

        (code, said), = self.audits
        self.assertEqual(4, code, said)
        self.assertIn('Processed 1 allocation.', said)
        self.assertEqual({}, self._holdings(uuids.nobody))
        self.assertEqual(
            {'dest': self.resources}, self._holdings(self.server['id']))

    def _silent(self, ctxt, cells, timeout, fn, *args, **kwargs):
        """What is asked of the cells, when they know but their nodes."""
        if fn == objects.ComputeNode.get_by_uuid:
            return self._ask_cells(ctxt, cells, timeout, fn, *args, **kwargs)
        return {cell.uuid: context.did_not_respond_sentinel for cell in cells}

    def test_audit_leaves_alone_what_it_can_not_know_of(self):
        self._allocate(uuids.nobody, 'dest')
        said = io.StringIO()
        self._ask_cells = context.scatter_gather_cells

        with contextlib.redirect_stderr(said), mock.patch.object(
                context, 'scatter_gather_cells', self._silent):
            self.assertEqual((1, ''), self._audit())

        self.assertIn(uuids.nobody, said.getvalue())
        self.assertEqual({'dest': self.resources},
                         self._holdings(uuids.nobody))
        # Once all cells answer again, it is known.
        self._assert_orphan(uuids.nobody, 'dest')

    def test_allocation_of_nobody_is_an_orphan(self):
        self._allocate(uuids.nobody, 'dest')
        self._assert_orphan(uuids.nobody, 'dest')

    def test_allocation_of_a_deleted_server_is_an_orphan(self):
        self.api.delete_server(self.server['id'])
        self._wait_until_deleted(self.server)
        self._allocate(self.server['id'], 'source')
        self._assert_orphan(self.server['id'], 'source')

    def test_allocation_of_a_completed_migration_is_an_orphan(self):
        self._live_migrate_to_dest()
        migration = self.get_migration_uuid_for_instance(self.server['id'])
        self._allocate(migration, 'source')
        self._assert_orphan(migration, 'source')

    def test_allocation_on_a_host_the_server_has_left_is_an_orphan(self):
        self._live_migrate_to_dest()
        self._allocate(self.server['id'], 'source', 'dest')
        self._assert_orphan(self.server['id'], 'source')
        self.assertEqual(
            {'dest': self.resources}, self._holdings(self.server['id']))
