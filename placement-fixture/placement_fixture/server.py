# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A WSGI application served on a free loopback port, a thread a request."""

import socketserver
import sys
import threading
from wsgiref import simple_server

import fixtures

HOST = '127.0.0.1'


class HTTPServer(fixtures.Fixture):
    """Serves app at .url from setUp to cleanUp."""

    def __init__(self, app):
        super(HTTPServer, self).__init__()
        self._app = app

    def _setUp(self):
        server = _Server((HOST, 0), _RequestHandler)
        server.set_app(self._app)
        self.url = 'http://%s:%d' % (HOST, server.server_port)
        thread = threading.Thread(target=server.serve_forever, args=(.05,))
        thread.daemon = True
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)


class _Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):

    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        # Not WSGIServer's, which asks the resolver for the host's name.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]
        self.setup_environ()

    def handle_error(self, request, client_address):
        """A client that went away is no news."""


class _Exchange(simple_server.ServerHandler):

    def handle_error(self):
        """Break off without an answer when a fault drops the connection.

        From Python 3.8 the base class does so before it comes here.
        """
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super(_Exchange, self).handle_error()


class _RequestHandler(simple_server.WSGIRequestHandler):

    def handle(self):
        self.raw_requestline = self.rfile.readline(65537)
        if self.raw_requestline and self.parse_request():
            exchange = _Exchange(
                self.rfile, self.wfile, self.get_stderr(), self.get_environ())
            exchange.request_handler = self
            exchange.run(self.server.get_app())

    def log_message(self, *args):
        """Keep quiet: the tap keeps the log."""
