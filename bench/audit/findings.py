# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What the audits report, and whether that is right."""
from __future__ import annotations

import re

from bench.audit.cloud import Cloud
from bench.audit.cloud import Held

_FOUND = re.compile(
    r'Allocations for consumer UUID (\S+) on Resource Provider (\S+) '
    r'can be deleted')


def reported(output: str) -> set[Held]:
    """What an audit calls an orphan's."""
    return set(_FOUND.findall(output))


def expected(cloud: Cloud, name: str) -> set[Held]:
    """What it ought to be.

    The stock release takes what a live migration holds on its destination
    for an orphan's.

    :param name: ``stock`` or ``fork``
    """
    awaited = cloud.awaited() if name == 'stock' else set()
    return cloud.orphaned() | awaited


def surprise(cloud: Cloud, name: str, output: str) -> str:
    """What is not as it ought to be; empty if all is.

    :param name: ``stock`` or ``fork``
    :param output: what its audit printed
    """
    right, seen = expected(cloud, name), reported(output)
    parts = [f'{what} {len(some)}, such as consumer {min(some)[0]} on '
             f'provider {min(some)[1]}'
             for what, some in (('misses', right - seen),
                                ('wrongly reports', seen - right)) if some]
    return f'{name} {" and ".join(parts)}' if parts else ''
