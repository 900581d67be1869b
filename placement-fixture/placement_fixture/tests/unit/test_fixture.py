# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import concurrent.futures
import os
import uuid

import fixtures
import requests
import testtools

import placement_fixture
from placement_fixture.tests.unit import base


class PlacementFixtureTest(base.TestCase):

    def test_helpers(self):
        child = self.placement.create_provider('child', parent=self.host)
        self.assertEqual({'host': self.host, 'child': child},
                         self.placement.providers())
        self.assertEqual({'VCPU': 0}, self.placement.usages(self.host))
        self.assertEqual({}, self.placement.usages(child))
        self.assertEqual({}, self.placement.allocations(self.consumer))
        self.assertIsNone(self.placement.consumer_generation(self.consumer))

        self.assertEqual(204, self.claim(vcpus=3).status)
        self.assertEqual({'VCPU': 3}, self.placement.usages(self.host))
        self.assertEqual({self.host: {'VCPU': 3}},
                         self.placement.allocations(self.consumer))
        self.assertEqual(1, self.placement.consumer_generation(self.consumer))
        found = self.placement.request(
            'GET', '/resource_providers/' + child).json()
        self.assertEqual(self.host, found['root_provider_uuid'])

    def test_helpers_pass_untapped_and_requests_do_not(self):
        self.placement.providers()
        self.assertEqual([], self.placement.requests)
        self.placement.request('GET', '/resource_providers?name=host')
        (request,) = self.placement.requests
        self.assertEqual(('/resource_providers', 'name=host', 'latest'),
                         (request.path, request.query, request.microversion))

    def test_helper_refused(self):
        error = self.assertRaises(
            AssertionError, self.placement.usages, self.consumer)
        self.assertIn('404', str(error))

    def test_response(self):
        response = self.placement.request('GET', '/traits', version='1.15')
        self.assertEqual(200, response.status)
        self.assertIn('HW_CPU_X86_AVX', response.json()['traits'])
        self.assertEqual('placement 1.15', {
            name.lower(): value for name, value
            in response.headers.items()}['openstack-api-version'])

    def test_threads(self):
        consumers = [str(uuid.uuid4()) for _ in range(16)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            statuses = [response.status
                        for response in pool.map(self.claim, consumers)]
        # All want a CPU at once, and there are eight.
        self.assertEqual([204] * 8 + [409] * 8, sorted(statuses))
        self.assertEqual({'VCPU': 8}, self.placement.usages(self.host))

    def test_one_at_a_time(self):
        other = placement_fixture.PlacementFixture()
        error = self.assertRaises(fixtures.MultipleExceptions, other.setUp)
        self.assertIn('only once', str(error))
        # The first is none the worse for it.
        self.assertEqual({'host': self.host}, self.placement.providers())


class IsolationTest(testtools.TestCase):

    def test_nothing_is_left_for_the_next(self):
        with placement_fixture.PlacementFixture() as placement:
            placement.create_provider('host')
            placement.request('PUT', '/traits/CUSTOM_LEFT')
            placement.request('PUT', '/resource_classes/CUSTOM_LEFT')
        with placement_fixture.PlacementFixture() as placement:
            self.assertEqual({}, placement.providers())
            self.assertNotIn(
                'CUSTOM_LEFT', placement.request('GET', '/traits').text)
            classes = placement.request('GET', '/resource_classes').text
            self.assertNotIn('CUSTOM_LEFT', classes)
            self.assertIn('VCPU', classes)

    def test_the_same_again(self):
        placement = placement_fixture.PlacementFixture()
        for _ in range(2):
            placement.setUp()
            self.assertEqual({}, placement.providers())
            placement.create_provider('host')
            placement.cleanUp()


class TokenTest(testtools.TestCase):

    def test_not_an_admin(self):
        placement = self.useFixture(
            placement_fixture.PlacementFixture(token='nobody'))
        self.assertEqual(
            403, placement.request('GET', '/resource_providers').status)
        self.assertEqual(200, placement.request(
            'GET', '/resource_providers',
            headers={'X-Auth-Token': 'admin'}).status)


class DatabaseTest(testtools.TestCase):

    def setUp(self):
        super(DatabaseTest, self).setUp()
        self.path = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'placement.sqlite')
        self.connection = 'sqlite:///' + self.path

    def test_tables_of_its_own_go(self):
        for _ in range(2):
            with placement_fixture.PlacementFixture(
                    self.connection) as placement:
                self.assertEqual({}, placement.providers())
                placement.create_provider('host')
                self.assertGreater(os.path.getsize(self.path), 0)

    def test_tables_it_finds_stay(self):
        from placement.db.sqlalchemy import models
        import sqlalchemy

        engine = sqlalchemy.create_engine(self.connection)
        self.addCleanup(engine.dispose)
        models.BASE.metadata.create_all(engine)
        with placement_fixture.PlacementFixture(self.connection) as placement:
            host = placement.create_provider('host')
        with placement_fixture.PlacementFixture(self.connection) as placement:
            self.assertEqual({'host': host}, placement.providers())


class HTTPTest(base.TestCase):

    def make_fixture(self):
        return placement_fixture.PlacementFixture(http=True)

    def get(self, path):
        return requests.get(
            self.placement.url + path, timeout=30, headers={
                'X-Auth-Token': 'admin',
                'OpenStack-API-Version': 'placement latest'})

    def test_served(self):
        response = self.get('/resource_providers?name=host')
        (found,) = response.json()['resource_providers']
        self.assertEqual(self.host, found['uuid'])
        (request,) = self.placement.requests
        self.assertEqual(('GET /resource_providers', 'name=host', 200),
                         (request.label, request.query, request.status))

    def test_refuses_who_does_not_say_who_he_is(self):
        response = requests.get(
            self.placement.url + '/resource_providers', timeout=30)
        self.assertEqual(401, response.status_code)

    def test_many_at_once(self):
        with self.placement.hold('GET', '/traits') as hold:
            asking = self.in_thread(self.get, '/traits')
            hold.wait_reached()
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                statuses = {
                    response.status_code for response
                    in pool.map(self.get, ['/resource_providers'] * 24)}
            self.assertEqual({200}, statuses)
            self.assertTrue(asking.is_alive())

    def test_connection_dropped(self):
        self.placement.fault('GET', '/traits', close=True)
        self.assertRaises(
            requests.exceptions.ConnectionError, self.get, '/traits')
        self.assertEqual(200, self.get('/traits').status_code)

    def test_fault(self):
        self.placement.fault('GET', status=503)
        response = self.get('/traits')
        self.assertEqual(503, response.status_code)
        self.assertEqual('Service Unavailable',
                         response.json()['errors'][0]['title'])

    def test_closed_at_the_end(self):
        with placement_fixture.server.HTTPServer(self.placement.app) as other:
            self.assertEqual(200, requests.get(
                other.url, timeout=30).status_code)
        self.assertRaises(requests.exceptions.ConnectionError,
                          requests.get, other.url, timeout=30)
