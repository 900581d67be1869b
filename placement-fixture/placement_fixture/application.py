# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The real Placement application, as in a new process.

Imported only when it is used: the tap alone does without.
"""

import copy
import threading

import fixtures
from oslo_config import cfg
from oslo_db.sqlalchemy import enginefacade
import sqlalchemy

from placement import conf as placement_conf
from placement import db_api
from placement.db.sqlalchemy import models
from placement import deploy
from placement import policies

ONE = threading.Lock()


class Application(fixtures.Fixture):
    """Placement's WSGI application with its own configuration and database.

    connection: as for PlacementFixture.
    app: the application. conf: its oslo.config.
    """

    def __init__(self, connection):
        super(Application, self).__init__()
        self._connection = connection

    def _setUp(self):
        if not ONE.acquire(False):
            raise RuntimeError('there is a PlacementFixture already; Placement'
                               ' can be in a process only once')
        self.addCleanup(ONE.release)
        self.conf = self._configure()
        self._forget_what_is_set_up()
        self._provide_database()
        self.app = deploy.loadapp(self.conf)
        if self._connection.startswith('sqlite'):
            self.app = _one_at_a_time(self.app)

    def _configure(self):
        conf = cfg.ConfigOpts()
        placement_conf.register_opts(conf)
        conf.set_override('connection', self._connection,
                          'placement_database')
        conf.set_override('auth_strategy', 'noauth2', 'api')
        # No file and no command line: the host's must not matter.
        conf([], project='placement', default_config_files=[],
             default_config_dirs=[])
        return conf

    def _forget_what_is_set_up(self):
        for name, new in (
                ('placement.objects.trait._TRAITS_SYNCED', False),
                ('placement.objects.resource_class._RESOURCE_CLASSES_SYNCED',
                 False),
                ('placement.policy._ENFORCER', None)):
            self.useFixture(fixtures.MonkeyPatch(name, new))
        # oslo.policy changes the rules it is given: give it copies.
        rules = list(policies.list_rules())
        self.useFixture(fixtures.MonkeyPatch(
            'placement.policies.list_rules', lambda: copy.deepcopy(rules)))

    def _provide_database(self):
        database = enginefacade.transaction_context()
        database.configure(connection=self._connection)
        self.addCleanup(
            db_api.placement_context_manager.patch_factory(database))
        engine = database.writer.get_engine()
        self.addCleanup(engine.dispose)
        tables = models.BASE.metadata
        if not sqlalchemy.inspect(engine).get_table_names():
            self.addCleanup(tables.drop_all, engine)
        tables.create_all(engine)


def _one_at_a_time(app):
    """Serve one request after the other: all threads share one SQLite."""
    lock = threading.Lock()

    def locked(environ, start_response):
        with lock:
            return list(app(environ, start_response))

    return locked
