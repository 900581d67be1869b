# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Serves Placement over HTTP, a process a connection, and counts.

The first line it prints is its address. To each line of input it answers with
a line of JSON: the requests served and the seconds of CPU used so far, as
soon as all connections are closed. It ends with its input, so with whoever
started it.

usage: serve.py, with OS_PLACEMENT_CONFIG_DIR in the environment
"""
from http import server
import json
import multiprocessing
import resource
import socketserver
import sys
import threading
import time
from wsgiref import simple_server

from placement import wsgi


class Counted:
    """An application that counts its requests, and trusts them all."""

    def __init__(self, app):
        self._app = app
        # One number for all processes.
        self.requests = multiprocessing.get_context('fork').Value('Q', 0)

    def __call__(self, environ, start_response):
        with self.requests:
            self.requests.value += 1
        environ['HTTP_X_AUTH_TOKEN'] = 'admin'
        # In one piece, so that its length is known and the connection can
        # stay open.
        return [b''.join(self._app(environ, start_response))]


class Server(socketserver.ForkingMixIn, simple_server.WSGIServer):

    # More than any audit opens.
    max_children = 1000
    request_queue_size = 128

    def server_bind(self):
        # Not WSGIServer's, which asks the resolver for the host's name.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]
        self.setup_environ()

    def cpu_seconds(self):
        """What this process and those of the connections have used."""
        while self.active_children:
            time.sleep(0.01)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + ended.ru_utime + ended.ru_stime


class Handler(simple_server.WSGIRequestHandler):
    """Answers many requests on a connection, each in one packet."""

    protocol_version = 'HTTP/1.1'
    wbufsize = -1
    disable_nagle_algorithm = True
    handle = server.BaseHTTPRequestHandler.handle

    def handle_one_request(self):
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        exchange = simple_server.ServerHandler(
            self.rfile, self.wfile, self.get_stderr(), self.get_environ())
        exchange.http_version = '1.1'
        exchange.request_handler = self
        exchange.run(self.server.get_app())

    def log_message(self, *args):
        """Placement has a log of its own."""


def main():
    app = Counted(wsgi.init_application())
    httpd = Server(('127.0.0.1', 0), Handler)
    httpd.set_app(app)
    threading.Thread(target=httpd.serve_forever, args=[0.05],
                     daemon=True).start()
    print(f'http://127.0.0.1:{httpd.server_port}', flush=True)
    for _line in sys.stdin:
        cpu_s = httpd.cpu_seconds()
        print(json.dumps({'requests': app.requests.value, 'cpu_s': cpu_s}),
              flush=True)


if __name__ == '__main__':
    main()
