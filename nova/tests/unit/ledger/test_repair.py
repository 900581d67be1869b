# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import ddt
from oslo_utils.fixture import uuidsentinel as uuids

from nova.ledger import books
from nova.ledger import client
from nova.ledger import holders
from nova.ledger import repair
from nova.ledger import verdict
from nova import test
from nova.tests.unit.ledger import fakes

VCPU = {'VCPU': 1}
DISK = {'DISK_GB': 10}


@ddt.ddt
class RepairTestCase(test.NoDBTestCase):
    """I holds something on three providers, and U on one of them."""

    def setUp(self):
        super(RepairTestCase, self).setUp()
        self.placement = fakes.Placement()
        for name in ('S', 'D', 'pool'):
            self.placement.add(name)
        self.placement.hold(
            uuids.I, {uuids.S: VCPU, uuids.D: VCPU, uuids.pool: DISK})
        self.placement.hold(uuids.U, {uuids.S: VCPU})
        self._look()

    def _look(self):
        self.books = books.Books(client.Client(self.placement))
        self.held = {uuid: self.books.read_consumer(uuid)
                     for uuid in (uuids.I, uuids.U)}
        del self.placement.requests[:]

    def _finding(self, provider, consumer=uuids.I, kind=verdict.ORPHAN):
        held = self.held[consumer]
        return verdict.Finding(
            kind, holders.Consumer(consumer, holders.UNKNOWN), provider,
            held.allocations[provider], 'unknown', held=held)

    def _remove(self, *findings):
        """Remove what all are about, and return what became of each."""
        fixer = repair.Repair(self.books, findings)
        for finding in findings:
            fixer.remove(finding)
        return [finding.action for finding in findings]

    def test_one(self):
        self.assertEqual([verdict.DELETED],
                         self._remove(self._finding(uuids.S)))
        self.assertEqual({uuids.I: {uuids.D: VCPU, uuids.pool: DISK},
                          uuids.U: {uuids.S: VCPU}}, self.placement.held())

    def test_several_of_one_consumer_in_one_request(self):
        self.assertEqual(
            [verdict.DELETED] * 2,
            self._remove(self._finding(uuids.S), self._finding(uuids.pool)))
        self.assertEqual({uuids.D: VCPU}, self.placement.held()[uuids.I])
        self.assertEqual(['PUT /allocations/%s' % uuids.I],
                         self.placement.requests)

    def test_all_of_several_consumers(self):
        self.assertEqual([verdict.DELETED] * 4, self._remove(
            self._finding(uuids.S), self._finding(uuids.D),
            self._finding(uuids.pool), self._finding(uuids.S, uuids.U)))
        self.assertEqual({}, self.placement.held())

    @ddt.data(*sorted(set(verdict.KINDS) - verdict.DELETABLE))
    def test_never(self, kind):
        before = self.placement.held()
        self.assertEqual([verdict.NOTHING],
                         self._remove(self._finding(uuids.S, kind=kind)))
        self.assertEqual(before, self.placement.held())
        self.assertEqual([], self.placement.requests)

    @ddt.data(*sorted(verdict.DELETABLE))
    def test_deletable(self, kind):
        self.assertEqual([verdict.DELETED],
                         self._remove(self._finding(uuids.S, kind=kind)))

    def test_what_one_can_not_know_stays(self):
        """With the consumer's other holdings, and what is not found."""
        self.assertEqual(
            [verdict.DELETED, verdict.NOTHING],
            self._remove(self._finding(uuids.S), self._finding(
                uuids.D, kind=verdict.CANNOT_KNOW)))
        self.assertEqual({uuids.D: VCPU, uuids.pool: DISK},
                         self.placement.held()[uuids.I])

    def test_changed_since(self):
        """It is left to whoever has changed it; others are not."""
        self.placement.hold(uuids.I, {uuids.S: VCPU, uuids.D: VCPU})
        findings = [self._finding(uuids.S), self._finding(uuids.D),
                    self._finding(uuids.S, uuids.U)]
        self.assertEqual([verdict.LEFT, verdict.LEFT, verdict.DELETED],
                         self._remove(*findings))
        self.assertIn('changed', findings[1].why_left)
        self.assertEqual({uuids.I: {uuids.S: VCPU, uuids.D: VCPU}},
                         self.placement.held())
        # It is not tried again.
        self.assertEqual(2, len(self.placement.requests))

    def test_deleted_since(self):
        self.placement.hold(uuids.I, {})
        self.assertEqual([verdict.LEFT],
                         self._remove(self._finding(uuids.S)))
        self.assertNotIn(uuids.I, self.placement.held())

    @ddt.data(None, 400, 404, 500, 503)
    def test_failed(self, fault):
        before = self.placement.held()
        self.placement.faults['PUT /allocations/%s' % uuids.I] = fault
        self.assertEqual(
            [verdict.FAILED, verdict.FAILED, verdict.DELETED],
            self._remove(self._finding(uuids.S), self._finding(uuids.D),
                         self._finding(uuids.S, uuids.U)))
        del before[uuids.U]
        self.assertEqual(before, self.placement.held())

    def test_without_generations(self):
        self.placement.version = (1, 27)
        self._look()
        findings = [self._finding(uuids.S), self._finding(uuids.D)]
        self.assertEqual([verdict.LEFT] * 2, self._remove(*findings))
        self.assertIn('generations', findings[0].why_left)
        self.assertEqual([], self.placement.requests)

    def test_once(self):
        finding = self._finding(uuids.S)
        fixer = repair.Repair(self.books, [finding])
        fixer.remove(finding)
        fixer.remove(finding)
        self.assertEqual(1, len(self.placement.requests))
