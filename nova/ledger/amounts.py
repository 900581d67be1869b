# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""How much a server ought to hold.

The record of an instance has its vCPUs, memory and disks, and most servers
hold just that. Those who don't are held against their flavor: swap, extra
specs, and whether the root disk is a volume.

What the flavor does not tell can not be computed, and is said so: what comes
of ports, of devices, of the image, and of a compute node's own ways.
"""

import re
from typing import Any
from typing import Dict
from typing import List
from typing import NamedTuple
from typing import Optional

from nova.ledger import records as rec

CPU = ('VCPU', 'PCPU')

# resources:CLASS=AMOUNT, or with a group's suffix after "resources": the
# flavor extra specs (user/flavors, since Pike; groups since Queens).
_RESOURCES = re.compile(r'resources(?P<group>[^:]*):(?P<what>.+)')


class Flavor(NamedTuple):
    """What matters of the flavor that an instance was made of."""
    vcpus: int
    memory_mb: int
    disk_gb: int  # all that is on the compute node, swap included
    extra_specs: Dict[str, str]


def usual(instance: rec.Instance) -> rec.Resources:
    """What a server holds whose flavor has no specialities."""
    resources = {
        'VCPU': instance.vcpus,
        'MEMORY_MB': instance.memory_mb,
        'DISK_GB': instance.disk_gb,
    }
    return {name: amount for name, amount in resources.items() if amount}


def is_usual(instance: rec.Instance, resources: rec.Resources) -> bool:
    """Whether a server holds just what its record says."""
    return (len(resources) == 2 + bool(instance.disk_gb) and
            resources.get('VCPU') == instance.vcpus and
            resources.get('MEMORY_MB') == instance.memory_mb and
            resources.get('DISK_GB', 0) == instance.disk_gb)


def add(total: rec.Resources, more: rec.Resources) -> None:
    """Add resources to a total."""
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def flavor(embedded: Dict[str, Any], on_volume: bool) -> Flavor:
    """The flavor in an instance's record.

    :param embedded: its fields
    :param on_volume: whether the root disk is a volume
    """
    disk = 0 if on_volume else embedded['root_gb']
    swap_gb = -(-(embedded.get('swap') or 0) // 1024)
    return Flavor(
        embedded['vcpus'], embedded['memory_mb'],
        disk + embedded['ephemeral_gb'] + swap_gb,
        embedded.get('extra_specs') or {})


def compare(flavor: Flavor, held: rec.Resources) -> Optional[Dict[str, Any]]:
    """Hold what a server holds against its flavor.

    :param flavor: the flavor
    :param held: resources, on all providers together
    :returns: None if they agree, else a dict with `expected` and `held`,
        the resources that differ, and `not_computed`, the classes of which
        the flavor says nothing; virtual and dedicated CPUs count together,
        as VCPU, for which of both it is is the compute node's business
    """
    expected = _expected(flavor)
    shown = dict(held)
    if any(name in shown for name in CPU):
        shown['VCPU'] = sum(shown.pop(name, 0) for name in CPU)
    differ = sorted(name for name, amount in expected.items()
                    if amount is not None and shown.get(name, 0) != amount)
    if not differ:
        return None
    return {
        'expected': {name: expected[name] for name in differ},
        'held': {name: shown.get(name, 0) for name in differ},
        'not_computed': not_computed(expected, shown),
    }


def not_computed(expected: Dict[str, Optional[int]],
                 held: rec.Resources) -> List[str]:
    """The classes of which a flavor does not tell the amount."""
    return sorted(name for name in held if expected.get(name) is None)


def _expected(flavor: Flavor) -> Dict[str, Optional[int]]:
    """What a flavor asks for; None is an amount that can not be computed."""
    expected: Dict[str, Optional[int]] = {
        'VCPU': flavor.vcpus,
        'MEMORY_MB': flavor.memory_mb,
        'DISK_GB': flavor.disk_gb,
    }
    asked: rec.Resources = {}
    for key, value in flavor.extra_specs.items():
        match = _RESOURCES.match(key)
        if match is None or not str(value).isdigit():
            continue
        name = match.group('what')
        if match.group('group') and name in CPU + tuple(expected):
            # How it adds to the flavor's own differs by series.
            expected[name if name in expected else 'VCPU'] = None
        else:
            add(asked, {name: int(value)})
    cpus = [name for name in CPU if name in asked]
    if expected['VCPU'] is None or cpus == ['PCPU'] or (
            'hw:emulator_threads_policy' in flavor.extra_specs):
        # One more, or fewer, as the compute node is configured.
        expected['VCPU'] = None
        for name in cpus:
            del asked[name]
    elif cpus:
        asked['VCPU'] = sum(asked.pop(name) for name in cpus)
    expected.update(asked)
    return expected
