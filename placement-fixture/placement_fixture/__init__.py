# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Real Placement as a test fixture, with taps and faults."""

from placement_fixture.fixture import PlacementFixture
from placement_fixture.rules import CONSUMER_CONFLICT
from placement_fixture.rules import PROVIDER_CONFLICT
from placement_fixture.tap import PlacementTap

__all__ = ['CONSUMER_CONFLICT', 'PROVIDER_CONFLICT', 'PlacementFixture',
           'PlacementTap']
