# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import time

from nova import context
from nova import objects
from nova.tests.functional import integrated_helpers
from nova.tests.functional import test_servers
from nova.virt import fake

# One of the images that nova's tests have.
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'

# Queens still has it among the servers' tests.
Base = getattr(
    integrated_helpers
    if hasattr(integrated_helpers, 'ProviderUsageBaseTestCase')
    else test_servers, 'ProviderUsageBaseTestCase')


class UsageDuringConfirmResizeTestCase(Base):
    """The source counts the old flavor until a resize is confirmed, then not.

    Confirming used to forget the server's old flavor first of all, although
    it is by this flavor that the resource tracker knows what an outgoing
    server may still come back for. If update_available_resource ran before
    the confirm had dropped its claim, it counted nothing for the server; the
    drop then met a server that it did not track, and the source's usage was
    either left as it was or made too small by a whole flavor. Nor was the
    usage freed, until Train, when update_available_resource had not run at
    all since the resize.
    """

    compute_driver = 'fake.MediumFakeDriver'

    def setUp(self):
        super(UsageDuringConfirmResizeTestCase, self).setUp()
        self.context = context.get_admin_context()
        self.idle = {}
        flavors = self.api.get_flavors()
        self.old = flavors[0]
        self.new = flavors[2]
        self.assertNotEqual(self.old['vcpus'], self.new['vcpus'])

    def _wait_for_server(self, server_id, status):
        """Wait until the server is at rest in a status, and return it."""
        deadline = time.time() + 20
        while True:
            server = self.api.get_server(server_id)
            if (server['status'] == status and
                    server['OS-EXT-STS:task_state'] is None):
                return server
            if time.time() > deadline:
                self.fail('Waited in vain for %s: %s' % (status, server))
            time.sleep(0.1)

    def _usage(self):
        """What each host's compute node says is in use.

        :returns: (vCPUs, MiB of memory, GiB of disk) by host
        """
        usage = {}
        for host in self.computes:
            node = objects.ComputeNode.get_by_host_and_nodename(
                self.context, host, host)
            usage[host] = (
                node.vcpus_used, node.memory_mb_used, node.local_gb_used)
        return usage

    def _expected(self, **flavors):
        """The usage that there should be, given lists of flavors by host."""
        return {
            host: (idle[0] + sum(f['vcpus'] for f in flavors.get(host, ())),
                   idle[1] + sum(f['ram'] for f in flavors.get(host, ())),
                   idle[2] + sum(f['disk'] for f in flavors.get(host, ())))
            for host, idle in self.idle.items()
        }

    def _run_update_available_resource(self):
        for compute in self.computes.values():
            compute.manager.update_available_resource(self.context)

    def _resize(self, *hosts):
        """Start hosts, boot a server on the first of them and resize it.

        :returns: the server's id
        """
        for host in hosts:
            self._start_compute(host)
        self.idle = self._usage()
        server_id = self.api.post_server({'server': {
            'name': 'guest',
            'imageRef': IMAGE,
            'flavorRef': self.old['id'],
            'availability_zone': 'nova:%s' % hosts[0],
            'networks': 'none',
        }})['id']
        self._wait_for_server(server_id, 'ACTIVE')
        self.api.post_server_action(
            server_id, {'resize': {'flavorRef': self.new['id']}})
        server = self._wait_for_server(server_id, 'VERIFY_RESIZE')
        self.assertEqual(hosts[-1], server['OS-EXT-SRV-ATTR:host'])
        return server_id

    def _confirm(self, server_id, periodic):
        """Confirm the resize and look at the usage when the driver does it.

        :param periodic: whether update_available_resource runs at that moment
        :returns: the usage at that moment, before and after the periodic task
        """
        original = fake.MediumFakeDriver.confirm_migration
        seen = []

        def look_first(*args, **kwargs):
            seen.append(self._usage())
            if periodic:
                self._run_update_available_resource()
            seen.append(self._usage())
            return original(*args, **kwargs)

        self.stub_out('nova.virt.fake.MediumFakeDriver.confirm_migration',
                      look_first)
        self.api.post_server_action(server_id, {'confirmResize': None})
        self._wait_for_server(server_id, 'ACTIVE')
        return seen

    def _test_confirm(self, periodic):
        server_id = self._resize('source', 'dest')
        both = self._expected(source=[self.old], dest=[self.new])
        moved = self._expected(dest=[self.new])

        seen = self._confirm(server_id, periodic)

        self.assertEqual([both, both], seen)
        self.assertEqual(moved, self._usage())
        self._run_update_available_resource()
        self.assertEqual(moved, self._usage())

    def _test_confirm_on_the_same_host(self, periodic):
        self.flags(allow_resize_to_same_host=True)
        server_id = self._resize('source')
        both = self._expected(source=[self.old, self.new])
        resized = self._expected(source=[self.new])

        seen = self._confirm(server_id, periodic)

        self.assertEqual([both, both], seen)
        self.assertEqual(resized, self._usage())
        self._run_update_available_resource()
        self.assertEqual(resized, self._usage())

    def test_update_available_resource_while_the_driver_confirms(self):
        self._test_confirm(periodic=True)

    def test_confirm_undisturbed(self):
        self._test_confirm(periodic=False)

    def test_update_available_resource_while_confirmed_on_the_same_host(self):
        self._test_confirm_on_the_same_host(periodic=True)

    def test_confirm_undisturbed_on_the_same_host(self):
        self._test_confirm_on_the_same_host(periodic=False)
