# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Commit messages by OpenStack's rules."""
from __future__ import annotations

from collections.abc import Sequence

from graft.change import Change


def compose(
    change: Change, *, signer: str = '', picked: Sequence[str] = (),
) -> str:
    """The message of a change's commit, footers and all.

    :param signer: ``Name <address>`` for Signed-off-by
    :param picked: ids of the commits it is a backport of, the first pick
        first, as ``git cherry-pick -x`` notes them
    """
    footers = [f'Closes-Bug: #{bug}' for bug in change.bugs]
    footers += [f'Related-Bug: #{bug}' for bug in change.related]
    footers.append(f'Change-Id: {change.change_id}')
    if signer:
        footers.append(f'Signed-off-by: {signer}')
    footers += [f'(cherry picked from commit {commit})' for commit in picked]
    return change.message + '\n' + '\n'.join(footers) + '\n'
