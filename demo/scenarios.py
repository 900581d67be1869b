# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What is played, in words, and where."""
from __future__ import annotations

import dataclasses

from graft.project import Project
from graft.series import Series


@dataclasses.dataclass(frozen=True)
class Scenario:
    """One thing that goes wrong, in words.

    :ivar change: the name of the change that mends it
    :ivar play: the name of its play in :mod:`demo.plays`
    :ivar title: what happens, in one line
    :ivar story: what happens, in full
    :ivar measure: what the figures of the play are
    :ivar old: an older series to play it on too, one that has the bug where
        the newest has not
    """

    change: str
    play: str
    title: str
    story: str
    measure: str
    old: str = ''


SCENARIOS = (
    Scenario(
        change='audit-in-flight',
        play='audit_during_live_migration',
        title='An audit during a live migration',
        story='A server is live migrated from host1 to host2. While the '
              'guest is on its way, an operator runs "nova-manage placement '
              'audit --verbose --delete".',
        measure='Figures: VCPUs that Placement holds on (host1, host2).'),
    Scenario(
        change='bug-1879878',
        play='periodic_task_during_confirm_resize',
        title='The periodic task during a confirm resize',
        story='A server was resized from host1 to host2 and the resize is '
              'confirmed. While host1 cleans up, its periodic task '
              'update_available_resource runs.',
        measure='Figures: VCPUs that host1 counts as used, and VCPUs that '
                'Placement holds on it.',
        old='rocky'),
    Scenario(
        change='bug-1798688',
        play='unshelve_once_offloaded',
        title='An unshelve right after a shelve offload',
        story='A server is shelved and offloaded from host1. At the first '
              'moment that the API says SHELVED_OFFLOADED its user '
              'unshelves it.',
        measure='Figures: VCPUs that Placement holds on (host1, host2).',
        old='rocky'),
    Scenario(
        change='shelve-offload-one-write',
        play='unshelve_to_another_host_once_offloaded',
        title='An unshelve to another host',
        story='The same, but the scheduler chooses host2, and the server is '
              'unshelved there before host1 has come to the end of the '
              'offload.',
        measure='Figures: the server as the API shows it.'),
)


def series_of(project: Project, scenario: Scenario) -> list[Series]:
    """The series a scenario is played on, oldest first."""
    old = [project.series.named(scenario.old)] if scenario.old else []
    return [*old, project.series.newest]
