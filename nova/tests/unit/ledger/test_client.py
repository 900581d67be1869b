# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import threading
import time

import ddt
from keystoneauth1 import exceptions as ks_exc

from nova.ledger import client
from nova import test
from nova.tests.unit.ledger import fakes


def odd(document):
    """A Placement that answers GET / with a document."""
    placement = fakes.Placement()
    placement.get = lambda *args, **kwargs: fakes.Response(200, document)
    return placement


@ddt.ddt
class VersionTestCase(test.NoDBTestCase):
    """Which version Placement is asked with."""

    @ddt.data(((1, 14), '1.14'), ((1, 28), '1.28'), ((1, 39), '1.39'),
              ((1, 40), '1.39'), ((2, 0), '1.39'))
    @ddt.unpack
    def test_newest_that_both_know(self, newest, asked):
        self.assertEqual(
            asked, client.Client(fakes.Placement(newest)).microversion)

    @ddt.data(
        ((1, 14), ()),
        ((1, 15), ('last-modified',)),
        ((1, 27), ('last-modified',)),
        ((1, 28), ('last-modified', 'generations')),
        ((1, 38), ('last-modified', 'generations', 'consumer-types')))
    @ddt.unpack
    def test_what_it_has(self, newest, expected):
        asked = client.Client(fakes.Placement(newest))
        self.assertEqual(set(expected),
                         {what for what in client.SINCE if asked.has(what)})

    @ddt.data((0, 9), (1, 0), (1, 13))
    def test_too_old(self, newest):
        error = self.assertRaises(
            client.Unreachable, client.Client, fakes.Placement(newest))
        self.assertIn('has microversion %d.%d' % newest, str(error))
        self.assertIn('1.14', str(error))

    @ddt.data(
        {}, [], None, 'text', 7,
        {'versions': []}, {'versions': {}}, {'versions': None},
        {'versions': [{}]}, {'versions': [None]}, {'versions': ['1.39']},
        {'versions': [{'max_version': None}]},
        {'versions': [{'max_version': ''}]},
        {'versions': [{'max_version': 1.39}]},
        {'versions': [{'max_version': '1'}]},
        {'versions': [{'max_version': '1.2.3'}]},
        {'versions': [{'max_version': 'one.two'}]},
        # What Keystone says at /
        {'versions': {'values': [{'id': 'v3.14'}]}})
    def test_odd_document(self, document):
        error = self.assertRaises(
            client.Unreachable, client.Client, odd(document))
        self.assertIn('max_version', str(error))

    def test_no_json_at_all(self):
        placement = fakes.Placement()
        placement.faults['GET /'] = fakes.Page(200)
        self.assertRaises(client.Unreachable, client.Client, placement)


@ddt.ddt
class AskTestCase(test.NoDBTestCase):
    """An error is one line that says what to do about it."""

    def setUp(self):
        super(AskTestCase, self).setUp()
        self.placement = fakes.Placement()
        self.client = client.Client(self.placement)
        self.path = '/resource_providers'

    def _error(self, fault):
        self.placement.faults['GET ' + self.path] = fault
        message = str(self.assertRaises(
            client.Unreachable, self.client.get, self.path))
        self.assertTrue(message)
        self.assertNotIn('\n', message)
        return message

    def test_answer(self):
        self.placement.add('S')
        response = self.client.get(self.path)
        self.assertEqual(1, len(response.document['resource_providers']))

    @ddt.data(404, 406, 500, 503)
    def test_status(self, status):
        self.assertEqual('GET %s has status %d' % (self.path, status),
                         self._error(status))

    @ddt.data(401, 403)
    def test_refused(self, status):
        message = self._error(status)
        self.assertIn('credentials', message)
        self.assertIn(str(status), message)

    def test_no_answer(self):
        self.assertIn('[placement]', self._error(None))

    @ddt.data(
        ks_exc.ConnectFailure('Unable to connect'),
        ks_exc.ConnectTimeout('Unable to connect'),
        ks_exc.EndpointNotFound('Unable to connect'),
        ks_exc.MissingAuthPlugin('Unable to connect'),
        ks_exc.Unauthorized('Unable to connect'),
        ks_exc.ServiceUnavailable('Unable to connect'),
        # As Keystone has it from its web server
        ks_exc.ServiceUnavailable('Unable to connect.<br /><br />\nTry it '
                                  'later.\n\n'))
    def test_error(self, error):
        self.assertIn('Unable to connect', self._error(error))

    def test_error_that_says_nothing(self):
        self._error(ks_exc.ConnectFailure(''))

    def test_statuses_that_are_no_error(self):
        self.placement.faults['GET ' + self.path] = 404
        self.assertEqual(
            404, self.client.get(self.path, 404).status)

    def test_first_request(self):
        for fault in (503, 401, None, ks_exc.ConnectFailure('no route')):
            placement = fakes.Placement()
            placement.faults['GET /'] = fault
            self.assertRaises(client.Unreachable, client.Client, placement)

    def test_put(self):
        for status in (204, 409, 500):
            self.placement.faults['PUT /allocations/x'] = status
            self.assertEqual(
                status, self.client.put('/allocations/x', {}).status_code)
        for fault in (None, ks_exc.ConnectFailure('gone')):
            self.placement.faults['PUT /allocations/x'] = fault
            self.assertRaises(client.Unreachable, self.client.put,
                              '/allocations/x', {})

    def test_versions(self):
        asked = []
        self.placement.get = self.placement.put = (
            lambda url, data=None, version=None:
            asked.append(version) or fakes.Response(200))
        self.client.get('/x')
        self.client.put('/x', {})
        self.assertEqual(['1.39', '1.28'], asked)


@ddt.ddt
class ForEachTestCase(test.NoDBTestCase):
    """Many things at once."""

    def _client(self, workers):
        return client.Client(fakes.Placement(), workers)

    @ddt.data(1, 2, 4, 10)
    def test_each_once(self, workers):
        done = []
        self._client(workers).for_each(done.append, range(50))
        self.assertEqual(list(range(50)), sorted(done))

    def test_one_worker_keeps_the_order(self):
        done = []
        self._client(1).for_each(done.append, iter('abc'))
        self.assertEqual(['a', 'b', 'c'], done)

    @ddt.data(1, 4)
    def test_nothing_to_do(self, workers):
        self._client(workers).for_each(self.fail, [])

    def test_several_at_once_and_no_more(self):
        """Each waits until as many as there are workers are at it."""
        at_work, most = [], []
        together = threading.Event()

        def work(thing):
            at_work.append(thing)
            most.append(len(at_work))
            if len(at_work) == 3:
                together.set()
            self.assertTrue(together.wait(30))
            at_work.remove(thing)

        self._client(3).for_each(work, range(9))
        self.assertEqual(3, max(most))

    @ddt.data(1, 4)
    def test_error(self, workers):
        begun, ended = [], []

        def work(thing):
            begun.append(thing)
            if thing == 5:
                raise client.Unreachable('the fifth')
            time.sleep(0.001)
            ended.append(thing)

        error = self.assertRaises(
            client.Unreachable, self._client(workers).for_each, work,
            range(1000))
        self.assertEqual('the fifth', str(error))
        # What had begun has ended, and nothing began after.
        self.assertEqual(set(begun), set(ended) | {5})
        self.assertLess(len(begun), 100)

    def test_first_of_several_errors(self):
        def work(thing):
            raise ValueError(thing)

        error = self.assertRaises(
            ValueError, self._client(1).for_each, work, range(9))
        self.assertEqual((0,), error.args)
