# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import fixtures
import testtools

import placement_fixture
from placement_fixture.tests.unit import base


class TapTest(base.TestCase):

    def test_before_and_after(self):
        seen = []
        self.placement.tap(lambda request: seen.append((
            request.label, request.when, request.status,
            self.placement.usages(self.host)['VCPU'])))
        self.claim()
        self.assertEqual(
            [('PUT /allocations/{uuid}', 'before', None, 0),
             ('PUT /allocations/{uuid}', 'after', 204, 1)], seen)

    def test_request_and_response(self):
        seen = []
        self.placement.tap(seen.append, when='after')
        self.claim(vcpus=99)
        (refused,) = seen
        self.assertEqual(99, refused.json['allocations'][self.host][
            'resources']['VCPU'])
        self.assertEqual('1.28', refused.microversion)
        self.assertEqual(409, refused.status)
        self.assertEqual('Conflict', refused.response['errors'][0]['title'])

    def test_only_what_matches(self):
        seen = []
        self.placement.tap(seen.append, 'PUT', '/allocations/{uuid}',
                           when='before')
        self.claim()
        self.placement.request('GET', '/allocations/' + self.consumer)
        self.assertEqual(['PUT'], [request.method for request in seen])

    def test_stop(self):
        seen = []
        with self.placement.tap(seen.append, when='before') as handle:
            self.claim()
        self.claim(generation=1)
        handle.stop()
        self.assertEqual(1, len(seen))

    def test_own_requests_of_a_callback_pass_untapped(self):
        seen = []

        def ask(request):
            seen.append(request.label)
            self.placement.request('GET', '/traits')

        self.placement.tap(ask, when='before')
        self.claim()
        self.assertEqual(['PUT /allocations/{uuid}'], seen)

    def test_untapped(self):
        with self.placement.untapped():
            with self.placement.untapped():
                self.claim()
            self.placement.request('GET', '/traits')
        self.assertEqual([], self.placement.requests)
        self.placement.request('GET', '/traits')
        self.assertEqual(['GET /traits -> 200'],
                         [str(request) for request in self.placement.requests])

    def test_a_callback_that_waits_holds_up_its_own_request_only(self):
        with self.placement.hold('GET', '/traits') as outer:
            def wait(request):
                outer.wait_reached()

            self.placement.tap(wait, 'PUT', when='before')
            claiming = self.in_thread(self.claim)
            self.assertEqual(200, self.placement.request(
                'GET', '/resource_classes').status)
            self.assertTrue(claiming.is_alive())
            self.in_thread(self.placement.request, 'GET', '/traits')
            claiming.join(30)
            self.assertFalse(claiming.is_alive())

    def test_story(self):
        self.assertIn('No requests', self.placement.story())
        self.claim()
        self.assertIn('\n  PUT /allocations/{uuid} -> 204\n',
                      self.placement.story())


class FailingCallbackTest(testtools.TestCase):

    def test_it_fails_the_test_and_not_the_request(self):
        placement = placement_fixture.PlacementFixture()
        placement.setUp()

        def fail(request):
            raise AssertionError('found in a callback')

        placement.tap(fail, when='before')
        self.assertEqual(200, placement.request('GET', '/traits').status)
        self.assertEqual('found in a callback', base.broken(placement))

    def test_so_does_a_filter(self):
        placement = placement_fixture.PlacementFixture()
        placement.setUp()

        def fail(request):
            raise AssertionError('found in a filter')

        placement.hold(where=fail)
        self.assertEqual(200, placement.request('GET', '/traits').status)
        self.assertEqual('found in a filter', base.broken(placement))

    def test_all_are_told(self):
        placement = placement_fixture.PlacementFixture()
        placement.setUp()

        def fail(request):
            raise ValueError(request.when)

        placement.tap(fail)
        placement.request('GET', '/traits')
        error = self.assertRaises(
            fixtures.MultipleExceptions, placement.cleanUp)
        self.assertEqual({'before', 'after'},
                         {str(exc_info[1]) for exc_info in error.args})


class PlacementTapTest(testtools.TestCase):
    """The tap beside a fixture of somebody else."""

    def test_whatever_is_loaded_is_tapped(self):
        from placement.deploy import loadapp

        tap = self.useFixture(placement_fixture.PlacementTap())
        placement = self.useFixture(placement_fixture.PlacementFixture())
        placement.request('GET', '/traits')
        self.assertEqual(['GET /traits -> 200'], list(map(str, tap.requests)))

        tap.app = None
        other = loadapp(placement.conf)
        self.assertIs(other, tap.app)
        self.assertEqual(200, tap.request('GET', '/').status)

    def test_too_late(self):
        self.useFixture(placement_fixture.PlacementFixture())
        tap = self.useFixture(placement_fixture.PlacementTap())
        hold = tap.hold('GET', '/traits')
        error = self.assertRaises(AssertionError, hold.wait_reached, 0)
        self.assertIn('set it up before', str(error))
        self.assertRaises(RuntimeError, tap.request, 'GET', '/traits')

    def test_gone_after_clean_up(self):
        with placement_fixture.PlacementTap() as tap:
            pass
        self.useFixture(placement_fixture.PlacementFixture()).request(
            'GET', '/traits')
        self.assertEqual([], tap.requests)
