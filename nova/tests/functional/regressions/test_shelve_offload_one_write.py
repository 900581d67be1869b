# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import threading
import time

from nova.compute import manager
from nova import context
from nova import objects
from nova.tests.functional import integrated_helpers
from nova.tests.functional import test_servers
from nova import utils

# One of the images that nova's tests have.
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'

# Queens still has it among the servers' tests.
Base = getattr(
    integrated_helpers
    if hasattr(integrated_helpers, 'ProviderUsageBaseTestCase')
    else test_servers, 'ProviderUsageBaseTestCase')


class UnshelveElsewhereTestCase(Base):
    """A server that is unshelved to another host at once stays there.

    Shelve offload used to save SHELVED_OFFLOADED first, and that the server
    is on no host in a second write, which did not look at what had become of
    the server meanwhile. If it was unshelved to another host by then, it lost
    that host again: ACTIVE on no host, and beyond anybody's reach, while it
    still held room on the new one.

    So when the API shows SHELVED_OFFLOADED, the old host has written all that
    it will ever write about the server.
    """

    compute_driver = 'fake.MediumFakeDriver'

    def setUp(self):
        super(UnshelveElsewhereTestCase, self).setUp()
        self.flags(shelved_offload_time=0)
        self.context = context.get_admin_context()
        self.providers = {}
        for host in ('host1', 'host2'):
            self._start_compute(host)
            self.providers[host] = self._get_provider_uuid_by_host(host)
        self.idle = self._usage()
        self.flavor = self.api.get_flavors()[0]
        self.server_id = self.api.post_server({'server': {
            'name': 'guest',
            'imageRef': IMAGE,
            'flavorRef': self.flavor['id'],
            'availability_zone': 'nova:host1',
            'networks': 'none',
        }})['id']
        self._wait_for_server('ACTIVE')

    def _wait_for_server(self, status):
        """Wait until the server is at rest in a status; return its host."""
        deadline = time.time() + 20
        while True:
            server = self.api.get_server(self.server_id)
            if (server['status'] == status and
                    server['OS-EXT-STS:task_state'] is None):
                return server['OS-EXT-SRV-ATTR:host']
            if time.time() > deadline:
                self.fail('Waited in vain for %s: %s' % (status, server))
            time.sleep(0.1)

    def _usage(self):
        """How many vCPUs each host's compute node says are in use."""
        return {
            host: objects.ComputeNode.get_by_host_and_nodename(
                self.context, host, host).vcpus_used
            for host in self.computes
        }

    def _in_use_by_the_server(self):
        """What is in use beyond what was before there was a server."""
        return {host: vcpus - self.idle[host]
                for host, vcpus in self._usage().items()}

    def _run_update_available_resource(self):
        for compute in self.computes.values():
            compute.manager.update_available_resource(self.context)

    def _holdings(self):
        """How many vCPUs Placement says that the server holds, by host."""
        held = self._get_allocations_by_server_uuid(self.server_id)
        return {
            host: held[provider]['resources']['VCPU']
            for host, provider in self.providers.items() if provider in held
        }

    def _shelve(self, act):
        """Shelve, act when it looks offloaded, and wait for the very end.

        The offload stands still while act() is called.
        """
        save = objects.Instance.save
        forget = manager.ComputeManager._delete_scheduler_instance_info
        acted = []
        ended = threading.Event()

        def save_and_act(instance, *args, **kwargs):
            result = save(instance, *args, **kwargs)
            if instance.vm_state == 'shelved_offloaded' and not acted:
                acted.append(True)
                act()
            return result

        def forget_and_end(*args, **kwargs):
            # What the offload does after its last write.
            result = forget(*args, **kwargs)
            ended.set()
            return result

        self.stub_out('nova.objects.Instance.save', save_and_act)
        self.stub_out('nova.compute.manager.ComputeManager.'
                      '_delete_scheduler_instance_info', forget_and_end)
        self.api.post_server_action(self.server_id, {'shelve': None})
        self.assertTrue(ended.wait(60), 'the offload did not end')
        self.assertTrue(acted)

    def _use_a_lock_for_each_host(self):
        """Let the hosts not wait for each other to be done with the server.

        They have a lock for each server, which is shared here only because
        they are all in one process.
        """
        synchronized = utils.synchronized

        def synchronized_but_for_the_server(name, *args, **kwargs):
            if name == self.server_id:
                return lambda function: function
            return synchronized(name, *args, **kwargs)

        self.stub_out('nova.utils.synchronized',
                      synchronized_but_for_the_server)

    def _unshelve_to_host2(self):
        service = objects.Service.get_by_host_and_binary(
            self.context, 'host1', 'nova-compute')
        service.disabled = True
        service.save()
        self.api.post_server_action(self.server_id, {'unshelve': None})
        self.assertEqual('host2', self._wait_for_server('ACTIVE'))

    def test_unshelve_to_another_host_once_offloaded(self):
        self._use_a_lock_for_each_host()
        self._shelve(self._unshelve_to_host2)

        vcpus = self.flavor['vcpus']
        self.assertEqual('host2', self._wait_for_server('ACTIVE'))
        self.assertEqual({'host2': vcpus}, self._holdings())
        self.assertEqual({'host1': 0, 'host2': vcpus},
                         self._in_use_by_the_server())
        self._run_update_available_resource()
        self.assertEqual({'host1': 0, 'host2': vcpus},
                         self._in_use_by_the_server())

    def _test_offload(self, act):
        self._shelve(act)
        self.assertIsNone(self._wait_for_server('SHELVED_OFFLOADED'))
        self.assertEqual({}, self._holdings())
        self.assertEqual({'host1': 0, 'host2': 0},
                         self._in_use_by_the_server())

    def test_offloaded_server_is_on_no_host(self):
        hosts = []
        self._test_offload(lambda: hosts.append(
            self.api.get_server(self.server_id)['OS-EXT-SRV-ATTR:host']))
        self.assertEqual([None], hosts)

    def test_update_available_resource_once_offloaded(self):
        self._test_offload(self._run_update_available_resource)
