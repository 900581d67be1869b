# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import contextlib
import datetime
import io

import ddt

from nova.ledger import audit
from nova import test
from nova.tests.unit.ledger import fakes


def parse(**options):
    values = dict.fromkeys([
        'provider_uuid', 'consumers', 'min_age', 'max_delete', 'ignore',
        'output_format', 'state_file', 'workers'])
    values.update(verbose=False, delete=False)
    values.update(options)
    return audit.Options.parse(**values)


@ddt.ddt
class OptionsTestCase(test.NoDBTestCase):

    def test_defaults(self):
        self.assertEqual(audit.Options(), parse())

    @ddt.data(
        (dict(min_age='60'), 'min_age', datetime.timedelta(minutes=1)),
        (dict(max_delete='0'), 'max_delete', 0),
        (dict(workers='10'), 'workers', 10),
        (dict(output_format='json'), 'output_format', 'json'))
    @ddt.unpack
    def test_good(self, options, name, expected):
        self.assertEqual(expected, getattr(parse(**options), name))

    @ddt.data(
        dict(min_age='-1'), dict(min_age='1.5'), dict(max_delete='all'),
        dict(workers='0'), dict(workers='11'), dict(output_format='JSON'),
        dict(provider_uuid='host'), dict(consumers=['guest']),
        dict(ignore='/no/such'), dict(ignore='/'),
        dict(state_file='/no/such/file'), dict(state_file='/'))
    def test_bad(self, options):
        said = str(self.assertRaises(audit.Invalid, parse, **options))
        self.assertTrue(said.startswith('--') and said.endswith('.'), said)
        self.assertNotIn('\n', said)


class ExitCodeTestCase(test.NoDBTestCase):

    def setUp(self):
        super(ExitCodeTestCase, self).setUp()
        self.cloud = fakes.Cloud()
        self.host = self.cloud.add_node('S')
        self.cloud.placement.hold('one', {self.host: {'VCPU': 1}})
        self.cloud.placement.hold('two', {self.host: {'VCPU': 1}})

    def _code(self, **options):
        one = audit.Audit(
            audit.Options(**options),
            audit.placement_client.Client(self.cloud.placement),
            self.cloud.nova, audit.Interrupt())
        one.look()
        with contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()):
            one.tell(audit.report.Text(False))
        return one.exit_code

    def test_clean(self):
        self.cloud.placement.consumers.clear()
        self.assertEqual(0, self._code())

    def test_found(self):
        self.assertEqual(3, self._code())

    def test_deleted(self):
        self.assertEqual(4, self._code(delete=True))
        self.assertEqual({}, self.cloud.placement.held())

    def test_too_many(self):
        self.assertEqual(1, self._code(delete=True, max_delete=1))
        self.assertEqual({'one', 'two'}, set(self.cloud.placement.held()))

    def test_failed(self):
        self.cloud.placement.faults['PUT /allocations/one'] = 500
        self.assertEqual(1, self._code(delete=True))
        self.assertEqual({'one'}, set(self.cloud.placement.held()))

    def test_silent(self):
        cell = next(iter(self.cloud.nova.cells))
        self.cloud.nova.cells[cell] = 'no answer'
        self.assertEqual(1, self._code())

    def test_placement_is_too_old_to_delete(self):
        self.cloud.placement.version = (1, 27)
        self.assertEqual(1, self._code(delete=True))
        self.assertEqual({'one', 'two'}, set(self.cloud.placement.held()))

    def test_one_consumer(self):
        self.assertEqual(
            4, self._code(delete=True, consumers=frozenset(['two'])))
        self.assertEqual({'one'}, set(self.cloud.placement.held()))
        self.assertNotIn(
            'GET /resource_providers/%s/allocations' % self.host,
            self.cloud.placement.requests)
