# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""PlacementTap in nova's functional tests, on any series."""

import time

from nova.tests.functional import integrated_helpers

import placement_fixture

if hasattr(integrated_helpers, 'ProviderUsageBaseTestCase'):
    base = integrated_helpers
else:
    # Queens
    from nova.tests.functional import test_servers as base

# An image that nova's fake image service always has.
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'
CLAIM = ('PUT', '/allocations/{uuid}')


class TapTest(base.ProviderUsageBaseTestCase):

    compute_driver = 'fake.SmallFakeDriver'

    def setUp(self):
        self.tap = self.useFixture(placement_fixture.PlacementTap())
        super(TapTest, self).setUp()
        self.start_service('compute', host='host1')

    def _boot(self):
        flavor = self.api.get_flavors()[0]['id']
        server = self.api.post_server({'server': {
            'name': 'tapped', 'flavorRef': flavor, 'imageRef': IMAGE,
            'networks': 'none'}})
        return server['id']

    def _wait(self, server, status):
        for _ in range(100):
            if self.api.get_server(server)['status'] == status:
                return
            time.sleep(.1)
        self.fail('%s never became %s. %s' % (
            server, status, self.tap.story()))

    def _claims(self):
        return [str(request) for request in self.tap.requests
                if request.label == 'PUT /allocations/{uuid}']

    def test_boot_is_seen(self):
        seen = []
        self.tap.tap(seen.append, *CLAIM)
        server = self._boot()
        self._wait(server, 'ACTIVE')
        before, after = seen
        self.assertEqual('/allocations/' + server, before.path)
        self.assertEqual(('before', 'after'), (before.when, after.when))
        self.assertIn('allocations', before.json)
        self.assertEqual(204, after.status)

    def test_callback_asks_placement(self):
        held = []

        def ask(request):
            server = request.path.split('/')[-1]
            held.append((request.when, len(self.tap.allocations(server))))

        self.tap.tap(ask, *CLAIM)
        self._wait(self._boot(), 'ACTIVE')
        self.assertEqual([('before', 0), ('after', 1)], held)

    def test_hold_claim(self):
        with self.tap.hold(*CLAIM) as hold:
            server = self._boot()
            request = hold.wait_reached()
            self.assertEqual('/allocations/' + server, request.path)
            # Everything else goes on meanwhile.
            self.assertEqual({}, self.tap.allocations(server))
            self.assertEqual('BUILD', self.api.get_server(server)['status'])
        self._wait(server, 'ACTIVE')
        (provider,) = self.tap.providers().values()
        self.assertEqual([provider], list(self.tap.allocations(server)))
        self.assertEqual(1, self.tap.usages(provider)['VCPU'])

    def test_hold_answer(self):
        with self.tap.hold(*CLAIM, when='after') as hold:
            server = self._boot()
            self.assertEqual(204, hold.wait_reached().status)
            self.assertEqual(1, len(self.tap.allocations(server)))
            self.assertEqual('BUILD', self.api.get_server(server)['status'])
        self._wait(server, 'ACTIVE')

    def test_provider_conflict_is_retried(self):
        self.tap.fault(*CLAIM, status=409)
        self._wait(self._boot(), 'ACTIVE')
        self.assertEqual(['PUT /allocations/{uuid} -> 409 (fault)',
                          'PUT /allocations/{uuid} -> 204'], self._claims())

    def test_dropped_claim(self):
        self.tap.fault(*CLAIM, close=True)
        server = self._boot()
        self._wait(server, 'ERROR')
        self.assertEqual(['PUT /allocations/{uuid} -> dropped (fault)'],
                         self._claims())
        self.assertEqual({}, self.tap.allocations(server))
