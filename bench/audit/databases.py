# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Where databases are: files of SQLite, or a server of MySQL or MariaDB."""
from __future__ import annotations

import abc
import pathlib
import secrets
import shutil

import sqlalchemy as sa

from graft.errors import UnavailableError
from graft.errors import UsageError


class Databases(abc.ABC):
    """A place for databases, which go by short names.

    :ivar description: what it is, for a person
    """

    description: str

    @abc.abstractmethod
    def url(self, name: str) -> str:
        """The URL of a database, for SQLAlchemy and for Nova."""

    @abc.abstractmethod
    def create(self, name: str) -> None:
        """Create an empty database."""

    @abc.abstractmethod
    def copy(self, source: str, name: str) -> None:
        """Create a database that has the tables of one without rows."""

    @abc.abstractmethod
    def drop(self, name: str) -> None:
        """Drop a database."""

    def cpu_seconds(self) -> float | None:
        """What the server has used so far; None if nobody knows."""
        return None


class SQLite(Databases):
    """Files in a folder."""

    description = 'SQLite'

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def url(self, name: str) -> str:
        return f'sqlite:///{self._path(name)}'

    def create(self, name: str) -> None:
        self._path(name).touch()

    def copy(self, source: str, name: str) -> None:
        shutil.copy(self._path(source), self._path(name))

    def drop(self, name: str) -> None:
        self._path(name).unlink()

    def _path(self, name: str) -> pathlib.Path:
        return self._folder / f'{name}.sqlite'


class MySQL(Databases):
    """Databases on a server.

    :param url: the server's; the names of all databases on it begin with
        something of their own
    """

    def __init__(self, url: str) -> None:
        try:
            self._url = sa.make_url(url).set(
                drivername='mysql+pymysql', database=None)
        except sa.exc.ArgumentError as error:
            raise UsageError(f'{url} is no URL of a server.') from error
        self._prefix = f'bench_{secrets.token_hex(4)}_'
        self._engine = sa.create_engine(
            self._url, isolation_level='AUTOCOMMIT')
        try:
            with self._engine.connect() as connection:
                version = connection.scalar(sa.text('SELECT VERSION()'))
        except sa.exc.DBAPIError as error:
            raise UnavailableError(
                f'The database server does not let us in: {error.orig}'
            ) from error
        kind = 'MariaDB' if 'MariaDB' in version else 'MySQL'
        self.description = f'{kind} {version.partition("-")[0]}'

    def url(self, name: str) -> str:
        return self._url.set(database=self._prefix + name).render_as_string(
            hide_password=False)

    def create(self, name: str) -> None:
        self._execute(f'CREATE DATABASE {self._prefix}{name} '
                      f'CHARACTER SET utf8')

    def copy(self, source: str, name: str) -> None:
        self.create(name)
        old, new = self._prefix + source, self._prefix + name
        with self._engine.connect() as connection:
            connection.exec_driver_sql('SET SESSION foreign_key_checks = 0')
            connection.exec_driver_sql(f'USE {new}')
            for table in sa.inspect(connection).get_table_names(schema=old):
                _, statement = connection.exec_driver_sql(
                    f'SHOW CREATE TABLE {old}.{table}').one()
                connection.exec_driver_sql(statement)
            # Not to be handed on with these settings.
            connection.invalidate()

    def drop(self, name: str) -> None:
        self._execute(f'DROP DATABASE IF EXISTS {self._prefix}{name}')

    def _execute(self, statement: str) -> None:
        with self._engine.connect() as connection:
            connection.exec_driver_sql(statement)
