# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import sys

from nova.compute import resource_tracker
from nova import objects
from nova.tests.functional.ledger import base

# What frees the source: at first one method for each end of each move.
DROP = ('drop_move_claim_at_source'
        if hasattr(resource_tracker.ResourceTracker,
                   'drop_move_claim_at_source') else 'drop_move_claim')


class ConfirmResizeTestCase(base.LedgerTestCase):
    """A host counts right, whenever it counts, while a resize is confirmed.

    update_available_resource runs on every host at each moment of a confirm,
    and right before and after the source drops its claim. What the compute
    nodes say is in use is then what the records say: the new flavor where
    the server is, and the old one at the source as long as the migration is
    not confirmed. The end of the confirm leaves no other figures than those.
    """

    def setUp(self):
        super(ConfirmResizeTestCase, self).setUp()
        self.wrong = []
        self.statuses = set()

    def _resize(self, *hosts):
        """Resize a server from the first to the last of these hosts."""
        self.flags(allow_resize_to_same_host=len(hosts) == 1)
        self.start_hosts(*hosts)
        self.source, self.dest = hosts[0], hosts[-1]
        self.idle = self._usage()
        self.server_id = self.boot(self.source)
        self.act(self.server_id, 'resize', {'flavorRef': self.large['id']})
        host = self.wait_for(self.server_id, 'VERIFY_RESIZE')
        self.assertEqual(self.dest, host)

    def _usage(self):
        """What each compute node says is in use: resources by host."""
        usage = {}
        for host in self.computes:
            node = objects.ComputeNode.get_by_host_and_nodename(
                self.admin(), host, host)
            usage[host] = {
                'VCPU': node.vcpus_used,
                'MEMORY_MB': node.memory_mb_used,
                'DISK_GB': node.local_gb_used,
            }
        return usage

    def _expected(self, confirmed):
        """What should be in use before or after the resize is confirmed."""
        flavors = {host: [] for host in self.idle}
        flavors[self.dest].append(self.large)
        if not confirmed:
            flavors[self.source].append(self.small)
        return {
            host: {resource: idle[resource] + amount for resource, amount
                   in self.resources(*flavors[host]).items()}
            for host, idle in self.idle.items()
        }

    def _run_update_available_resource(self):
        for compute in self.computes.values():
            compute.manager.update_available_resource(self.admin())

    def _count(self, label):
        """Let all hosts count, and note it if they count wrong."""
        if _tracker_is_busy():
            # They would wait until it is not.
            return
        self._run_update_available_resource()
        _, (migration,) = self.records(self.server_id)
        status = migration.status
        self.statuses.add(status)
        usage = self._usage()
        if usage != self._expected(status == 'confirmed'):
            self.wrong.append((label, status, usage))

    def _confirm(self):
        self.act(self.server_id, 'confirmResize')
        self.wait_for(self.server_id, 'ACTIVE')
        self.wait_until_source_is_free(self.server_id)

    def _assert_right_to_the_end(self):
        self.assertEqual([], self.wrong)
        self.assertEqual(self._expected(confirmed=True), self._usage())
        self._run_update_available_resource()
        self.assertEqual(self._expected(confirmed=True), self._usage())

    def _test_at_each_moment(self, *hosts):
        self._resize(*hosts)
        self.at_each_moment(self._count)
        self._confirm()
        self._assert_right_to_the_end()
        self.assertLessEqual({'confirming', 'confirmed'}, self.statuses)

    def test_confirm(self):
        self._test_at_each_moment('host1', 'host2')

    def test_confirm_on_the_same_host(self):
        self._test_at_each_moment('host1')

    def _test_around_the_drop(self, *hosts):
        """Count before and after the drop, but not earlier."""
        self._resize(*hosts)
        tracker = resource_tracker.ResourceTracker
        drop = getattr(tracker, DROP)

        def count_drop_count(*args, **kwargs):
            self._count('before the drop')
            drop(*args, **kwargs)
            if self._usage() != self._expected(confirmed=True):
                self.wrong.append(('dropped', self._usage()))
            self._count('after the drop')

        self.stub_out('nova.compute.resource_tracker.ResourceTracker.' + DROP,
                      count_drop_count)
        self._confirm()
        self._assert_right_to_the_end()
        self.assertIn('confirmed', self.statuses)

    def test_around_the_drop(self):
        self._test_around_the_drop('host1', 'host2')

    def test_around_the_drop_on_the_same_host(self):
        self._test_around_the_drop('host1')

    def _test_undisturbed(self, *hosts):
        self._resize(*hosts)
        self._confirm()
        self._assert_right_to_the_end()

    def test_nobody_counts_since_the_resize(self):
        self._test_undisturbed('host1', 'host2')

    def test_nobody_counts_since_the_resize_on_the_same_host(self):
        self._test_undisturbed('host1')


def _tracker_is_busy():
    """Whether the caller is called by a resource tracker, in its lock."""
    frame = sys._getframe()
    while frame:
        if frame.f_globals.get('__name__') == resource_tracker.__name__:
            return True
        frame = frame.f_back
    return False
