# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import ddt

from graft.errors import GraftError
from graft.errors import UsageError
from graft.tests import base


@ddt.ddt
class TestChange(base.ProjectTestCase):

    def changes(self):
        return self.mini.project.changes

    def test_reads_all(self):
        change = self.mini.project.change('bug-100')
        self.assertEqual('bug-100', change.name)
        self.assertEqual('Shut the lid before it gets hot', change.subject)
        self.assertTrue(change.message.endswith('simple as that.\n'))
        self.assertEqual(('100',), change.bugs)
        self.assertEqual(('99',), change.related)
        self.assertEqual(['alpha'], list(map(str, change.fixes)))
        self.assertEqual(['beta'], list(map(str, change.pins)))
        self.assertEqual(('nova.tests.test_bug_100',), change.tests)
        self.assertEqual((), change.own_files)

    def test_order_is_that_of_the_files(self):
        self.mini.write('changes/00-bug-300.toml', 'message = "First"\n')
        self.assertEqual(['bug-300', 'bug-100', 'bug-200'],
                         [one.name for one in self.mini.project.changes])

    def test_change_id_is_for_good(self):
        """It must not change: Gerrit knows the reviews by it."""
        change = self.mini.project.change('bug-100')
        self.assertEqual('I1a29d6c51a12c7684b7b7250e1426a3d1e726134',
                         change.change_id)

    def test_concerns(self):
        self.mini.replace('changes/01-bug-100.toml', 'beta..', '')
        change = self.mini.project.change('bug-100')
        self.assertTrue(change.concerns(self.mini.series('alpha')))
        self.assertFalse(change.concerns(self.mini.series('beta')))

    @ddt.data(
        ('bugs = ["100"]', 'bugs = "100"', '"bugs" is no list'),
        ('bugs = ["100"]', 'bugs = [100]', '"bugs" is no list'),
        ('bugs = ["100"]', 'bug = ["100"]', '"bug"'),
        ('bugs = ["100"]', 'name = ["100"]', '"name"'),
        ('fixes = "alpha"', 'fixes = ["alpha"]', '"fixes" is no string'),
        ('fixes = "alpha"', 'fixes = ', 'not TOML'))
    @ddt.unpack
    def test_wrong(self, old, new, word):
        self.mini.replace('changes/01-bug-100.toml', old, new)
        error = self.assertRaises(GraftError, self.changes)
        self.assert_told(error, '01-bug-100.toml', word)

    def test_no_message(self):
        self.mini.write('changes/03-bug-300.toml', 'bugs = []\n')
        error = self.assertRaises(GraftError, self.changes)
        self.assert_told(error, '03-bug-300.toml', 'no "message"')

    def test_unknown_series(self):
        self.mini.replace('changes/01-bug-100.toml', '"alpha"', '"alfa"')
        error = self.assertRaises(UsageError, self.changes)
        self.assert_told(error, '01-bug-100.toml', '"alfa"', 'alpha, beta')
