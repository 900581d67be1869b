# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import threading

from nova.compute import manager
from nova.tests.functional.ledger import base


class ShelveOffloadTestCase(base.LedgerTestCase):
    """What is offloaded holds nothing, and can be unshelved from then on.

    Whoever is told SHELVED_OFFLOADED, at whichever moment, finds nothing held
    in Placement; and an unshelve started at the first of these moments ends
    as it would have a minute later, however its requests to Placement and
    the rest of the offload follow each other.
    """

    def setUp(self):
        super(ShelveOffloadTestCase, self).setUp()
        self.start_hosts('host1', 'host2')
        self.server_id = self.boot('host1')
        self.wrong = []
        self.statuses = set()

    def _look(self, label):
        """Note a moment at which an offloaded server holds something."""
        status = self.api.get_server(self.server_id)['status']
        held = self.holdings(self.server_id)
        self.statuses.add(status)
        if status == 'SHELVED_OFFLOADED' and held:
            self.wrong.append((label, held))

    def _offload(self, look, action='shelve'):
        """Offload the server and look when this is saved, at the latest."""
        offloaded = self.once_saved(
            'shelved_offloaded', lambda: look('SHELVED_OFFLOADED saved'))
        self.act(self.server_id, action)
        self.assertTrue(offloaded.wait(base.PATIENCE), 'never offloaded')

    def _assert_active_on_what_it_holds(self):
        host = self.wait_for(self.server_id, 'ACTIVE')
        self.assertEqual({host: self.resources(self.small)},
                         self.holdings(self.server_id))

    def test_shelve_with_offload(self):
        self.flags(shelved_offload_time=0)
        self.at_each_moment(self._look)
        self._offload(self._look)
        self.wait_for(self.server_id, 'SHELVED_OFFLOADED')
        self.assertEqual([], self.wrong)
        self.assertLessEqual({'ACTIVE', 'SHELVED_OFFLOADED'}, self.statuses)

    def test_offload_later(self):
        self.flags(shelved_offload_time=-1)
        self.act(self.server_id, 'shelve')
        self.wait_for(self.server_id, 'SHELVED')
        self.at_each_moment(self._look)
        self._offload(self._look, 'shelveOffload')
        self.wait_for(self.server_id, 'SHELVED_OFFLOADED')
        self.assertEqual([], self.wrong)
        self.assertLessEqual({'SHELVED', 'SHELVED_OFFLOADED'}, self.statuses)

    def _test_unshelve(self, method, path, when):
        """Unshelve at once; the offload ends while a request is held.

        The offload goes on when the unshelve has come to that request, and
        the request when the offload has ended.
        """
        self.flags(shelved_offload_time=0)
        ended = self._offload_ended()
        unshelving = threading.Event()
        with self.tap.hold(method, path, when,
                           where=lambda _: unshelving.is_set()) as hold:

            def unshelve(label):
                unshelving.set()
                self.act(self.server_id, 'unshelve')
                hold.wait_reached()

            self._offload(unshelve)
            self.assertTrue(ended.wait(base.PATIENCE), 'never ended')
        self._assert_active_on_what_it_holds()

    def _offload_ended(self):
        """An event, set when the offload has made its last write."""
        ended = threading.Event()
        self.before(manager.ComputeManager, '_delete_scheduler_instance_info',
                    ended.set)
        return ended

    def test_unshelve_about_to_ask_for_hosts(self):
        self._test_unshelve('GET', '/allocation_candidates', 'before')

    def test_unshelve_about_to_read_what_it_holds(self):
        self._test_unshelve('GET', '/allocations/{uuid}', 'before')

    def test_unshelve_having_read_what_it_holds(self):
        self._test_unshelve('GET', '/allocations/{uuid}', 'after')

    def test_unshelve_about_to_claim(self):
        self._test_unshelve('PUT', '/allocations/{uuid}', 'before')

    def test_unshelve_having_claimed(self):
        self._test_unshelve('PUT', '/allocations/{uuid}', 'after')
