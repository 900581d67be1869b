# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import threading
import uuid

import fixtures
import testtools

import placement_fixture


class TestCase(testtools.TestCase):
    """A Placement with one provider of eight CPUs."""

    def setUp(self):
        super(TestCase, self).setUp()
        self.useFixture(fixtures.FakeLogger())
        self.placement = self.useFixture(self.make_fixture())
        self.host = self.placement.create_provider(
            'host', inventories={'VCPU': 8})
        self.consumer = str(uuid.uuid4())

    def make_fixture(self):
        return placement_fixture.PlacementFixture()

    def claim(self, consumer=None, vcpus=1, generation=None):
        """Have a consumer hold CPUs of the host; return the response."""
        return self.placement.request(
            'PUT', '/allocations/%s' % (consumer or self.consumer),
            {'allocations': {self.host: {'resources': {'VCPU': vcpus}}},
             'project_id': 'project', 'user_id': 'user',
             'consumer_generation': generation}, version='1.28')

    def in_thread(self, function, *args):
        """Run a function in a thread that has ended when the test ends."""
        thread = threading.Thread(target=function, args=args)
        thread.daemon = True
        thread.start()
        self.addCleanup(thread.join, 30)
        return thread


def broken(fixture):
    """Clean a fixture up and return the message of what it complains of."""
    try:
        fixture.cleanUp()
    except AssertionError as error:
        return str(error)
    raise AssertionError('the fixture had nothing to complain of')
