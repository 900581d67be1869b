# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The real Placement, set up for one test."""

from placement_fixture import server
from placement_fixture import tap


class PlacementFixture(tap.Tap):
    """Runs the real Placement application, tapped.

    connection: URL of the database, as SQLAlchemy writes it; by default
        SQLite in memory, new for each fixture. In an empty database the
        tables are made, and dropped at the end; tables that are there
        already are used and left.
    http: serve it also over HTTP, on a free loopback port: see url.
    token: who asks, as Placement's noauth2 strategy reads it: 'admin' has
        the admin role, any other has no role.

    app: the WSGI application. conf: its own oslo.config.
    url: its address, None unless http is True.

    Placement keeps its database in a module's global, so a process can have
    one of these at a time.
    """

    def __init__(self, connection=None, http=False, token='admin'):
        super(PlacementFixture, self).__init__()
        try:
            from placement_fixture import application
        except ImportError as error:
            raise RuntimeError(
                'PlacementFixture needs openstack-placement 2.0 or newer (pip '
                'install placement-fixture[placement]): %s' % error)
        self.token = token
        self.url = None
        self._application = application.Application(connection or 'sqlite://')
        self._http = http

    def _setUp(self):
        super(PlacementFixture, self)._setUp()
        real = self.useFixture(self._application)
        self.conf = real.conf
        self.wrap(real.app)
        if self._http:
            self.url = self.useFixture(server.HTTPServer(self.app)).url
        # The first of the clean-ups: no request may still be held.
        self.addCleanup(self._release)
