# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Nova's side: what its databases say, in a few queries per cell.

Only columns are read, no objects, and never a replica, which may lag. All
cells are asked at once, and each answers or is silent: a timeout and an error
are no empty list.
"""

import json
from typing import Callable
from typing import Dict
from typing import Iterable
from typing import List
from typing import NamedTuple
from typing import Optional

from oslo_db import exception as db_exc
import sqlalchemy as sa

from nova import context as nova_context
try:
    from nova.db.api import api as api_db
    from nova.db.api import models as api_models
    from nova.db.main import api as cell_db
    from nova.db.main import models as cell_models
    _in_api_db = api_db.context_manager.reader
except ImportError:  # up to Wallaby
    from nova.db.sqlalchemy import api as cell_db
    from nova.db.sqlalchemy import api_models
    from nova.db.sqlalchemy import models as cell_models
    _in_api_db = cell_db.api_context_manager.reader
from nova import exception
from nova.ledger import amounts
from nova.ledger import records as rec
from nova import objects

# So many uuids in one query: SQLite takes no more than 999.
CHUNK = 500


class Unreachable(Exception):
    """The API database can not be read."""


class Cells:
    """Nova's databases: that of the API, and that of each cell."""

    def __init__(self, context) -> None:
        """Nova's databases, to be asked in the name of an administrator.

        :param context: nova.context.RequestContext of an administrator
        """
        self.context = context

    def identity(self) -> List[str]:
        """What tells this cloud from others: the uuids of its cells.

        :raises Unreachable: if the API database can not be read
        """
        return sorted(mapping.uuid for mapping in self._mappings())

    def look(self) -> rec.Records:
        """Read what concerns all: the first look.

        :returns: records with the compute nodes, the living instances, the
            migrations in progress and the build requests
        :raises Unreachable: if the API database can not be read
        """
        records = rec.Records()
        records.build_requests.update(self._api(_build_requests, None))
        self._record(records, self._ask_cells(_everything))
        return records

    def look_at(self, consumers: Iterable[str]) -> rec.Records:
        """Read what concerns some consumers: the second look.

        :param consumers: uuids of instances or migrations
        :returns: records with the compute nodes, and of the consumers all
            that is on record, what is deleted and what is over as well
        :raises Unreachable: if the API database can not be read
        """
        uuids = sorted(set(consumers))
        records = rec.Records()
        for chunk in _chunks(uuids):
            records.build_requests.update(self._api(_build_requests, chunk))
        self._map(records, uuids)
        self._record(records, self._ask_cells(_all_about, uuids))
        # The instances of those that turned out to be migrations.
        self._map(records, {
            migration.instance for migration in records.migrations.values()
        }.difference(uuids))
        return records

    def flavors(self, instances: Iterable[rec.Instance],
                ) -> Dict[str, amounts.Flavor]:
        """Read the flavors that instances were made of.

        :param instances: living ones
        :returns: flavors by the instance's uuid; of cells that do not
            answer now, and of records that can not be read, none
        """
        by_cell: Dict[str, List[str]] = {}
        for instance in instances:
            by_cell.setdefault(instance.cell, []).append(instance.uuid)
        flavors: Dict[str, amounts.Flavor] = {}
        if by_cell:
            for _cell, answer in self._ask_cells(_flavors, by_cell):
                flavors.update(answer or {})
        return flavors

    def _map(self, records: rec.Records, uuids: Iterable[str]) -> None:
        for chunk in _chunks(sorted(uuids)):
            for mapping in self._api(_mappings, chunk):
                records.mappings[mapping.instance] = mapping

    def _api(self, query: Callable, *args) -> list:
        try:
            return query(self.context, *args)
        except (db_exc.DBError, db_exc.CantStartEngineError,
                sa.exc.SQLAlchemyError) as error:
            raise Unreachable(_one_line(error))

    def _mappings(self) -> list:
        return self._api(objects.CellMappingList.get_all)

    def _ask_cells(self, query: Callable, *args) -> List[tuple]:
        """Ask all cells at once.

        :returns: for each cell a rec.Cell and its answer, None if it is
            silent
        """
        mappings = self._mappings()
        answers = {mapping.uuid: self._target(mapping)
                   for mapping in mappings}
        answers.update(nova_context.scatter_gather_cells(
            self.context,
            [mapping for mapping in mappings if answers[mapping.uuid] is None],
            nova_context.CELL_TIMEOUT, _answer, query, *args))
        asked = []
        for mapping in mappings:
            answer = answers[mapping.uuid]
            if nova_context.is_cell_failure_sentinel(answer):
                answer = _Failure('no answer within %s seconds'
                                  % nova_context.CELL_TIMEOUT)
            failure = isinstance(answer, _Failure)
            asked.append((
                rec.Cell(mapping.uuid, mapping.name,
                         answer.reason if failure else None),
                None if failure else answer))
        if all(mapping.is_cell0() for mapping in mappings):
            # There is nobody to ask, which is no answer.
            asked.append((rec.Cell('-', '', 'no cell is mapped'), None))
        return asked

    def _target(self, mapping) -> Optional['_Failure']:
        """Why a cell can not even be asked, if so."""
        try:
            with nova_context.target_cell(self.context, mapping):
                return None
        except Exception as error:
            return _Failure(_one_line(error))

    @staticmethod
    def _record(records: rec.Records, asked: List[tuple]) -> None:
        """Write down what the cells said."""
        for cell, answer in asked:
            records.cells.append(cell)
            if answer is not None:
                answer.write(records, cell.uuid)


class _Failure:
    def __init__(self, reason: str) -> None:
        self.reason = reason


def _one_line(error: BaseException) -> str:
    """What an error says, without SQL, parameters and the like."""
    text = str(getattr(error, 'orig', None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _answer(context, query: Callable, *args):
    """Run a query in a cell; an error is an answer and not a traceback."""
    try:
        return query(context, *args)
    except exception.NovaException as error:
        return _Failure(error.format_message())
    except Exception as error:
        return _Failure(_one_line(error))


def _chunks(uuids: List[str]) -> List[List[str]]:
    return [uuids[start:start + CHUNK]
            for start in range(0, len(uuids), CHUNK)]


# The API database

@_in_api_db
def _build_requests(context, uuids: Optional[List[str]]) -> List[str]:
    column = api_models.BuildRequest.instance_uuid
    query = context.session.query(column)
    if uuids is not None:
        query = query.filter(column.in_(uuids))
    return [row[0] for row in query]


@_in_api_db
def _mappings(context, uuids: List[str]) -> List[rec.Mapping]:
    mapping = api_models.InstanceMapping
    query = context.session.query(
        mapping.instance_uuid, api_models.CellMapping.uuid,
    ).outerjoin(
        api_models.CellMapping,
        mapping.cell_id == api_models.CellMapping.id,
    ).filter(mapping.instance_uuid.in_(uuids))
    return [rec.Mapping(*row) for row in query]


# The database of a cell

class _Rows(NamedTuple):
    """What a cell's database said."""
    nodes: list
    migrations: list
    instances: list
    archived: list = []

    def write(self, records: rec.Records, cell: str) -> None:
        for row in self.nodes:
            records.add_node(rec.Node(
                row.uuid, row.id, row.host, row.hypervisor_hostname, cell,
                bool(row.deleted)))
        for row in self.migrations:
            records.add_migration(rec.Migration(
                row.uuid, row.instance_uuid, cell, row.status,
                row.migration_type, row.source_compute, row.source_node,
                row.dest_compute, row.dest_node, row.changed_at))
        for row in self.instances:
            records.add_instance(_instance(row, cell))
        for row in self.archived:
            records.add_instance(rec.Instance(
                row.uuid, cell, deleted=True, updated_at=row.deleted_at))


@cell_db.pick_context_manager_reader
def _everything(context) -> _Rows:
    session = context.session
    nodes = _nodes(session)
    # What is in flight before what is at rest.
    migrations = _migrations(session).filter(
        cell_models.Migration.deleted == 0,
        cell_models.Migration.status.notin_(rec.FINAL)).all()
    instances = _instances(session).filter(
        cell_models.Instance.deleted == 0).all()
    return _Rows(nodes, migrations, instances)


@cell_db.pick_context_manager_reader
def _all_about(context, uuids: List[str]) -> _Rows:
    session = context.session
    table = cell_models.Migration
    own = _where(_migrations(session), table.uuid, uuids)
    concerned = set(uuids).union(row.instance_uuid for row in own)
    # Of a migration, the others of its instance count as well.
    migrations = own + _where(
        _migrations(session), table.instance_uuid, concerned)
    instances = _where(
        _instances(session), cell_models.Instance.uuid, concerned)
    archived = _archived(
        session, concerned.difference(row.uuid for row in instances))
    return _Rows(_nodes(session), migrations, instances, archived)


@cell_db.pick_context_manager_reader
def _flavors(context, by_cell: Dict[str, List[str]],
             ) -> Dict[str, amounts.Flavor]:
    session = context.session
    uuids = by_cell.get(context.cell_uuid, [])
    extra = cell_models.InstanceExtra
    rows = _where(session.query(extra.instance_uuid, extra.flavor),
                  extra.instance_uuid, uuids)
    disk = cell_models.BlockDeviceMapping
    on_volume = {row.instance_uuid for row in _where(
        session.query(disk.instance_uuid).filter(
            disk.deleted == 0, disk.boot_index == 0,
            disk.destination_type == 'volume'),
        disk.instance_uuid, uuids)}
    flavors = {}
    for uuid, text in rows:
        try:
            embedded = json.loads(text)['cur']['nova_object.data']
            flavors[uuid] = amounts.flavor(embedded, uuid in on_volume)
        except (KeyError, TypeError, ValueError):
            continue
    return flavors


def _where(query, column, values: Iterable[str]) -> list:
    """The rows where a column has one of many values."""
    rows = []
    for chunk in _chunks(sorted(values)):
        rows += query.filter(column.in_(chunk)).all()
    return rows


def _instance(row, cell: str) -> rec.Instance:
    return rec.Instance(
        row.uuid, cell, row.host, row.node, row.compute_id, row.vm_state,
        row.task_state, bool(row.hidden), bool(row.deleted), row.changed_at,
        row.project_id, row.vcpus or 0, row.memory_mb or 0,
        # Who has no image has a volume for a root disk.
        (row.root_gb or 0 if row.image_ref else 0) + (row.ephemeral_gb or 0))


def _nodes(session) -> list:
    node = cell_models.ComputeNode
    return session.query(
        node.uuid, node.id, node.host, node.hypervisor_hostname,
        node.deleted).filter(node.uuid.isnot(None)).all()


def _migrations(session):
    table = cell_models.Migration
    return session.query(
        table.uuid, table.instance_uuid, table.status, table.migration_type,
        table.source_compute, table.source_node, table.dest_compute,
        table.dest_node, _changed_at(table))


def _instances(session):
    table = cell_models.Instance
    # Since 2023.2
    compute_id = getattr(table, 'compute_id', None)
    if compute_id is None:
        compute_id = sa.null().label('compute_id')
    return session.query(
        table.uuid, table.host, table.node, compute_id, table.vm_state,
        table.task_state, table.hidden, table.deleted, _changed_at(table),
        table.project_id, table.vcpus, table.memory_mb, table.root_gb,
        table.ephemeral_gb, table.image_ref)


def _changed_at(table):
    # One column, since each time costs the client more than all else.
    return sa.func.coalesce(
        table.deleted_at, table.updated_at, table.created_at,
    ).label('changed_at')


def _archived(session, uuids: Iterable[str]) -> list:
    """Which instances nova-manage db archive_deleted_rows has moved away."""
    shadow = sa.table('shadow_instances', sa.column('uuid'),
                      sa.column('deleted_at', sa.DateTime)).c
    return _where(session.query(shadow.uuid, shadow.deleted_at),
                  shadow.uuid, uuids)
