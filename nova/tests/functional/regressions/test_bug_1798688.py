# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import threading
import time

from nova.compute import manager
from nova import objects
from nova.tests.functional import integrated_helpers
from nova.tests.functional import test_servers

# One of the images that nova's tests have.
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'

# Queens still has it among the servers' tests.
Base = getattr(
    integrated_helpers
    if hasattr(integrated_helpers, 'ProviderUsageBaseTestCase')
    else test_servers, 'ProviderUsageBaseTestCase')


class UnshelveOnceOffloadedTestCase(Base):
    """A server that looks offloaded can be unshelved at once.

    Shelve offload used to save SHELVED_OFFLOADED first and to remove the
    server's allocation from Placement later. A user who polls the API and
    unshelves in between has the scheduler claim room for a consumer that
    still holds the old host. If the claim comes before the removal, it is
    removed as well, and the server runs and holds nothing. If it comes after,
    the server gets the old host back beside the new one, for good; or, where
    a claim says which generation of the consumer it has seen, a conflict.

    So when the API shows SHELVED_OFFLOADED, Placement holds nothing for the
    server, and an unshelve from that moment on is like any other.
    """

    compute_driver = 'fake.MediumFakeDriver'

    def setUp(self):
        super(UnshelveOnceOffloadedTestCase, self).setUp()
        self.providers = {}
        for host in ('host1', 'host2'):
            self._start_compute(host)
            self.providers[host] = self._get_provider_uuid_by_host(host)
        self.flavor = self.api.get_flavors()[0]
        self.server_id = self.api.post_server({'server': {
            'name': 'guest',
            'imageRef': IMAGE,
            'flavorRef': self.flavor['id'],
            'availability_zone': 'nova:host1',
            'networks': 'none',
        }})['id']
        self._wait_for_server('ACTIVE')

    def _wait_for(self, condition, what):
        """Wait until the condition holds; fail if that takes too long."""
        deadline = time.time() + 20
        while not condition():
            if time.time() > deadline:
                self.fail('Waited in vain for %s' % what)
            time.sleep(0.1)

    def _wait_for_server(self, status):
        """Wait until the server is at rest in a status, and return it."""
        servers = []

        def settled():
            servers.append(self.api.get_server(self.server_id))
            return (servers[-1]['status'] == status and
                    servers[-1]['OS-EXT-STS:task_state'] is None)

        self._wait_for(settled, 'the server to be %s' % status)
        return servers[-1]

    def _act(self, action):
        self.api.post_server_action(self.server_id, {action: None})

    def _holdings(self):
        """What Placement says that the server holds, by host."""
        held = self._get_allocations_by_server_uuid(self.server_id)
        return {
            host: held[provider]['resources']
            for host, provider in self.providers.items() if provider in held
        }

    def _shelve_and_look(self, action, act=lambda: None):
        """Shelve and look at the server when SHELVED_OFFLOADED is saved.

        :param action: the API's name of the action that offloads
        :param act: called at that moment; the offload stands still meanwhile
        :returns: the server's status in the API and its holdings in Placement
            at that moment
        """
        original = objects.Instance.save
        seen = []
        acted = threading.Event()

        def save_and_look(instance, *args, **kwargs):
            result = original(instance, *args, **kwargs)
            if instance.vm_state == 'shelved_offloaded' and not seen:
                seen.append(self.api.get_server(self.server_id)['status'])
                seen.append(self._holdings())
                act()
                acted.set()
            return result

        self.stub_out('nova.objects.Instance.save', save_and_look)
        self._act(action)
        self.assertTrue(acted.wait(60), 'the server was not offloaded')
        return tuple(seen)

    def _unshelve_as_far_as_the_compute(self):
        """Unshelve, and go on when the chosen host is asked to do it."""
        original = manager.ComputeManager.unshelve_instance
        reached = threading.Event()

        def reach(*args, **kwargs):
            reached.set()
            return original(*args, **kwargs)

        self.stub_out(
            'nova.compute.manager.ComputeManager.unshelve_instance', reach)
        self._act('unshelve')
        self.assertTrue(reached.wait(20), 'no host was asked to unshelve')

    def _assert_holds_its_flavor(self, server):
        self.assertEqual({
            server['OS-EXT-SRV-ATTR:host']: {
                'VCPU': self.flavor['vcpus'],
                'MEMORY_MB': self.flavor['ram'],
                'DISK_GB': self.flavor['disk'],
            },
        }, self._holdings())

    def test_offloaded_server_holds_nothing(self):
        self.flags(shelved_offload_time=0)
        self.assertEqual(
            ('SHELVED_OFFLOADED', {}), self._shelve_and_look('shelve'))

    def test_server_offloaded_later_holds_nothing(self):
        self.flags(shelved_offload_time=-1)
        self._act('shelve')
        self._assert_holds_its_flavor(self._wait_for_server('SHELVED'))
        self.assertEqual(
            ('SHELVED_OFFLOADED', {}), self._shelve_and_look('shelveOffload'))

    def test_unshelve_once_offloaded(self):
        self.flags(shelved_offload_time=0)
        self._shelve_and_look('shelve', self._unshelve_as_far_as_the_compute)
        self._assert_holds_its_flavor(self._wait_for_server('ACTIVE'))
