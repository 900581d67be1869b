# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Unit tests of the audit that have no database to look a suspect up in."""
import fixtures  # noqa: F401

from graft import edit
from graft import remove
from nova.cmd import manage  # noqa: F401


class TestNovaManagePlacement:

    @edit(change='audit-in-flight', series='ussuri..')
    def test_check_orphaned_allocations_for_provider(body):
        body.insert('''
            self.useFixture(fixtures.MockPatchObject(
                manage.PlacementCommands, '_may_hold', return_value=False))
            ''', before='provider = ...')

    # What follows tested parts that the audit no longer has, one by one.
    # See nova.tests.unit.ledger and nova.tests.functional.test_nova_manage.

    @remove(change='audit-by-ledger', series='ussuri..yoga')
    def test_audit_with_wrong_provider_uuid(self):
        pass

    @remove(change='audit-by-ledger', series='zed..')
    def test_audit_with_provider_uuid(self):
        pass

    @remove(change='audit-by-ledger', series='zed..')
    def test_audit_with_invalid_provider_uuid(self):
        pass

    @remove(change='audit-by-ledger')
    def _test_audit(self):
        pass

    @remove(change='audit-by-ledger')
    def test_audit_not_found_orphaned_allocs(self):
        pass

    @remove(change='audit-by-ledger')
    def test_audit_found_orphaned_allocs_not_verbose(self):
        pass

    @remove(change='audit-by-ledger')
    def test_audit_found_orphaned_allocs_verbose(self):
        pass

    @remove(change='audit-by-ledger')
    def test_audit_found_orphaned_allocs_and_deleted_them(self):
        pass

    @remove(change='audit-by-ledger')
    def test_audit_found_orphaned_allocs_but_got_errors(self):
        pass

    @remove(change='audit-by-ledger')
    def test_check_orphaned_allocations_for_provider(self):  # noqa: F811
        pass
