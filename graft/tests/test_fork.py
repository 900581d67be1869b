# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import ddt

from graft.errors import AnchorError
from graft.errors import GraftError
from graft.fork import State
from graft.tests import base
from graft.tests import miniature

MANAGER = miniature.MANAGER

LID = """
        # Steam goes where it wants, so shut it.
        self.lid = 'shut'
"""
HEAT = '        self.heat(water'
SHUT = miniature.ALPHA.replace(LID, '').replace(
    HEAT, LID.removeprefix('\n') + '\n' + HEAT)
POUR = '''
    # Pouring is new.
    def pour(self):
        """Fill a cup, and say when.

        :returns: the cup
        """
        return cup.of(water.fresh(1), datetime.date(2020, 1, 1))
'''


class ForkTestCase(base.ProjectTestCase):

    def modules(self, change, series):
        fork = self.mini.fork(series)
        return fork.modules_of(fork.project.change(change))

    def state(self, change, series):
        fork = self.mini.fork(series)
        return fork.state(fork.project.change(change))


class TestModules(ForkTestCase):

    def test_move(self):
        self.assertEqual({MANAGER: SHUT}, self.modules('bug-100', 'alpha'))

    def test_fixed_upstream(self):
        self.assertEqual({}, self.modules('bug-100', 'beta'))

    def test_builds_on_earlier_changes(self):
        """Two changes may edit one function."""
        expected = SHUT.replace(
            '        return self\n',
            "        self.log.append('done')\n        return self\n"
        ).replace('import collections\n',
                  'import collections\nimport datetime\n').replace(
            'from nova import water\n',
            'from nova import cup\nfrom nova import water\n').replace(
            '\n    def heat', POUR + '\n    def heat')
        self.assertEqual({MANAGER: expected},
                         self.modules('bug-200', 'alpha'))

    def test_no_edit_for_a_series_of_the_change(self):
        self.mini.replace(MANAGER, "'bug-100', ",
                          "'bug-100', series='beta', ")
        error = self.assertRaises(AnchorError, self.modules, 'bug-100',
                                  'alpha')
        self.assert_told(error, 'bug-100', 'alpha', '"fixes"')

    def test_pinned_but_not_fixed(self):
        self.mini.replace('changes/01-bug-100.toml', 'fixes = "alpha"\n', '')
        self.mini.replace('changes/01-bug-100.toml', 'beta..', '..')
        error = self.assertRaises(AnchorError, self.modules, 'bug-100',
                                  'alpha')
        self.assert_told(error, 'bug-100', 'alpha', 'not seen to have fixed')

    def test_no_such_file_in_a_release(self):
        self.mini.write('nova/kettle.py', 'from graft import edit\n\n\n'
                        '@edit(change="bug-200")\ndef boil(body): pass\n')
        error = self.assertRaises(AnchorError, self.modules, 'bug-200',
                                  'alpha')
        self.assert_told(error, 'alpha has no nova/kettle.py', 'Look where')

    def test_no_such_file_but_not_asked_for(self):
        self.mini.write('nova/kettle.py', 'from graft import edit\n\n\n'
                        '@edit(change="bug-200", series="beta")\n'
                        'def boil(body): pass\n')
        self.assertEqual([MANAGER], list(self.modules('bug-200', 'alpha')))

    def test_series_is_told_to_edits(self):
        self.mini.replace(MANAGER, 'body.insert("""',
                          'if body.series < "beta": body.insert("""')
        self.assertIn("'done'", self.modules('bug-200', 'alpha')[MANAGER])
        self.assertNotIn("'done'", self.modules('bug-200', 'beta')[MANAGER])

    def test_line_ends_of_windows(self):
        self.mini.release('1.0.0', miniature.ALPHA.replace('\n', '\r\n'))
        self.assertEqual({MANAGER: SHUT.replace('\n', '\r\n')},
                         self.modules('bug-100', 'alpha'))


@ddt.ddt
class TestState(ForkTestCase):

    @ddt.data(('bug-100', 'alpha', State.APPLIES),
              ('bug-100', 'beta', State.FIXED),
              ('bug-200', 'alpha', State.APPLIES),
              ('bug-200', 'beta', State.APPLIES))
    @ddt.unpack
    def test_as_it_is(self, change, series, state):
        self.assertIs(state, self.state(change, series))

    def test_unaffected(self):
        self.mini.replace('changes/02-bug-200.toml', 'alpha..', 'beta')
        self.assertIs(State.UNAFFECTED, self.state('bug-200', 'alpha'))

    def test_moved(self):
        self.mini.replace(MANAGER, "'self.heat(...)'", "'self.cool(...)'")
        self.assertIs(State.MOVED, self.state('bug-100', 'alpha'))

    def test_of_new_files_only(self):
        self.mini.write('changes/03-bug-300.toml',
                        'message = "New"\nfixes = "beta"\n'
                        'files = ["nova/new.py"]\n')
        self.assertIs(State.APPLIES, self.state('bug-300', 'beta'))


class TestContent(ForkTestCase):

    def content(self, change, series, **more):
        fork = self.mini.fork(series)
        return sorted(fork.content_of(fork.project.change(change), **more))

    def test_all(self):
        self.assertEqual(
            [MANAGER, 'nova/tests/test_bug_200.py',
             'nova/tests/test_own_200.py',
             'releasenotes/notes/pour-0123456789abcdef.yaml'],
            self.content('bug-200', 'alpha'))

    def test_for_others(self):
        self.assertNotIn('nova/tests/test_own_200.py',
                         self.content('bug-200', 'alpha', own=False))

    def test_for_stock(self):
        self.assertEqual(
            ['nova/tests/test_bug_200.py', 'nova/tests/test_own_200.py'],
            self.content('bug-200', 'alpha', fix=False))

    def test_no_note_where_upstream_has_fixed_it(self):
        self.assertEqual(['nova/tests/test_bug_100.py'],
                         self.content('bug-100', 'beta'))

    def test_never_hides_upstreams_files(self):
        self.mini.release('1.0.0', miniature.ALPHA,
                          **{'nova/tests/test_bug_200.py': ''})
        error = self.assertRaises(GraftError, self.content, 'bug-200',
                                  'alpha')
        self.assert_told(error, 'nova/tests/test_bug_200.py', 'alpha',
                         'another name')

    def test_file_that_is_not_there(self):
        (self.root / 'nova/tests/test_bug_200.py').unlink()
        error = self.assertRaises(GraftError, self.content, 'bug-200',
                                  'alpha')
        self.assert_told(error, 'nova/tests/test_bug_200.py', 'No such file')
