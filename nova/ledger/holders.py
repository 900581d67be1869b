# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The table of rightful holders: who may hold what, in each phase.

==============  ==========================================  ===============
phase           how Nova's records show it                  rightful
==============  ==========================================  ===============
in flight       a build request; a task state; BUILDING or  the server and
                RESIZED; a migration in progress            its migrations,
                                                            anywhere
at rest         a host                                      the server on
                                                            its compute
                                                            node, and on
                                                            what it shares
offloaded       SHELVED_OFFLOADED                           nobody
nowhere         no host, though built: a boot that failed   nobody
deleted         the record is deleted                       nobody
unknown         no record                                   nobody
==============  ==========================================  ===============

"Anywhere", since what a move claims is claimed before its record names it:
the migration's nodes are filled in after scheduling, and the server's host is
set when the guest has arrived. Which of the two, server or migration, holds
the source changes on the way.

So it goes for each operation: *boot* has a build request, then a task state;
*live migration*, *cold migration* and *resize* a migration in progress and a
task state, up to the confirmation or the revert, RESIZED meanwhile; *resize
across cells* the same in two cells; *evacuation* and *rebuild*, *shelve* and
*unshelve* a task state. *Soft-deleted* servers are at rest. A rollback has
its migration in `error`, but the task state is still set.

There are three answers. Where a cell that might know better does not answer,
where records contradict each other, or where the provider is not Nova's to
judge, the answer is that one can not know.
"""

from typing import Dict
from typing import NamedTuple
from typing import Optional
from typing import Set

from nova.compute import vm_states
from nova.ledger import records as rec

# Phases
IN_FLIGHT = 'in flight'
AT_REST = 'at rest'
OFFLOADED = 'offloaded'
NOWHERE = 'nowhere'
DELETED = 'deleted'
UNKNOWN = 'unknown'

# Answers
RIGHTFUL = 'rightful'
NOBODYS = 'nobodys'
CANNOT_KNOW = 'cannot know'
FOREIGN = 'foreign'


class Place(NamedTuple):
    """Where something is held."""
    provider: rec.Provider
    node: Optional[rec.Node]  # the compute node at the root of its tree
    # Compute nodes that may use it though it is not in their trees; None if
    # it is not known to be shared.
    shared_by: Optional[Set[str]] = None


class Consumer(NamedTuple):
    """What Nova's records know of one that holds something."""
    uuid: str
    phase: str
    instance: Optional[rec.Instance] = None
    migration: Optional[rec.Migration] = None  # if it is one

    @property
    def type(self) -> str:
        """As Placement calls consumer types."""
        if self.migration:
            return 'MIGRATION'
        return 'UNKNOWN' if self.phase == UNKNOWN else 'INSTANCE'

    @property
    def known(self) -> bool:
        return self.phase != UNKNOWN


class Answer(NamedTuple):
    """Whether a consumer may hold what it holds at a place, and why."""
    answer: str
    reason: str  # one of REASONS
    silent: tuple = ()  # the cells that would know

    @property
    def rightful(self) -> bool:
        return self.answer == RIGHTFUL


REASONS: Dict[str, str] = {
    'in-flight': 'the server is in flight',
    'at-rest': 'the server is on this compute node',
    'shared': 'the server is on a compute node that shares this provider',
    'not-judged': 'the provider is of no compute node, and it is not known '
                  'whose servers may use it',
    'stranded': 'the record of the compute node that the server is on is '
                'deleted',
    'ambiguous': 'several compute nodes have the name of its own, and none '
                 'its host',
    'elsewhere': 'the server is on another compute node',
    'offloaded': 'the server is shelved and offloaded',
    'nowhere': 'the server is on no host',
    'migration-over': 'the migration is over',
    'deleted': 'the server is deleted',
    'unknown': 'neither a server nor a migration has this UUID',
    'cell-silent': 'a cell that may know of it does not answer',
    'record-missing': 'the cell that it is mapped to has no record of it',
    'never-built': 'the server was deleted before it was in a cell',
    'foreign-type': 'its consumer type is not one of Nova',
    'foreign-provider': 'neither the consumer nor the root of the provider '
                        'is known to Nova',
}


def phase(records: rec.Records, instance_uuid: str) -> str:
    """The phase that a server is in.

    :param records: what Nova's databases say
    :param instance_uuid: the server's uuid
    :returns: one of the phases of the table
    """
    if instance_uuid in records.build_requests:
        return IN_FLIGHT
    instance = records.instances.get(instance_uuid)
    if instance is None:
        return UNKNOWN
    if instance.deleted:
        return DELETED
    if records.is_busy(instance_uuid):
        return IN_FLIGHT
    if instance.vm_state == vm_states.SHELVED_OFFLOADED:
        return OFFLOADED
    return AT_REST if instance.host else NOWHERE


def identify(records: rec.Records, uuid: str) -> Consumer:
    """Find out who a consumer is."""
    migration = records.migrations.get(uuid)
    instance_uuid = migration.instance if migration else uuid
    now = phase(records, instance_uuid)
    return Consumer(uuid, now, records.instances.get(instance_uuid),
                    migration)


def may_hold(records: rec.Records, consumer: Consumer, place: Place,
             consumer_type: Optional[str] = None) -> Answer:
    """Whether a consumer may hold something at a place.

    :param records: what Nova's databases say
    :param consumer: who, from :func:`identify`
    :param place: where
    :param consumer_type: what Placement says that it is, if it says so
    :returns: the answer, and the reason for it
    """
    answer = _answer(records, consumer, place, consumer_type)
    mapping = _mapping(records, consumer)
    if (answer.answer == NOBODYS and mapping is not None and
            records.is_silent(mapping.cell)):
        # Its own cell would have the last word.
        return Answer(CANNOT_KNOW, 'cell-silent', tuple(
            cell for cell in records.silent if cell.uuid == mapping.cell))
    return answer


def _mapping(records: rec.Records,
             consumer: Consumer) -> Optional[rec.Mapping]:
    return records.mappings.get(
        consumer.migration.instance if consumer.migration else consumer.uuid)


def _answer(records: rec.Records, consumer: Consumer, place: Place,
            consumer_type: Optional[str]) -> Answer:
    if consumer.phase == IN_FLIGHT:
        return Answer(RIGHTFUL, 'in-flight')
    if consumer.phase == UNKNOWN:
        return _of_unknown(records, consumer, place, consumer_type)
    if consumer.phase == AT_REST and consumer.migration is None:
        return _at_rest(records, consumer.instance, place)
    if consumer.migration is not None and consumer.phase != DELETED:
        return Answer(NOBODYS, 'migration-over')
    return Answer(NOBODYS, {
        OFFLOADED: 'offloaded', NOWHERE: 'nowhere', DELETED: 'deleted',
    }[consumer.phase])


def _at_rest(records: rec.Records, instance: rec.Instance,
             place: Place) -> Answer:
    node = records.node_of(instance)
    if place.node is not None:
        if node is not None and node.uuid == place.node.uuid:
            return Answer(RIGHTFUL, 'at-rest')
        if node is None and (place.node.cell, place.node.node) == (
                instance.cell, instance.node):
            if place.node.deleted:
                return Answer(RIGHTFUL, 'stranded')
            return Answer(CANNOT_KNOW, 'ambiguous')
        return Answer(NOBODYS, 'elsewhere')
    shared_by = place.shared_by or ()
    if node is not None and node.uuid in shared_by:
        return Answer(RIGHTFUL, 'shared')
    if records.silent:
        # The provider may belong to a compute node of that cell.
        return Answer(CANNOT_KNOW, 'cell-silent', tuple(records.silent))
    if node is not None and shared_by:
        return Answer(NOBODYS, 'elsewhere')
    return Answer(RIGHTFUL, 'not-judged')


def _of_unknown(records: rec.Records, consumer: Consumer, place: Place,
                consumer_type: Optional[str]) -> Answer:
    """No cell that answers has a record of the server."""
    if consumer_type not in (None, 'unknown', 'INSTANCE', 'MIGRATION'):
        return Answer(FOREIGN, 'foreign-type')
    mapping = _mapping(records, consumer)
    silent = tuple(records.silent)
    if mapping is not None and mapping.cell is not None:
        # The cell it is in would know, and no other.
        silent = tuple(cell for cell in silent if cell.uuid == mapping.cell)
        if not silent:
            return Answer(CANNOT_KNOW, 'record-missing')
    if silent:
        return Answer(CANNOT_KNOW, 'cell-silent', silent)
    if mapping is not None:
        # Without a build request it is not being scheduled either.
        return Answer(NOBODYS, 'never-built')
    if consumer.migration is not None:
        return Answer(NOBODYS, 'unknown' if consumer.migration.in_progress
                      else 'migration-over')
    if place.node is None:
        return Answer(FOREIGN, 'foreign-provider')
    return Answer(NOBODYS, 'unknown')
