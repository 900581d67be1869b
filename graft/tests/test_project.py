# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import pathlib

from graft.errors import GraftError
from graft.errors import UsageError
from graft.project import Project
from graft.tests import base


class TestProject(base.ProjectTestCase):

    def test_found_from_within(self):
        self.assertEqual(self.root.resolve(),
                         Project.find(self.root / 'nova' / 'tests').root)

    def test_found_beside_graft(self):
        """So that an installed graft's own project is there anywhere."""
        self.addCleanup(base.os.chdir, pathlib.Path.cwd())
        base.os.chdir(self.folder)
        self.assertEqual(base.HERE, Project.find().root)

    def test_not_where_it_is_said_to_be(self):
        error = self.assertRaises(GraftError, Project.find, self.folder)
        self.assert_told(error, str(self.folder), '--root')

    def test_unknown_change(self):
        error = self.assertRaises(UsageError, self.mini.project.change,
                                  'bug-1')
        self.assert_told(error, 'no change "bug-1"',
                         'Known: bug-100, bug-200.')

    def test_change_of_a_bug(self):
        self.mini.replace('changes/01-bug-100.toml', '["100"]', '["77"]')
        project = self.mini.project
        self.assertIs(project.change('bug-100'), project.change('bug-77'))

    def test_grafts(self):
        project = self.mini.project
        self.assertEqual([base.miniature.MANAGER],
                         [one.path for one in project.mirrors])
        self.mini.write('nova/water.py', 'from graft import add\n\n\n'
                        '@add(change="bug-200")\ndef ice():\n    pass\n')
        project = self.mini.project
        self.assertEqual(
            [base.miniature.MANAGER],
            [one.path for one in project.mirrors_of(
                project.change('bug-100'))])
        self.assertEqual(
            [base.miniature.MANAGER, 'nova/water.py'],
            [one.path for one in project.mirrors_of(
                project.change('bug-200'))])

    def test_graft_of_a_change_that_is_not_there(self):
        self.mini.replace(base.miniature.MANAGER, 'bug-200', 'bug-20')
        error = self.assertRaises(GraftError,
                                  lambda: self.mini.project.mirrors)
        self.assert_told(error, base.miniature.MANAGER, '"bug-20"', 'bug-200')

    def test_ledger(self):
        self.assertEqual(7, self.mini.project.ledger)
        self.mini.write('pyproject.toml', '[tool.graft]\nledger = "x"\n')
        error = self.assertRaises(GraftError,
                                  lambda: self.mini.project.ledger)
        self.assert_told(error, 'pyproject.toml', 'ledger')

    def test_test_paths(self):
        self.assertEqual([], self.mini.project.test_paths)
        self.mini.write('pyproject.toml',
                        '[tool.graft]\nledger = 1\ntest_paths = ["a"]\n')
        self.assertEqual([self.root / 'a'], self.mini.project.test_paths)

    def test_build_elsewhere(self):
        self.assertEqual(self.root / 'build', self.mini.project.build)
        self.set_variable('GRAFT_BUILD', str(self.folder))
        self.assertEqual(self.folder, self.mini.project.build)

    def test_file_that_is_not_there(self):
        error = self.assertRaises(GraftError, self.mini.project.read, 'a/b')
        self.assert_told(error, 'a/b', 'No such file')


class TestThisProject(base.TestCase):
    """The project around these tests holds together."""

    def setUp(self):
        super().setUp()
        self.project = Project(base.HERE)

    def test_files_of_changes_are_there(self):
        for change in self.project.changes:
            for path in (*change.files, *change.own_files):
                self.assertIsInstance(self.project.read(path), bytes)

    def test_no_file_is_forgotten(self):
        """A file that is no graft belongs to a change, or goes nowhere."""
        named = {path for change in self.project.changes
                 for path in (*change.files, *change.own_files)}
        named |= {mirror.path for mirror in self.project.mirrors}
        there = {str(path.relative_to(base.HERE))
                 for path in (base.HERE / 'nova').rglob('*.*')
                 if path.is_file() and path.suffix != '.pyc'}
        self.assertEqual(set(), there - named)

    def test_tests_of_changes_are_among_their_files(self):
        for change in self.project.changes:
            modules = {path.removesuffix('.py').replace('/', '.')
                       for path in (*change.files, *change.own_files)}
            for test in change.tests:
                self.assertTrue(
                    any(f'{test}.'.startswith(f'{one}.') for one in modules),
                    test)

    def test_every_series_is_whole(self):
        for series in self.project.series:
            pins = series.constraints.read_text()
            self.assertIn('oslo', pins, series)
            self.assertTrue(series.python, series)

    def test_messages_fit_gerrit(self):
        for change in self.project.changes:
            self.assertLessEqual(len(change.subject), 72, change.name)
            for line in change.message.splitlines():
                self.assertLessEqual(len(line), 72, (change.name, line))
