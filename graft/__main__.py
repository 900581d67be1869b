# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""``python -m graft``."""
from graft.cli import main

raise SystemExit(main())
