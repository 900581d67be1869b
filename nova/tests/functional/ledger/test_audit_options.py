# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""How the audit is asked, and how it answers."""

import json
import os
import signal
import tempfile
import threading
from unittest import mock

import fixtures
from oslo_db import exception as db_exc
from oslo_utils.fixture import uuidsentinel as uuids

from nova.tests.functional.ledger import test_audit


class LinesTestCase(test_audit.AuditTestCase):
    """The lines on standard output are those of 21 (Ussuri), to the letter.

    Programs parse them. So this passes on the stock release as well.
    """

    def setUp(self):
        super().setUp()
        self.host1 = self.tap.providers()['host1']

    def test_nothing_to_say(self):
        self.boot('host1')
        for words in [], ['--verbose'], ['--delete'], ['--delete',
                                                       '--verbose']:
            audit = self.audit(*words)
            self.assertEqual((0, ''), (audit.code, audit.out))

    def test_found_and_deleted(self):
        self.allocate(uuids.nobody, {'VCPU': 1}, 'host1')
        suspicion = (
            'Allocations were set against consumer UUID %s but no existing '
            'instances or active migrations are related. \n' % uuids.nobody)
        quiet = self.audit('--min-age', '0')
        self.assertEqual((3, ''), (quiet.code, quiet.out))
        found = self.fresh_audit()
        self.assertEqual(3, found.code)
        self.assertEqual(
            suspicion +
            'Allocations for consumer UUID %s on Resource Provider %s can be '
            "deleted: {'VCPU': 1}\n"
            'Processed 1 allocation.\n' % (uuids.nobody, self.host1),
            found.out)
        deleted = self.fresh_audit('--delete')
        self.assertEqual(4, deleted.code)
        self.assertEqual(
            suspicion +
            'Deleted allocations for consumer UUID %s on Resource Provider '
            "%s: {'VCPU': 1}\n"
            'Processed 1 allocation.\n' % (uuids.nobody, self.host1),
            deleted.out)

    def test_several(self):
        for consumer in uuids.first, uuids.second:
            self.allocate(consumer, {'VCPU': 1}, 'host1')
        self.assertTrue(
            self.fresh_audit().out.endswith('Processed 2 allocations.\n'))

    def test_chosen_provider(self):
        self.allocate(uuids.nobody, {'VCPU': 1}, 'host1')
        self.allocate(uuids.another, {'VCPU': 1}, 'host2')
        audit = self.fresh_audit('--resource_provider', self.host1)
        self.assertEqual(3, audit.code)
        self.assertIn(uuids.nobody, audit.out)
        self.assertNotIn(uuids.another, audit.out)

    def test_chosen_provider_that_is_none(self):
        audit = self.audit('--resource_provider', uuids.nowhere)
        self.assertEqual(
            (127, 'Resource provider with UUID %s does not exist.\n'
             % uuids.nowhere), (audit.code, audit.out))

    def test_provider_that_is_no_compute_node(self):
        pool = self.tap.create_provider('pool', inventories={'VCPU': 1})
        audit = self.fresh_audit()
        self.assertEqual(
            (0, 'The compute node for UUID %s can not be found\n' % pool),
            (audit.code, audit.out))


class OptionsTestCase(test_audit.AuditTestCase):

    def setUp(self):
        super().setUp()
        for consumer in uuids.first, uuids.second:
            self.allocate(consumer, self.held, 'host1')

    def _file(self, text):
        handle, path = tempfile.mkstemp()
        self.addCleanup(os.unlink, path)
        with os.fdopen(handle, 'w') as file:
            file.write(text)
        return path

    def _assert_deleted(self, *consumers):
        self.assertEqual(
            {uuids.first, uuids.second} - set(consumers),
            {each for each in (uuids.first, uuids.second)
             if self.holdings(each)})

    def test_consumer(self):
        audit = self.fresh_audit('--delete', '--consumer', uuids.second)
        self.assertEqual(4, audit.code, audit)
        self.assertNotIn(uuids.first, audit.out)
        self._assert_deleted(uuids.second)

    def test_consumer_that_holds_nothing(self):
        audit = self.fresh_audit('--consumer', uuids.third)
        self.assertEqual((0, ''), (audit.code, audit.out))

    def test_max_delete(self):
        audit = self.fresh_audit('--delete', '--max-delete', '1')
        self.assertEqual(1, audit.code, audit)
        self.assertIn('can be deleted', audit.out)
        self.assertIn('--max-delete', audit.err)
        self._assert_deleted()
        audit = self.fresh_audit('--delete', '--max-delete', '2')
        self.assertEqual(4, audit.code, audit)
        self._assert_deleted(uuids.first, uuids.second)

    def test_ignore(self):
        path = self._file('# Known.\n%s  # ticket 1\n\n' % uuids.first)
        audit = self.fresh_audit('--delete', '--ignore', path)
        self.assertEqual(4, audit.code, audit)
        self._assert_deleted(uuids.second)
        self.assertEqual(
            1, self.audit_json('--ignore', path).json['ignored'])

    def test_ignore_a_provider(self):
        path = self._file(self.tap.providers()['host1'])
        self.assertEqual(
            0, self.fresh_audit('--delete', '--ignore', path).code)

    def test_invalid_input(self):
        for words, told in [
            (['--resource_provider', 'host1'],
             '--resource_provider: host1 is not a UUID.'),
            (['--consumer', 'guest'], '--consumer: guest is not a UUID.'),
            (['--min-age', 'long'],
             '--min-age: long is not a whole number from 0 to 1000000000.'),
            (['--max-delete', '-1'],
             '--max-delete: -1 is not a whole number from 0 to 1000000000.'),
            (['--workers', '99'],
             '--workers: 99 is not a whole number from 1 to 10.'),
            (['--format', 'yaml'],
             '--format: yaml is none of text, json, openmetrics.'),
            (['--ignore', '/no/such'],
             '--ignore: can not read /no/such: No such file or directory.'),
            (['--state-file', '/no/such'],
             '--state-file: /no/such can not be written.'),
        ]:
            audit = self.audit('--delete', *words)
            self.assertEqual((127, '', told + '\n'),
                             (audit.code, audit.out, audit.err))
        path = self._file('%s\nfoo\n' % uuids.first)
        self.assertEqual(
            '--ignore: line 2 of %s: foo is not a UUID.\n' % path,
            self.audit('--ignore', path).err)

    def test_json(self):
        audit = self.audit_json('--delete')
        self.assertEqual(4, audit.code)
        self.assertEqual(
            ['deleted', 'deleted'],
            [finding['action'] for finding in audit.json['findings']])
        self.assertEqual(2, audit.json['summary']['orphan'])
        self.assertIs(True, audit.json['complete'])
        self.assertEqual('', audit.err)
        self._assert_deleted(uuids.first, uuids.second)

    def test_openmetrics(self):
        audit = self.audit('--format', 'openmetrics', '--min-age', '0')
        self.assertEqual(3, audit.code)
        self.assertIn('nova_ledger_findings{kind="orphan"} 2\n', audit.out)
        self.assertIn(
            'nova_ledger_provider_resources{kind="orphan",provider="%s",'
            'provider_name="host1",host="host1",resource_class="VCPU"} 2\n'
            % self.tap.providers()['host1'], audit.out)
        self.assertTrue(audit.out.endswith('# EOF\n'))

    def _interrupt(self, method, path):
        """Press Ctrl-C when the first such request is made."""
        pressed = []

        def press(request):
            if not pressed:
                pressed.append(request)
                os.kill(os.getpid(), signal.SIGINT)

        self.tap.tap(press, method, path, when='before')

    def test_interrupted(self):
        self._interrupt('PUT', '/allocations/{uuid}')
        audit = self.fresh_audit('--delete')
        self.assertEqual(130, audit.code, audit)
        self.assertIn('Deleted so far: 1 of 2 allocations.', audit.err)
        self.assertEqual(1, sum(
            bool(self.holdings(each))
            for each in (uuids.first, uuids.second)))
        self.assertIs(signal.default_int_handler,
                      signal.getsignal(signal.SIGINT))

    def test_interrupted_early(self):
        self._interrupt('GET', '/resource_providers/{uuid}/allocations')
        audit = self.fresh_audit('--delete')
        self.assertEqual((130, ''), (audit.code, audit.out))
        self.assertEqual('Interrupted. Nothing was deleted.\n', audit.err)
        self._assert_deleted()

    def test_not_in_the_main_thread(self):
        audits = []
        thread = threading.Thread(
            target=lambda: audits.append(self.fresh_audit()))
        thread.start()
        thread.join()
        self.assertEqual(3, audits[0].code)


class UnreachableTestCase(test_audit.AuditTestCase):
    """What does not answer is named in one line."""

    def _assert_one_line(self, audit, told):
        self.assertEqual((1, ''), (audit.code, audit.out), audit)
        self.assertIn(told, audit.err)
        self.assertEqual(1, audit.err.count('\n'), audit.err)
        self.assertNotIn('Traceback', audit.err)

    def test_placement_is_down(self):
        self.tap.fault('GET', close=True)
        self._assert_one_line(self.audit('--delete'), 'Placement can not be')

    def test_placement_fails_in_the_middle(self):
        self.tap.fault('GET', '/resource_providers/{uuid}/allocations',
                       status=503)
        self._assert_one_line(self.audit('--delete'), 'has status 503')

    def test_placement_refuses_the_credentials(self):
        self.tap.fault('GET', status=401)
        self._assert_one_line(self.audit('--delete'), 'credentials')

    def test_api_database_is_down(self):
        with mock.patch('nova.objects.CellMappingList.get_all',
                        side_effect=db_exc.DBConnectionError('no host')):
            self._assert_one_line(
                self.audit('--delete'), 'The API database can not be read')

    def test_api_database_is_not_configured(self):
        with mock.patch('nova.objects.CellMappingList.get_all',
                        side_effect=db_exc.CantStartEngineError('none')):
            self._assert_one_line(
                self.audit('--delete'), 'The API database can not be read')


class OlderPlacementTestCase(test_audit.AuditTestCase):
    """What is not there is done without, or not done."""

    def setUp(self):
        super().setUp()
        self.allocate(uuids.nobody, self.held, 'host1')

    def _be(self, version):
        patch = mock.patch('nova.ledger.client.NEWEST', version)
        patch.start()
        self.addCleanup(patch.stop)

    def test_no_consumer_types(self):
        self._be((1, 37))
        self.assertEqual(4, self.fresh_audit('--delete').code)

    def test_no_generations(self):
        self._be((1, 27))
        self.assertEqual(3, self.fresh_audit().code)
        audit = self.fresh_audit('--delete')
        self.assertEqual(1, audit.code, audit)
        self.assertIn('no consumer generations', audit.err)
        self.assertEqual({'host1': self.held}, self.holdings(uuids.nobody))

    def test_no_ages(self):
        self._be((1, 14))
        self.assertEqual(3, self.fresh_audit().code)
        audit = self.audit('--verbose')
        self.assertEqual(0, audit.code, audit)
        self.assertIn('who knows when', audit.err)


class StateFileTestCase(test_audit.AuditTestCase):

    def setUp(self):
        super().setUp()
        self.server_id = self.boot('host1')
        self.path = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'state')

    def _reads(self, *words):
        """The audit, and the names of the providers that it read."""
        names = {uuid: name for name, uuid in self.tap.providers().items()}
        read = []
        with self.tap.tap(
                lambda request: read.append(names[request.path.split('/')[2]]),
                'GET', '/resource_providers/{uuid}/allocations',
                when='before'):
            audit = self.audit_json('--state-file', self.path, *words)
        return audit, sorted(read)

    def _kinds(self, read):
        """What an audit with the file finds is what one without it finds."""
        audit, names = self._reads()
        self.assertEqual(read, names)
        self.assertEqual(self.audit_json().findings, audit.findings)
        return set(audit.findings.values())

    def test_what_has_not_changed_is_not_read_again(self):
        self.assertEqual(set(), self._kinds(['host1', 'host2']))
        self.assertEqual(set(), self._kinds([]))
        self.assertEqual(
            {'looked_at': 2, 'remembered': 2},
            self._reads()[0].json['providers'])
        self.assertEqual(0o600, os.stat(self.path).st_mode & 0o777)

    def test_what_is_new_is_found(self):
        self._reads()
        self.allocate(uuids.nobody, self.held, 'host2')
        self.assertEqual({'orphan'}, self._kinds(['host2']))
        self.assertEqual({'orphan'}, self._kinds([]))
        audit, _ = self._reads('--delete')
        self.assertEqual(4, audit.code)
        self.assertEqual(set(), self._kinds(['host2']))
        self.assertEqual(set(), self._kinds([]))

    def test_who_is_gone_is_found(self):
        self._reads()
        with mock.patch('nova.scheduler.client.report.SchedulerReportClient.'
                        'delete_allocation_for_instance'):
            self.api.delete_server(self.server_id)
            self._wait_until_deleted({'id': self.server_id})
        self.assertEqual({'orphan'}, self._kinds([]))
        # What is no longer held is no longer remembered.
        self.tap.request('DELETE', '/allocations/%s' % self.server_id)
        self.assertEqual(set(), self._kinds([]))

    def test_what_is_no_longer_held_is_missed(self):
        self._reads()
        self.tap.request('DELETE', '/allocations/%s' % self.server_id)
        self.assertEqual({'missing'}, self._kinds(['host1']))

    def test_file_that_is_none(self):
        for text, told in [
            ('{', 'Expecting'), ('[]', 'broken'), ('{"version": 99}', '99'),
            (json.dumps({'version': 1, 'cloud': ['other'], 'resources': [],
                         'providers': {}}), 'other cells'),
        ]:
            with open(self.path, 'w') as file:
                file.write(text)
            audit, read = self._reads()
            self.assertEqual(['host1', 'host2'], read)
            self.assertIn('%s is not used: ' % self.path, audit.err)
            self.assertIn(told, audit.err)
            # It is replaced.
            self.assertEqual([], self._reads()[1])

    def test_what_is_chosen_is_read(self):
        self._reads()
        audit, read = self._reads(
            '--resource_provider', self.tap.providers()['host1'])
        self.assertEqual(['host1'], read)
        self.assertEqual([], self._reads()[1])
