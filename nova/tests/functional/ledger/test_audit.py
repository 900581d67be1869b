# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What the audit may delete, and what it must leave alone."""

import time
from unittest import mock

from oslo_utils.fixture import uuidsentinel as uuids

from nova.cmd import manage
from nova import context
from nova import exception
from nova import objects
from nova.tests.functional.ledger import base
from nova.virt import fake

# Older than this is what a test has made before it sleeps a second longer.
AGE = 2


class AuditTestCase(base.LedgerTestCase):

    def setUp(self):
        super().setUp()
        self.start_hosts('host1')
        # In the second cell, if there is one.
        self.start_hosts(
            'host2', cell_name='cell%d' % self.NUMBER_OF_CELLS)
        self.held = self.resources(self.small)

    # What the tests do to the cloud

    def in_cell(self, statement, cell_name='cell1', **values):
        """Run a statement in the database of a cell."""
        mapping = self.cell_mappings[cell_name]
        with context.target_cell(self.admin(), mapping) as cell:
            base.execute(cell, statement, **values)

    def let_age(self):
        """Wait until all that is on record is older than AGE."""
        time.sleep(AGE + 1.1)

    def offload(self, server_id):
        self.flags(shelved_offload_time=0)
        self.act(server_id, 'shelve')
        self.wait_for(server_id, 'SHELVED_OFFLOADED')

    def move_live(self, server_id):
        self.act(server_id, 'os-migrateLive',
                 {'host': None, 'block_migration': 'auto'})
        self.wait_until(
            lambda: self.wait_for(server_id, 'ACTIVE') == 'host2',
            lambda: 'the server is still on host1')
        self.wait_until_source_is_free(server_id)

    # What they expect

    def assert_orphan(self, consumer, *hosts):
        """It is found, said, deleted, and nothing else is."""
        before = self.holdings(consumer)
        providers = self.tap.providers()

        found = self.fresh_audit()
        self.assertEqual(3, found.code, found)
        deleted = self.fresh_audit('--delete')
        self.assertEqual(4, deleted.code, deleted)

        for host in hosts:
            self.assertIn(
                'Allocations for consumer UUID %s on Resource Provider %s '
                'can be deleted: ' % (consumer, providers[host]), found.out)
            self.assertIn(
                'Deleted allocations for consumer UUID %s on Resource '
                'Provider %s: ' % (consumer, providers[host]), deleted.out)
            del before[host]
        self.assertEqual(before, self.holdings(consumer))
        self.assertEqual(0, self.fresh_audit('--delete').code)

    def assert_left_alone(self, consumer, code=0):
        """Nothing of it is an orphan, nor deleted.

        :param code: the audit's exit code
        :returns: the audit that was to delete it
        """
        before = self.holdings(consumer)
        for words in ([], ['--delete']):
            audit = self.fresh_audit(*words)
            self.assertEqual(code, audit.code, audit)
            self.assertNotIn(consumer, audit.out)
        self.assertEqual(before, self.holdings(consumer))
        return audit


class EndOfMovesTestCase(AuditTestCase):
    """The status of a move says that it is over before all of it is.

    The audit deletes at each moment. What was held before is old enough to
    be deleted, but what Nova has just written about the move is not.
    """

    def setUp(self):
        super().setUp()
        self.server_id = self.boot('host1')

    def _audit(self, label):
        if self.server_id:
            self.audit('--delete', '--min-age', str(AGE))

    def _migrate(self):
        self.act(self.server_id, 'migrate')
        self.assertEqual(
            'host2', self.wait_for(self.server_id, 'VERIFY_RESIZE'))

    def _assert_all_right_on(self, host):
        self.assertEqual(host, self.wait_for(self.server_id, 'ACTIVE'))
        self.wait_until_source_is_free(self.server_id)
        self.assertEqual({host: self.held}, self.holdings(self.server_id))

    def test_live_migration(self):
        self.let_age()
        self.at_each_moment(self._audit)
        self.move_live(self.server_id)
        self._assert_all_right_on('host2')

    def test_confirm(self):
        self._migrate()
        self.let_age()
        self.at_each_moment(self._audit)
        self.act(self.server_id, 'confirmResize')
        self._assert_all_right_on('host2')

    def test_revert(self):
        self._migrate()
        self.let_age()
        self.at_each_moment(self._audit)
        self.act(self.server_id, 'revertResize')
        self._assert_all_right_on('host1')

    def test_failure_and_its_rollback(self):
        self.let_age()
        self.stub_out(
            'nova.virt.fake.FakeDriver.migrate_disk_and_power_off',
            mock.Mock(side_effect=exception.MigrationError(reason='test')))
        self.at_each_moment(self._audit)
        self.act(self.server_id, 'migrate')
        self.wait_for(self.server_id, 'ERROR')
        self.wait_until_source_is_free(self.server_id)
        self.assertEqual({'host1': self.held}, self.holdings(self.server_id))

    def test_failed_live_migration_and_its_rollback(self):
        def fail(driver, ctxt, instance, dest, post, recover, *args, **kw):
            recover(ctxt, instance, dest, *args[1:2], **{
                name: value for name, value in kw.items()
                if name == 'migrate_data'})

        self.let_age()
        self.stub_out('nova.virt.fake.FakeDriver.live_migration', fail)
        self.at_each_moment(self._audit)
        self.act(self.server_id, 'os-migrateLive',
                 {'host': None, 'block_migration': 'auto'})
        self.wait_until(
            lambda: [m.status for m in self.records(self.server_id)[1]] in (
                ['failed'], ['error']),
            lambda: self.records(self.server_id)[1])
        self._assert_all_right_on('host1')


class SilentCellTestCase(AuditTestCase):
    """A cell that does not answer is no empty cell."""

    def setUp(self):
        super().setUp()
        self.server_id = self.boot('host1')

    def _assert_nothing_is_deleted(self):
        self.allocate(uuids.nobody, self.held, 'host2')
        audit = self.assert_left_alone(self.server_id, code=1)
        self.assertEqual(
            {'host2': self.held}, self.holdings(uuids.nobody))
        self.assertIn('cell1', audit.err)
        self.assertNotIn('Traceback', audit.err)

    def _answer(self, answer):
        """Let an answer stand for that of the cell, as to whatever."""
        ask = context.scatter_gather_cells
        cell1 = self.cell_mappings['cell1'].uuid

        def ask_and_forget(*args, **kwargs):
            answers = ask(*args, **kwargs)
            if cell1 in answers:
                answers[cell1] = answer
            return answers

        self.stub_out('nova.context.scatter_gather_cells', ask_and_forget)

    def test_time_out(self):
        self._answer(context.did_not_respond_sentinel)
        self._assert_nothing_is_deleted()

    def test_error(self):
        self._answer(exception.CellTimeout())
        self._assert_nothing_is_deleted()

    def test_database_that_is_broken(self):
        self.in_cell('ALTER TABLE compute_nodes RENAME TO lost')
        self.addCleanup(
            self.in_cell, 'ALTER TABLE lost RENAME TO compute_nodes')
        self._assert_nothing_is_deleted()

    def test_database_that_is_another(self):
        # As after restoring the wrong backup: the cell answers, and knows
        # neither compute nodes nor servers.
        self.in_cell('UPDATE compute_nodes SET deleted = id, uuid = NULL')
        self.in_cell('UPDATE instances SET uuid = :uuid', uuid=uuids.other)
        self.assert_left_alone(self.server_id)

    def test_credentials_that_are_refused(self):
        target = context.set_target_cell

        def refuse(ctxt, cell):
            if cell is not None and cell.name == 'cell1' and self.refusing:
                raise exception.NovaException('Access denied')
            return target(ctxt, cell)

        self.refusing = False
        self.stub_out('nova.context.set_target_cell', refuse)
        self.allocate(uuids.nobody, self.held, 'host2')
        self.refusing = True
        audit = self.fresh_audit('--delete')
        self.refusing = False
        self.assertEqual(1, audit.code, audit)
        self.assertIn('Access denied', audit.err)
        self.assertEqual({'host2': self.held}, self.holdings(uuids.nobody))

    def test_who_is_known_to_another_cell_is_judged(self):
        # cell0 answers: that it never had this server is no news, but that
        # its mapping names cell1 makes it cell1's to know.
        self._answer(context.did_not_respond_sentinel)
        audit = self.audit_json()
        self.assertEqual(
            {self.server_id: 'cannot-know'}, audit.findings)
        finding, = audit.json['findings']
        self.assertEqual('cell-silent', finding['reason'])
        self.assertEqual([self.cell_mappings['cell1'].uuid],
                         finding['evidence']['nova']['silent_cells'])

    def test_no_cell_at_all(self):
        with mock.patch('nova.objects.CellMappingList.get_all',
                        return_value=objects.CellMappingList(objects=[])):
            self.assert_left_alone(self.server_id, code=1)


class TwoCellsTestCase(AuditTestCase):
    """A server is in one cell; in two while it moves from one to the other.

    host1 is in cell1, host2 in cell2.
    """

    NUMBER_OF_CELLS = 2

    def _copy(self, server_id, hidden):
        """Bring a server's record to cell2 as well, on host2."""
        self.in_cell(
            'INSERT INTO instances (uuid, host, node, vm_state, hidden, '
            'deleted, vcpus, memory_mb, root_gb, image_ref) VALUES '
            "(:uuid, 'host2', 'host2', 'active', :hidden, 0, 1, 512, 1, 'i')",
            'cell2', uuid=server_id, hidden=hidden)

    def _migrate(self, server_id, status):
        """Have a migration across cells on record in both."""
        for cell in 'cell1', 'cell2':
            self.in_cell(
                'INSERT INTO migrations (uuid, instance_uuid, status, '
                'source_compute, dest_compute, deleted, migration_type, '
                'cross_cell_move, hidden) VALUES (:uuid, :instance, '
                ":status, 'host1', 'host2', 0, 'resize', 1, 0)", cell,
                uuid=uuids.migration, instance=server_id, status=status)

    def _silence(self, cell_name):
        self.in_cell('ALTER TABLE compute_nodes RENAME TO lost', cell_name)
        self.addCleanup(
            self.in_cell, 'ALTER TABLE lost RENAME TO compute_nodes',
            cell_name)

    def test_across(self):
        server_id = self.boot('host1')
        self._copy(server_id, hidden=True)
        self._migrate(server_id, 'post-migrating')
        self.allocate(server_id, self.held, 'host2')
        self.allocate(uuids.migration, self.held, 'host1')
        self.assert_left_alone(server_id)
        self.assert_left_alone(uuids.migration)

    def test_hidden_record_does_not_count(self):
        server_id = self.boot('host1')
        self._copy(server_id, hidden=True)
        self.allocate(server_id, self.held, 'host1', 'host2')
        self.assert_orphan(server_id, 'host2')

    def test_one_that_is_silent(self):
        first, second = self.boot('host1'), self.boot('host2')
        self.allocate(uuids.nobody, self.held, 'host1')
        self._silence('cell2')
        audit = self.fresh_audit('--delete')
        self.assertEqual(1, audit.code, audit)
        # cell2 may know of a migration that has this uuid.
        self.assertEqual('', audit.out)
        for each, host in [(first, 'host1'), (second, 'host2'),
                           (uuids.nobody, 'host1')]:
            self.assertEqual({host: self.held}, self.holdings(each))

    def test_what_the_other_knows_is_known(self):
        server_id = self.boot('host1')
        self.api.delete_server(server_id)
        self._wait_until_deleted({'id': server_id})
        self.allocate(server_id, self.held, 'host1')
        self._silence('cell2')
        audit = self.fresh_audit('--delete')
        self.assertEqual(1, audit.code, audit)
        self.assertIn('Deleted allocations for consumer UUID %s'
                      % server_id, audit.out)
        self.assertEqual({}, self.holdings(server_id))


class ProvidersTestCase(AuditTestCase):
    """Not every provider is a compute node, and not every one is Nova's."""

    def _share(self, *hosts):
        """Make a pool of disks that hosts share, and return its uuid."""
        pool = self.tap.create_provider('pool', inventories={'DISK_GB': 500})
        for name, traits in [('pool', ['MISC_SHARES_VIA_AGGREGATE'])]:
            self._put(pool, 'traits', {'traits': traits})
        for provider in [pool] + [self.tap.providers()[h] for h in hosts]:
            self._put(provider, 'aggregates', {'aggregates': [uuids.pool]})
        return pool

    def _put(self, provider, what, document):
        path = '/resource_providers/%s/%s' % (provider, what)
        current = self.tap.request('GET', path, version='1.19').json()
        document['resource_provider_generation'] = (
            current['resource_provider_generation'])
        response = self.tap.request('PUT', path, document, version='1.19')
        self.assertEqual(200, response.status, response.text)

    def _allocate(self, consumer, **resources):
        """Let a consumer hold this: {provider: resources}."""
        providers = self.tap.providers()
        response = self.tap.request('PUT', '/allocations/%s' % consumer, {
            'allocations': {providers[name]: {'resources': each}
                            for name, each in resources.items()},
            'consumer_generation': self.tap.consumer_generation(consumer),
            'project_id': 'project', 'user_id': 'user',
        }, version='1.28')
        self.assertEqual(204, response.status, response.text)

    def test_shared_disks_of_a_server(self):
        self._share('host1', 'host2')
        server_id = self.boot('host1')
        self._allocate(server_id,
                       host1={'VCPU': 1, 'MEMORY_MB': 512},
                       pool={'DISK_GB': self.small['disk']})
        self.assert_left_alone(server_id)
        self.assertEqual({}, self.audit_json().findings)

    def test_shared_disks_of_servers_elsewhere(self):
        self._share('host2')
        server_id = self.boot('host1')
        self._allocate(server_id, host1=self.held, pool={'DISK_GB': 3})
        self.assert_orphan(server_id, 'pool')

    def test_shared_disks_of_a_deleted_server(self):
        self._share('host1')
        server_id = self.boot('host1')
        self.api.delete_server(server_id)
        self._wait_until_deleted({'id': server_id})
        self._allocate(server_id, pool={'DISK_GB': 1})
        self.assert_orphan(server_id, 'pool')

    def test_part_of_a_compute_node(self):
        self.tap.create_provider(
            'host1_nic', self.tap.providers()['host1'],
            {'NET_BW_EGR_KILOBIT_PER_SEC': 1000})
        server_id = self.boot('host1')
        self._allocate(server_id, host1=self.held,
                       host1_nic={'NET_BW_EGR_KILOBIT_PER_SEC': 10})
        self.assert_left_alone(server_id)
        self._allocate(uuids.nobody,
                       host1_nic={'NET_BW_EGR_KILOBIT_PER_SEC': 10},
                       host1={'VCPU': 1})
        self.assert_orphan(uuids.nobody, 'host1_nic', 'host1')

    def test_what_has_none_of_the_usual_classes(self):
        self.tap.request('PUT', '/resource_classes/CUSTOM_BAREMETAL')
        self.tap.create_provider(
            'node', self.tap.providers()['host1'], {'CUSTOM_BAREMETAL': 1})
        self._allocate(uuids.nobody, node={'CUSTOM_BAREMETAL': 1})
        self.assert_orphan(uuids.nobody, 'node')

    def test_another_service(self):
        self.tap.create_provider('zun', inventories={'VCPU': 8})
        self._allocate(uuids.container, zun={'VCPU': 2})
        self.assert_left_alone(uuids.container)
        self.assertEqual({uuids.container: 'foreign'},
                         self.audit_json().findings)

    def test_another_service_on_a_compute_node(self):
        if self.placement_has('1.38'):
            self.allocate(uuids.container, {'VCPU': 1}, 'host1',
                          consumer_type='CONTAINER')
            self.assert_left_alone(uuids.container)
        else:
            # It can not be told from a server that is purged.
            self.allocate(uuids.container, {'VCPU': 1}, 'host1')
            self.assert_orphan(uuids.container, 'host1')

    def test_compute_node_that_went_to_another_service(self):
        # As ironic's do: until its instances follow, the hosts differ.
        server_id = self.boot('host1')
        self.in_cell("UPDATE compute_nodes SET host = 'host3' "
                     "WHERE hypervisor_hostname = 'host1'")
        self.assert_left_alone(server_id)

    def test_compute_node_that_is_deleted(self):
        server_id = self.boot('host1')
        self.allocate(uuids.nobody, {'VCPU': 1}, 'host1')
        self.in_cell("UPDATE compute_nodes SET deleted = id "
                     "WHERE hypervisor_hostname = 'host1'")

        audit = self.fresh_audit()

        self.assertIn('The compute node for UUID %s can not be found'
                      % self.tap.providers()['host1'], audit.out)
        self.assert_orphan(uuids.nobody, 'host1')
        # The guest may well run there still.
        self.assertEqual({server_id: 'stranded'}, self.audit_json().findings)

    def test_compute_service_that_is_disabled(self):
        server_id = self.boot('host1')
        self.stop_host('host1')
        self.api.put_service(
            self.service_id('host1'), {'status': 'disabled'})
        self.assert_left_alone(server_id)


class ServersTestCase(AuditTestCase):
    """Who is gone holds nothing rightly; who is not gone, does."""

    def _delete(self, server_id):
        self.api.delete_server(server_id)
        self._wait_until_deleted({'id': server_id})

    def test_deleted(self):
        server_id = self.boot('host1')
        self._delete(server_id)
        self.allocate(server_id, self.held, 'host1')
        self.assertEqual({server_id: 'orphan'}, self.audit_json().findings)
        self.assert_orphan(server_id, 'host1')

    def test_archived(self):
        server_id = self.boot('host1')
        self._delete(server_id)
        self.allocate(server_id, self.held, 'host1')
        self._archive()
        finding, = self.audit_json().json['findings']
        self.assertEqual('deleted', finding['reason'])
        self.assert_orphan(server_id, 'host1')

    def test_purged(self):
        server_id = self.boot('host1')
        self._delete(server_id)
        self.allocate(server_id, self.held, 'host1')
        self._archive(purge=True)
        finding, = self.audit_json().json['findings']
        self.assertEqual('unknown', finding['reason'])
        self.assert_orphan(server_id, 'host1')

    @staticmethod
    def _archive(**how):
        manage.DbCommands().archive_deleted_rows(
            max_rows=1000, all_cells=True, until_complete=True, **how)

    def test_soft_deleted(self):
        self.flags(reclaim_instance_interval=3600)
        server_id = self.boot('host1')
        self.api.delete_server(server_id)
        self.wait_for(server_id, 'SOFT_DELETED')
        self.assert_left_alone(server_id)

    def test_offloaded(self):
        server_id = self.boot('host1')
        self.offload(server_id)
        self.allocate(server_id, self.held, 'host1')
        self.assertEqual({server_id: 'leftover'}, self.audit_json().findings)
        self.assert_orphan(server_id, 'host1')

    def test_never_scheduled(self):
        server_id = self.start_boot('nowhere')
        self.wait_for(server_id, 'ERROR')
        self.allocate(server_id, self.held, 'host1')
        self.assertEqual({server_id: 'leftover'}, self.audit_json().findings)
        self.assert_orphan(server_id, 'host1')

    def test_moved(self):
        server_id = self.boot('host1')
        self.move_live(server_id)
        self.allocate(server_id, self.held, 'host1', 'host2')
        self.assertEqual({server_id: 'doubled'}, self.audit_json().findings)
        self.assert_orphan(server_id, 'host1')

    def test_evacuated_from_a_host_that_is_still_down(self):
        server_id = self.boot('host1')
        self.stop_host('host1')
        self.act(server_id, 'evacuate', {})
        self.wait_until(
            lambda: self.wait_for(
                server_id, 'ACTIVE', 'SHUTOFF') == 'host2',
            lambda: 'the server is still on host1')
        # Its own compute service would see to it when it is back.
        finding, = self.audit_json().json['findings']
        self.assertEqual(('doubled', 'evacuation', 'done'), (
            finding['kind'],
            finding['evidence']['nova']['migrations'][0]['type'],
            finding['evidence']['nova']['migrations'][0]['status']))
        self.assert_orphan(server_id, 'host1')

    def test_holds_nothing(self):
        server_id = self.boot('host1')
        self.tap.request('DELETE', '/allocations/%s' % server_id)
        finding, = self.audit_json().json['findings']
        self.assertEqual(
            ('missing', 'host1', self.held),
            (finding['kind'], finding['provider']['name'],
             finding['resources']))
        # That is not the kind of thing that the exit code tells.
        self.assertEqual(0, self.fresh_audit().code)

    def test_holds_too_much(self):
        server_id = self.boot('host1')
        self.allocate(server_id, dict(self.held, VCPU=3), 'host1')
        finding, = self.audit_json().json['findings']
        self.assertEqual('wrong-amount', finding['kind'])
        self.assertEqual(
            {'expected': {'VCPU': 1}, 'held': {'VCPU': 3},
             'not_computed': []}, finding['detail'])

    def test_holds_what_its_flavor_says(self):
        flavor = self._create_flavor(
            name='special', vcpu=2, memory_mb=256, disk=1, ephemeral=1,
            swap=1025, extra_spec={'resources:VCPU': '1'})
        self.small = self.api.get_flavor(flavor)
        server_id = self.boot('host1')
        self.assertEqual(
            {'VCPU': 1, 'MEMORY_MB': 256, 'DISK_GB': 4},
            self.holdings(server_id)['host1'])
        self.assertEqual({}, self.audit_json().findings)

    def test_stuck(self):
        server_id = self.boot('host1')
        self.in_cell("UPDATE instances SET task_state = 'rebuilding', "
                     "updated_at = '2020-01-01 00:00:00' WHERE uuid = :uuid",
                     uuid=server_id)
        finding, = self.audit_json().json['findings']
        self.assertEqual(('stuck', 'task-stuck', 'rebuilding'), (
            finding['kind'], finding['reason'],
            finding['evidence']['nova']['instance']['task_state']))

    def test_young(self):
        self.allocate(uuids.nobody, self.held, 'host1')
        audit = self.audit('--delete', '--verbose')
        self.assertEqual(0, audit.code, audit)
        self.assertIn(uuids.nobody, audit.err)
        self.assertEqual({'host1': self.held}, self.holdings(uuids.nobody))
        self.let_age()
        self.assertEqual(
            4, self.audit('--delete', '--min-age', str(AGE)).code)


class ChangesTestCase(AuditTestCase):
    """What changes between the look and the deletion is left alone."""

    def setUp(self):
        super().setUp()
        self.allocate(uuids.nobody, self.held, 'host1')

    def _once(self, act, method, path, when):
        """Act once, at the first such request."""
        acted = []

        def act_once(request):
            if not acted:
                acted.append(request)
                act()

        self.tap.tap(act_once, method, path, when=when)

    def test_moves_to_another_provider(self):
        self._once(lambda: self.allocate(uuids.nobody, self.held, 'host2'),
                   'GET', '/resource_providers/{uuid}/allocations', 'after')
        self.fresh_audit('--delete', '--resource_provider',
                         self.tap.providers()['host1'])
        self.assertEqual({'host2': self.held}, self.holdings(uuids.nobody))

    def test_moves_to_several(self):
        self.tap.create_provider('more', inventories={'VCPU': 8})
        self._once(lambda: self.allocate(
            uuids.nobody, {'VCPU': 1}, 'host2', 'more'),
            'GET', '/resource_providers/{uuid}/allocations', 'after')
        audit = self.fresh_audit('--delete', '--resource_provider',
                                 self.tap.providers()['host1'])
        self.assertEqual((0, ''), (audit.code, audit.out))

    def test_changes_after_the_second_look(self):
        self._once(lambda: self.allocate(
            uuids.nobody, dict(self.held, VCPU=2), 'host1'),
            'PUT', '/allocations/{uuid}', 'before')
        # The older audit takes another request for the same.
        self._once(lambda: self.allocate(
            uuids.nobody, dict(self.held, VCPU=2), 'host1'),
            'DELETE', '/allocations/{uuid}', 'before')
        audit = self.fresh_audit('--delete')
        self.assertEqual(2, self.holdings(uuids.nobody)['host1']['VCPU'])
        self.assertEqual(0, audit.code, audit)
        self.assertIn('%s on Resource Provider %s is left alone' % (
            uuids.nobody, self.tap.providers()['host1']), audit.err)

    def test_one_failure_does_not_stop_the_rest(self):
        self.allocate(uuids.another, self.held, 'host1')
        self.allocate(uuids.third, self.held, 'host2')
        for method in 'PUT', 'DELETE':
            self.tap.fault(method, '/allocations/%s' % uuids.another,
                           status=500, optional=True)
        audit = self.fresh_audit('--delete')
        self.assertEqual(1, audit.code, audit)
        self.assertIn('Not able to delete allocations for consumer UUID %s\n'
                      % uuids.another, audit.out)
        self.assertEqual(
            [{}, {'host1': self.held}, {}],
            [self.holdings(each)
             for each in (uuids.nobody, uuids.another, uuids.third)])

    def test_another_audit_is_faster(self):
        self._once(lambda: self.fresh_audit('--delete'),
                   'GET', '/resource_providers/{uuid}/allocations', 'after')
        audit = self.fresh_audit('--delete')
        self.assertEqual(0, audit.code, audit)
        self.assertEqual({}, self.holdings(uuids.nobody))


class DriverTestCase(AuditTestCase):
    """The virt driver is where a guest is moved: nothing else may act."""

    def test_audit_in_the_middle(self):
        server_id = self.boot('host1')
        self.let_age()
        codes = []
        self.before(fake.FakeDriver, 'live_migration', lambda: codes.append(
            self.audit('--delete', '--min-age', '0').code))
        self.move_live(server_id)
        self.assertEqual([0], codes)
        self.assertEqual({'host2': self.held}, self.holdings(server_id))
