# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The plays: each does one thing in a cloud at the worst of moments.

Run in the tree and environment of a series (so, on Python 3.6 as well) as
``python -m demo.plays NAME...``; plays one after the other, each in a cloud
of its own, and prints a last line of JSON, for each name what was seen:

``seen``
    a list of moments, each a list of three: words for the moment, words for
    what was seen, whether that was as it should be
``outcome``
    what came of it, in words
``said``
    the lines that the audit printed; null where there was no audit
``names``
    what the uuids in them stand for
``noise``
    where it could not be played: the traceback and all that was logged

What is right is told by one rule, not by what any release is known to do: a
server holds what its flavor says, once, where it is; a host counts as used
what is held on it.
"""

import json
import sys
import unittest

from demo import cloud as clouds

FLAVOR, LARGER_FLAVOR = 'm1.tiny', 'm1.medium'


class Seen:
    """What a play has seen so far."""

    def __init__(self):
        self.seen = []
        self.outcome = ''
        self.said = None
        self.names = {}
        self.noise = ''

    def note(self, moment, words, is_right):
        self.seen.append([moment, words, is_right])

    def end(self, words, is_right):
        """Note what came of it."""
        self.outcome = words
        self.note('in the end', words, is_right)


def audit_during_live_migration(cloud, seen):
    """An operator audits Placement while a guest is on its way."""
    server = cloud.boot(FLAVOR)
    vcpus = cloud.flavor(FLAVOR)['vcpus']

    def look(moment, *right):
        held = cloud.vcpus_held()
        seen.note(moment, _pair(held), held == list(right))

    look('server is ACTIVE on host1', vcpus, 0)
    guest = cloud.hold('nova.virt.fake.FakeDriver.live_migration')
    server.act('os-migrateLive', host='host2', block_migration='auto')
    guest.wait()
    look('guest is moving to host2', vcpus, vcpus)
    code, seen.said = cloud.audit()
    seen.names = {server.id: 'the server'}
    seen.names.update(
        (provider, host) for host, provider in cloud.hosts.items())
    seen.note('the audit runs', 'exit code %s' % code, code == 0)
    look('guest is still moving', vcpus, vcpus)
    guest.release()
    clouds.wait_until(lambda: server.host == 'host2', 'the guest to arrive')
    # Nova lets go of the source last of all.
    clouds.wait_until(lambda: cloud.vcpus_held()[0] == 0,
                      'the source to be freed')
    look('guest is on host2', 0, vcpus)
    seen.end(*_rest(cloud, server))


def periodic_task_during_confirm_resize(cloud, seen):
    """A host's periodic task runs while a resize away is confirmed."""
    source = 'host1'
    server = cloud.boot(FLAVOR)

    def look(moment):
        counted = cloud.vcpus_counted(source)
        held = cloud.vcpus_held()[0]
        seen.note(moment, 'counts %s, %s held' % (counted, held),
                  counted == held)
        if counted != held and not seen.outcome:
            seen.outcome = '%s counts %s VCPU as used, %s held on it' % (
                source, counted, held)

    server.act('resize', flavorRef=cloud.flavor(LARGER_FLAVOR)['id'])
    server.wait('VERIFY_RESIZE')
    look('resized, to be confirmed')
    driver = cloud.hold('nova.virt.fake.FakeDriver.confirm_migration')
    server.act('confirmResize')
    driver.wait()
    look('host1 is confirming')
    cloud.update_available_resource(source)
    look('and its periodic task ran')
    driver.release()
    server.wait('ACTIVE')
    clouds.wait_until(lambda: cloud.vcpus_held()[0] == 0,
                      'the source to be freed')
    look('confirmed')
    cloud.update_available_resource(source)
    look('its periodic task ran again')
    seen.outcome = seen.outcome or (
        '%s counts what is held on it, always' % source)


def unshelve_once_offloaded(cloud, seen):
    """A user unshelves a server at the first moment it looks offloaded."""
    cloud.flags(shelved_offload_time=0)
    server = cloud.boot(FLAVOR)
    resources = cloud.resources(FLAVOR)

    def look(moment, *right):
        seen.note(moment, _pair(cloud.vcpus_held()),
                  list(server.holds().values()) == list(right))

    look('server is ACTIVE on host1', resources)
    offload = cloud.hold(
        'nova.objects.instance.Instance.save', after=True,
        when=lambda instance, *args: instance.vm_state == 'shelved_offloaded')
    server.act('shelve')
    offload.wait()
    clouds.wait_until(lambda: server.status == 'SHELVED_OFFLOADED',
                      'the API to say so')
    look('API says SHELVED_OFFLOADED')
    # The scheduler gets its claim before the offload goes on, and works with
    # it when the offload is done.
    claim = cloud.hold(
        'nova.scheduler.client.report.SchedulerReportClient.put', after=True,
        when=lambda client, url, *args: url == '/allocations/' + server.id)
    server.act('unshelve')
    claim.wait()
    look('unshelve has its claim', resources)
    offload.release()
    clouds.wait_until(lambda: server.host is None, 'the offload to end')
    look('the offload has ended', resources)
    claim.release()
    server.wait('ACTIVE', 'ERROR', 'SHELVED_OFFLOADED')
    words, is_right = _rest(cloud, server)
    seen.end(words, is_right and server.status == 'ACTIVE')


def unshelve_to_another_host_once_offloaded(cloud, seen):
    """A user has a server unshelved elsewhere before the offload has ended."""
    cloud.flags(shelved_offload_time=0)
    server = cloud.boot(FLAVOR)
    cloud.lock_on_each_host(server)

    def look(moment, host):
        seen.note(moment, '%s on %s' % (server.status, server.host or
                                        'no host'), server.host == host)

    look('server is ACTIVE on host1', 'host1')
    offload = cloud.hold(
        'nova.objects.instance.Instance.save', after=True,
        when=lambda instance, *args: instance.vm_state == 'shelved_offloaded')
    server.act('shelve')
    offload.wait()
    look('API says SHELVED_OFFLOADED', None)
    cloud.disable('host1')
    server.act('unshelve')
    server.wait('ACTIVE')
    look('it is unshelved', 'host2')
    end = cloud.hold(
        'nova.compute.manager.ComputeManager._delete_scheduler_instance_info')
    offload.release()
    end.wait()
    look('the offload has ended', 'host2')
    end.release()
    seen.end(*_rest(cloud, server))


def _pair(values):
    return '(%s)' % ', '.join(map(str, values))


def _rest(cloud, server):
    """Words for a server at rest, and whether it holds what it should."""
    host, holds = server.host, server.holds()
    held = ' and '.join(
        '{VCPU} VCPU, {MEMORY_MB} MB, {DISK_GB} GB {0}'.format(
            'there' if where == host else 'on %s' % where, **resources)
        for where, resources in sorted(holds.items()))
    words = '%s%s, holds %s' % (
        server.status, ' on %s' % (host or 'no host'), held or 'nothing')
    return words, holds == {host: cloud.resources(FLAVOR)}


def play(name):
    """Play the play of a name.

    :returns: what was seen
    """
    seen = Seen()
    result = unittest.TestResult()
    clouds.Cloud(lambda cloud: globals()[name](cloud, seen)).run(result)
    seen.noise = '\n'.join(
        text for _, text in result.errors + result.failures)
    return seen


if __name__ == '__main__':
    played = {name: vars(play(name)) for name in sys.argv[1:]}
    print(json.dumps(played))
