# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Unit tests of the audit that have no database to look a suspect up in."""
import fixtures  # noqa: F401

from graft import edit
from nova.cmd import manage  # noqa: F401


class TestNovaManagePlacement:

    @edit(change='audit-in-flight', series='ussuri..')
    def test_check_orphaned_allocations_for_provider(body):
        body.insert('''
            self.useFixture(fixtures.MockPatchObject(
                manage.PlacementCommands, '_may_hold', return_value=False))
            ''', before='provider = ...')
