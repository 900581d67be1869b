# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import contextlib
import io

from nova.cmd import manage
from nova.compute import vm_states
from nova import objects
from nova.tests.functional.ledger import base

# The statuses in which a migration is no longer in progress.
FINAL = ('cancelled', 'completed', 'confirmed', 'done', 'error', 'failed',
         'reverted')


class AuditInFlightTestCase(base.LedgerTestCase):
    """No moment of an operation makes a live server's allocation an orphan.

    The audit runs at every moment of each operation. As long as the server
    has a task_state or a migration in progress, or is not yet built, it is in
    flight, and the audit must not name it or one of its migrations.
    """

    def setUp(self):
        super().setUp()
        self.start_hosts('host1', 'host2')
        self.server_id = None
        self.accused = []
        self.telling = []

    @staticmethod
    def _in_flight(instance, migrations):
        return (instance is None or
                instance.task_state is not None or
                instance.vm_state == vm_states.BUILDING or
                any(m.status not in FINAL for m in migrations))

    def _surprising(self, instance, migrations):
        """Whether something is held where no single record says so."""
        places = {self.server_id: {instance and instance.host}}
        for migration in migrations:
            places[migration.uuid] = set()
            if migration.status not in FINAL:
                if migration.source_node:
                    places[migration.uuid].add(migration.source_compute)
                if migration.dest_node:
                    places[migration.uuid].add(migration.dest_compute)
        return any(set(self.holdings(consumer)) - hosts
                   for consumer, hosts in places.items())

    def _audit(self, label):
        """Run the audit; note it if it accuses a server in flight."""
        if self.server_id is None:
            return
        instance, migrations = self.records(self.server_id)
        if not self._in_flight(instance, migrations):
            return
        if self._surprising(instance, migrations):
            self.telling.append(label)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            manage.PlacementCommands().audit(verbose=True)
        if not self._in_flight(*self.records(self.server_id)):
            return
        consumers = [self.server_id] + [m.uuid for m in migrations]
        if any(consumer in said.getvalue() for consumer in consumers):
            self.accused.append(label)

    def _assert_never_accused(self):
        self.assertEqual([], self.accused)
        # Moments of the kind that the audit has to look twice at.
        self.assertNotEqual([], self.telling)

    def _boot(self):
        self.server_id = self.boot('host1')

    def test_boot(self):
        # Whose id the API tells only when the server is on its way.
        self.stub_out('nova.objects.BuildRequest.create', self._note(
            objects.BuildRequest.create))
        self.at_each_moment(self._audit)
        self.boot('host1')
        self._assert_never_accused()

    def _note(self, create):
        def create_and_note(request, *args, **kwargs):
            create(request, *args, **kwargs)
            self.server_id = request.instance_uuid
        return create_and_note

    def test_live_migrate(self):
        self._boot()
        self.at_each_moment(self._audit)
        self.act(self.server_id, 'os-migrateLive',
                 {'host': None, 'block_migration': 'auto'})
        self._wait_until_moved()
        self._assert_never_accused()

    def test_cold_migrate(self):
        self._boot()
        self.at_each_moment(self._audit)
        self.act(self.server_id, 'migrate')
        self.wait_for(self.server_id, 'VERIFY_RESIZE')
        self._assert_never_accused()

    def test_resize(self):
        self._boot()
        self.at_each_moment(self._audit)
        self.act(self.server_id, 'resize', {'flavorRef': self.large['id']})
        self.wait_for(self.server_id, 'VERIFY_RESIZE')
        self._assert_never_accused()

    def test_revert_resize(self):
        self._boot()
        self.act(self.server_id, 'resize', {'flavorRef': self.large['id']})
        self.wait_for(self.server_id, 'VERIFY_RESIZE')
        self.at_each_moment(self._audit)
        self.act(self.server_id, 'revertResize')
        self.wait_for(self.server_id, 'ACTIVE')
        self._assert_never_accused()

    def test_unshelve(self):
        self._boot()
        self.flags(shelved_offload_time=0)
        self.act(self.server_id, 'shelve')
        self.wait_for(self.server_id, 'SHELVED_OFFLOADED')
        self.at_each_moment(self._audit)
        self.act(self.server_id, 'unshelve')
        self.wait_for(self.server_id, 'ACTIVE')
        self._assert_never_accused()

    def test_evacuate(self):
        self._boot()
        self.stop_host('host1')
        self.at_each_moment(self._audit)
        self.act(self.server_id, 'evacuate', {})
        self._wait_until_moved()
        self._assert_never_accused()

    def _wait_until_moved(self):
        self.wait_until(
            lambda: self.wait_for(
                self.server_id, 'ACTIVE', 'SHUTOFF') == 'host2',
            lambda: 'the server is still on host1')
        self.wait_until_source_is_free(self.server_id)
