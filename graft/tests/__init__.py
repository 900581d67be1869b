# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The tests of graft: no network, no Nova, a miniature in its place."""
