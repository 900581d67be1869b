# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Who may hold what in Placement, and who does.

Placement's books say who holds what; Nova's cells say who may. The audit
compares the two:

=================  =====================================================
:mod:`.records`    what either side says: the words of all modules
:mod:`.client`     how Placement is asked
:mod:`.books`      Placement's side, read first
:mod:`.cells`      Nova's side, read second
:mod:`.holders`    the table of rightful holders
:mod:`.verdict`    what is wrong, and why: findings
:mod:`.amounts`    how much a server ought to hold
:mod:`.repair`     taking away what is nobody's, carefully
:mod:`.report`     findings as text, JSON and OpenMetrics
:mod:`.memory`     the state file: what need not be read again
:mod:`.audit`      the command
=================  =====================================================

**The order of reading is the safety.** Placement's books are read first;
then what is in flight, which is build requests and migrations; then what is
at rest, which is instances. What makes an allocation rightful is on record
before the allocation is made: a build request before the scheduler's claim, a
task state or a migration before that of a move. What ends an operation is
written in the row that is read last: a build request goes only after its
instance is in a cell, a migration ends only after the instance's host is set.
So whoever is rightful all the while is seen so, in the one place or the other.

Whoever is not is a suspect only. Suspects are looked at again, in the same
order; and what is taken away is taken with the consumer generation of that
second look. Whatever would have made the allocation rightful since, a claim
or a swap with a migration, has moved on that generation, and Placement
refuses.

What this can not cover is Nova's own gap between two writes where the record
comes first and the allocation after it: a migration is `completed` before the
allocation of its source is deleted. That is what the minimum age is for.
"""
