# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import threading
import time

import ddt
import testtools

import placement_fixture
from placement_fixture.tests.unit import base


@ddt.ddt
class FaultTest(base.TestCase):

    def test_once(self):
        fault = self.placement.fault('PUT', '/allocations/{uuid}', status=503)
        self.assertEqual(1, fault.left)
        self.assertEqual(503, self.claim().status)
        self.assertEqual({}, self.placement.allocations(self.consumer))
        self.assertEqual(0, fault.left)
        self.assertEqual(204, self.claim().status)
        self.assertEqual(
            ['PUT /allocations/{uuid} -> 503 (fault)',
             'PUT /allocations/{uuid} -> 204'],
            list(map(str, self.placement.requests)))

    def test_times(self):
        self.placement.fault('PUT', status=503, times=2)
        self.assertEqual(
            [503, 503, 204], [self.claim().status for _ in range(3)])

    def test_others_pass(self):
        fault = self.placement.fault('DELETE', status=503, optional=True)
        self.assertEqual(204, self.claim().status)
        self.assertEqual(1, fault.left)

    def test_where(self):
        self.placement.fault(status=503, where=lambda request: (
            request.json and not request.json['allocations']))
        self.assertEqual(204, self.claim().status)
        path = '/allocations/' + self.consumer
        nothing = {'allocations': {}, 'project_id': 'project',
                   'user_id': 'user', 'consumer_generation': 1}
        self.assertEqual(503, self.placement.request(
            'PUT', path, nothing, version='1.28').status)

    @ddt.data((None, 'concurrently updated'),
              (placement_fixture.CONSUMER_CONFLICT,
               'consumer generation conflict'))
    @ddt.unpack
    def test_conflict_reads_as_placements(self, body, detail):
        self.placement.fault('PUT', status=409, body=body)
        response = self.claim()
        (error,) = response.json()['errors']
        self.assertEqual('application/json', response.headers['Content-Type'])
        self.assertEqual((409, 'Conflict', 'placement.concurrent_update'),
                         (error['status'], error['title'], error['code']))
        self.assertIn(detail, error['detail'])

    def test_same_shape_as_a_real_conflict(self):
        self.claim()
        real = self.claim(generation=7).json()['errors'][0]
        self.placement.fault('PUT', status=409,
                             body=placement_fixture.CONSUMER_CONFLICT)
        injected = self.claim(generation=1).json()['errors'][0]
        self.assertIn('consumer generation conflict', real['detail'])
        for key in ('status', 'title', 'code'):
            self.assertEqual(real[key], injected[key])

    def test_whole_body(self):
        self.placement.fault('PUT', status=404, body={'any': 'thing'})
        self.assertEqual({'any': 'thing'}, self.claim().json())

    def test_answer_lost_after_the_deed(self):
        self.placement.fault('PUT', status=503, when='after')
        self.assertEqual(503, self.claim().status)
        self.assertEqual({self.host: {'VCPU': 1}},
                         self.placement.allocations(self.consumer))

    def test_close(self):
        self.placement.fault('PUT', close=True)
        self.assertRaises(ConnectionResetError, self.claim)
        self.assertEqual({}, self.placement.allocations(self.consumer))
        self.assertEqual('PUT /allocations/{uuid} -> dropped (fault)',
                         str(self.placement.requests[-1]))

    def test_delay(self):
        self.placement.fault('PUT', delay=.05)
        start = time.monotonic()
        self.assertEqual(204, self.claim().status)
        self.assertGreaterEqual(time.monotonic() - start, .05)

    def test_tap_sees_what_the_client_sees(self):
        seen = []
        self.placement.tap(seen.append, when='after')
        self.placement.fault('PUT', status=503, when='after')
        self.claim()
        self.assertEqual([503], [request.status for request in seen])

    @ddt.data({}, {'status': 409, 'close': True}, {'delay': 1, 'body': 'a'})
    def test_senseless(self, arguments):
        self.assertRaises(ValueError, self.placement.fault, **arguments)


class UnusedFaultTest(testtools.TestCase):

    def setUp(self):
        super(UnusedFaultTest, self).setUp()
        self.placement = placement_fixture.PlacementFixture()
        self.placement.setUp()

    def test_fails_the_test(self):
        self.placement.fault('PUT', '/allocations/{uuid}', status=409)
        self.placement.request('GET', '/traits')
        complaint = base.broken(self.placement)
        self.assertIn('PUT /allocations/{uuid}, 1 left', complaint)
        self.assertIn('GET /traits -> 200', complaint)

    def test_half_used(self):
        self.placement.fault('GET', status=503, times=2)
        self.placement.request('GET', '/traits')
        self.assertIn('1 left', base.broken(self.placement))

    def test_optional_or_stopped(self):
        self.placement.fault('PUT', status=409, optional=True)
        self.placement.fault('PUT', status=409).stop()
        self.placement.cleanUp()


class HoldTest(base.TestCase):

    def test_before(self):
        with self.placement.hold('PUT', '/allocations/{uuid}') as hold:
            claiming = self.in_thread(self.claim)
            request = hold.wait_reached()
            self.assertEqual('/allocations/' + self.consumer, request.path)
            self.assertIs(request, hold.request)
            # Placement has not seen it, and serves all others.
            self.assertEqual({}, self.placement.allocations(self.consumer))
            self.assertEqual(204, self.claim(self.host).status)
            self.assertTrue(claiming.is_alive())
        claiming.join(30)
        self.assertEqual({self.host: {'VCPU': 1}},
                         self.placement.allocations(self.consumer))
        self.assertIn('PUT /allocations/{uuid} -> 204 (held)',
                      self.placement.story())

    def test_after(self):
        hold = self.placement.hold('PUT', when='after')
        claiming = self.in_thread(self.claim)
        self.assertEqual(204, hold.wait_reached().status)
        self.assertEqual({self.host: {'VCPU': 1}},
                         self.placement.allocations(self.consumer))
        self.assertTrue(claiming.is_alive())
        hold.release()
        claiming.join(30)
        self.assertFalse(claiming.is_alive())

    def test_hold_then_fault(self):
        self.placement.fault('PUT', status=409)
        with self.placement.hold('PUT') as hold:
            claiming = self.in_thread(self.claim)
            hold.wait_reached()
        claiming.join(30)
        self.assertIn('-> 409 (held, fault)', self.placement.story())

    def test_released_before_it_was_reached(self):
        self.placement.hold('PUT').release()
        self.assertEqual(204, self.claim().status)

    def test_never_reached(self):
        hold = self.placement.hold('PUT', '/allocations/{uuid}')
        self.placement.request('GET', '/traits')
        error = self.assertRaises(AssertionError, hold.wait_reached, 0)
        self.assertIn('PUT /allocations/{uuid}', str(error))
        self.assertIn('GET /traits -> 200', str(error))


class ForgottenHoldTest(testtools.TestCase):

    def setUp(self):
        super(ForgottenHoldTest, self).setUp()
        self.placement = placement_fixture.PlacementFixture()
        self.placement.setUp()

    def test_clean_up_releases(self):
        hold = self.placement.hold('GET')
        asking = threading.Thread(
            target=self.placement.request, args=('GET', '/'))
        asking.start()
        hold.wait_reached()
        self.placement.cleanUp()
        asking.join(30)
        self.assertFalse(asking.is_alive())

    def test_it_ends_by_itself_and_fails_the_test(self):
        self.placement.hold('GET', timeout=.01)
        self.assertEqual(200, self.placement.request('GET', '/traits').status)
        self.assertIn('nobody released', base.broken(self.placement))
