# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What the ledger's functional tests share, on each series of Nova."""

import argparse
import contextlib
import functools
import inspect
import io
import json
import threading
import time

import placement_fixture
import sqlalchemy as sa

from nova.cmd import manage
from nova import context
from nova import exception
from nova import objects
from nova.tests.functional import integrated_helpers
from nova.tests.functional import test_servers
from nova.virt import fake

# One of the images that nova's tests have.
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'

# Seconds that an operation may take before the test gives up.
PATIENCE = 60

# Queens still has it among the servers' tests.
Base = getattr(
    integrated_helpers
    if hasattr(integrated_helpers, 'ProviderUsageBaseTestCase')
    else test_servers, 'ProviderUsageBaseTestCase')


try:
    from nova.db.main import api as db_api
except ImportError:  # up to Wallaby
    from nova.db.sqlalchemy import api as db_api


@db_api.pick_context_manager_writer
def execute(ctxt, statement, **values):
    """Run an SQL statement in the database that a context is targeted at."""
    ctxt.session.execute(sa.text(statement), values)


class Audit(object):
    """What an audit said.

    :ivar code: its exit code
    :ivar out: its standard output
    :ivar err: its standard error
    """

    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def findings(self):
        """{consumer: kind}, of an audit in JSON."""
        return {finding['consumer']['uuid']: finding['kind']
                for finding in self.json['findings']}

    def __repr__(self):
        return 'exit code %s\n%s\n%s' % (self.code, self.out, self.err)


class _Parser(argparse.ArgumentParser):
    """Which does not end the process of the tests."""

    def error(self, message):
        raise AssertionError(message)


class LedgerTestCase(Base):
    """A cloud in one process, with a hand on each of its moments.

    A moment is just before or after a request to Placement, or just before a
    call of the virt driver: there the operation stands still while the test
    acts. What happens to the test's own requests and calls is no moment.
    """

    compute_driver = 'fake.MediumFakeDriver'

    def setUp(self):
        # Nova's own fixture, which loads Placement, comes after the tap.
        self.tap = self.useFixture(placement_fixture.PlacementTap())
        super(LedgerTestCase, self).setUp()
        self.acting = threading.Lock()
        flavors = self.api.get_flavors()
        self.small, self.large = flavors[0], flavors[2]

    # The cloud

    def start_hosts(self, *hosts, **cell):
        """Start compute services.

        :param cell: cell_name, if not in the first one
        """
        for host in hosts:
            self._start_compute(host, **cell)

    def stop_host(self, host):
        """Let a host be down, as after a power cut."""
        self.computes[host].stop()
        self.api.put_service(self.service_id(host), {'forced_down': True})

    def service_id(self, host):
        return self.api.get_services(host=host, binary='nova-compute')[0]['id']

    @staticmethod
    def admin():
        """A context, which nobody else may be in the middle of using."""
        return context.get_admin_context()

    # Servers

    def start_boot(self, host=None):
        """Ask for a small server and return its id."""
        request = {
            'name': 'guest',
            'imageRef': IMAGE,
            'flavorRef': self.small['id'],
            'networks': 'none',
        }
        if host:
            request['availability_zone'] = 'nova:%s' % host
        return self.api.post_server({'server': request})['id']

    def boot(self, host):
        """Return the id of a small server that runs on a host."""
        server_id = self.start_boot(host)
        self.wait_for(server_id, 'ACTIVE')
        return server_id

    def act(self, server_id, action, body=None):
        self.api.post_server_action(server_id, {action: body})

    def wait_for(self, server_id, *statuses):
        """Wait until a server is at rest in a status, and return its host."""
        server = {}

        def settled():
            server.update(self.api.get_server(server_id))
            return (server['status'] in statuses and
                    server['OS-EXT-STS:task_state'] is None)

        self.wait_until(settled, lambda: 'server: %s' % server)
        return server['OS-EXT-SRV-ATTR:host']

    def records(self, server_id):
        """A server's instance, None if no cell has it, and its migrations."""
        cell1 = self.cell_mappings['cell1']
        with context.target_cell(self.admin(), cell1) as cell:
            migrations = objects.MigrationList.get_by_filters(
                cell, {'instance_uuid': server_id})
            try:
                instance = objects.Instance.get_by_uuid(
                    cell, server_id, expected_attrs=[])
            except exception.InstanceNotFound:
                instance = None
        return instance, migrations

    def wait_until_source_is_free(self, server_id):
        """Wait until a server's migrations hold nothing: the end of a move."""
        _, migrations = self.records(server_id)
        for migration in migrations:
            self.wait_until(
                lambda: not self.holdings(migration.uuid),
                lambda: 'the source is still held: %s' % self.tap.story())

    def wait_until(self, condition, story):
        deadline = time.time() + PATIENCE
        while not condition():
            if time.time() > deadline:
                self.fail('Waited %s s in vain; %s' % (PATIENCE, story()))
            time.sleep(0.1)

    # The audit

    @staticmethod
    def audit(*words):
        """Run nova-manage placement audit as from a command line.

        :param words: its options; --min-age is left out where the audit does
            not know it, so that one test runs on both
        :returns: an Audit
        """
        command = manage.PlacementCommands().audit
        parser = _Parser()
        for names, details in command.args:
            parser.add_argument(*names, **details)
        words = list(words)
        if '--min-age' in words and 'min_age' not in vars(
                parser.parse_args([])):
            at = words.index('--min-age')
            del words[at:at + 2]
        options = {name: value for name, value
                   in vars(parser.parse_args(words)).items()
                   if value is not None}
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = command(**options)
            except KeyboardInterrupt:
                raise AssertionError('The audit does not mind Ctrl-C')
        return Audit(code, out.getvalue(), err.getvalue())

    def audit_json(self, *words):
        """Run it for its JSON document, whatever the age of things."""
        return self.audit('--format', 'json', '--min-age', '0', *words)

    def fresh_audit(self, *words):
        """Run it verbosely, whatever the age of things."""
        return self.audit('--verbose', '--min-age', '0', *words)

    # Placement

    def placement_has(self, version):
        """Whether Placement knows a microversion."""
        document = self.tap.request('GET', '/').json()
        newest = document['versions'][0]['max_version']
        return [int(part) for part in newest.split('.')] >= [
            int(part) for part in version.split('.')]

    def allocate(self, consumer, resources, *hosts, **how):
        """Let a consumer hold resources on hosts, and nothing else.

        :param hosts: names of providers
        :param how: consumer_type, for Placement 1.38
        """
        providers = self.tap.providers()
        document = {
            'allocations': {providers[host]: {'resources': resources}
                            for host in hosts},
            'consumer_generation': self.tap.consumer_generation(consumer),
            'project_id': 'project', 'user_id': 'user',
        }
        document.update(how)
        response = self.tap.request(
            'PUT', '/allocations/%s' % consumer, document,
            version='1.38' if how else '1.28')
        self.assertEqual(204, response.status, response.text)

    def holdings(self, consumer):
        """What a consumer holds: resources by host."""
        held = self.tap.allocations(consumer)
        return {name: held[provider]
                for name, provider in self.tap.providers().items()
                if provider in held}

    @staticmethod
    def resources(*flavors):
        """What servers of these flavors hold together."""
        return {
            'VCPU': sum(flavor['vcpus'] for flavor in flavors),
            'MEMORY_MB': sum(flavor['ram'] for flavor in flavors),
            'DISK_GB': sum(flavor['disk'] for flavor in flavors),
        }

    # Moments

    def at_each_moment(self, act):
        """Call act(label) at each moment from now on; to be used once.

        What others do meanwhile is no moment. An error in act fails the test
        at its end, and not the operation.
        """
        def moment(label):
            if not self.acting.acquire(False):
                return
            try:
                act(label)
            except Exception as error:
                self.tap.fail(error)
            finally:
                self.acting.release()

        # When the test ends, wait for the last act and begin no other.
        self.addCleanup(self.acting.acquire)
        self.tap.tap(lambda request: moment(
            '%s %s' % (request.when, request.label)))
        driver = fake.MediumFakeDriver
        for name, _ in inspect.getmembers(driver, inspect.isfunction):
            if not name.startswith('_'):
                self.before(driver, name, functools.partial(
                    moment, 'driver.%s' % name))

    def before(self, cls, name, act):
        """Call act() before each call of a method."""
        # Where it is inherited from: a stub in the class itself would leave
        # what it inherits behind, and hide later stubs of that.
        cls = next(each for each in cls.__mro__ if name in vars(each))
        original = getattr(cls, name)

        def act_first(*args, **kwargs):
            act()
            return original(*args, **kwargs)

        self.stub_out(
            '%s.%s.%s' % (cls.__module__, cls.__name__, name), act_first)

    def once_saved(self, vm_state, act):
        """Call act() when an instance has just been saved in a state.

        The operation that saves it stands still meanwhile.

        :returns: an event, set when this is over
        """
        original = objects.Instance.save
        seen = threading.Event()
        acted = threading.Event()

        def save_and_act(instance, *args, **kwargs):
            result = original(instance, *args, **kwargs)
            if instance.vm_state == vm_state and not seen.is_set():
                seen.set()
                act()
                acted.set()
            return result

        self.stub_out('nova.objects.Instance.save', save_and_act)
        return acted
