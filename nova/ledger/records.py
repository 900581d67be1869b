# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What Placement and Nova say, as plain values."""

import datetime
from typing import Dict
from typing import Iterable
from typing import List
from typing import NamedTuple
from typing import Optional
from typing import Set

from nova.compute import vm_states

# The statuses of a migration that is no longer in progress: those that
# nova.db's migration_get_in_progress_by_host_and_node leaves out (since 17).
# An unknown one is in progress.
FINAL = frozenset([
    'cancelled', 'completed', 'confirmed', 'done', 'error', 'failed',
    'reverted',
])

# {resource class: amount}
Resources = Dict[str, int]
Time = Optional[datetime.datetime]


class Provider(NamedTuple):
    """A resource provider, as GET /resource_providers has it."""
    uuid: str
    name: str
    generation: int
    root: str  # the uuid of the tree's root; its own if that is itself


class Node(NamedTuple):
    """A compute node. Its uuid is that of its provider."""
    uuid: str
    id: int
    host: str
    node: str
    cell: str
    deleted: bool = False


class Instance(NamedTuple):
    """A server, as far as it matters who may hold what."""
    uuid: str
    cell: str
    host: Optional[str] = None
    node: Optional[str] = None
    compute_id: Optional[int] = None
    vm_state: Optional[str] = None
    task_state: Optional[str] = None
    hidden: bool = False
    deleted: bool = False
    updated_at: Time = None  # the last change of the record, whichever
    project: Optional[str] = None
    vcpus: int = 0
    memory_mb: int = 0
    disk_gb: int = 0  # root disk if it has an image, and ephemeral disks

    @property
    def busy(self) -> bool:
        """Whether the record alone says that something is going on."""
        return (self.task_state is not None or
                self.vm_state in (vm_states.BUILDING, vm_states.RESIZED))


class Migration(NamedTuple):
    """A move of a server: live, cold, resize or evacuation."""
    uuid: str
    instance: str  # its uuid
    cell: str
    status: str
    type: Optional[str] = None
    source_host: Optional[str] = None
    source_node: Optional[str] = None
    dest_host: Optional[str] = None
    dest_node: Optional[str] = None
    updated_at: Time = None

    @property
    def in_progress(self) -> bool:
        return self.status not in FINAL


class Mapping(NamedTuple):
    """Which cell an instance is in, as the API database has it."""
    instance: str
    cell: Optional[str]  # its uuid; None while it is being scheduled


class Cell(NamedTuple):
    """A cell that was asked."""
    uuid: str
    name: str
    error: Optional[str] = None  # why it did not answer

    @property
    def silent(self) -> bool:
        return self.error is not None

    @property
    def label(self) -> str:
        """How messages call it."""
        return '%s (%s)' % (self.name, self.uuid) if self.name else self.uuid


class Held(NamedTuple):
    """What one consumer holds, as GET /allocations/{consumer} has it."""
    consumer: str
    allocations: Dict[str, Resources]  # by provider
    generation: Optional[int] = None
    type: Optional[str] = None  # None if Placement does not say (1.38)
    project: Optional[str] = None
    user: Optional[str] = None
    changed_at: Time = None  # None if Placement does not say (1.15)
    read_at: Time = None  # by the clock that changed_at is of


class Records:
    """What Nova's databases say, at one look.

    :ivar cells: the cells that were asked
    :ivar nodes: compute nodes by uuid, those deleted as well
    :ivar instances: by uuid; of one that is in two cells, which a resize
        across cells makes, the one that counts
    :ivar migrations: by uuid; those in progress, and on a second look all
        that the consumers asked for have to do with
    :ivar build_requests: uuids of instances that are not in a cell yet
    :ivar mappings: by instance; only on a second look
    """

    def __init__(self) -> None:
        self.cells: List[Cell] = []
        self.nodes: Dict[str, Node] = {}
        self.instances: Dict[str, Instance] = {}
        self.migrations: Dict[str, Migration] = {}
        self.moves: Dict[str, List[Migration]] = {}
        self.build_requests: Set[str] = set()
        self.mappings: Dict[str, Mapping] = {}
        self._busy: Set[str] = set()
        self._places: Dict[tuple, List[Node]] = {}

    # Writing

    def add_node(self, node: Node) -> None:
        self.nodes[node.uuid] = node
        if not node.deleted:
            self._places.setdefault((node.cell, node.node), []).append(node)

    def add_instance(self, instance: Instance) -> None:
        if instance.busy and not instance.deleted:
            self._busy.add(instance.uuid)
        other = self.instances.get(instance.uuid)
        if other is None or _weight(instance) > _weight(other):
            self.instances[instance.uuid] = instance

    def add_migration(self, migration: Migration) -> None:
        other = self.migrations.get(migration.uuid)
        # In two cells at once, it is over when it is in both. An old one may
        # have no uuid, and holds nothing.
        if migration.uuid and (other is None or migration.in_progress):
            self.migrations[migration.uuid] = migration
        if migration.in_progress:
            self.moves.setdefault(migration.instance, []).append(migration)

    def note_silent(self, cells: Iterable[Cell]) -> None:
        """Remember that cells, which had answered, did not later on."""
        silent = {cell.uuid: cell for cell in cells}
        self.cells = [silent.pop(cell.uuid, cell) for cell in self.cells]
        self.cells += silent.values()

    # Reading

    @property
    def silent(self) -> List[Cell]:
        """The cells that did not answer."""
        return [cell for cell in self.cells if cell.silent]

    def is_silent(self, uuid: Optional[str]) -> bool:
        return any(cell.uuid == uuid for cell in self.silent)

    def is_busy(self, instance_uuid: str) -> bool:
        """Whether something is going on with a server, in whichever cell."""
        return instance_uuid in self._busy or bool(
            self.moves.get(instance_uuid))

    def node_of(self, instance: Instance) -> Optional[Node]:
        """The compute node that an instance at rest is on.

        An ironic node may have gone to another service of its group, which
        its instances follow later: a node is known by its own name, and by
        that of its host only if several in the cell share the name.
        """
        if not instance.host:
            return None
        same = self._places.get((instance.cell, instance.node), [])
        if len(same) > 1:
            same = ([n for n in same if n.id == instance.compute_id] or
                    [n for n in same if n.host == instance.host])
        return same[0] if same else None


def _weight(instance: Instance) -> tuple:
    """Of two records of an instance, the one that counts is the heavier."""
    return (not instance.deleted, not instance.hidden)
