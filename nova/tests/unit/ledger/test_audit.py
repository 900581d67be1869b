# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import contextlib
import datetime
import io
import json
import os
import signal

import ddt
import fixtures
from keystoneauth1 import exceptions as ks_exc
from oslo_utils.fixture import uuidsentinel as uuids

from nova.compute import vm_states
from nova.ledger import audit
from nova.ledger import cells
from nova import test
from nova.tests.unit.ledger import fakes

# An instance and a migration; their consumers are uuids.I and uuids.M.
I, M = fakes.instance, fakes.migration  # noqa: E741
USUAL = fakes.USUAL


def parse(**options):
    values = dict.fromkeys([
        'provider_uuid', 'consumers', 'min_age', 'max_delete', 'ignore',
        'output_format', 'state_file', 'workers'])
    values.update(verbose=False, delete=False)
    values.update(options)
    return audit.Options.parse(**values)


@ddt.ddt
class OptionsTestCase(test.NoDBTestCase):
    """What the command line says."""

    def _file(self, content):
        path = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'ignored')
        with open(path, 'wb') as file:
            file.write(content)
        return path

    def test_defaults(self):
        self.assertEqual(audit.Options(), parse())

    def test_all_given(self):
        path = self._file(b'%s\n' % uuids.I.encode())
        state = os.path.join(os.path.dirname(path), 'state')
        self.assertEqual(
            audit.Options(
                True, uuids.S, True, frozenset([uuids.A, uuids.B]),
                datetime.timedelta(minutes=1), 7, frozenset([uuids.I]),
                'json', state, 10),
            parse(verbose=True, provider_uuid=uuids.S, delete=True,
                  consumers=[uuids.A, uuids.B, uuids.A], min_age='60',
                  max_delete='7', ignore=path, output_format='json',
                  state_file=state, workers='10'))

    def test_numbers_may_be_numbers(self):
        options = parse(min_age=0, max_delete=0, workers=1)
        self.assertEqual((datetime.timedelta(), 0, 1), (
            options.min_age, options.max_delete, options.workers))

    @ddt.data(
        ('--format', dict(output_format='xml')),
        ('--format', dict(output_format='JSON')),
        ('--resource_provider', dict(provider_uuid='host1')),
        ('--resource_provider', dict(provider_uuid='')),
        ('--consumer', dict(consumers=[uuids.A, 'guest'])),
        ('--consumer', dict(consumers=[''])),
        ('--min-age', dict(min_age='-1')),
        ('--min-age', dict(min_age='1.5')),
        ('--min-age', dict(min_age='5m')),
        ('--min-age', dict(min_age='')),
        ('--min-age', dict(min_age='9' * 20)),
        ('--max-delete', dict(max_delete='-1')),
        ('--max-delete', dict(max_delete='many')),
        ('--max-delete', dict(max_delete='')),
        ('--workers', dict(workers='0')),
        ('--workers', dict(workers='11')),
        ('--workers', dict(workers='four')),
        ('--ignore', dict(ignore='/no/such')),
        ('--ignore', dict(ignore='/')),
        # An unset variable of a script is no empty list.
        ('--ignore', dict(ignore='')),
        ('--state-file', dict(state_file='/no/such/file')),
        ('--state-file', dict(state_file='/')),
        ('--state-file', dict(state_file='')))
    @ddt.unpack
    def test_bad(self, option, words):
        self._is_bad(option, **words)

    def _is_bad(self, option, **words):
        message = str(self.assertRaises(audit.Invalid, parse, **words))
        self.assertTrue(message.startswith(option), message)
        self.assertEqual(1, len(message.splitlines()), message)
        self.assertTrue(message.endswith('.'), message)
        return message

    def test_what_is_bad_about_it(self):
        self.assertIn('host1', self._is_bad(
            '--resource_provider', provider_uuid='host1'))
        self.assertIn('0 to', self._is_bad('--min-age', min_age='soon'))
        self.assertIn('1 to 10', self._is_bad('--workers', workers='99'))
        self.assertIn('text, json, openmetrics', self._is_bad(
            '--format', output_format='xml'))

    def test_ignore(self):
        path = self._file(
            b'# these are the CFO\'s\n\n%s\n  %s  # and this\r\n\t\n#%s\n'
            % tuple(name.encode() for name in (uuids.A, uuids.B, uuids.C)))
        self.assertEqual({uuids.A, uuids.B}, parse(ignore=path).ignored)

    def test_ignore_nothing(self):
        self.assertEqual(frozenset(), parse(ignore=self._file(b'')).ignored)

    @ddt.data(b'x', b'\xff\xfe\x00', b'%s, %s' % (
        uuids.A.encode(), uuids.B.encode()))
    def test_ignore_what_is_no_uuid(self, line):
        path = self._file(b'# one\n\n%s\n' % line)
        message = self._is_bad('--ignore', ignore=path)
        self.assertIn(path, message)
        if line == b'x':
            self.assertIn('line 3', message)

    @ddt.data(str.upper, lambda uuid: uuid.replace('-', ''),
              lambda uuid: '{%s}' % uuid, lambda uuid: 'urn:uuid:' + uuid)
    def test_ways_to_write_a_uuid(self, way):
        """One that is taken is known for what it is, or it is not taken."""
        written = way(uuids.A)
        for words in (dict(provider_uuid=written),
                      dict(consumers=[written]),
                      dict(ignore=self._file(written.encode()))):
            try:
                options = parse(**words)
            except audit.Invalid:
                continue
            self.assertIn(uuids.A, set(
                options.consumers | options.ignored | {options.provider}))


class AuditTestCase(test.NoDBTestCase):
    """I is well on S; J, which is gone, still holds something on S and D."""

    def setUp(self):
        super(AuditTestCase, self).setUp()
        self.useFixture(fixtures.MockPatch(
            'oslo_utils.timeutils.utcnow', return_value=fakes.NOW))
        self.cloud = fakes.Cloud()
        self.nova, self.placement = self.cloud.nova, self.cloud.placement
        self.useFixture(fixtures.MockPatch(
            'nova.ledger.cells.Cells', return_value=self.nova))
        for name in ('S', 'D'):
            self.cloud.add_node(name)
        self.cloud.run(I('S'))
        self.placement.hold(uuids.I, {uuids.S: USUAL})
        self.placement.hold(uuids.J, {uuids.S: USUAL, uuids.D: USUAL})
        self.before = self.placement.held()

    def audit(self, **options):
        """Audit, and return the exit code."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = audit.run(audit.Options(**options), None, self.placement)
        self.out, self.err = out.getvalue(), err.getvalue()
        return code

    def assertDeleted(self, *consumers):
        """Just what these hold has been deleted."""
        self.assertEqual(
            {consumer: held for consumer, held in self.before.items()
             if consumer not in consumers}, self.placement.held())

    def summary(self, **options):
        """{kind: number}, of those that there are."""
        self.audit(output_format='json', **options)
        return {kind: number for kind, number
                in json.loads(self.out)['summary'].items() if number}


class ExitCodeTestCase(AuditTestCase):

    def test_clean(self):
        self.placement.hold(uuids.J, {})
        self.assertEqual(0, self.audit())
        self.assertEqual(0, self.audit(delete=True))
        self.assertEqual('', self.err)

    def test_found(self):
        self.assertEqual(3, self.audit())
        self.assertDeleted()

    def test_deleted(self):
        self.assertEqual(4, self.audit(delete=True))
        self.assertDeleted(uuids.J)
        self.assertEqual(0, self.audit(delete=True))

    def test_found_what_is_not_to_be_deleted(self):
        """What is missing, stuck and the like does not make it fail."""
        self.cloud.run(I('S', uuid=uuids.K))
        self.placement.hold(uuids.J, {})
        self.assertEqual({'missing': 1}, self.summary())
        self.assertEqual(0, self.audit())

    def test_not_deleted(self):
        self.placement.faults['PUT /allocations/%s' % uuids.J] = 503
        self.assertEqual(1, self.audit(delete=True))
        self.assertDeleted()

    def test_some_not_deleted(self):
        self.placement.hold(uuids.K, {uuids.S: USUAL})
        self.placement.faults['PUT /allocations/%s' % uuids.K] = None
        self.assertEqual(1, self.audit(delete=True, verbose=True))
        self.assertNotIn(uuids.J, self.placement.held())
        self.assertIn(uuids.K, self.placement.held())

    def test_placement_is_too_old_to_delete(self):
        self.placement.version = (1, 27)
        self.assertEqual(1, self.audit(delete=True))
        self.assertDeleted()

    def test_changed_meanwhile(self):
        def change(request):
            if request.startswith('PUT'):
                self.placement.hold(uuids.J, {uuids.S: USUAL})

        self.placement.before = change
        self.assertEqual(0, self.audit(delete=True))
        self.assertEqual({uuids.S: USUAL}, self.placement.held()[uuids.J])
        self.assertIn('has changed', self.err)

    def test_young(self):
        self.placement.hold(uuids.J, {uuids.S: USUAL},
                            changed_at=fakes.ago(seconds=10))
        old = dict(min_age=datetime.timedelta(seconds=10))
        young = dict(min_age=datetime.timedelta(seconds=11))
        self.assertEqual(0, self.audit(delete=True, **young))
        self.assertIn(uuids.J, self.placement.held())
        self.assertEqual(4, self.audit(delete=True, **old))

    def test_silent_cell(self):
        self.nova.cells[uuids.cell2] = 'no answer within 60 seconds'
        self.assertEqual(1, self.audit(delete=True))
        self.assertDeleted()
        self.assertIn('no answer within 60 seconds', self.err)

    def test_silent_cell_and_nothing_to_find(self):
        self.placement.hold(uuids.J, {})
        self.nova.cells[uuids.cell2] = 'no answer within 60 seconds'
        self.assertEqual(1, self.audit())

    def test_cell_that_falls_silent_in_between(self):
        """What one can not know is not nothing, nor is it left unsaid."""
        def fall_silent(request):
            if request == 'GET /allocations/%s' % uuids.J:
                self.nova.cells[uuids.cell1] = 'it went away'

        self.placement.before = fall_silent
        self.assertEqual(1, self.audit(delete=True))
        self.assertDeleted()
        self.assertIn('it went away', self.err)

    def test_provider_that_is_none(self):
        self.assertEqual(127, self.audit(provider=uuids.nowhere, delete=True))
        self.assertIn(uuids.nowhere, self.out)
        self.assertDeleted()

    def test_no_providers_at_all(self):
        """Placement is empty, or the wrong one: servers hold nothing."""
        self.placement = fakes.Placement()
        self.assertEqual({'missing': 1}, self.summary())

    def test_no_providers_and_a_silent_cell(self):
        self.placement = fakes.Placement()
        self.nova.cells[uuids.cell2] = 'no answer'
        self.assertEqual(1, self.audit())


@ddt.ddt
class DownTestCase(AuditTestCase):
    """What does not answer is said in one line, and nothing is deleted."""

    def assertDown(self, what, **options):
        self.assertEqual(1, self.audit(delete=True, **options))
        self.assertDeleted()
        self.assertEqual('', self.out)
        self.assertEqual(1, len(self.err.splitlines()), self.err)
        self.assertIn(what, self.err)

    @ddt.data(None, 401, 500, 503, fakes.Page(200),
              ks_exc.ConnectFailure('Unable to\nconnect'))
    def test_placement(self, fault):
        self.placement.faults['GET /'] = fault
        self.assertDown('Placement can not be asked')

    @ddt.data(
        '/resource_providers',
        '/resource_providers/%s/allocations' % uuids.D,
        '/resource_providers/%s/aggregates' % uuids.lone,
        '/allocations/%s' % uuids.J)
    def test_placement_in_the_middle(self, path):
        self.placement.add('lone')
        self.placement.hold(uuids.K, {uuids.lone: USUAL})
        self.before = self.placement.held()
        for fault in (None, 503, fakes.Page(200)):
            self.placement.faults['GET ' + path] = fault
            for output_format in ('text', 'json'):
                self.assertDown('Placement can not be asked',
                                output_format=output_format)

    @ddt.data('build requests', 'mappings')
    def test_api_database(self, at):
        def down(query):
            if query == at:
                raise cells.Unreachable('Can not connect')

        self.nova.before = down
        self.assertDown('API database can not be read: Can not connect.')


@ddt.ddt
class ChoiceTestCase(AuditTestCase):
    """What is not asked for is left alone."""

    def setUp(self):
        super(ChoiceTestCase, self).setUp()
        self.placement.hold(uuids.K, {uuids.D: USUAL})
        self.before = self.placement.held()

    @ddt.data((0, 1), (2, 1), (3, 4), (4, 4))
    @ddt.unpack
    def test_max_delete(self, most, code):
        self.assertEqual(code, self.audit(delete=True, max_delete=most))
        self.assertDeleted(*[] if code == 1 else [uuids.J, uuids.K])
        self.assertEqual(code == 1, '--max-delete' in self.err)

    def test_max_delete_and_nothing_to_delete(self):
        for consumer in (uuids.J, uuids.K):
            self.placement.hold(consumer, {})
        self.assertEqual(0, self.audit(delete=True, max_delete=0))

    def test_max_delete_without_delete(self):
        self.assertEqual(3, self.audit(max_delete=0))

    def test_max_delete_tells_what_it_does_not_delete(self):
        self.audit(delete=True, max_delete=0, verbose=True)
        self.assertIn(uuids.K, self.out)
        self.assertIn('can be deleted', self.out)
        self.assertNotIn('Deleted', self.out)

    def test_max_delete_does_not_count_the_ignored(self):
        self.assertEqual(4, self.audit(
            delete=True, max_delete=1, ignored=frozenset([uuids.J])))
        self.assertDeleted(uuids.K)

    def test_ignored_consumer(self):
        self.assertEqual(4, self.audit(
            delete=True, ignored=frozenset([uuids.J])))
        self.assertDeleted(uuids.K)
        self.assertEqual(0, self.audit(
            delete=True, ignored=frozenset([uuids.J])))

    def test_ignored_provider(self):
        self.assertEqual(4, self.audit(
            delete=True, ignored=frozenset([uuids.D])))
        self.assertEqual(
            {uuids.I: {uuids.S: USUAL}, uuids.J: {uuids.D: USUAL},
             uuids.K: {uuids.D: USUAL}}, self.placement.held())

    def test_ignored_are_counted(self):
        self.audit(output_format='json', ignored=frozenset([uuids.J]))
        self.assertEqual(2, json.loads(self.out)['ignored'])

    def test_ignored_server_that_holds_nothing(self):
        self.cloud.run(I('S', uuid=uuids.L))
        self.assertEqual({'orphan': 3, 'missing': 1}, self.summary())
        for ignored in (uuids.L, uuids.S):
            self.assertNotIn('missing', self.summary(
                ignored=frozenset([ignored])))

    def test_consumer(self):
        self.assertEqual(4, self.audit(
            delete=True, consumers=frozenset([uuids.K])))
        self.assertDeleted(uuids.K)
        # The others are not even read.
        self.assertFalse([request for request in self.placement.requests
                          if request.endswith('/allocations')])

    def test_several_consumers(self):
        self.assertEqual(4, self.audit(
            delete=True, consumers=frozenset([uuids.K, uuids.J])))
        self.assertDeleted(uuids.K, uuids.J)

    def test_consumer_that_is_well(self):
        self.assertEqual(0, self.audit(consumers=frozenset([uuids.I])))
        self.assertEqual({}, self.summary(consumers=frozenset([uuids.I])))

    def test_consumer_that_is_a_migration(self):
        """Its server is not asked for, and is not said to hold nothing."""
        self.cloud.run(M('completed'))
        self.placement.hold(uuids.M, {uuids.D: USUAL})
        self.assertEqual({'leftover': 1},
                         self.summary(consumers=frozenset([uuids.M])))

    def test_consumer_and_provider(self):
        self.assertEqual(4, self.audit(
            delete=True, consumers=frozenset([uuids.J]), provider=uuids.D))
        self.assertEqual({uuids.S: USUAL}, self.placement.held()[uuids.J])

    def test_provider(self):
        self.assertEqual(4, self.audit(delete=True, provider=uuids.D))
        self.assertEqual({uuids.I: {uuids.S: USUAL},
                          uuids.J: {uuids.S: USUAL}}, self.placement.held())

    def test_more_than_one_chunk(self):
        self.useFixture(fixtures.MockPatchObject(audit, 'CHUNK', 2))
        for number in range(5):
            self.placement.hold(
                getattr(uuids, 'L%d' % number), {uuids.S: USUAL})
        self.assertEqual({'orphan': 8}, self.summary())
        self.assertEqual(4, self.audit(delete=True))
        self.assertEqual([uuids.I], list(self.placement.held()))


@ddt.ddt
class OddTestCase(AuditTestCase):
    """Clouds in which something is missing."""

    @ddt.data({'DISK_GB': 10}, USUAL)
    def test_server_without_a_compute_node(self, resources):
        self.cloud.run(I('lost', uuid=uuids.K))
        self.placement.add('lone')
        self.placement.hold(uuids.K, {uuids.lone: resources})
        self.assertEqual({'orphan': 2}, self.summary())

    def test_server_without_a_host(self):
        self.cloud.run(I(uuid=uuids.K, vm_state=vm_states.ERROR))
        self.assertEqual({'orphan': 2}, self.summary())

    def test_provider_deleted_in_between(self):
        def vanish(request):
            if request == 'GET /resource_providers/%s/allocations' % uuids.D:
                self.placement.hold(uuids.J, {uuids.S: USUAL})
                self.placement.providers.pop(uuids.D, None)

        self.placement.before = vanish
        self.assertEqual({'orphan': 1}, self.summary())

    def test_migrations_without_a_uuid(self):
        """As those from before Queens."""
        self.cloud.run(M('running', uuid=None, instance=uuids.old),
                       M('running', uuid=None, instance=uuids.older))
        self.assertEqual({'orphan': 2}, self.summary())


@ddt.ddt
class InterruptTestCase(AuditTestCase):
    """Ctrl-C."""

    def setUp(self):
        super(InterruptTestCase, self).setUp()
        self.placement.hold(uuids.K, {uuids.D: USUAL})
        self.before = self.placement.held()
        self.handler = signal.getsignal(signal.SIGINT)

    def _interrupt_at(self, words, times=1):
        """Press it when a request or query begins so."""
        left = [times]

        def press(now):
            if now.startswith(words):
                while left[0]:
                    left[0] -= 1
                    os.kill(os.getpid(), signal.SIGINT)

        self.placement.before = self.nova.before = press

    @ddt.data('text', 'json')
    def test_between_deletions(self, output_format):
        """What is under way is finished; no other is begun."""
        self._interrupt_at('PUT')
        self.assertEqual(130, self.audit(
            delete=True, output_format=output_format))
        self.assertDeleted(uuids.J)
        self.assertIn('2 of 3', self.err)
        self.assertEqual(1, sum(request.startswith('PUT')
                                for request in self.placement.requests))
        if output_format == 'json':
            document = json.loads(self.out)
            self.assertTrue(document['interrupted'])
            self.assertFalse(document['complete'])
            self.assertEqual(
                {uuids.J: 'deleted', uuids.K: 'none'},
                {finding['consumer']['uuid']: finding['action']
                 for finding in document['findings']})

    @ddt.data('GET /resource_providers/%s/allocations' % uuids.S,
              'GET /allocations/%s' % uuids.J, 'instances', 'mappings')
    def test_before_anything_is_deleted(self, at):
        self._interrupt_at(at)
        self.assertEqual(130, self.audit(delete=True))
        self.assertDeleted()
        self.assertIn('Interrupted', self.err)

    def test_twice(self):
        """Who can not wait need not."""
        self._interrupt_at('PUT', times=2)
        self.assertRaises(KeyboardInterrupt, self.audit, delete=True)

    def test_the_handler_is_put_back(self):
        self.audit()
        self.assertIs(self.handler, signal.getsignal(signal.SIGINT))
        self.placement.faults['GET /'] = 503
        self.audit()
        self.assertIs(self.handler, signal.getsignal(signal.SIGINT))
