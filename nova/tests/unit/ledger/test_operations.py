# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The audit while operations go on, write by write.

An operation is a sequence of writes, in the order in which Nova makes them.
After each it is known who may hold what: that is the table of rightful
holders, seen from the operation's side. The audit runs with --delete and at
any age, and whenever it asks something, as many writes are made as hypothesis
likes. It may take away nothing that is rightful just then.
"""

import contextlib
import io

import ddt
import hypothesis
from hypothesis import strategies as st
from oslo_utils.fixture import uuidsentinel as uuids

from nova.compute import task_states
from nova.compute import vm_states
from nova.ledger import audit
from nova import test
from nova.tests.unit.ledger import fakes

CELL1, CELL2 = uuids.cell1, uuids.cell2

settings = hypothesis.settings(
    derandomize=True, database=None, deadline=None, max_examples=60,
    suppress_health_check=list(hypothesis.HealthCheck))


class Placement(fakes.Placement):
    """One that remembers what was taken away by others than `hold`."""

    def __init__(self):
        super(Placement, self).__init__()
        self.taken = lambda consumer, providers: None

    def _put(self, uuid, document, version):
        before = set(self.held().get(uuid, ()))
        response = super(Placement, self)._put(uuid, document, version)
        after = set(self.held().get(uuid, ()))
        if before - after:
            self.taken(uuid, before - after)
        return response


class Cloud(fakes.Cloud):
    """S and D in one cell, X in another; what operations write."""

    def __init__(self):
        super(Cloud, self).__init__()
        self.placement = Placement()
        for name, cell in [('S', CELL1), ('D', CELL1), ('X', CELL2)]:
            self.add_node(name, cell=cell)

    # Nova's records

    def server(self, cell=CELL1, **values):
        """Write the server's record in a cell."""
        rows = [row for row in self.nova.of(
            type(fakes.instance()), cell) if row.uuid == uuids.I]
        if not rows:
            self.run(fakes.instance(cell=cell, **values))
        else:
            if 'host' in values:
                values.setdefault('node', values['host'])
            self.nova.change(rows[0], **values)

    def move(self, status, cell=CELL1, **values):
        """Write the migration's record in a cell."""
        rows = self.nova.of(type(fakes.migration('')), cell)
        if rows:
            self.nova.change(rows[0], status=status, **values)
        else:
            self.run(fakes.migration(status, cell=cell, **values))

    def forget(self, cell):
        """Delete both from a cell, for good."""
        self.nova.rows = [
            row for row in self.nova.rows if row.cell != cell or
            isinstance(row, type(fakes.node('S')))]

    # Placement's books

    def hold(self, *names):
        """Let the server hold these, and no others."""
        self.placement.hold(uuids.I, {
            getattr(uuids, name): dict(fakes.USUAL) for name in names})

    def swap(self, taker, giver, *names):
        """Let one have all that the other holds, which then holds these."""
        held = self.placement.held().get(giver, {})
        self.placement.hold(taker, held)
        self.placement.hold(giver, {
            getattr(uuids, name): dict(fakes.USUAL) for name in names})

    def drop_migration(self):
        self.placement.hold(uuids.M, {})


# Each yields, after each write, what is rightful from then on; what is claimed
# is so from the claim on. The first is what there is before the operation.

def boot(cloud):
    yield ''
    cloud.nova.mappings[uuids.I] = None
    cloud.nova.build_requests.add(uuids.I)
    yield ''
    cloud.hold('D')
    yield 'I@D'
    cloud.server(vm_state=vm_states.BUILDING,
                 task_state=task_states.SCHEDULING)
    yield 'I@D'
    cloud.nova.mappings[uuids.I] = CELL1
    yield 'I@D'
    cloud.nova.build_requests.remove(uuids.I)
    yield 'I@D'
    cloud.server(host='D', task_state=task_states.SPAWNING)
    yield 'I@D'
    cloud.server(vm_state=vm_states.ACTIVE, task_state=None)
    yield 'I@D'


def boot_rescheduled(cloud):
    steps = boot(cloud)
    for _ in range(7):
        yield next(steps)
    cloud.server(host=None, task_state=task_states.SCHEDULING)
    yield ''
    cloud.hold()
    yield ''
    cloud.hold('S')
    yield 'I@S'
    cloud.server(host='S', task_state=task_states.SPAWNING)
    yield 'I@S'
    cloud.server(vm_state=vm_states.ACTIVE, task_state=None)
    yield 'I@S'


def boot_cancelled(cloud):
    steps = boot(cloud)
    for _ in range(3):
        yield next(steps)
    cloud.nova.build_requests.remove(uuids.I)
    yield ''
    del cloud.nova.mappings[uuids.I]
    yield ''
    cloud.hold()
    yield ''


def at_rest(cloud, **values):
    cloud.server(host='S', **values)
    cloud.nova.mappings[uuids.I] = CELL1
    cloud.hold('S')
    return 'I@S'


def live_migration(cloud):
    yield at_rest(cloud)
    cloud.server(task_state=task_states.MIGRATING)
    yield 'I@S'
    cloud.move('accepted', type='live-migration', source_host='S')
    yield 'I@S'
    cloud.swap(uuids.M, uuids.I)
    yield 'M@S'
    cloud.hold('D')
    yield 'M@S I@D'
    cloud.move('preparing', source_node='S', dest_host='D', dest_node='D')
    yield 'M@S I@D'
    cloud.move('running')
    yield 'M@S I@D'
    cloud.server(host='D', task_state=None)
    yield 'I@D'
    cloud.move('completed')
    yield 'I@D'
    cloud.drop_migration()
    yield 'I@D'


def live_migration_rolled_back(cloud):
    steps = live_migration(cloud)
    for _ in range(7):
        yield next(steps)
    cloud.move('error')
    yield 'M@S'
    cloud.swap(uuids.I, uuids.M)
    yield 'I@S'
    cloud.server(task_state=None)
    yield 'I@S'


def resize(cloud):
    """Up to its verification."""
    yield at_rest(cloud)
    cloud.server(task_state=task_states.RESIZE_PREP)
    yield 'I@S'
    cloud.move('pre-migrating', type='resize')
    yield 'I@S'
    cloud.swap(uuids.M, uuids.I)
    yield 'M@S'
    cloud.hold('D')
    yield 'M@S I@D'
    cloud.move('migrating')
    yield 'M@S I@D'
    cloud.server(task_state=task_states.RESIZE_MIGRATING)
    yield 'M@S I@D'
    cloud.move('post-migrating')
    yield 'M@S I@D'
    cloud.server(host='D', task_state=task_states.RESIZE_FINISH)
    yield 'M@S I@D'
    cloud.move('finished')
    yield 'M@S I@D'
    cloud.server(vm_state=vm_states.RESIZED, task_state=None)
    yield 'M@S I@D'


def resize_confirmed(cloud):
    for rightful in resize(cloud):
        yield rightful
    cloud.move('confirming')
    yield 'M@S I@D'
    cloud.move('confirmed')
    yield 'I@D'
    cloud.server(vm_state=vm_states.ACTIVE)
    yield 'I@D'
    cloud.drop_migration()
    yield 'I@D'


def resize_reverted(cloud):
    for rightful in resize(cloud):
        yield rightful
    cloud.server(task_state=task_states.RESIZE_REVERTING)
    yield 'M@S I@D'
    cloud.move('reverting')
    yield 'M@S I@D'
    cloud.move('reverted')
    yield 'M@S'
    cloud.server(host='S')
    yield 'M@S'
    cloud.swap(uuids.I, uuids.M)
    yield 'I@S'
    cloud.server(vm_state=vm_states.ACTIVE, task_state=None)
    yield 'I@S'


def resize_failed(cloud):
    steps = resize(cloud)
    for _ in range(7):
        yield next(steps)
    cloud.move('error')
    yield 'M@S'
    cloud.swap(uuids.I, uuids.M)
    yield 'I@S'
    cloud.server(task_state=None)
    yield 'I@S'


def cross_cell_resize(cloud):
    """Up to its verification."""
    yield at_rest(cloud)
    cloud.server(task_state=task_states.RESIZE_PREP)
    yield 'I@S'
    cloud.move('pre-migrating', type='resize')
    yield 'I@S'
    cloud.swap(uuids.M, uuids.I)
    yield 'M@S'
    cloud.hold('X')
    yield 'M@S I@X'
    cloud.server(CELL2, hidden=True, task_state=task_states.RESIZE_PREP)
    yield 'M@S I@X'
    cloud.move('pre-migrating', CELL2, type='resize')
    yield 'M@S I@X'
    cloud.server(CELL2, task_state=task_states.RESIZE_FINISH, host='X')
    yield 'M@S I@X'
    cloud.server(CELL1, hidden=True)
    yield 'M@S I@X'
    cloud.nova.mappings[uuids.I] = CELL2
    yield 'M@S I@X'
    cloud.server(CELL2, hidden=False)
    yield 'M@S I@X'
    cloud.move('finished', CELL2)
    yield 'M@S I@X'
    cloud.server(CELL2, vm_state=vm_states.RESIZED, task_state=None)
    yield 'M@S I@X'


def cross_cell_resize_confirmed(cloud):
    for rightful in cross_cell_resize(cloud):
        yield rightful
    cloud.move('confirming', CELL2)
    yield 'M@S I@X'
    cloud.move('confirmed', CELL1)
    yield 'I@X'
    cloud.drop_migration()
    yield 'I@X'
    cloud.forget(CELL1)
    yield 'I@X'
    cloud.move('confirmed', CELL2)
    yield 'I@X'
    cloud.server(CELL2, vm_state=vm_states.ACTIVE)
    yield 'I@X'


def cross_cell_resize_reverted(cloud):
    for rightful in cross_cell_resize(cloud):
        yield rightful
    cloud.server(CELL2, task_state=task_states.RESIZE_REVERTING)
    yield 'M@S I@X'
    cloud.move('reverting', CELL2)
    yield 'M@S I@X'
    cloud.server(CELL1, hidden=False, task_state=task_states.RESIZE_REVERTING)
    yield 'M@S I@X'
    cloud.nova.mappings[uuids.I] = CELL1
    yield 'M@S I@X'
    cloud.server(CELL2, hidden=True)
    yield 'M@S I@X'
    cloud.forget(CELL2)
    yield 'M@S'
    cloud.swap(uuids.I, uuids.M)
    yield 'I@S'
    cloud.move('reverted', CELL1)
    yield 'I@S'
    cloud.server(CELL1, task_state=None)
    yield 'I@S'


def evacuation(cloud):
    yield at_rest(cloud)
    cloud.server(task_state=task_states.REBUILDING)
    yield 'I@S'
    cloud.move('accepted', type='evacuation', source_host='S')
    yield 'I@S'
    cloud.hold('S', 'D')
    yield 'I@S I@D'
    cloud.move('pre-migrating', dest_host='D')
    yield 'I@S I@D'
    cloud.server(task_state=None)
    yield 'I@S I@D'
    cloud.server(host='D')
    yield 'I@D'
    cloud.move('done')
    yield 'I@D'


def shelve(cloud):
    yield at_rest(cloud)
    cloud.server(task_state=task_states.SHELVING)
    yield 'I@S'
    cloud.server(vm_state=vm_states.SHELVED,
                 task_state=task_states.SHELVING_OFFLOADING)
    yield 'I@S'
    cloud.hold()
    yield ''
    cloud.server(vm_state=vm_states.SHELVED_OFFLOADED, task_state=None,
                 host=None)
    yield ''


def unshelve(cloud):
    for rightful in shelve(cloud):
        yield rightful
    cloud.server(task_state=task_states.UNSHELVING)
    yield ''
    cloud.hold('D')
    yield 'I@D'
    cloud.server(host='D', task_state=task_states.SPAWNING)
    yield 'I@D'
    cloud.server(vm_state=vm_states.ACTIVE, task_state=None)
    yield 'I@D'


def delete(cloud):
    yield at_rest(cloud)
    cloud.server(task_state=task_states.DELETING)
    yield 'I@S'
    cloud.server(deleted=True, task_state=None)
    yield ''
    cloud.hold()
    yield ''


def delete_softly_and_restore(cloud):
    yield at_rest(cloud)
    cloud.server(task_state=task_states.SOFT_DELETING)
    yield 'I@S'
    cloud.server(vm_state=vm_states.SOFT_DELETED, task_state=None)
    yield 'I@S'
    cloud.server(task_state=task_states.RESTORING)
    yield 'I@S'
    cloud.server(vm_state=vm_states.ACTIVE, task_state=None)
    yield 'I@S'


OPERATIONS = [
    boot, boot_rescheduled, boot_cancelled, live_migration,
    live_migration_rolled_back, resize_confirmed, resize_reverted,
    resize_failed, cross_cell_resize_confirmed, cross_cell_resize_reverted,
    evacuation, shelve, unshelve, delete, delete_softly_and_restore]


class Play(object):
    """An audit, and the writes of an operation in between.

    :ivar damage: what was taken away though it was rightful just then
    """

    def __init__(self, operation, before, bursts=(), at=None, wrong=(),
                 **options):
        """Play it.

        :param operation: one of OPERATIONS
        :param before: how many writes are made before the audit begins
        :param bursts: how many, each time that the audit asks something
        :param at: how many, once, when it asks something that begins so:
            (words, number)
        :param wrong: where the server holds something too, from the start
        :param options: of the audit
        """
        self.cloud = Cloud()
        self.steps = operation(self.cloud)
        self.rightful = set()
        self.damage = []
        self.told = []
        self._write()
        self._hold_too(wrong)
        for _ in range(before):
            self._write()
        self.bursts = iter(bursts)
        self.at = at
        self.cloud.placement.before = self.cloud.nova.before = self._meanwhile
        self.cloud.placement.taken = self._taken
        self._audit(**options)
        self.bursts, self.at = iter(()), None
        while self._write():
            pass

    def _write(self):
        """The operation's next; False if it is over."""
        words = next(self.steps, None)
        if words is None:
            return False
        self.told.append(words)
        self.rightful = {
            tuple(getattr(uuids, name) for name in word.split('@'))
            for word in words.split()}
        return True

    def _hold_too(self, wrong):
        held = self.cloud.placement.held().get(uuids.I, {})
        for name in wrong:
            held.setdefault(getattr(uuids, name), dict(fakes.USUAL))
        self.cloud.placement.hold(uuids.I, held)

    def _meanwhile(self, asked):
        number = next(self.bursts, 0)
        if self.at and asked.startswith(self.at[0]):
            number, self.at = self.at[1], None
        for _ in range(number):
            self._write()

    def _taken(self, consumer, providers):
        for provider in providers:
            if (consumer, provider) in self.rightful:
                self.damage.append((len(self.told), self.told[-1]))

    def _audit(self, **options):
        one = audit.Audit(
            audit.Options(delete=True, workers=1, **options),
            audit.placement_client.Client(self.cloud.placement),
            self.cloud.nova, audit.Interrupt())
        with contextlib.redirect_stderr(io.StringIO()):
            one.look()
            one.tell(audit.report.Text(False, False))

    @property
    def lost(self):
        """What is not held when all is over, though it is rightful."""
        held = self.cloud.placement.held()
        return {(consumer, provider) for consumer, provider in self.rightful
                if provider not in held.get(consumer, {})}


@ddt.ddt
class OperationsTestCase(test.NoDBTestCase):

    def _check(self, play):
        self.assertEqual([], play.damage)
        self.assertEqual(set(), play.lost)

    @ddt.data(*OPERATIONS)
    def test_by_themselves(self, operation):
        """At the end the server holds what is rightful, and nothing else."""
        cloud = Cloud()
        *_, rightful = operation(cloud)
        held = {(consumer, provider)
                for consumer, where in cloud.placement.held().items()
                for provider in where}
        expected = {tuple(getattr(uuids, name) for name in word.split('@'))
                    for word in rightful.split()}
        if operation is evacuation:  # the source is not back yet
            expected.add((uuids.I, uuids.S))
        self.assertEqual(expected, held)

    @ddt.data(*OPERATIONS)
    def test_audit_between_two_writes(self, operation):
        for before in range(_length(operation)):
            for wrong in ('', 'SDX'):
                self._check(Play(operation, before, wrong=wrong))

    @ddt.data(*OPERATIONS)
    def test_writes_in_the_middle_of_an_audit(self, operation):
        """Any number of writes, at each of its critical moments.

        Which are those where one side is read already and the other is not,
        and just before something is taken away.
        """
        length = _length(operation)
        for before in range(length):
            for number in range(1, length - before):
                for words in ('GET /resource_providers/', 'build requests',
                              'GET /allocations/', 'PUT'):
                    self._check(Play(operation, before, at=(words, number),
                                     wrong='SDX'))

    @ddt.data(*OPERATIONS)
    def test_writes_whenever_it_asks(self, operation):
        @settings
        @hypothesis.given(
            st.integers(0, _length(operation)),
            st.lists(st.integers(0, 3), max_size=24),
            st.sets(st.sampled_from('SDX')), st.booleans())
        def check(before, bursts, wrong, chosen):
            options = {'consumers': frozenset([uuids.I, uuids.M])}
            self._check(Play(operation, before, bursts, wrong=wrong,
                             **options if chosen else {}))

        check()


def _length(operation):
    return sum(1 for _ in operation(Cloud()))
