# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import ddt

from nova.ledger import amounts
from nova import test
from nova.tests.unit.ledger import fakes


def flavor(on_volume=False, **fields):
    """A flavor with 2 vCPUs, 512 MB and 10 GB, but for some fields."""
    embedded = {'vcpus': 2, 'memory_mb': 512, 'root_gb': 10,
                'ephemeral_gb': 0, 'swap': 0, 'extra_specs': {}}
    embedded.update(fields)
    return amounts.flavor(embedded, on_volume)


def specs(**extra_specs):
    """A flavor with extra specs; __ stands for a colon."""
    return flavor(extra_specs={name.replace('__', ':'): value
                               for name, value in extra_specs.items()})


def held(vcpu=2, memory_mb=512, disk_gb=10, **more):
    """What a server of that flavor holds; 0 is not held."""
    resources = dict(VCPU=vcpu, MEMORY_MB=memory_mb, DISK_GB=disk_gb, **more)
    return {name: amount for name, amount in resources.items() if amount}


class UsualTestCase(test.NoDBTestCase):
    """What the record of a server says that it holds."""

    def test_usual(self):
        server = fakes.instance('S', vcpus=2, memory_mb=512, disk_gb=10)
        self.assertEqual(held(), amounts.usual(server))
        self.assertTrue(amounts.is_usual(server, held()))

    def test_nothing_is_held_of_no_disk(self):
        server = fakes.instance('S', vcpus=2, memory_mb=512, disk_gb=0)
        self.assertEqual(held(disk_gb=0), amounts.usual(server))
        self.assertTrue(amounts.is_usual(server, held(disk_gb=0)))
        self.assertFalse(amounts.is_usual(server, held()))

    def test_unusual(self):
        server = fakes.instance('S', vcpus=2, memory_mb=512, disk_gb=10)
        for resources in (held(vcpu=1), held(vcpu=0), held(memory_mb=511),
                          held(disk_gb=11), held(disk_gb=0), held(VGPU=1),
                          held(vcpu=0, PCPU=2), held(disk_gb=0, VGPU=1), {}):
            self.assertFalse(amounts.is_usual(server, resources), resources)

    def test_add(self):
        total = {}
        amounts.add(total, {'VCPU': 1})
        amounts.add(total, {'VCPU': 2, 'VGPU': 1})
        self.assertEqual({'VCPU': 3, 'VGPU': 1}, total)


@ddt.ddt
class FlavorTestCase(test.NoDBTestCase):
    """What a server holds against its flavor."""

    @ddt.data(
        (flavor(), held()),
        (flavor(root_gb=0), held(disk_gb=0)),
        (flavor(ephemeral_gb=5), held(disk_gb=15)),
        # Swap is in MB, and whole GB are held.
        (flavor(swap=1024), held(disk_gb=11)),
        (flavor(swap=1025), held(disk_gb=12)),
        (flavor(swap=1), held(disk_gb=11)),
        (flavor(swap=''), held()),
        (flavor(swap=None, extra_specs=None), held()),
        (flavor(on_volume=True), held(disk_gb=0)),
        (flavor(on_volume=True, ephemeral_gb=5, swap=1024), held(disk_gb=6)),
        # Which CPUs they are is the compute node's business.
        (specs(hw__cpu_policy='dedicated'), held(vcpu=0, PCPU=2)),
        (specs(hw__cpu_policy='mixed'), held(vcpu=1, PCPU=1)),
        # Extra specs
        (specs(resources__VGPU='1'), held(VGPU=1)),
        (specs(resources__VCPU='1'), held(vcpu=1)),
        (specs(resources__VCPU='1', resources__PCPU='3'),
         held(vcpu=1, PCPU=3)),
        (specs(resources__MEMORY_MB='0', resources__DISK_GB='0',
               resources__VCPU='0', resources__CUSTOM_METAL='1'),
         {'CUSTOM_METAL': 1}),
        (specs(resources__CUSTOM_X='1', resources1__CUSTOM_X='2',
               resources_A__CUSTOM_X='3'), held(CUSTOM_X=6)),
        (specs(trait__CUSTOM_X='required', resources__VGPU='x'), held()),
        # What the flavor does not tell
        (flavor(), held(NET_BW_EGR_KILOBIT_PER_SEC=1000, PCI_DEVICE=1)),
        (specs(resources__PCPU='4'), held(vcpu=0, PCPU=5)),
        (specs(resources1__VCPU='4'), held(vcpu=4)),
        (specs(resources_NUMA__MEMORY_MB='4'), held(memory_mb=4)),
        (specs(hw__emulator_threads_policy='isolate'), held(vcpu=0, PCPU=3)),
    )
    @ddt.unpack
    def test_agree(self, flavor, resources):
        self.assertIsNone(amounts.compare(flavor, resources))

    @ddt.data(
        (flavor(), held(vcpu=1), {'VCPU': 2}, {'VCPU': 1}),
        (flavor(), held(vcpu=1, PCPU=2), {'VCPU': 2}, {'VCPU': 3}),
        (flavor(), {}, {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 10},
         {'VCPU': 0, 'MEMORY_MB': 0, 'DISK_GB': 0}),
        (flavor(root_gb=0), held(), {'DISK_GB': 0}, {'DISK_GB': 10}),
        (flavor(on_volume=True), held(), {'DISK_GB': 0}, {'DISK_GB': 10}),
        (specs(resources__VGPU='1'), held(), {'VGPU': 1}, {'VGPU': 0}),
        (specs(resources__VCPU='1'), held(), {'VCPU': 1}, {'VCPU': 2}),
        (specs(resources__MEMORY_MB='0'), held(), {'MEMORY_MB': 0},
         {'MEMORY_MB': 512}),
        (specs(resources1__CUSTOM_X='1', resources2__CUSTOM_X='1'),
         held(CUSTOM_X=1), {'CUSTOM_X': 2}, {'CUSTOM_X': 1}),
        # What can not be computed hides nothing else.
        (specs(resources1__VCPU='4'), held(memory_mb=1),
         {'MEMORY_MB': 512}, {'MEMORY_MB': 1}),
        (specs(hw__emulator_threads_policy='isolate'), held(disk_gb=1),
         {'DISK_GB': 10}, {'DISK_GB': 1}),
    )
    @ddt.unpack
    def test_differ(self, flavor, resources, expected, shown):
        before = dict(resources)
        wrong = amounts.compare(flavor, resources)
        self.assertEqual((expected, shown), (wrong['expected'], wrong['held']))
        self.assertEqual(before, resources)

    def test_what_is_not_computed_is_said(self):
        wrong = amounts.compare(
            specs(resources1__VCPU='4'),
            held(memory_mb=1, PCI_DEVICE=1, NET_PACKET_RATE_KILOPACKET=9))
        self.assertEqual(
            ['NET_PACKET_RATE_KILOPACKET', 'PCI_DEVICE', 'VCPU'],
            wrong['not_computed'])
