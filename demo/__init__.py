# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The bugs that the fork mends, played on the stock release and on it."""
