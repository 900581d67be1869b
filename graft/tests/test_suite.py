# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import datetime
import io
import pathlib
import sys

import subunit

from graft import suite
from graft.environment import Environment
from graft.errors import GraftError
from graft.tests import base


class Here(Environment):
    """The environment that these tests run in."""

    path = property(lambda self: pathlib.Path(sys.prefix))

    def make(self):
        return self


TESTS = '''\
import unittest


class TestIt(unittest.TestCase):

    def test_passes(self):
        pass

    def test_fails(self):
        self.assertEqual('üben', 'oben')

    def test_breaks(self):
        raise KeyError('where')

    @unittest.expectedFailure
    def test_fails_as_it_should(self):
        self.fail()

    @unittest.skip('why')
    def test_skipped(self):
        pass
'''


class TestSuite(base.ProjectTestCase):
    """With the real stestr."""

    def setUp(self):
        super().setUp()
        self.write('nova/__init__.py', '')
        self.write('nova/tests/__init__.py', '')
        self.write('nova/tests/test_it.py', TESTS)
        self.write('nova/tests/test_broken.py', 'import no_such_thing\n')

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def suite(self, *names):
        here = Here(self.mini.project, self.mini.series('alpha'))
        return suite.Suite(here, self.folder, names)

    def test_outcome(self):
        outcome = self.suite('nova.tests.test_it').outcome()
        own = 'nova.tests.test_it.TestIt.'
        self.assertEqual((f'{own}test_fails_as_it_should',
                          f'{own}test_passes'), outcome.passed)
        self.assertEqual({f'{own}test_breaks', f'{own}test_fails'},
                         set(outcome.failed))
        self.assertIn("'üben' != 'oben'", outcome.failed[f'{own}test_fails'])
        self.assertEqual({}, outcome.broken)
        self.assertEqual(4, len(outcome.ran))
        self.assertGreater(outcome.seconds, 0)

    def test_one_test(self):
        name = 'nova.tests.test_it.TestIt.test_passes'
        self.assertEqual({name}, self.suite(name).outcome().ran)

    def test_module_that_does_not_load(self):
        """The others run nevertheless."""
        outcome = self.suite('nova.tests.test_broken', 'nova.tests.no.such',
                             'nova.tests.test_it').outcome()
        self.assertEqual({'nova.tests.test_broken', 'nova.tests.no.such'},
                         set(outcome.broken))
        self.assertIn("No module named 'no_such_thing'",
                      outcome.broken['nova.tests.test_broken'])
        self.assertEqual(4, len(outcome.ran))

    def test_nothing_to_run(self):
        error = self.assertRaises(GraftError, self.suite().outcome)
        self.assert_told(error, 'No test ran', 'names right?')

    def test_run_by_a_person(self):
        out = self.folder / 'out'
        one = self.suite('nova.tests.test_it')
        run = one.environment.run
        with out.open('w') as file:
            self.patch_attribute(
                'graft.tests.test_suite.Here.run',
                lambda _, command, tree, **more: run(
                    command, tree, stdout=file))
            self.assertEqual(1, one.run(['test_fails']))
        self.assertIn('Failed: 1', out.read_text())
        self.assertNotIn('test_passes', out.read_text())


class TestRead(base.TestCase):

    def read(self, *events):
        """The outcome of events, each an id, a status and what was said."""
        stream = io.BytesIO()
        told = subunit.StreamResultToBytes(stream)
        start = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
        for name, *states in events:
            for seconds, state in enumerate(states):
                told.status(
                    test_id=name, test_status=state, file_name='traceback',
                    file_bytes=b'why', mime_type='text/plain;charset=utf8',
                    timestamp=start + datetime.timedelta(seconds=seconds))
        stream.seek(0)
        return suite._read(stream)

    def test_all(self):
        outcome = self.read(
            ('a', 'inprogress', 'success'), ('b', 'inprogress', 'fail'),
            ('c', 'uxsuccess'), ('d', 'xfail'), ('e', 'skip'))
        self.assertEqual(('a', 'd'), outcome.passed)
        self.assertEqual({'b', 'c'}, set(outcome.failed))
        self.assertIn('why', outcome.failed['b'])
        self.assertEqual(2.0, outcome.seconds)

    def test_one_that_never_ended(self):
        """A worker that dies takes its test with it."""
        self.assertEqual(['a'], list(self.read(('a', 'inprogress')).failed))

    def test_what_does_not_load(self):
        outcome = self.read((f'{suite.NOT_LOADED}a.b', 'fail'))
        self.assertEqual(['a.b'], list(outcome.broken))
        self.assertEqual({}, outcome.failed)

    def test_nothing(self):
        self.assertEqual(suite.Outcome((), {}, {}, 0.0), self.read())
