# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Calls to a Placement application, without a socket between."""

import io
import json as jsonlib
import sys
import urllib.parse
import uuid

from placement_fixture import wire


class Response(object):
    """What Placement answered: status (int), headers, text, json()."""

    def __init__(self, answer):
        self.status = answer.status
        self.headers = dict(answer.headers)
        self.text = answer.body.decode('utf-8')

    def json(self):
        return jsonlib.loads(self.text)


class Calls(object):
    """What a test asks of self.app, the tapped application, as self.token.

    request() is traffic like any other and passes the tap. All others are
    the test's own look behind the scenes: they pass untapped, and raise an
    AssertionError if Placement refuses.
    """

    app = None
    token = 'admin'

    def request(self, method, path, json=None, version='latest',
                headers=None):
        """Ask Placement and return a Response, whatever its status.

        path: with its query, such as '/resource_providers?name=a'.
        json: the body, if any. version: the microversion.
        A dropped connection raises ConnectionResetError.
        """
        if self.app is None:
            raise RuntimeError('no Placement application was loaded yet')
        path, _, query = path.partition('?')
        body = b'' if json is None else jsonlib.dumps(json).encode('utf-8')
        environ = {
            'REQUEST_METHOD': method, 'SCRIPT_NAME': '',
            'PATH_INFO': urllib.parse.unquote(path, 'latin-1'),
            'QUERY_STRING': query, 'CONTENT_LENGTH': str(len(body)),
            'CONTENT_TYPE': 'application/json' if body else '',
            'SERVER_NAME': 'placement', 'SERVER_PORT': '80',
            'SERVER_PROTOCOL': 'HTTP/1.1', 'REMOTE_ADDR': '127.0.0.1',
            'wsgi.version': (1, 0), 'wsgi.url_scheme': 'http',
            'wsgi.input': io.BytesIO(body), 'wsgi.errors': sys.stderr,
            'wsgi.multithread': True, 'wsgi.multiprocess': False,
            'wsgi.run_once': False,
        }
        sent = {'X-Auth-Token': self.token, 'Accept': 'application/json',
                'OpenStack-API-Version': 'placement %s' % version}
        sent.update(headers or {})
        for name, value in sent.items():
            environ['HTTP_' + name.upper().replace('-', '_')] = value
        return Response(wire.Answer.of(self.app, environ))

    def providers(self):
        """All resource providers: {name: uuid}."""
        found = self._must('GET', '/resource_providers')
        return {provider['name']: provider['uuid']
                for provider in found['resource_providers']}

    def create_provider(self, name, parent=None, inventories=None):
        """Make a resource provider and return its uuid.

        parent: the uuid of its parent, if it has one.
        inventories: how much of each resource class, such as {'VCPU': 8}.
        """
        provider = str(uuid.uuid4())
        document = {'name': name, 'uuid': provider}
        if parent:
            document['parent_provider_uuid'] = parent
        self._must('POST', '/resource_providers', document)
        if inventories:
            self._must(
                'PUT', '/resource_providers/%s/inventories' % provider,
                {'resource_provider_generation': 0,
                 'inventories': {resource_class: {'total': total}
                                 for resource_class, total
                                 in inventories.items()}})
        return provider

    def usages(self, provider):
        """What is held on a provider: {'VCPU': 1}, zeroes included."""
        return self._must(
            'GET', '/resource_providers/%s/usages' % provider)['usages']

    def allocations(self, consumer):
        """What a consumer holds: {provider uuid: {'VCPU': 1}}."""
        found = self._must('GET', '/allocations/%s' % consumer)
        return {provider: held['resources']
                for provider, held in found['allocations'].items()}

    def consumer_generation(self, consumer):
        """The consumer's generation; None if it holds nothing.

        Always None before microversion 1.28 (Rocky), which brought it.
        """
        return self._must('GET', '/allocations/%s' % consumer).get(
            'consumer_generation')

    def _must(self, method, path, json=None):
        with self.untapped():
            response = self.request(method, path, json)
        if response.status >= 400:
            raise AssertionError('%s %s: %s %s' % (
                method, path, response.status, response.text))
        return response.json() if response.text else None
