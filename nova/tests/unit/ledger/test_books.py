# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import ddt
from oslo_utils.fixture import uuidsentinel as uuids

from nova.ledger import books
from nova.ledger import client
from nova.ledger import records as rec
from nova import test
from nova.tests.unit.ledger import fakes

VCPU = {'VCPU': 1}
PGPU = {'VGPU': 1}


class BooksTestCase(test.NoDBTestCase):
    """Two hosts, one of which has a nested provider, and shared storage."""

    def setUp(self):
        super(BooksTestCase, self).setUp()
        self.placement = fakes.Placement()
        self.placement.add('S', aggregates=[uuids.rack])
        self.placement.add('S.numa', parent=uuids.S)
        self.placement.add('D')
        self.placement.add('pool', aggregates=[uuids.rack])
        self.books = self._books()

    def _books(self, workers=1):
        return books.Books(client.Client(self.placement, workers))

    def _unreachable(self, function, *args):
        return str(self.assertRaises(client.Unreachable, function, *args))


@ddt.ddt
class ProvidersTestCase(BooksTestCase):

    def test_all(self):
        self.books.read_providers()
        self.assertEqual(self.placement.providers, self.books.providers)
        self.assertEqual(list(self.placement.providers),
                         list(self.books.providers))
        self.assertEqual(
            {uuids.S: uuids.S, getattr(uuids, 'S.numa'): uuids.S,
             uuids.D: uuids.D, uuids.pool: uuids.pool}, self.books.roots)
        self.assertTrue(self.books.whole)
        self.assertTrue(self.books.covers(uuids.anything))

    def test_one(self):
        """Of a tree the rest is known, but not looked at."""
        self.books.read_providers(uuids.S)
        self.assertEqual([uuids.S], list(self.books.providers))
        self.assertEqual(uuids.S, self.books.roots[getattr(uuids, 'S.numa')])
        self.assertNotIn(uuids.D, self.books.roots)
        self.assertFalse(self.books.whole)
        self.assertTrue(self.books.covers(uuids.S))
        self.assertFalse(self.books.covers(uuids.D))

    def test_one_nested(self):
        self.books.read_providers(getattr(uuids, 'S.numa'))
        self.assertEqual([getattr(uuids, 'S.numa')],
                         list(self.books.providers))
        self.assertFalse(self.books.covers(uuids.S))

    def test_one_that_is_not_there(self):
        self.books.read_providers(uuids.nowhere)
        self.assertEqual({}, self.books.providers)

    @ddt.data(None, 503, 404, fakes.Page(200))
    def test_no_answer(self, fault):
        self.placement.faults['GET /resource_providers'] = fault
        self._unreachable(self.books.read_providers)


class SharersTestCase(BooksTestCase):
    """Whose servers may use a provider that is in no tree of theirs."""

    def test_shared(self):
        self.assertEqual({uuids.S}, self.books.read_sharers(uuids.pool))

    def test_shared_with_a_nested_provider(self):
        """Its tree may use it."""
        numa = getattr(uuids, 'S.numa')
        self.placement.aggregates[uuids.S] = set()
        self.placement.aggregates[numa] = {uuids.other, uuids.rack}
        self.assertEqual({uuids.S}, self.books.read_sharers(uuids.pool))

    def test_several_aggregates(self):
        self.placement.aggregates[uuids.pool] = {uuids.rack, uuids.row}
        self.placement.aggregates[uuids.D] = {uuids.row}
        self.assertEqual({uuids.S, uuids.D},
                         self.books.read_sharers(uuids.pool))

    def test_in_no_aggregate(self):
        self.placement.aggregates[uuids.pool] = set()
        self.assertEqual(set(), self.books.read_sharers(uuids.pool))

    def test_gone(self):
        self.assertEqual(set(), self.books.read_sharers(uuids.nowhere))

    def test_no_answer(self):
        for fault in (None, 503):
            self.placement.faults[
                'GET /resource_providers/%s/aggregates' % uuids.pool] = fault
            self._unreachable(self.books.read_sharers, uuids.pool)


@ddt.ddt
class AllocationsTestCase(BooksTestCase):

    def setUp(self):
        super(AllocationsTestCase, self).setUp()
        self.numa = getattr(uuids, 'S.numa')
        self.placement.hold(uuids.I, {uuids.S: VCPU, self.numa: PGPU})
        self.placement.hold(uuids.U, {uuids.S: {'VCPU': 1},
                                      uuids.D: {'CUSTOM_METAL': 1}})
        self.everything = {
            uuids.S: {uuids.I: VCPU, uuids.U: VCPU},
            self.numa: {uuids.I: PGPU},
            uuids.D: {uuids.U: {'CUSTOM_METAL': 1}},
            uuids.pool: {},
        }

    @ddt.data(1, 4)
    def test_all(self, workers):
        self.books = self._books(workers)
        self.books.read_providers()
        done = []
        self.books.read_allocations(
            list(self.books.providers), lambda: done.append(1))
        self.assertEqual(self.everything, self.books.allocations)
        self.assertEqual(4, len(done))

    def test_one_copy_of_what_many_hold(self):
        self.books.read_allocations([uuids.S])
        held = self.books.allocations[uuids.S]
        self.assertIs(held[uuids.I], held[uuids.U])

    def test_what_many_hold_of_different_classes(self):
        """The same amounts are not the same resources."""
        self.placement.hold(uuids.V, {uuids.S: {'PCPU': 1}})
        self.books.read_allocations([uuids.S])
        self.assertEqual({uuids.I: VCPU, uuids.U: VCPU,
                          uuids.V: {'PCPU': 1}},
                         self.books.allocations[uuids.S])

    def test_provider_deleted_since(self):
        self.books.read_providers()
        del self.placement.providers[uuids.pool]
        self.books.read_allocations(list(self.books.providers))
        self.assertEqual({}, self.books.allocations[uuids.pool])

    @ddt.data(None, 503, 500)
    def test_no_answer_is_not_nothing(self, fault):
        self.placement.faults[
            'GET /resource_providers/%s/allocations' % uuids.S] = fault
        self._unreachable(
            self.books.read_allocations, [uuids.D, uuids.S, uuids.pool])

    def test_some_consumers(self):
        self.books.read_providers()
        self.books.read_consumers([uuids.I, uuids.nobody])
        self.assertEqual({uuids.S: {uuids.I: VCPU},
                          self.numa: {uuids.I: PGPU}},
                         self.books.allocations)

    def test_some_consumers_on_one_provider(self):
        self.books.read_providers(uuids.S)
        self.books.read_consumers([uuids.I, uuids.U])
        self.assertEqual({uuids.S: {uuids.I: VCPU, uuids.U: VCPU}},
                         self.books.allocations)


@ddt.ddt
class ConsumerTestCase(BooksTestCase):

    def setUp(self):
        super(ConsumerTestCase, self).setUp()
        self.placement.hold(uuids.I, {uuids.S: VCPU, uuids.D: PGPU},
                            type='INSTANCE')

    def test_all_there_is_to_know(self):
        known = self.placement.consumers[uuids.I]
        self.assertEqual(
            rec.Held(uuids.I, {uuids.S: VCPU, uuids.D: PGPU},
                     known.generation, 'INSTANCE', 'project', 'user',
                     fakes.LONG_AGO, fakes.NOW),
            self.books.read_consumer(uuids.I))

    @ddt.data(((1, 37), {'type'}),
              ((1, 27), {'type', 'generation'}),
              ((1, 14), {'type', 'generation', 'changed_at'}))
    @ddt.unpack
    def test_what_an_older_placement_does_not_say(self, version, unsaid):
        self.placement.version = version
        held = self._books().read_consumer(uuids.I)
        self.assertEqual(unsaid, {
            name for name, value in held._asdict().items() if value is None})
        self.assertEqual({uuids.S: VCPU, uuids.D: PGPU}, held.allocations)

    def test_that_holds_nothing(self):
        """Placement dates what is not there by now, which is no change."""
        held = self.books.read_consumer(uuids.nobody)
        self.assertEqual({}, held.allocations)
        self.assertIsNone(held.generation)
        self.assertIsNone(held.changed_at)

    def test_without_a_date(self):
        """Then it was read just now, by our clock."""
        answer = self.placement.get

        def undated(*args, **kwargs):
            response = answer(*args, **kwargs)
            response.headers = {'Last-Modified': 'some day'}
            return response

        self.placement.get = undated
        held = self.books.read_consumer(uuids.I)
        self.assertIsNone(held.changed_at)
        self.assertIsNotNone(held.read_at)

    def test_no_answer(self):
        for fault in (None, 404, 503):
            self.placement.faults['GET /allocations/%s' % uuids.I] = fault
            self._unreachable(self.books.read_consumer, uuids.I)


@ddt.ddt
class RemoveTestCase(BooksTestCase):

    def setUp(self):
        super(RemoveTestCase, self).setUp()
        self.placement.hold(uuids.I, {uuids.S: VCPU, uuids.D: PGPU},
                            type='INSTANCE')
        self.placement.hold(uuids.U, {uuids.S: VCPU})
        self.held = self.books.read_consumer(uuids.I)

    def _others_are_untouched(self):
        self.assertEqual({uuids.S: VCPU}, self.placement.held()[uuids.U])

    def test_on_one_provider(self):
        self.assertEqual(books.REMOVED,
                         self.books.remove(self.held, [uuids.S]))
        self.assertEqual({uuids.D: PGPU}, self.placement.held()[uuids.I])
        self.assertEqual('INSTANCE', self.placement.consumers[uuids.I].type)
        self._others_are_untouched()

    def test_on_all(self):
        self.assertEqual(books.REMOVED,
                         self.books.remove(self.held, [uuids.D, uuids.S]))
        self.assertNotIn(uuids.I, self.placement.held())
        self._others_are_untouched()

    def test_in_one_request(self):
        del self.placement.requests[:]
        self.books.remove(self.held, [uuids.S, uuids.D])
        self.assertEqual(['PUT /allocations/%s' % uuids.I],
                         self.placement.requests)

    @ddt.data(
        {uuids.S: VCPU, uuids.D: PGPU},  # the same again
        {uuids.S: VCPU},
        {})
    def test_changed_since(self, allocations):
        self.placement.hold(uuids.I, allocations)
        before = self.placement.held()
        self.assertEqual(books.CHANGED,
                         self.books.remove(self.held, [uuids.S]))
        self.assertEqual(before, self.placement.held())

    def test_gone_and_back_since(self):
        self.placement.hold(uuids.I, {})
        self.placement.hold(uuids.I, {uuids.S: VCPU})
        self.assertEqual(books.CHANGED,
                         self.books.remove(self.held, [uuids.S]))
        self.assertEqual({uuids.S: VCPU}, self.placement.held()[uuids.I])

    @ddt.data(None, 400, 404, 500, 503)
    def test_no_answer(self, fault):
        before = self.placement.held()
        self.placement.faults['PUT /allocations/%s' % uuids.I] = fault
        self.assertEqual(books.FAILED,
                         self.books.remove(self.held, [uuids.S]))
        self.assertEqual(before, self.placement.held())

    def test_provider_deleted_since(self):
        """Placement refuses what remains on it."""
        del self.placement.providers[uuids.D]
        self.assertEqual(books.FAILED,
                         self.books.remove(self.held, [uuids.S]))
