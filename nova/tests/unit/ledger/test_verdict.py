# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import datetime

import ddt
import fixtures
from oslo_utils.fixture import uuidsentinel as uuids

from nova.compute import task_states
from nova.compute import vm_states
from nova.ledger import amounts
from nova.ledger import books
from nova.ledger import client
from nova.ledger import holders
from nova.ledger import verdict
from nova import test
from nova.tests.unit.ledger import fakes

# An instance and a migration; in the tables, their consumers too.
I, M = fakes.instance, fakes.migration  # noqa: E741
USUAL = fakes.USUAL
SMALL = {'VCPU': 1, 'MEMORY_MB': 512}
DISK = {'DISK_GB': 10}
NUMA = 'S.numa'
FLAVOR = amounts.Flavor(1, 512, 10, {})


class VerdictTestCase(test.NoDBTestCase):
    """S has a nested provider and shares the pool; D has neither."""

    def setUp(self):
        super(VerdictTestCase, self).setUp()
        self.useFixture(fixtures.MockPatch(
            'oslo_utils.timeutils.utcnow', return_value=fakes.NOW))
        self.cloud = fakes.Cloud()
        self.nova, self.placement = self.cloud.nova, self.cloud.placement
        self.cloud.add_node('S', aggregates=[uuids.rack])
        self.placement.add(NUMA, parent=uuids.S)
        self.cloud.add_node('D')
        self.cloud.add_node('gone', deleted=True)
        self.placement.add('pool', aggregates=[uuids.rack])
        self.placement.add('alien')
        self.run = self.cloud.run
        self.min_age = 0

    def hold(self, consumer, held, **more):
        """Let a consumer hold something, by names."""
        self.placement.hold(getattr(uuids, consumer), {
            getattr(uuids, name): resources
            for name, resources in held.items()}, **more)

    # An audit, step by step

    def first_look(self, provider=None):
        self.books = books.Books(client.Client(self.placement))
        self.books.read_providers(provider)
        self.books.read_allocations(self.books.providers)
        self.judge = verdict.Judge(
            self.books, datetime.timedelta(seconds=self.min_age))
        records = self.nova.look()
        suspects = self.judge.first_look(records)
        self.flavors = self.nova.flavors(suspects.unusual.values())
        self.judge.explain(suspects, records, self.flavors)
        return suspects

    def second_look(self, suspects):
        consumers = suspects.consumers
        held = {consumer: self.books.read_consumer(consumer)
                for consumer in consumers}
        return self.judge.second_look(
            suspects, held, self.nova.look_at(consumers), self.flavors)

    def findings(self):
        return self.second_look(self.first_look())

    def finding(self):
        """The only one."""
        findings = self.findings()
        self.assertEqual(1, len(findings), findings)
        return findings[0]

    @staticmethod
    def told(findings):
        """{(kind, reason, name of the provider), ...}"""
        names = {getattr(uuids, name): name for name in (
            'S', NUMA, 'D', 'pool', 'alien', 'gone')}
        return {(each.kind, each.reason, names.get(each.provider))
                for each in findings}


class FirstLookTestCase(VerdictTestCase):

    def assertSuspects(self, holders=(), missing=(), unusual=()):
        suspects = self.first_look()
        self.assertEqual(
            [(getattr(uuids, consumer), getattr(uuids, provider))
             for consumer, provider in holders],
            [(each.consumer, each.provider) for each in suspects.holders])
        self.assertEqual({getattr(uuids, name) for name in missing},
                         set(suspects.missing))
        self.assertEqual({getattr(uuids, name) for name in unusual},
                         set(suspects.unusual))
        return suspects

    def test_all_is_well(self):
        self.run(I('S'),
                 I('D', uuid=uuids.J, task_state=task_states.MIGRATING),
                 M('running', instance=uuids.J))
        self.hold('I', {'S': USUAL})
        self.hold('J', {'S': USUAL})
        self.hold('M', {'D': USUAL})
        self.assertSuspects()

    def test_holders(self):
        self.run(I('S'))
        self.hold('U', {'D': USUAL, 'S': {'CUSTOM_METAL': 1}})
        self.hold('I', {'S': USUAL, 'D': {'NET_PACKET_RATE_KILOPACKET': 1}})
        suspects = self.assertSuspects([('U', 'S'), ('U', 'D'), ('I', 'D')])
        self.assertEqual({'CUSTOM_METAL': 1}, suspects.holders[0].resources)
        # Each once, in the books' order.
        self.assertEqual([uuids.U, uuids.I], suspects.consumers)

    def test_missing(self):
        self.run(I('S'), I('S', uuid=uuids.J))
        self.hold('J', {'S': USUAL})
        self.assertSuspects(missing=['I'])

    def test_missing_but_elsewhere(self):
        self.run(I('S'))
        self.hold('I', {'D': USUAL})
        self.assertSuspects([('I', 'D')], missing=['I'])

    def test_missing_but_on_shared_storage(self):
        self.run(I('S'))
        self.hold('I', {'pool': DISK})
        self.assertSuspects(missing=['I'])

    def test_not_missing(self):
        self.run(
            I('S', uuid=uuids.A, task_state=task_states.DELETING),
            I(uuid=uuids.B, vm_state=vm_states.SHELVED_OFFLOADED),
            I('S', uuid=uuids.C, vm_state=vm_states.SHELVED_OFFLOADED),
            I(uuid=uuids.E, vm_state=vm_states.ERROR),
            I('gone', uuid=uuids.F), I('S', uuid=uuids.G, deleted=True),
            I('S', uuid=uuids.H), M('running', instance=uuids.H))
        self.assertSuspects()

    def test_nested_only(self):
        self.run(I('S'))
        self.hold('I', {NUMA: USUAL})
        self.assertSuspects()

    def test_usual_on_several_providers(self):
        self.nova.known_flavors[uuids.I] = FLAVOR._replace(vcpus=9)
        self.run(I('S'))
        self.hold('I', {NUMA: SMALL, 'pool': DISK})
        self.assertSuspects()

    def test_unusual(self):
        self.nova.known_flavors[uuids.I] = FLAVOR
        self.run(I('S'))
        self.hold('I', {'S': SMALL})
        self.assertSuspects(unusual=['I'])

    def test_unusual_but_as_the_flavor_says(self):
        self.nova.known_flavors[uuids.I] = FLAVOR._replace(disk_gb=0)
        self.run(I('S'))
        self.hold('I', {'S': SMALL})
        self.assertSuspects()

    def test_unusual_without_a_flavor(self):
        self.run(I('S'))
        self.hold('I', {'S': SMALL})
        self.assertSuspects()

    def test_one_provider_only(self):
        self.run(I('D'), I('S', uuid=uuids.J), I('S', uuid=uuids.K))
        self.hold('U', {'D': USUAL, 'S': USUAL})
        self.hold('K', {NUMA: USUAL})
        suspects = self.first_look(uuids.S)
        self.assertEqual([uuids.S], [each.provider
                                     for each in suspects.holders])
        self.assertIn(uuids.J, suspects.missing)
        self.assertNotIn(uuids.I, suspects.missing)

    def test_among(self):
        self.nova.known_flavors[uuids.K] = FLAVOR
        self.run(I('S'), I('S', uuid=uuids.J), I('S', uuid=uuids.K))
        self.hold('U', {'D': USUAL, 'S': USUAL})
        self.hold('V', {'D': USUAL})
        self.hold('K', {'S': DISK})
        suspects = self.first_look()
        some = suspects.among([uuids.U, uuids.J])
        self.assertEqual([uuids.U, uuids.J], some.consumers)
        self.assertEqual(2, len(some.holders))
        others = suspects.among([uuids.V, uuids.I, uuids.K])
        self.assertEqual([uuids.V, uuids.I, uuids.K], others.consumers)


@ddt.ddt
class KindTestCase(VerdictTestCase):
    """What is found, and called what, when nothing changes meanwhile."""

    def _check(self, rows, held, *expected):
        self.run(*rows)
        for consumer, holdings in held.items():
            self.hold(consumer, holdings)
        self.assertEqual(set(expected), self.told(self.findings()))

    @ddt.data(
        # (Nova's records, who holds what, findings...)
        ([], {'U': {'S': USUAL}}, ('orphan', 'unknown', 'S')),
        ([I('S', deleted=True)], {'I': {'S': USUAL, 'pool': DISK}},
         ('orphan', 'deleted', 'S'), ('orphan', 'deleted', 'pool')),
        ([M('completed')], {'M': {'S': USUAL}},
         ('leftover', 'migration-over', 'S')),
        ([I('D'), M('completed')], {'I': {'D': USUAL}, 'M': {'S': USUAL}},
         ('leftover', 'migration-over', 'S')),
        ([I('S', deleted=True), M('error')], {'M': {'S': USUAL}},
         ('orphan', 'deleted', 'S')),
        ([I(vm_state=vm_states.SHELVED_OFFLOADED)], {'I': {'S': USUAL}},
         ('leftover', 'offloaded', 'S')),
        ([I(vm_state=vm_states.ERROR)], {'I': {'S': USUAL}},
         ('leftover', 'nowhere', 'S')),
        ([I('D')], {'I': {'D': USUAL, 'S': USUAL}},
         ('doubled', 'elsewhere', 'S')),
        ([I('S')], {'I': {NUMA: USUAL, 'D': USUAL}},
         ('doubled', 'elsewhere', 'D')),
        ([I('D'), M('done', type='evacuation')],
         {'I': {'D': USUAL, NUMA: USUAL}}, ('doubled', 'elsewhere', NUMA)),
        ([I('D')], {'I': {'S': USUAL}}, ('leftover', 'elsewhere', 'S'),
         ('missing', 'not-held', 'D')),
        ([I('D')], {'I': {'D': SMALL, 'pool': DISK}},
         ('doubled', 'elsewhere', 'pool')),
        ([I('S')], {}, ('missing', 'not-held', 'S')),
        ([I('gone')], {'I': {'gone': USUAL}},
         ('stranded', 'stranded', 'gone')),
        ([], {'U': {'alien': USUAL}}, ('foreign', 'foreign-provider',
                                       'alien')),
        ([], {'U': {'gone': USUAL}}, ('orphan', 'unknown', 'gone')),
        # All is well.
        ([I('S')], {'I': {'S': SMALL, 'pool': DISK}}),
        ([I('S')], {'I': {'S': USUAL, 'alien': {'CUSTOM_X': 1}}}),
        ([I('D', vm_state=vm_states.RESIZED), M('finished')],
         {'I': {'D': USUAL}, 'M': {'S': USUAL}}),
    )
    @ddt.unpack
    def test_kind(self, rows, held, *expected):
        self._check(rows, held, *expected)

    def test_never_built(self):
        self.nova.mappings[uuids.I] = None
        self._check([], {'I': {'S': USUAL}}, ('orphan', 'never-built', 'S'))

    def test_foreign_type(self):
        self.hold('U', {'S': USUAL, 'alien': USUAL}, type='CONTAINER')
        self._check([], {}, ('foreign', 'foreign-type', 'S'),
                    ('foreign', 'foreign-type', 'alien'))

    def test_silent_cell(self):
        self.nova.cells[uuids.cell1] = 'no answer'
        self.nova.mappings[uuids.I] = uuids.cell1
        self._check([I('S')], {'I': {'S': USUAL}},
                    ('cannot-know', 'cell-silent', 'S'))
        self.assertEqual([uuids.cell1],
                         [cell.uuid for cell in self.finding().cells])

    def test_record_missing(self):
        self.nova.mappings[uuids.I] = uuids.cell1
        self._check([], {'I': {'S': USUAL}},
                    ('cannot-know', 'record-missing', 'S'))

    def test_only_these_may_be_deleted(self):
        self.assertEqual({'orphan', 'leftover', 'doubled'},
                         {kind for kind in verdict.KINDS if verdict.Finding(
                             kind, None, None, {}, '').deletable})

    def test_evidence(self):
        first = M('error', updated_at=fakes.ago(days=3))
        last = M('completed', uuid=uuids.M2, updated_at=fakes.ago(days=2))
        server = I('D', updated_at=fakes.ago(days=1))
        self.run(server, first, last, M('running', uuid=uuids.M3,
                                        instance=uuids.other))
        self.hold('I', {'D': USUAL})
        self.hold('M', {'S': USUAL, NUMA: {'VGPU': 1}})
        finding = [each for each in self.findings()
                   if each.provider == uuids.S][0]
        self.assertEqual((uuids.M, 'MIGRATION', server), (
            finding.consumer.uuid, finding.consumer.type,
            finding.consumer.instance))
        self.assertEqual(USUAL, finding.resources)
        self.assertEqual({uuids.S: USUAL, getattr(uuids, NUMA):
                          {'VGPU': 1}}, finding.held.allocations)
        self.assertEqual([last, first], finding.migrations)
        self.assertEqual(datetime.timedelta(days=1), finding.age)
        self.assertEqual(verdict.NOTHING, finding.action)


class SecondLookTestCase(VerdictTestCase):
    """What has changed since the first look."""

    def _clears(self, change):
        suspects = self.first_look()
        self.assertTrue(suspects.consumers)
        change()
        self.assertEqual([], self.second_look(suspects))

    def test_holds_nothing_now(self):
        self.hold('U', {'S': USUAL})
        self._clears(lambda: self.hold('U', {}))

    def test_holds_something_else_now(self):
        self.hold('U', {'S': USUAL})
        self._clears(lambda: self.hold('U', {'D': USUAL}))

    def test_holds_another_amount_now(self):
        self.hold('U', {'S': USUAL})
        suspects = self.first_look()
        self.hold('U', {'S': SMALL, 'D': USUAL})
        finding, = self.second_look(suspects)
        self.assertEqual(SMALL, finding.resources)
        self.assertEqual(self.placement.held()[uuids.U],
                         finding.held.allocations)

    def test_is_being_built_now(self):
        self.hold('I', {'S': USUAL})
        self._clears(lambda: self.nova.build_requests.add(uuids.I))

    def test_is_in_a_cell_now(self):
        self.hold('I', {'S': USUAL})
        self._clears(lambda: self.run(I('S')))

    def test_moves_now(self):
        self.run(I('S'))
        self.hold('I', {'S': USUAL, 'D': USUAL})
        self._clears(lambda: self.run(M('accepted')))

    def test_has_moved_now(self):
        server = I('S')
        self.run(server)
        self.hold('I', {'D': USUAL})
        self._clears(lambda: self.nova.change(server, host='D', node='D'))

    def test_is_rolled_back_now(self):
        server = I('S')
        self.run(server, M('error'))
        self.hold('I', {'S': USUAL})
        self.hold('M', {'S': USUAL})
        self._clears(lambda: self.nova.change(
            server, task_state=task_states.MIGRATING))

    def test_is_deleted_now(self):
        server = I('S')
        self.run(server)
        self.hold('I', {'S': USUAL, 'D': USUAL})
        suspects = self.first_look()
        self.nova.change(server, deleted=True)
        finding, = self.second_look(suspects)
        self.assertEqual((verdict.ORPHAN, 'deleted'),
                         (finding.kind, finding.reason))

    def test_cell_is_silent_now(self):
        self.hold('U', {'S': USUAL})
        suspects = self.first_look()
        self.nova.cells[uuids.cell2] = 'no answer'
        finding, = self.second_look(suspects)
        self.assertEqual(verdict.CANNOT_KNOW, finding.kind)

    def test_cell_that_was_silent_answers_now(self):
        self.nova.cells[uuids.cell1] = 'no answer'
        self.run(I('S'))
        self.hold('I', {'S': USUAL})
        self._clears(lambda: self.nova.cells.update({uuids.cell1: None}))

    def test_compute_node_is_there_now(self):
        self.run(I('N'))
        self.placement.add('N', aggregates=[uuids.rack])
        self.hold('I', {'S': USUAL, 'N': USUAL})
        suspects = self.first_look()
        self.run(fakes.node('N'))
        finding, = self.second_look(suspects)
        self.assertEqual((verdict.DOUBLED, uuids.S),
                         (finding.kind, finding.provider))

    # Missing

    def test_missing_is_held_now(self):
        self.run(I('S'))
        self._clears(lambda: self.hold('I', {NUMA: USUAL}))

    def test_missing_is_busy_now(self):
        server = I('S')
        self.run(server)
        self._clears(lambda: self.nova.change(
            server, task_state=task_states.DELETING))

    def test_missing_is_elsewhere_now(self):
        server = I('S')
        self.run(server)
        self._clears(lambda: self.nova.change(server, host='D', node='D'))

    def test_missing_is_gone_now(self):
        server = I('S')
        self.run(server)
        self._clears(lambda: self.nova.rows.remove(server))

    # Amounts

    def _wrong(self):
        server = I('S')
        self.nova.known_flavors[uuids.I] = FLAVOR
        self.run(server)
        self.hold('I', {'S': SMALL})
        return server

    def test_amount_is_right_now(self):
        self._wrong()
        self._clears(lambda: self.hold('I', {'S': SMALL, 'pool': DISK}))

    def test_server_of_wrong_amount_moves_now(self):
        self._wrong()
        self._clears(lambda: self.run(M('running')))

    def test_server_of_wrong_amount_is_resized_now(self):
        server = self._wrong()
        self._clears(lambda: self.nova.change(server, vcpus=2))

    def test_server_of_wrong_amount_holds_nothing_here_now(self):
        self._wrong()
        self._clears(lambda: self.hold('I', {'D': SMALL}))


class WrongAmountTestCase(VerdictTestCase):

    def setUp(self):
        super(WrongAmountTestCase, self).setUp()
        self.nova.known_flavors[uuids.I] = FLAVOR
        self.run(I('S'))

    def test_too_little(self):
        self.hold('I', {'S': SMALL})
        finding = self.finding()
        self.assertEqual((verdict.WRONG_AMOUNT, 'differs', uuids.S), (
            finding.kind, finding.reason, finding.provider))
        self.assertEqual({'expected': {'DISK_GB': 10},
                          'held': {'DISK_GB': 0}, 'not_computed': []},
                         finding.detail)
        self.assertEqual(SMALL, finding.resources)
        self.assertFalse(finding.deletable)

    def test_disk_on_the_compute_node_and_shared(self):
        self.hold('I', {'S': USUAL, 'pool': DISK})
        self.assertEqual({'DISK_GB': 20}, self.finding().detail['held'])

    def test_all_of_the_tree(self):
        self.hold('I', {'S': SMALL, NUMA: {'VCPU': 1}, 'pool': DISK})
        finding = self.finding()
        self.assertEqual({'VCPU': 2}, finding.detail['held'])
        self.assertEqual({'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 10},
                         finding.resources)

    def test_what_is_held_elsewhere_is_another_matter(self):
        self.hold('I', {'S': SMALL, 'D': USUAL})
        self.assertEqual({('doubled', 'elsewhere', 'D'),
                          ('wrong-amount', 'differs', 'S')},
                         self.told(self.findings()))

    def test_what_is_held_elsewhere_makes_nothing_right(self):
        self.hold('I', {'S': SMALL, 'D': DISK})
        self.assertEqual({('doubled', 'elsewhere', 'D'),
                          ('wrong-amount', 'differs', 'S')},
                         self.told(self.findings()))


@ddt.ddt
class AgeTestCase(VerdictTestCase):
    """What has changed of late may be right in a moment."""

    def setUp(self):
        super(AgeTestCase, self).setUp()
        self.min_age = 300

    def assertYoung(self, kind, seconds):
        finding = self.finding()
        self.assertEqual(verdict.YOUNG, finding.kind)
        self.assertEqual(kind, finding.detail['looks_like'])
        self.assertFalse(finding.deletable)
        self.assertEqual(None if seconds is None else
                         datetime.timedelta(seconds=seconds), finding.age)

    def _orphan(self, allocation=400, server=400, move=400):
        """A leftover of a migration, with the ages of what is written."""
        self.run(I('D', updated_at=fakes.ago(seconds=server)),
                 M('completed', updated_at=fakes.ago(seconds=move)))
        self.hold('I', {'D': USUAL})
        self.hold('M', {'S': USUAL}, changed_at=fakes.ago(seconds=allocation))

    def test_old(self):
        self._orphan()
        finding = self.finding()
        self.assertEqual(verdict.LEFTOVER, finding.kind)
        self.assertEqual(datetime.timedelta(seconds=400), finding.age)

    def test_old_enough(self):
        self._orphan(300, 300, 300)
        self.assertEqual(verdict.LEFTOVER, self.finding().kind)

    @ddt.data({'allocation': 299}, {'server': 299}, {'move': 299})
    def test_young(self, ages):
        self._orphan(**ages)
        self.assertYoung(verdict.LEFTOVER, 299)

    def test_any_age_will_do(self):
        self.min_age = 0
        self._orphan(0, 0, 0)
        self.assertEqual(verdict.LEFTOVER, self.finding().kind)

    def test_another_move_of_the_server_is_young(self):
        self._orphan()
        self.run(M('confirmed', uuid=uuids.M2,
                   updated_at=fakes.ago(seconds=10)))
        self.assertYoung(verdict.LEFTOVER, 10)

    def test_nobody_knows_how_old(self):
        self.placement.version = (1, 14)
        self.hold('U', {'S': USUAL})
        self.assertYoung(verdict.ORPHAN, None)

    def test_placement_goes_by_its_own_clock(self):
        """Which may be behind ours: only the difference counts."""
        answer = self.placement.get

        def behind(url, **kwargs):
            response = answer(url, **kwargs)
            if url.startswith('/allocations/'):
                response.headers.update({
                    'Date': 'Mon, 02 Feb 2026 00:10:00 GMT',
                    'Last-Modified': 'Mon, 02 Feb 2026 00:09:50 GMT'})
            return response

        self.placement.get = behind
        self.hold('U', {'S': USUAL})
        self.assertYoung(verdict.ORPHAN, 10)

    def test_missing(self):
        self.run(I('S', updated_at=fakes.ago(seconds=10)))
        self.assertYoung(verdict.MISSING, 10)

    def test_wrong_amount(self):
        self.nova.known_flavors[uuids.I] = FLAVOR
        self.run(I('S', updated_at=fakes.ago(seconds=10)))
        self.hold('I', {'S': SMALL})
        self.assertYoung(verdict.WRONG_AMOUNT, 10)
        self.assertIn('expected', self.finding().detail)

    def test_doubled(self):
        self.run(I('S', updated_at=fakes.ago(seconds=10)))
        self.hold('I', {'S': USUAL, 'D': USUAL})
        self.assertYoung(verdict.DOUBLED, 10)

    def test_some_are_what_they_are_at_any_age(self):
        self.hold('U', {'alien': USUAL}, changed_at=fakes.NOW)
        self.hold('F', {'S': USUAL}, type='CONTAINER', changed_at=fakes.NOW)
        self.run(I('gone', updated_at=fakes.NOW))
        self.hold('I', {'gone': USUAL})
        self.nova.mappings[uuids.J] = uuids.cell1
        self.hold('J', {'S': USUAL}, changed_at=fakes.NOW)
        self.assertEqual(
            {('foreign', 'foreign-provider', 'alien'),
             ('foreign', 'foreign-type', 'S'),
             ('stranded', 'stranded', 'gone'),
             ('cannot-know', 'record-missing', 'S')},
            self.told(self.findings()))


@ddt.ddt
class StuckTestCase(VerdictTestCase):

    def _stuck(self, *rows):
        self.run(*rows)
        return verdict.Judge.stuck(self.nova.look())

    def test_task(self):
        found, = self._stuck(I('S', task_state=task_states.MIGRATING,
                               updated_at=fakes.ago(days=2)))
        self.assertEqual(
            (verdict.STUCK, 'task-stuck', uuids.I, None,
             datetime.timedelta(days=2)),
            (found.kind, found.reason, found.consumer.uuid, found.provider,
             found.age))
        self.assertFalse(found.deletable)

    def test_migration(self):
        move = M('running', updated_at=fakes.ago(days=2))
        found, = self._stuck(I('S'), move)
        self.assertEqual(
            (verdict.STUCK, 'migration-stuck', uuids.M, [move],
             datetime.timedelta(days=2)),
            (found.kind, found.reason, found.consumer.uuid, found.migrations,
             found.age))

    @ddt.data(
        I('S', task_state=task_states.MIGRATING, updated_at=fakes.NOW),
        I('S', task_state=task_states.MIGRATING,
          updated_at=fakes.ago(days=1)),
        I('S', task_state=task_states.MIGRATING, updated_at=None),
        I('S'),
        I('D', vm_state=vm_states.RESIZED),
        M('running', updated_at=fakes.NOW),
        M('finished'),  # waits for the user
        M('completed'),
        M('error'))
    def test_not_stuck(self, row):
        self.assertEqual([], self._stuck(row))

    def test_once_though_it_is_in_two_cells(self):
        self.assertEqual(1, len(self._stuck(
            I('S'), I(cell=uuids.cell2, hidden=True), M('migrating'),
            M('migrating', cell=uuids.cell2))))

    def test_what_is_stuck_is_no_orphan(self):
        self.run(I('S', task_state=task_states.RESIZE_REVERTING),
                 M('reverted'))
        self.hold('M', {'S': USUAL})
        self.hold('I', {'D': USUAL})
        self.assertEqual([], self.findings())


class PlaceTestCase(VerdictTestCase):
    """Where a provider is."""

    def _place(self, name):
        self.first_look()
        del self.placement.requests[:]
        return self.judge.place(
            self.nova.look(), self.books.providers[getattr(uuids, name)])

    def test_in_a_tree(self):
        for name in ('S', NUMA):
            place = self._place(name)
            self.assertEqual(uuids.S, place.node.uuid)
            self.assertIsNone(place.shared_by)
            self.assertEqual([], self.placement.requests)

    def test_deleted_compute_node(self):
        self.assertTrue(self._place('gone').node.deleted)

    def test_shared(self):
        place = self._place('pool')
        self.assertIsNone(place.node)
        self.assertEqual({uuids.S}, place.shared_by)

    def test_not_shared(self):
        place = self._place('alien')
        self.assertEqual((None, set()), (place.node, place.shared_by))

    def test_asked_once(self):
        self.hold('U', {'pool': DISK, 'alien': DISK})
        self.hold('V', {'pool': DISK, 'alien': DISK})
        self.assertEqual(4, len(self.findings()))
        asked = [request for request in self.placement.requests
                 if request.endswith('/aggregates')]
        self.assertEqual(2, len(asked))


class ReasonTestCase(test.NoDBTestCase):

    def test_each_is_told(self):
        self.assertTrue(set(holders.REASONS) < set(verdict.REASONS))
