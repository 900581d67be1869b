# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import io
import uuid

import ddt
import testtools

from placement_fixture import wire

A_UUID = str(uuid.uuid4())


def request(method='GET', path='/', query='', body=b'', version=None):
    environ = {
        'REQUEST_METHOD': method, 'SCRIPT_NAME': '/placement',
        'PATH_INFO': path, 'QUERY_STRING': query,
        'CONTENT_LENGTH': str(len(body)), 'wsgi.input': io.BytesIO(body)}
    if version:
        environ['HTTP_OPENSTACK_API_VERSION'] = version
    return wire.Request(environ), environ


@ddt.ddt
class RequestTest(testtools.TestCase):

    @ddt.data(
        ('GET', '/', 'GET /'),
        ('PUT', '/allocations/' + A_UUID, 'PUT /allocations/{uuid}'),
        ('PUT', '/allocations/' + A_UUID.upper(), 'PUT /allocations/{uuid}'),
        ('DELETE', '/resource_providers/%s/inventories/VCPU' % A_UUID,
         'DELETE /resource_providers/{uuid}/inventories/VCPU'),
        ('GET', '/traits/CUSTOM_A', 'GET /traits/CUSTOM_A'))
    @ddt.unpack
    def test_label(self, method, path, label):
        seen, _ = request(method, path)
        self.assertEqual(label, seen.label)
        self.assertEqual(path, seen.path)

    def test_query_is_no_part_of_path(self):
        seen, _ = request(path='/resource_providers', query='name=a')
        self.assertEqual(('/resource_providers', 'name=a'),
                         (seen.path, seen.query))

    @ddt.data(('placement 1.36', '1.36'), ('placement latest', 'latest'),
              ('compute 2.1, placement 1.4', '1.4'), ('compute 2.1', None),
              (None, None))
    @ddt.unpack
    def test_microversion(self, header, microversion):
        seen, _ = request(version=header)
        self.assertEqual(microversion, seen.microversion)

    @ddt.data((b'{"a": 1}', {'a': 1}), (b'', None), (b'{', None),
              (b'\xff', None))
    @ddt.unpack
    def test_body_is_parsed_and_left_for_the_application(self, body, parsed):
        seen, environ = request('PUT', body=body)
        self.assertEqual(parsed, seen.json)
        self.assertEqual(body, environ['wsgi.input'].read())

    def test_answered(self):
        seen, _ = request()
        self.assertEqual('GET / -> ...', str(seen))
        after = seen.answered(wire.Answer.error(503, 'no', None))
        self.assertEqual(('before', 'after'), (seen.when, after.when))
        self.assertEqual((503, 503), (seen.status, after.status))
        self.assertEqual('no', after.response['errors'][0]['detail'])
        self.assertEqual('GET / -> 503', str(seen))


@ddt.ddt
class MatchTest(testtools.TestCase):

    @ddt.data(
        ((), True),
        (('PUT',), True),
        (('put',), True),
        (('GET',), False),
        ((None, '/allocations/{uuid}'), True),
        ((None, '/allocations/' + A_UUID), True),
        ((None, '/allocations/.*'), True),
        ((None, '/allocations'), False),
        (('PUT', '/resource_providers/{uuid}'), False),
        (('PUT', None, lambda seen: seen.json == {'a': 1}), True),
        (('PUT', None, lambda seen: seen.json is None), False),
        ((None, None, None, 'before'), True),
        ((None, None, None, 'after'), False))
    @ddt.unpack
    def test_match(self, arguments, matches):
        seen, _ = request('PUT', '/allocations/' + A_UUID, body=b'{"a": 1}')
        self.assertIs(matches, wire.Match(*arguments)(seen))

    def test_unknown_when(self):
        self.assertRaises(ValueError, wire.Match, when='during')
