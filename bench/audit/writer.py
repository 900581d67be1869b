# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Writing rows, many at once."""
from __future__ import annotations

import itertools

import sqlalchemy as sa

from bench.audit.nova_rows import Tables

#: So many rows are handed over at a time.
_CHUNK = 5000


def write(url: str, tables: Tables) -> None:
    """Write rows into the tables of a database, in one transaction.

    Tables and columns that the database does not have are left out: they are
    of other series.
    """
    engine = sa.create_engine(url)
    there = set(sa.inspect(engine).get_table_names())
    with engine.begin() as connection:
        for name, rows in tables:
            if name not in there:
                continue
            table = sa.Table(name, sa.MetaData(), autoload_with=engine,
                             resolve_fks=False)
            columns = {column.name for column in table.columns}
            fitting = ({column: value for column, value in row.items()
                        if column in columns} for row in rows)
            while chunk := list(itertools.islice(fitting, _CHUNK)):
                connection.execute(table.insert(), chunk)
    engine.dispose()


def read_ids(url: str, name: str) -> dict[str, int]:
    """The ids in a table of things that have names."""
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        rows = connection.execute(sa.select(
            sa.column('name'), sa.column('id')).select_from(sa.table(name)))
        ids = {row.name: row.id for row in rows}
    engine.dispose()
    return ids
