# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A whole small cloud in one process, and a way to hold it still.

Nova's wheel brings what its functional tests are made of, and that is all
there is to it: the real API, conductor, scheduler and computes (with a virt
driver that only pretends), the real Placement, SQLite in memory. It is used
as a library here, from Rocky to 2026.2, so this runs on Python 3.6 as well.
"""

import contextlib
import importlib
import io
import threading
import time

import fixtures

# First of nova, for it patches the standard library for eventlet.
from nova.tests.functional import integrated_helpers

from nova.cmd import manage
from nova import context
from nova import objects
from nova import utils

HOSTS = ('host1', 'host2')

# One of the images that nova's tests have.
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'

# Seconds until something that is waited for is given up.
PATIENCE = 60


class Cloud(integrated_helpers.ProviderUsageBaseTestCase):
    """The cloud: up and running on HOSTS while its play() is run.

    :param scenario: a function; it is called with the cloud
    :ivar hosts: the resource provider of each host, by its name
    """

    compute_driver = 'fake.MediumFakeDriver'
    # The newest that all the series know; it tells vcpus_used still.
    microversion = '2.65'

    def __init__(self, scenario):
        super(Cloud, self).__init__('play')
        self._scenario = scenario

    def play(self):
        self.hosts = {}
        for host in HOSTS:
            self._start_compute(host)
            self.hosts[host] = self._get_provider_uuid_by_host(host)
        self._scenario(self)

    def boot(self, flavor):
        """A server, at rest on the first of the hosts.

        :param flavor: a name, such as m1.tiny
        """
        return Server(self, self.api.post_server({'server': {
            'name': 'guest',
            'imageRef': IMAGE,
            'flavorRef': self.flavor(flavor)['id'],
            'availability_zone': 'nova:%s' % HOSTS[0],
            'networks': 'none',
        }})['id']).wait('ACTIVE')

    def flavor(self, name):
        """What the API tells of the flavor of a name."""
        return next(flavor for flavor in self.api.get_flavors()
                    if flavor['name'] == name)

    def resources(self, flavor):
        """What a server of a flavor has to hold, by resource class."""
        found = self.flavor(flavor)
        return {'VCPU': found['vcpus'], 'MEMORY_MB': found['ram'],
                'DISK_GB': found['disk']}

    def vcpus_held(self):
        """The VCPUs that Placement's books say are held, host by host."""
        return [self._get_provider_usages(provider)['VCPU']
                for provider in self.hosts.values()]

    def vcpus_counted(self, host):
        """The VCPUs that the host itself counts as used, asked of the API."""
        found = self.api.api_get(
            'os-hypervisors/%s' % self.hosts[host]).body['hypervisor']
        return found['vcpus_used']

    def audit(self):
        """nova-manage placement audit --verbose --delete.

        :returns: its exit code and the lines it prints
        """
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = manage.PlacementCommands().audit(
                verbose=True, delete=True)
        return code, said.getvalue().splitlines()

    def update_available_resource(self, host):
        """Run the periodic task of a host's compute service now."""
        self.computes[host].manager.update_available_resource(
            context.get_admin_context())

    def disable(self, host):
        """Have the scheduler choose a host no more."""
        service = objects.Service.get_by_host_and_binary(
            context.get_admin_context(), host, 'nova-compute')
        service.disabled = True
        service.save()

    def lock_on_each_host(self, server):
        """Have the hosts not share their lock on a server.

        They don't in any cloud whose computes are not one process.
        """
        synchronized = utils.synchronized

        def unshared(name, *args, **kwargs):
            if name == server.id:
                return lambda function: function
            return synchronized(name, *args, **kwargs)

        self.stub_out('nova.utils.synchronized', unshared)

    def hold(self, function, when=lambda *args: True, after=False):
        """Have the next call of one of nova's methods stand still.

        :param function: its dotted name
        :param when: a function that gets its arguments and says whether it
            is the one; by default the first is
        :param after: hold it when it has done its work, not before it
        """
        return self.useFixture(Hold(function, when, after))


class Server:
    """A server, as its user sees it through the API.

    :ivar id: its uuid
    """

    def __init__(self, cloud, uuid):
        self._cloud = cloud
        self.id = uuid

    def act(self, action, **arguments):
        """Ask for an action, and do not wait for what comes of it."""
        self._cloud.api.post_server_action(
            self.id, {action: arguments or None})

    def show(self):
        """What the API tells of it."""
        return self._cloud.api.get_server(self.id)

    @property
    def status(self):
        return self.show()['status']

    @property
    def host(self):
        return self.show()['OS-EXT-SRV-ATTR:host']

    @property
    def is_at_rest(self):
        """Whether it has no task in progress."""
        return self.show()['OS-EXT-STS:task_state'] is None

    def wait(self, *statuses):
        """Wait until it is at rest in one of the statuses.

        :returns: itself
        """
        wait_until(lambda: self.is_at_rest and self.status in statuses,
                   'the server to be %s' % ' or '.join(statuses))
        return self

    def holds(self):
        """What it holds in Placement: by host, by resource class."""
        held = self._cloud._get_allocations_by_server_uuid(self.id)
        return {host: held[provider]['resources']
                for host, provider in self._cloud.hosts.items()
                if provider in held}


class Hold(fixtures.Fixture):
    """Holds one call of a method still until it is released."""

    def __init__(self, function, when, after):
        module, self._owner, self._name = function.rsplit('.', 2)
        self._owner = getattr(importlib.import_module(module), self._owner)
        self._when = when
        self._after = after
        self._taken = False
        self._reached = threading.Event()
        self._released = threading.Event()

    def _setUp(self):
        original = getattr(self._owner, self._name)

        def held(*args, **kwargs):
            if self._taken or not self._when(*args):
                return original(*args, **kwargs)
            self._taken = True
            if not self._after:
                self._stand_still()
            answer = original(*args, **kwargs)
            if self._after:
                self._stand_still()
            return answer

        self.useFixture(
            fixtures.MockPatchObject(self._owner, self._name, held))
        self.addCleanup(self._released.set)

    def _stand_still(self):
        self._reached.set()
        self._released.wait(PATIENCE)

    def wait(self):
        """Wait until the call stands still."""
        if not self._reached.wait(PATIENCE):
            raise AssertionError('%s was never called' % self._name)
        return self

    def release(self):
        """Let it go on."""
        self._released.set()


def wait_until(condition, what):
    """Wait until a condition holds; fail if it takes too long."""
    deadline = time.time() + PATIENCE
    while not condition():
        if time.time() > deadline:
            raise AssertionError('waited in vain for %s' % what)
        time.sleep(0.1)
