# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import os
import signal
import subprocess
import sys

import ddt

from graft.tests import base
from graft.tests import miniature

COMMANDS = ('status', 'checkout', 'build', 'diff', 'review', 'export',
            'prove', 'test', 'run')


@ddt.ddt
class TestBadInput(base.ProjectTestCase):
    """A clear message and an exit code; nothing is written."""

    def setUp(self):
        super().setUp()
        self.before = base.files_of(self.root)

    def assert_refused(self, code, *words, told=()):
        got, out, err = self.graft(*words)
        self.assertEqual((code, ''), (got, out), err)
        for word in told:
            self.assertIn(word, err)
        self.assertNotIn('Traceback', err)
        self.assertEqual(self.before, base.files_of(self.root))

    @ddt.data(
        ('checkout', 'gamma'), ('build', 'gamma'), ('export', 'gamma'),
        ('status', 'gamma'), ('diff', 'bug-100', 'gamma'),
        ('prove', 'bug-100', 'gamma'), ('test', 'gamma'),
        ('run', 'gamma', '--', 'true'), ('status', 'alpha..gamma'))
    def test_unknown_series(self, words):
        self.assert_refused(2, *words, told=(
            'graft: There is no series "gamma".\nKnown: alpha, beta.\n',))

    @ddt.data(('diff', 'bug-1'), ('prove', 'bug-1'), ('review', 'bug-1', '.'))
    def test_unknown_change(self, words):
        self.assert_refused(2, *words, told=(
            'graft: There is no change "bug-1".\n'
            'Known: bug-100, bug-200.\n',))

    @ddt.data((), ('grow',), ('diff',), ('review', 'bug-100'),
              ('export', '--format', 'zip'), ('checkout', '--stok'))
    def test_what_argparse_refuses(self, words):
        self.assert_refused(2, *words, told=('usage: graft', 'error'))

    def test_range_the_wrong_way_round(self):
        self.assert_refused(2, 'status', 'beta..alpha', told=('comes after',))

    def test_no_program_to_run(self):
        self.assert_refused(2, 'run', 'alpha', told=('no program', '"--"'))

    def test_no_clone(self):
        self.assert_refused(2, 'review', 'bug-100', self.folder,
                            told=(str(self.folder), 'no git clone'))

    def test_no_project(self):
        self.assert_refused(1, '--root', self.folder, 'status',
                            told=(str(self.folder), '--root'))

    def test_anchor_does_not_fit(self):
        self.mini.replace(miniature.MANAGER, "'return self'",
                          "'return other'")
        self.before = base.files_of(self.root)
        for words in (('checkout', 'alpha'), ('build', 'alpha'),
                      ('export', 'alpha'), ('diff', 'bug-200', 'alpha')):
            self.assert_refused(3, *words, told=(
                miniature.MANAGER, 'Kettle.boil', 'return other'))

    def test_graft_is_no_python(self):
        self.mini.write(miniature.MANAGER, 'from graft import edit\nif')
        self.before = base.files_of(self.root)
        self.assert_refused(1, 'checkout', told=(miniature.MANAGER,
                                                 'not Python'))

    def test_file_where_a_folder_should_be(self):
        (self.folder / 'file').touch()
        self.assert_refused(1, 'build', '--to', self.folder / 'file/x',
                            told=(f'graft: {self.folder}/file/x: Not a',))

    @ddt.data('file', 'file/x')
    def test_export_to_a_file(self, place):
        (self.folder / 'file').write_text('mine')
        code, out, err = self.graft('export', '--to', self.folder / place)
        self.assertEqual((1, ''), (code, out))
        self.assertIn(f'graft: {self.folder}/file', err)
        self.assertEqual('mine', (self.folder / 'file').read_text())


@ddt.ddt
class TestHelp(base.TestCase):

    def help(self, *words):
        return subprocess.run(
            [sys.executable, '-m', 'graft', *words, '--help'], cwd=base.HERE,
            env={**os.environ, 'COLUMNS': '79'}, check=True,
            capture_output=True, text=True).stdout

    def test_names_all_commands(self):
        said = self.help()
        for command in COMMANDS:
            self.assertRegex(said, rf'\n    {command} +\w')

    @ddt.data(*COMMANDS)
    def test_each(self, command):
        said = self.help(command)
        _, _, description = said.partition('\n\n')
        self.assertRegex(description, r'^[A-Z].*\.')
        self.assertNotIn(' nova\n', description.lower().replace(
            ' of nova\n', ''))
        # Every word and option is told of.
        for line in said.splitlines():
            self.assertLessEqual(len(line), 79)
            self.assertNotRegex(line, r'^  (\w+|--[\w-]+ [A-Z]+)$')

    def test_keeps_names_as_they_are(self):
        self.assertIn('clone of Nova', self.help('review'))


class TestOutput(base.ProjectTestCase):

    def test_diff(self):
        code, out, err = self.graft('diff', 'bug-100', 'alpha')
        self.assertEqual((0, ''), (code, err))
        self.assertTrue(out.startswith('Shut the lid before it gets hot\n'))
        for line in (' nova/compute/manager.py ', '-        self.heat(water',
                     '+        self.heat(water', '+        self.assertIn'):
            self.assertIn(f'\n{line}', out)

    def test_diff_is_what_a_review_holds(self):
        code, out, err = self.graft('diff', 'bug-200', 'alpha')
        self.assertEqual((0, ''), (code, err))
        self.assertIn('nova/tests/test_bug_200.py', out)
        self.assertNotIn('test_own_200', out)

    def test_diff_of_what_is_not_there(self):
        self.mini.replace('changes/01-bug-100.toml', 'beta..', '')
        code, out, err = self.graft('diff', 'bug-100', 'beta')
        self.assertEqual((1, ''), (code, out))
        self.assertIn('"not affected"', err)

    def test_reader_goes_away(self):
        """As in ``graft diff … | head -1``."""
        with open(self.folder / 'big', 'w') as file:
            file.write('x = 1\n' * 100000)
        self.mini.write('nova/tests/test_bug_100.py',
                        (self.folder / 'big').read_text())
        graft = self.start_graft('diff', 'bug-100', 'alpha')
        graft.stdout.readline()
        graft.stdout.close()
        err = graft.stderr.read()
        graft.stderr.close()
        self.assertEqual((1, ''), (graft.wait(timeout=60), err))

    def test_reader_was_never_there(self):
        """What is short is written at the end only."""
        reading, writing = os.pipe()
        os.close(reading)
        graft = subprocess.run(
            [sys.executable, '-m', 'graft', '--root', self.root, 'status'],
            cwd=base.HERE, stdout=writing, stderr=subprocess.PIPE, text=True,
            timeout=60)
        os.close(writing)
        self.assertEqual((1, ''), (graft.returncode, graft.stderr))

    def test_words_for_another_program(self):
        """What comes after ``--`` is not graft's, a second ``--`` too."""
        from graft import cli
        self.assertEqual((['run'], ['a', '--', '--help']),
                         cli._split(['run', '--', 'a', '--', '--help']))
        self.assertEqual((['run', 'a'], []), cli._split(['run', 'a']))


class TestTest(base.ProjectTestCase):
    """``graft test``, up to the suite it would run."""

    def setUp(self):
        super().setUp()
        ran = self.ran = []

        class Environment:
            def __init__(self, project, series):
                self.series = series

            def make(self):
                return self

        class Suite:
            def __init__(self, environment, tree, names):
                ran.append((str(environment.series), tree.name, names))

            def run(self, words):
                ran.append(words)
                return 5

        self.patch_attribute('graft.cli.Environment', Environment)
        self.patch_attribute('graft.cli.Suite', Suite)

    def test_of_all_changes(self):
        code, out, err = self.graft('test', 'alpha')
        self.assertEqual((5, '', ''), (code, out, err))
        self.assertEqual(
            [('alpha', 'alpha',
              ['nova.tests.test_bug_100', 'nova.tests.test_bug_200',
               'nova.tests.test_own_200']), []], self.ran)

    def test_some_on_stock(self):
        self.graft('test', 'alpha', 'nova.tests.test_a', '--stock', '--', 'x')
        self.assertEqual(
            [('alpha', 'alpha-stock', ['nova.tests.test_a']), ['x']],
            self.ran)

    def test_upstreams(self):
        code, out, err = self.graft('test', 'alpha', '--upstream')
        self.assertEqual((2, ''), (code, out))
        self.assertIn('No change has tests for alpha', err)
        self.mini.replace('changes/01-bug-100.toml', 'tests = [',
                          'upstream_tests = ["nova.tests.a", "nova.tests.b"]'
                          '\ntests = [')
        self.mini.release('1.0.0', miniature.ALPHA,
                          **{'nova/tests/a.py': '# Tests.\n'})
        self.assertEqual((5, '', ''),
                         self.graft('test', 'alpha', '--upstream'))
        self.assertEqual(('alpha', 'alpha', ['nova.tests.a']), self.ran[0])


class TestSignals(base.ProjectTestCase):

    def test_interrupted_while_pip_is_started(self):
        gate = self.folder / 'gate'
        os.mkfifo(gate)
        for path in (self.root / 'build/releases').iterdir():
            path.unlink()
        graft = self.start_graft(
            'build', 'alpha', start_new_session=True, env={
                **os.environ, 'PIP_CONFIG_FILE': str(gate)})
        # pip waits for someone to write its configuration.
        with gate.open('w'):
            os.killpg(graft.pid, signal.SIGINT)
            out, err = graft.communicate(timeout=60)
        self.assertEqual((130, ''), (graft.returncode, out))
        self.assertIn('graft: interrupted', err)
        self.assertEqual([], self.names_below(self.root / 'build/releases'))
        self.assertFalse((self.root / 'dist').exists())
