# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What goes over the wire: a request as taps see it, and an answer."""

import copy
import errno
import http.client
import io
import json
import re

UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'


class Request(object):
    """One request to Placement, seen before or after it is served.

    method, path: as sent; the path has no endpoint prefix and no query.
    query: the query string, '' if there is none.
    json: the parsed body, None if there is none or it is no JSON.
    microversion: such as '1.36' or 'latest', None if the client named none.
    label: method and path with each UUID written {uuid}.
    when: 'before' or 'after'.
    status: the answer's status (int). None before, and None after if the
        connection was dropped.
    response: the answer's parsed body, None as for json.
    notes: what was done to the request: 'held', 'fault'.
    """

    def __init__(self, environ):
        self.when = 'before'
        self.method = environ['REQUEST_METHOD']
        self.path = environ.get('PATH_INFO') or '/'
        self.query = environ.get('QUERY_STRING', '')
        self.json = _parse(_take_body(environ))
        version = re.search(r'placement\s+([\w.]+)',
                            environ.get('HTTP_OPENSTACK_API_VERSION', ''))
        self.microversion = version.group(1) if version else None
        self.label = '%s %s' % (
            self.method, re.sub(UUID, '{uuid}', self.path, flags=re.I))
        self.status = None
        self.response = None
        self.notes = []
        self.ended = False

    def answered(self, answer):
        """Note the answer and return this request as seen afterwards."""
        self.ended = True
        self.status = answer.status
        self.response = _parse(answer.body)
        after = copy.copy(self)
        after.when = 'after'
        return after

    def __str__(self):
        outcome = self.status or ('dropped' if self.ended else '...')
        notes = ' (%s)' % ', '.join(self.notes) if self.notes else ''
        return '%s -> %s%s' % (self.label, outcome, notes)

    def __repr__(self):
        return '<Request %s %s>' % (self.when, self)


class Match(object):
    """Which requests are meant; everything not given matches all.

    method: such as 'PUT'.
    path: a regular expression for the whole path, without the query. {uuid}
        stands for any UUID, so the path of a label can be used as it is.
    where: a function of the Request that says yes or no.
    when: 'before', 'after', or None for both.
    """

    def __init__(self, method=None, path=None, where=None, when=None):
        if when not in ('before', 'after', None):
            raise ValueError("when is 'before' or 'after', not %r" % when)
        self.method = method and method.upper()
        self.path = path
        self.where = where
        self.when = when
        self._pattern = re.compile(
            (path or '.*').replace('{uuid}', UUID), re.I)

    def __call__(self, request):
        return bool(
            self.when in (None, request.when) and
            self.method in (None, request.method) and
            self._pattern.fullmatch(request.path) and
            (self.where is None or self.where(request)))

    def __str__(self):
        return '%s %s' % (self.method or 'any method', self.path or 'any path')


class Answer(object):
    """A whole WSGI answer, held until it is sent."""

    def __init__(self, status_line, headers, body):
        self.status_line = status_line
        self.headers = headers
        self.body = body

    @property
    def status(self):
        return int(self.status_line.split()[0])

    @classmethod
    def of(cls, app, environ):
        """Let a WSGI application serve a request, wholly."""
        start = []
        written = []

        def start_response(status_line, headers, exc_info=None):
            start[:] = [status_line, headers]
            return written.append

        chunks = app(environ, start_response)
        try:
            written.extend(chunks)
        finally:
            getattr(chunks, 'close', lambda: None)()
        return cls(start[0], start[1], b''.join(written))

    @classmethod
    def error(cls, status, detail, code):
        """An error as Placement (and the API-SIG's guide) formats it."""
        title = http.client.responses.get(status, 'Unknown')
        error = {'status': status, 'title': title, 'detail': detail}
        if code:
            error['code'] = code
        return cls.of_json(status, {'errors': [error]})

    @classmethod
    def of_json(cls, status, document):
        body = json.dumps(document).encode('utf-8')
        line = '%d %s' % (status, http.client.responses.get(status, 'Unknown'))
        return cls(line, [('Content-Type', 'application/json'),
                          ('Content-Length', str(len(body)))], body)

    def send(self, start_response):
        start_response(self.status_line, self.headers)
        return [self.body]


class Dropped(object):
    """No answer: the connection breaks.

    The error is raised while the server reads the body and not when it calls
    the application: wsgi-intercept passes the former on as it is, as a socket
    would, so that a client in the same process sees a lost connection too.
    """

    status = None
    body = b''

    @staticmethod
    def send(start_response):
        def chunks():
            raise ConnectionResetError(
                errno.ECONNRESET, 'dropped by a fault of the test')
            yield

        return chunks()


def _take_body(environ):
    """Read the body and leave the application a fresh copy of it."""
    length = int(environ.get('CONTENT_LENGTH') or 0)
    body = environ['wsgi.input'].read(length) if length else b''
    environ['wsgi.input'] = io.BytesIO(body)
    return body


def _parse(body):
    try:
        return json.loads(body.decode('utf-8'))
    except ValueError:
        return None
