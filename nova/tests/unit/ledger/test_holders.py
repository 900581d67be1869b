# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import ddt
from oslo_utils.fixture import uuidsentinel as uuids

from nova.compute import task_states
from nova.compute import vm_states
from nova.ledger import holders
from nova.ledger import records as rec
from nova import test
from nova.tests.unit.ledger import fakes

# Consumers: the server I, its migration M, and U, of which Nova knows nothing.
# An instance and a migration; in the tables, their consumers too.
I, M = fakes.instance, fakes.migration  # noqa: E741

# Compute nodes: S and D, source and destination, in the first cell; X in the
# second; `gone`, whose record is deleted; B1 and B2, which are ironic nodes
# of one service; T1 and T2, two that share the name T.
NODES = [
    fakes.node('S', id=1),
    fakes.node('D', id=2),
    fakes.node('X', id=1, cell=uuids.cell2),
    fakes.node('gone', id=3, deleted=True),
    fakes.node('B1', 'ironic-2', id=4),
    fakes.node('B2', 'ironic-2', id=5),
    fakes.node('T', 't-1', id=6, uuid=uuids.T1),
    fakes.node('T', 't-2', id=7, uuid=uuids.T2),
]
# What is not the root of a compute node's tree: {name: (root, shared by)}
OTHERS = {
    'S.numa': ('S', None),
    'D.gpu': ('D', None),
    'pool': ('pool', {'S', 'D'}),  # shared storage
    'D-pool': ('D-pool', {'D'}),
    'lone': ('lone', set()),  # in no aggregate
    'alien': ('alien', None),  # another project's
    'alien.child': ('alien', None),
}
CELL1, CELL2 = uuids.cell1, uuids.cell2
DOWN = 'no answer'


class Case(object):
    """A moment of an operation, and who may hold what in it.

    Holdings are written <consumer>@<provider>, with =<reason> behind.

    :param name: the moment
    :param rows: Nova's records
    :param may: what is rightful
    :param may_not: what is nobody's
    :param unknown: what one can not know of
    :param foreign: what is not Nova's to judge
    :param spared: what is rightful or unknown, it does not matter which
    """

    def __init__(self, name, *rows, **more):
        self.__name__ = name
        self.nova = fakes.Nova(*NODES)
        self.nova.rows += rows
        self.nova.cells.update(more.pop('cells', {}))
        self.nova.mappings.update(more.pop('mappings', {}))
        self.nova.build_requests.update(more.pop('build_requests', ()))
        self.type = more.pop('type', None)
        self.expected = {
            holders.RIGHTFUL: more.pop('may', ''),
            holders.NOBODYS: more.pop('may_not', ''),
            holders.CANNOT_KNOW: more.pop('unknown', ''),
            holders.FOREIGN: more.pop('foreign', ''),
            'spared': more.pop('spared', ''),
        }
        assert not more and any(self.expected.values())

    def answers(self, records):
        """(what is held, expected answer, expected reason, answer)"""
        for expected, words in self.expected.items():
            for word in words.split():
                held, _, reason = word.partition('=')
                consumer, _, provider = held.partition('@')
                yield held, expected, reason, holders.may_hold(
                    records,
                    holders.identify(records, getattr(uuids, consumer)),
                    place(records, provider), self.type)


def place(records, name):
    root, shared_by = OTHERS.get(name, (name, None))
    root = getattr(uuids, root)
    return holders.Place(
        rec.Provider(getattr(uuids, name), name, 1, root),
        records.nodes.get(root),
        shared_by and {getattr(uuids, each) for each in shared_by})


BOOT = [
    Case('boot: the build request is there, and no instance in a cell',
         build_requests=[uuids.I], mappings={uuids.I: None},
         may='I@S I@D I@S.numa I@pool I@alien'),
    Case('boot: in a cell, and the build request is not deleted yet',
         I(vm_state=vm_states.BUILDING, task_state=task_states.SCHEDULING),
         build_requests=[uuids.I], mappings={uuids.I: CELL1}, may='I@S'),
    Case('boot: in a cell, no host yet',
         I(vm_state=vm_states.BUILDING, task_state=task_states.SCHEDULING),
         mappings={uuids.I: CELL1}, may='I@S I@pool'),
    Case('boot: in a cell, no task between two states',
         I(vm_state=vm_states.BUILDING), may='I@S'),
    Case('boot: claimed by the host; a reschedule may hold another',
         I('S', vm_state=vm_states.BUILDING,
           task_state=task_states.SPAWNING), may='I@S I@D'),
    Case('boot: done',
         I('S'), may='I@S=at-rest I@S.numa=at-rest I@pool=shared',
         may_not='I@D=elsewhere I@D.gpu=elsewhere I@X=elsewhere'),
    Case('boot: failed on a host',
         I('S', vm_state=vm_states.ERROR), may='I@S', may_not='I@D'),
    Case('boot: no valid host, buried in cell0',
         I(vm_state=vm_states.ERROR, cell=uuids.cell0),
         cells={uuids.cell0: None}, mappings={uuids.I: uuids.cell0},
         may_not='I@S=nowhere I@D=nowhere I@pool=nowhere'),
    Case('boot: deleted before it was in a cell',
         mappings={uuids.I: None},
         may_not='I@S=never-built I@pool=never-built'),
]

LIVE_MIGRATION = [
    Case('live migration: asked for, no migration yet',
         I('S', task_state=task_states.MIGRATING), may='I@S'),
    Case('live migration: early, the migration names no nodes',
         I('S', task_state=task_states.MIGRATING),
         M('accepted', type='live-migration', source_host='S'),
         may='I@S M@S I@D M@S.numa I@D.gpu I@pool M@pool'),
    Case('live migration: preparing',
         I('S', task_state=task_states.MIGRATING),
         M('preparing', source_host='S', source_node='S', dest_host='D'),
         may='M@S I@D I@S'),
    Case('live migration: running',
         I('S', task_state=task_states.MIGRATING),
         M('running', source_host='S', source_node='S', dest_host='D',
           dest_node='D'), may='M@S I@D'),
    Case('live migration: the guest has arrived, its task is over',
         I('D'), M('running', source_host='S', source_node='S'),
         may='M@S I@D'),
    Case('live migration: a status that nobody knows is in progress',
         I('S'), M('teleporting'), may='M@S I@D'),
    Case('live migration: completed',
         I('D'), M('completed', source_host='S', source_node='S'),
         may='I@D', may_not='M@S=migration-over I@S=elsewhere'),
    Case('live migration: failed, being rolled back',
         I('S', task_state=task_states.MIGRATING), M('error'),
         may='M@S I@S I@D'),
    Case('live migration: rolled back',
         I('S'), M('error'), may='I@S',
         may_not='M@S=migration-over I@D=elsewhere'),
    Case('live migration: a check before it failed',
         I('S'), M('failed'), may='I@S', may_not='M@S I@D M@D'),
    Case('live migration: aborted',
         I('S'), M('cancelled'), may='I@S', may_not='M@S I@D'),
    Case('live migration: the second of two, the first is over',
         I('S', task_state=task_states.MIGRATING), M('completed'),
         M('running', uuid=uuids.M2), may='M2@S I@D I@S M@S'),
]

RESIZE = [
    Case('resize: asked for, no migration yet',
         I('S', task_state=task_states.RESIZE_PREP), may='I@S'),
    Case('resize: the source goes to the migration',
         I('S', task_state=task_states.RESIZE_PREP), M('pre-migrating'),
         may='I@S M@S I@D'),
    Case('resize: to the same host',
         I('S', task_state=task_states.RESIZE_MIGRATING), M('migrating'),
         may='I@S M@S'),
    Case('resize: migrating',
         I('S', task_state=task_states.RESIZE_MIGRATING), M('migrating'),
         may='M@S I@D'),
    Case('resize: migrated',
         I('D', task_state=task_states.RESIZE_FINISH), M('post-migrating'),
         may='M@S I@D'),
    Case('resize: the source restarts in between',
         I('S'), M('migrating'), may='I@D M@S I@S'),
    Case('resize: to be verified',
         I('D', vm_state=vm_states.RESIZED), M('finished'),
         may='M@S I@D M@S.numa I@pool M@pool'),
    Case('resize: confirming',
         I('D', vm_state=vm_states.RESIZED), M('confirming'),
         may='M@S I@D'),
    Case('resize: confirmed, the server is not told yet',
         I('D', vm_state=vm_states.RESIZED), M('confirmed'),
         may='M@S I@D'),
    Case('resize: confirmed',
         I('D'), M('confirmed'), may='I@D',
         may_not='M@S=migration-over I@S=elsewhere'),
    Case('resize: reverting',
         I('D', vm_state=vm_states.RESIZED,
           task_state=task_states.RESIZE_REVERTING), M('reverting'),
         may='M@S I@D I@S'),
    Case('resize: the destination says reverted, the source has still to act',
         I('D', vm_state=vm_states.RESIZED,
           task_state=task_states.RESIZE_REVERTING), M('reverted'),
         may='M@S I@D I@S'),
    Case('resize: reverted, the server is on the source but not told so',
         I('S', task_state=task_states.RESIZE_REVERTING), M('reverted'),
         may='M@S I@D I@S'),
    Case('resize: reverted',
         I('S'), M('reverted'), may='I@S',
         may_not='M@S=migration-over I@D=elsewhere'),
    Case('resize: failed, being rolled back',
         I('S', task_state=task_states.RESIZE_MIGRATING), M('error'),
         may='M@S I@D I@S'),
    Case('resize: failed, ERROR on the source',
         I('S', vm_state=vm_states.ERROR), M('error'), may='I@S',
         may_not='M@S I@D'),
]

CROSS_CELL_RESIZE = [
    Case('cross-cell resize: a hidden copy in the target cell',
         I('S', task_state=task_states.RESIZE_PREP),
         I(cell=CELL2, hidden=True), M('pre-migrating'),
         mappings={uuids.I: CELL1}, may='I@S M@S I@X M@X'),
    Case('cross-cell resize: only the target cell has a migration yet',
         I('S'), I(cell=CELL2, hidden=True),
         M('pre-migrating', cell=CELL2), may='I@S M@S I@X'),
    Case('cross-cell resize: the hidden record alone has a task',
         I('S'), I('X', cell=CELL2, hidden=True,
                   task_state=task_states.RESIZE_FINISH),
         mappings={uuids.I: CELL1}, may='I@S I@X'),
    Case('cross-cell resize: to be verified, the source is hidden',
         I('S', hidden=True), I('X', cell=CELL2, vm_state=vm_states.RESIZED),
         M('post-migrating'), M('finished', cell=CELL2),
         mappings={uuids.I: CELL2}, may='I@X M@S'),
    Case('cross-cell resize: confirmed in the source cell only',
         I('X', cell=CELL2), I('S', hidden=True),
         M('confirmed'), M('confirming', cell=CELL2),
         mappings={uuids.I: CELL2}, may='I@X M@S'),
    Case('cross-cell resize: reverted in the target cell only',
         I('S'), I('X', cell=CELL2, hidden=True),
         M('reverting'), M('reverted', cell=CELL2),
         mappings={uuids.I: CELL1}, may='I@S M@S I@X'),
    Case('cross-cell resize: confirmed, the source record is deleted',
         I('S', deleted=True), I('X', cell=CELL2),
         M('confirmed'), M('confirmed', cell=CELL2),
         mappings={uuids.I: CELL2}, may='I@X',
         may_not='I@S=elsewhere M@S=migration-over'),
    Case('cross-cell resize: reverted, a hidden record was left',
         I('S'), I('X', cell=CELL2, hidden=True), M('reverted'),
         M('reverted', cell=CELL2), mappings={uuids.I: CELL1},
         may='I@S', may_not='I@X=elsewhere M@S'),
    Case('cross-cell resize: the hidden record is no word of the silent cell',
         I('S', hidden=True), M('post-migrating', cell=CELL2),
         cells={CELL2: DOWN}, mappings={uuids.I: CELL2},
         spared='I@S I@D I@X M@S'),
    Case('cross-cell resize: nor is one on no host',
         I(hidden=True), cells={CELL2: DOWN}, mappings={uuids.I: CELL2},
         spared='I@S I@D I@X'),
    Case('cross-cell resize: nor is the deleted one',
         I('S', deleted=True), cells={CELL2: DOWN},
         mappings={uuids.I: CELL2}, spared='I@S I@D I@X'),
]

OTHER_MOVES = [
    Case('evacuation: accepted',
         I('S', task_state=task_states.REBUILDING),
         M('accepted', type='evacuation'), may='I@S I@D'),
    Case('evacuation: the task is over before the host is set',
         I('S'), M('pre-migrating', type='evacuation'), may='I@S I@D'),
    Case('evacuation: done, the source is not back',
         I('D'), M('done', type='evacuation', source_host='S'),
         may='I@D', may_not='I@S=elsewhere'),
    Case('evacuation: failed',
         I('S', vm_state=vm_states.ERROR), M('failed', type='evacuation'),
         may='I@S', may_not='I@D=elsewhere'),
    Case('rebuild: under way',
         I('S', task_state=task_states.REBUILDING), may='I@S'),
    Case('rebuild: done',
         I('S'), may='I@S', may_not='I@D'),
    Case('shelve: under way',
         I('S', task_state=task_states.SHELVING), may='I@S'),
    Case('shelve: not offloaded',
         I('S', vm_state=vm_states.SHELVED), may='I@S', may_not='I@D'),
    Case('shelve: offloading',
         I('S', vm_state=vm_states.SHELVED,
           task_state=task_states.SHELVING_OFFLOADING), may='I@S'),
    Case('shelve: offloaded',
         I(vm_state=vm_states.SHELVED_OFFLOADED),
         may_not='I@S=offloaded I@D=offloaded I@pool=offloaded'),
    Case('shelve: offloaded, the host still on record',
         I('S', vm_state=vm_states.SHELVED_OFFLOADED),
         may_not='I@S=offloaded'),
    Case('unshelve: to be scheduled',
         I(vm_state=vm_states.SHELVED_OFFLOADED,
           task_state=task_states.UNSHELVING), may='I@D'),
    Case('unshelve: claimed by the host',
         I('D', vm_state=vm_states.SHELVED_OFFLOADED,
           task_state=task_states.SPAWNING), may='I@D'),
    Case('unshelve: done',
         I('D'), may='I@D', may_not='I@S'),
]

DELETE = [
    Case('delete: under way',
         I('S', task_state=task_states.DELETING), may='I@S'),
    Case('delete: during a resize',
         I('S', task_state=task_states.DELETING), M('migrating'),
         may='I@D M@S I@S'),
    Case('delete: soft, to be restored or reclaimed',
         I('S', vm_state=vm_states.SOFT_DELETED), may='I@S',
         may_not='I@D=elsewhere'),
    Case('delete: done',
         I('S', deleted=True), M('completed'), mappings={uuids.I: CELL1},
         may_not='I@S=deleted I@pool=deleted I@alien=deleted M@S=deleted'),
    Case('delete: done, its resize goes on for ever',
         I('S', deleted=True), M('migrating'), mappings={uuids.I: CELL1},
         may_not='I@S=deleted I@D=deleted M@S=deleted'),
    Case('delete: archived, the migration is not',
         M('error'), may_not='I@S=unknown M@S=migration-over'),
    Case('delete: purged',
         may_not='I@S=unknown U@S.numa=unknown U@gone=unknown'),
    Case('delete: a restored database misses what is mapped to its cell',
         M('completed'), mappings={uuids.I: CELL1},
         unknown='I@S=record-missing M@S=record-missing '
                 'I@alien=record-missing'),
]

SILENT_CELL = [
    Case('silent cell: the server is mapped to it',
         cells={CELL1: DOWN}, mappings={uuids.I: CELL1},
         unknown='I@S=cell-silent I@X=cell-silent I@lone=cell-silent'),
    Case('silent cell: the server is mapped to another, which lacks it',
         cells={CELL1: DOWN}, mappings={uuids.I: CELL2},
         unknown='I@S=record-missing I@X=record-missing'),
    Case('silent cell: no mapping',
         cells={CELL1: DOWN},
         unknown='I@S=cell-silent I@X=cell-silent M@S=cell-silent'),
    Case('silent cell: a mapping without a cell',
         cells={CELL2: DOWN}, mappings={uuids.I: None},
         unknown='I@S=cell-silent'),
    Case('silent cell: a build request is in the API database',
         cells={CELL1: DOWN}, build_requests=[uuids.I],
         mappings={uuids.I: None}, may='I@S I@X'),
    Case('silent cell: the migration is in another',
         M('completed', cell=CELL2), cells={CELL1: DOWN},
         mappings={uuids.I: CELL1}, unknown='M@X=cell-silent'),
    Case('silent cell: the server is in another',
         I('S'), cells={CELL2: DOWN}, mappings={uuids.I: CELL1},
         may='I@S I@pool', may_not='I@D=elsewhere'),
    Case('silent cell: the server is on what may be of its compute nodes',
         I('S'), cells={CELL2: DOWN}, mappings={uuids.I: CELL1},
         unknown='I@X=cell-silent I@lone=cell-silent I@D-pool=cell-silent'),
    Case('silent cell: the server was deleted in another',
         I('S', deleted=True), cells={CELL2: DOWN},
         mappings={uuids.I: CELL1}, may_not='I@S=deleted I@X=deleted'),
    Case('silent cell: the server is offloaded in another',
         I(vm_state=vm_states.SHELVED_OFFLOADED), cells={CELL2: DOWN},
         mappings={uuids.I: CELL1}, may_not='I@S=offloaded'),
    Case('silent cells: all of them',
         cells={CELL1: DOWN, CELL2: DOWN}, mappings={uuids.I: CELL1},
         unknown='I@S=cell-silent M@S=cell-silent U@lone=cell-silent'),
]

PROVIDERS = [
    Case('sharing provider: shared by the compute node of the server',
         I('S'), may='I@pool=shared'),
    Case('sharing provider: shared by another',
         I('S'), may_not='I@D-pool=elsewhere'),
    Case('sharing provider: in flight on any that shares it',
         I('S', task_state=task_states.MIGRATING), M('running'),
         may='I@pool I@D-pool M@pool'),
    Case('sharing provider: not known to be shared',
         I('S'), may='I@lone=not-judged I@alien=not-judged'),
    Case('sharing provider: a migration that is over',
         I('S'), M('completed'), may_not='M@pool=migration-over'),
    Case('nested provider: of the tree of the compute node',
         I('S'), may='I@S.numa=at-rest', may_not='I@D.gpu=elsewhere'),
    Case('compute node: deleted, the server still on it',
         I('gone'), may='I@gone=stranded', may_not='I@S=elsewhere'),
    Case('compute node: deleted, the server on another',
         I('S'), may_not='I@gone=elsewhere'),
    Case('compute node: deleted in one cell, and anew in another',
         I('S', cell=CELL2), fakes.node('S', cell=CELL2),
         fakes.node('S', deleted=True), may='I@S=at-rest'),
    Case('ironic: rebalanced to another host',
         I('ironic-1', node='B1'), may='I@B1=at-rest',
         may_not='I@B2=elsewhere'),
    Case('ironic: rebalanced, and the compute node deleted',
         I('ironic-1', node='gone'), may='I@gone=stranded'),
    Case('ironic: several nodes of one host',
         I('ironic-2', node='B2'), may='I@B2', may_not='I@B1=elsewhere'),
    Case('several nodes of one name: known by compute_id',
         I('t-1', node='T', compute_id=7), may='I@T2',
         may_not='I@T1=elsewhere'),
    Case('several nodes of one name: known by host',
         I('t-1', node='T'), may='I@T1', may_not='I@T2=elsewhere'),
    Case('several nodes of one name: of neither',
         I('t-3', node='T'), spared='I@T1 I@T2', may_not='I@S=elsewhere'),
    Case('several nodes of one name: in two cells',
         I('S', cell=CELL2), fakes.node('S', uuid=uuids.S2, cell=CELL2),
         may='I@S2=at-rest', may_not='I@S=elsewhere'),
]

NOT_NOVAS = [
    Case('foreign: a consumer of another type',
         type='CONTAINER', foreign='U@S=foreign-type U@S.numa=foreign-type '
         'U@pool=foreign-type U@alien=foreign-type'),
    Case('foreign: a consumer of another type, a cell is silent',
         type='CONTAINER', cells={CELL1: DOWN}, foreign='U@S U@alien'),
    Case('foreign: a provider that is of no compute node',
         foreign='U@alien=foreign-provider U@alien.child=foreign-provider '
                 'U@pool=foreign-provider'),
    Case('foreign: a consumer of no type is judged by the provider',
         type='unknown', may_not='U@S=unknown', foreign='U@alien'),
    Case('foreign: not if it is called a server',
         type='INSTANCE', may_not='U@S=unknown'),
    Case('foreign: not if it is called a migration',
         type='MIGRATION', may_not='U@S=unknown U@gone=unknown'),
    Case('foreign: not if it is known',
         I('S', deleted=True), type='INSTANCE',
         may_not='I@alien=deleted'),
]


@ddt.ddt
class TableTestCase(test.NoDBTestCase):
    """Who may hold what, in each moment of each operation."""

    def _check(self, case):
        records = case.nova.look_at([
            getattr(uuids, consumer) for consumer in ('I', 'M', 'M2', 'U')])
        for held, expected, reason, answer in case.answers(records):
            said = '%s: %s' % (held, answer)
            if expected == 'spared':
                self.assertIn(answer.answer,
                              (holders.RIGHTFUL, holders.CANNOT_KNOW), said)
            else:
                self.assertEqual(expected, answer.answer, said)
            if reason:
                self.assertEqual(reason, answer.reason, said)
            self.assertIn(answer.reason, holders.REASONS)
        # The first look knows less, and must let none of these through.
        for held, expected, _reason, answer in case.answers(case.nova.look()):
            if expected in (holders.NOBODYS, holders.CANNOT_KNOW):
                self.assertFalse(
                    answer.rightful, 'first look: %s: %s' % (held, answer))

    @ddt.data(*BOOT)
    def test_boot(self, case):
        self._check(case)

    @ddt.data(*LIVE_MIGRATION)
    def test_live_migration(self, case):
        self._check(case)

    @ddt.data(*RESIZE)
    def test_resize(self, case):
        self._check(case)

    @ddt.data(*CROSS_CELL_RESIZE)
    def test_cross_cell_resize(self, case):
        self._check(case)

    @ddt.data(*OTHER_MOVES)
    def test_other_moves(self, case):
        self._check(case)

    @ddt.data(*DELETE)
    def test_delete(self, case):
        self._check(case)

    @ddt.data(*SILENT_CELL)
    def test_silent_cell(self, case):
        self._check(case)

    @ddt.data(*PROVIDERS)
    def test_providers(self, case):
        self._check(case)

    @ddt.data(*NOT_NOVAS)
    def test_not_novas(self, case):
        self._check(case)


class WhoTestCase(test.NoDBTestCase):
    """Who a consumer is."""

    def _who(self, uuid, *rows, **more):
        case = Case('who', *rows, may='-', **more)
        return holders.identify(case.nova.look_at([uuid]), uuid)

    def test_server(self):
        server = I('S')
        who = self._who(uuids.I, server)
        self.assertEqual((server, None), (who.instance, who.migration))
        self.assertEqual(('INSTANCE', holders.AT_REST), (who.type, who.phase))
        self.assertTrue(who.known)

    def test_migration(self):
        server, move = I('D'), M('completed')
        who = self._who(uuids.M, server, move)
        self.assertEqual((server, move), (who.instance, who.migration))
        self.assertEqual('MIGRATION', who.type)

    def test_server_to_be_built(self):
        who = self._who(uuids.I, build_requests=[uuids.I])
        self.assertEqual(('INSTANCE', holders.IN_FLIGHT),
                         (who.type, who.phase))
        self.assertIsNone(who.instance)

    def test_nobody(self):
        who = self._who(uuids.U)
        self.assertEqual(('UNKNOWN', holders.UNKNOWN), (who.type, who.phase))
        self.assertFalse(who.known)

    def test_silent_cells_that_would_know_are_named(self):
        case = Case('two silent', cells={CELL1: DOWN, CELL2: DOWN},
                    mappings={uuids.I: CELL2}, unknown='I@S M@S')
        silent = {held: {cell.uuid for cell in answer.silent}
                  for held, _, _, answer in case.answers(
                      case.nova.look_at([uuids.I, uuids.M]))}
        self.assertEqual({'I@S': {CELL2}, 'M@S': {CELL1, CELL2}}, silent)
