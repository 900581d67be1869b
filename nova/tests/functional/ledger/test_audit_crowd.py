# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The audit deletes, over and over, while a crowd of servers moves about."""

import random
import threading
import time
import traceback
import uuid

from nova.tests.functional.ledger import base

SERVERS = 4
SECONDS = 60
# No gap between two writes of an operation is as long here.
AGE = 5


class CrowdTestCase(base.LedgerTestCase):
    """No server is ever without what it holds, and no operation fails.

    Meanwhile what is nobody's is thrown in, and has to be gone in the end.
    """

    def setUp(self):
        super().setUp()
        self.start_hosts('host1', 'host2', 'host3')
        self.flags(shelved_offload_time=0)
        self.held = self.resources(self.small)
        self.until = time.time() + SECONDS
        self.errors = []
        self.done = []
        self.deleted = 0

    # What each thread does until the time is over

    def _live(self, seed):
        """Be the user of one server."""
        choose = random.Random(seed)
        server_id = self._boot()
        while time.time() < self.until and not self.errors:
            what = choose.choice([
                self._live_migrate, self._migrate_and_confirm,
                self._migrate_and_revert, self._shelve, self._replace])
            self.done.append(what.__name__)
            server_id = what(server_id) or server_id
            self._assert_holds_its_own(server_id)

    def _audit(self):
        """Be the operator."""
        while time.time() < self.until and not self.errors:
            audit = self.audit('--delete', '--verbose',
                               '--min-age', str(AGE))
            self.assertIn(audit.code, (0, 4), audit)
            self.deleted += audit.out.count('Deleted allocations')

    def _litter(self):
        """Be the bug that the audit is for."""
        while time.time() < self.until - 3 * AGE and not self.errors:
            self.allocate(str(uuid.uuid4()), {'VCPU': 1}, 'host3')
            time.sleep(AGE)

    # What a user does

    def _boot(self):
        server_id = self.start_boot()
        self.wait_for(server_id, 'ACTIVE')
        return server_id

    def _replace(self, server_id):
        self.api.delete_server(server_id)
        self._wait_until_deleted({'id': server_id})
        return self._boot()

    def _live_migrate(self, server_id):
        before = self.wait_for(server_id, 'ACTIVE')
        self.act(server_id, 'os-migrateLive',
                 {'host': None, 'block_migration': 'auto'})
        self.assertNotEqual(before, self.wait_for(server_id, 'ACTIVE'))

    def _migrate_and_confirm(self, server_id):
        before = self._migrate(server_id)
        self.act(server_id, 'confirmResize')
        self.assertNotEqual(before, self.wait_for(server_id, 'ACTIVE'))

    def _migrate_and_revert(self, server_id):
        before = self._migrate(server_id)
        self.act(server_id, 'revertResize')
        self.assertEqual(before, self.wait_for(server_id, 'ACTIVE'))

    def _migrate(self, server_id):
        before = self.wait_for(server_id, 'ACTIVE')
        self.act(server_id, 'migrate')
        self.wait_for(server_id, 'VERIFY_RESIZE')
        return before

    def _shelve(self, server_id):
        self.act(server_id, 'shelve')
        self.wait_for(server_id, 'SHELVED_OFFLOADED')
        self.act(server_id, 'unshelve')
        self.wait_for(server_id, 'ACTIVE')

    # What has to be true

    def _assert_holds_its_own(self, server_id):
        host = self.wait_for(server_id, 'ACTIVE')
        # The source is freed last of all.
        self.wait_until_source_is_free(server_id)
        self.assertEqual({host: self.held}, self.holdings(server_id))

    def _start(self, function, *args):
        def guarded():
            try:
                function(*args)
            except Exception:
                self.errors.append(traceback.format_exc())

        thread = threading.Thread(target=guarded)
        thread.start()
        return thread

    def test_crowd(self):
        threads = [self._start(self._live, seed) for seed in range(SERVERS)]
        threads += [self._start(self._audit), self._start(self._litter)]
        for thread in threads:
            thread.join()
        self.assertEqual([], self.errors)
        # It was a crowd, and the audit had something to do.
        self.assertGreater(len(self.done), SERVERS)
        self.assertGreater(self.deleted, 0)
        time.sleep(AGE + 1)
        self.audit('--delete', '--min-age', str(AGE))
        self.assertEqual({}, self.audit_json().findings)
