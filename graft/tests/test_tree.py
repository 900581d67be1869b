# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import os
import signal

from graft.errors import AnchorError
from graft.errors import GraftError
from graft.git import Repository
from graft.tests import base
from graft.tests import miniature
from graft.tree import Tree

MANAGER = miniature.MANAGER


class TreeTestCase(base.ProjectTestCase):

    def tree(self, series='alpha', **more):
        return Tree(self.mini.fork(series), **more)

    def log(self, path, *words):
        return base.git(path, 'log', '--reverse', *words).splitlines()


class TestContent(TreeTestCase):

    def test_a_commit_for_the_release_and_each_change(self):
        path = self.tree().make()
        self.assertEqual(self.root / 'build' / 'alpha', path)
        self.assertEqual(
            ['nova 1.0.0', 'Shut the lid before it gets hot',
             'Pour what has been boiled'], self.log(path, '--format=%s'))
        self.assertEqual(
            ['nova-ledger|nova-ledger|2020-05-13T10:30:00+00:00|'
             '2020-05-13T10:30:00+00:00'] * 3,
            self.log(path, '--format=%an|%cn|%aI|%cI'))
        self.assertEqual('', base.git(path, 'status', '--porcelain',
                                      '--ignored'))
        self.assertEqual('alpha', base.git(path, 'branch', '--show-current'))

    def test_release_as_published(self):
        path = self.tree().make()
        for name in ('nova/water.py', MANAGER):
            self.assertEqual(
                self.mini.fork('alpha').release.read(name).strip(),
                base.git(path, 'show', f'release:{name}').strip())
        self.assertIn('etc/nova/kettle.conf', base.git(
            path, 'ls-tree', '-r', '--name-only', 'release').splitlines())

    def test_message_tests_and_note_in_one_commit(self):
        path = self.tree().make()
        commit = self.tree().commit_of(self.mini.project.change('bug-100'))
        self.assertEqual(
            ['nova/compute/manager.py', 'nova/tests/test_bug_100.py',
             'releasenotes/notes/lid-0123456789abcdef.yaml'],
            base.git(path, 'show', '--format=', '--name-only',
                     commit).splitlines())
        told = base.git(path, 'show', '--no-patch', '--format=%B', commit)
        self.assertIn('\n\nIt is as simple as that.\n\n'
                      'Closes-Bug: #100\nRelated-Bug: #99\nChange-Id: I', told)

    def test_fixed_upstream_brings_its_tests(self):
        path = self.tree('beta').make()
        commit = self.tree('beta').commit_of(
            self.mini.project.change('bug-100'))
        self.assertEqual('nova/tests/test_bug_100.py', base.git(
            path, 'show', '--format=', '--name-only', commit))

    def test_stock_has_tests_but_no_fix(self):
        path = self.tree(stock=True).make()
        self.assertEqual(self.root / 'build' / 'alpha-stock', path)
        self.assertEqual(miniature.ALPHA, (path / MANAGER).read_text())
        self.assertEqual(
            ['nova/tests/test_bug_100.py', 'nova/tests/test_bug_200.py',
             'nova/tests/test_own_200.py'],
            base.git(path, 'diff', '--name-only', 'release').splitlines())

    def test_no_commit_of_what_does_not_concern_it(self):
        self.mini.replace('changes/02-bug-200.toml', 'alpha..', 'beta')
        tree = self.tree()
        tree.make()
        error = self.assertRaises(GraftError, tree.commit_of,
                                  self.mini.project.change('bug-200'))
        self.assert_told(error, 'bug-200', 'alpha', '"not affected"')

    def test_two_changes_may_share_a_file(self):
        self.mini.replace('changes/01-bug-100.toml', 'tests = [',
                          'own_files = ["nova/tests/test_own_200.py"]\n'
                          'tests = [')
        for stock in (False, True):
            path = self.tree(stock=stock).make()
            self.assertEqual(3, len(self.log(path, '--format=%s')))
            self.assertTrue((path / 'nova/tests/test_own_200.py').exists())

    def test_no_commit_of_what_is_there_already(self):
        self.mini.replace(
            'changes/02-bug-200.toml',
            '    "nova/tests/test_bug_200.py",\n', '')
        self.mini.replace('changes/01-bug-100.toml', 'tests = [',
                          'own_files = ["nova/tests/test_own_200.py"]\n'
                          'tests = [')
        path = self.tree(stock=True).make()
        self.assertEqual(2, len(self.log(path, '--format=%s')))

    def test_ignore_rules_leave_nothing_out(self):
        self.mini.release('1.0.0', miniature.ALPHA,
                          **{'.gitignore': 'etc/\n*.py\n'})
        self.assertIn('etc/nova/kettle.conf', base.git(
            self.tree().make(), 'ls-files').splitlines())


class TestDeterminism(TreeTestCase):

    def ids(self, path):
        return self.log(path, '--format=%H')

    def test_anywhere_anytime_by_anyone(self):
        first = self.tree().make()
        hooks = self.folder / 'hooks'
        hooks.mkdir()
        (hooks / 'commit-msg').write_text('#!/bin/sh\necho x >> "$1"\n')
        (hooks / 'prepare-commit-msg').write_text(
            '#!/bin/sh\necho y >> "$1"\n')
        for hook in hooks.iterdir():
            hook.chmod(0o755)
        (self.home / 'template').write_text('Something else')
        (self.home / '.gitconfig').write_text(base.code(f"""
            [user]
                name = Someone Else
                email = someone@else
            [commit]
                gpgsign = true
                template = {self.home}/template
                verbose = true
            [core]
                autocrlf = true
                hooksPath = {hooks}
                excludesFile = {self.home}/ignored
                quotePath = false
                abbrev = 5
            [init]
                defaultBranch = other
                templateDir = {hooks}
            [i18n]
                commitEncoding = latin1
            [color]
                ui = always
            [log]
                showSignature = true
            """))
        (self.home / 'ignored').write_text('*.yaml\n')
        self.set_variable('GIT_AUTHOR_NAME', 'Another')
        self.set_variable('GIT_AUTHOR_DATE', '2001-01-01T00:00:00')
        self.set_variable('GIT_DIR', str(self.folder / 'none'))
        self.set_variable('GIT_INDEX_FILE', str(self.folder / 'index'))
        self.set_variable('TZ', 'Asia/Tokyo')
        self.addCleanup(os.umask, os.umask(0o077))
        second = self.tree(folder=self.folder / 'deep' / 'tree').make()
        self.set_variable('GIT_DIR', None)
        self.set_variable('GIT_INDEX_FILE', None)
        (self.home / '.gitconfig').unlink()
        self.assertEqual(self.ids(first), self.ids(second))
        self.assertEqual(base.files_of(first), base.files_of(second))

    def test_ids_are_for_good(self):
        """The same on every machine, with every git."""
        self.assertEqual(
            '665011e2026ffd5924e9015381e84bfff281e1fe',
            self.ids(self.tree().make())[-1])


class TestAgain(TreeTestCase):

    def setUp(self):
        super().setUp()
        self.path = self.tree().make()
        self.mark = self.path / '.git' / 'mark'
        self.mark.touch()

    def assert_made_anew(self):
        self.tree().make()
        self.assertFalse(self.mark.exists())
        self.assertEqual(['alpha', 'releases'],
                         self.names_below(self.root / 'build'))

    def assert_refused(self, *words):
        before = base.files_of(self.path)
        error = self.assertRaises(GraftError, self.tree().make)
        self.assert_told(error, str(self.path), *words)
        self.assertEqual(before, base.files_of(self.path))
        self.assertTrue(self.mark.exists())
        self.assertEqual(['alpha', 'releases'],
                         self.names_below(self.root / 'build'))

    def test_as_it_should_be(self):
        self.tree().make()
        self.assertTrue(self.mark.exists())

    def test_what_tests_leave_behind_does_not_matter(self):
        (self.path / 'nova/__pycache__').mkdir()
        (self.path / 'nova/__pycache__/a.pyc').touch()
        (self.path / '.stestr').mkdir()
        (self.path / '.stestr/0').touch()
        self.tree().make()
        self.assertTrue(self.mark.exists())

    def test_a_graft_has_changed(self):
        self.mini.replace(MANAGER, "'done'", "'ended'")
        self.assert_made_anew()
        self.assertIn("'ended'", (self.path / MANAGER).read_text())

    def test_a_message_has_changed(self):
        self.mini.replace('changes/02-bug-200.toml', 'little', 'no')
        self.assert_made_anew()

    def test_a_test_has_changed(self):
        self.mini.write('nova/tests/test_own_200.py', '')
        self.assert_made_anew()

    def test_a_file_has_another_name(self):
        old = self.root / 'nova/tests/test_own_200.py'
        old.rename(old.with_name('test_own_2.py'))
        self.mini.replace('changes/02-bug-200.toml',
                          'nova/tests/test_own_200.py',
                          'nova/tests/test_own_2.py')
        self.assert_made_anew()
        self.assertTrue((self.path / 'nova/tests/test_own_2.py').exists())

    def test_the_release_has_changed(self):
        self.mini.release('1.0.0', miniature.ALPHA.replace('cups', 'mugs', 1))
        self.assert_made_anew()

    def test_another_commit_is_checked_out(self):
        base.git(self.path, 'checkout', '--quiet', 'release')
        self.assert_made_anew()

    def test_a_changed_file(self):
        (self.path / 'nova/water.py').write_text('mine')
        self.assert_refused('work that graft did not make')

    def test_a_changed_file_of_a_stale_tree(self):
        self.mini.write('nova/tests/test_own_200.py', '')
        (self.path / 'nova/water.py').write_text('mine')
        self.assert_refused('work that graft did not make')

    def test_a_new_file(self):
        base.git(self.path, 'config', 'status.showUntrackedFiles', 'no')
        (self.path / 'nova/mine.py').touch()
        self.assert_refused('work that graft did not make')

    def test_a_commit_of_someone(self):
        base.git(self.path, '-c', 'user.name=me', '-c', 'user.email=m@e',
                 'commit', '--quiet', '--allow-empty', '--message=mine')
        base.git(self.path, 'branch', 'mine')
        base.git(self.path, 'reset', '--quiet', '--hard', 'HEAD~1')
        self.assert_refused('work that graft did not make')

    def test_another_folder(self):
        (self.path / '.git/graft').unlink()
        self.assert_refused('none of graft\'s', '--to')

    def test_a_file(self):
        there = self.folder / 'there'
        there.write_text('mine')
        error = self.assertRaises(GraftError,
                                  self.tree(folder=there).make)
        self.assert_told(error, str(there), 'none of graft\'s')
        self.assertEqual('mine', there.read_text())

    def test_no_place_for_it(self):
        (self.folder / 'file').touch()
        code, out, err = self.graft('checkout', '--to',
                                    self.folder / 'file' / 'tree')
        self.assertEqual(
            (1, '', f'graft: {self.folder}/file: File exists\n'),
            (code, out, err))


class TestInterrupted(TreeTestCase):

    def interrupt(self, at):
        """Interrupt at the commit of a number."""
        commit = Repository.commit
        count = []

        def interrupted(git, *words, **more):
            count.append(1)
            if len(count) == at:
                raise KeyboardInterrupt
            return commit(git, *words, **more)

        self.patch_attribute('graft.git.Repository.commit', interrupted)

    def test_nothing_is_left(self):
        self.interrupt(2)
        self.assertRaises(KeyboardInterrupt, self.tree().make)
        self.assertEqual(['releases'], self.names_below(self.root / 'build'))

    def test_the_tree_before_is_left(self):
        path = self.tree().make()
        before = base.files_of(path)
        self.mini.replace(MANAGER, "'done'", "'ended'")
        self.interrupt(3)
        self.assertRaises(KeyboardInterrupt, self.tree().make)
        self.assertEqual(before, base.files_of(path))
        self.assertEqual(['alpha', 'releases'],
                         self.names_below(self.root / 'build'))

    def test_command_says_so(self):
        self.interrupt(2)
        code, out, err = self.graft('checkout', 'alpha')
        self.assertEqual((130, ''), (code, out))
        self.assertIn('interrupted', err)

    def test_an_anchor_does_not_fit(self):
        self.mini.replace(MANAGER, "'return self'", "'return other'")
        error = self.assertRaises(AnchorError, self.tree().make)
        self.assert_told(error, MANAGER, 'Kettle.boil', 'return other',
                         'comes near', 'line 45: return self')
        self.assertEqual(['releases'], self.names_below(self.root / 'build'))

    def test_control_c(self):
        """The signal reaches graft and the git it runs, as from a shell."""
        gate = self.folder / 'gate'
        os.mkfifo(gate)
        bin = self.folder / 'bin'
        bin.mkdir()
        real = base.subprocess.run(
            ['which', 'git'], capture_output=True, text=True,
            check=True).stdout.strip()
        (bin / 'git').write_text(base.code(f"""
            #!/bin/sh
            case "$*" in
            commit*) echo here > {gate}; exec sleep 60;;
            esac
            exec {real} "$@"
            """))
        (bin / 'git').chmod(0o755)
        graft = self.start_graft(
            'checkout', 'alpha', start_new_session=True,
            env={**os.environ, 'PATH': f'{bin}:{os.environ["PATH"]}'})
        self.assertEqual('here\n', gate.read_text())
        os.killpg(graft.pid, signal.SIGINT)
        out, err = graft.communicate(timeout=30)
        self.assertEqual((130, ''), (graft.returncode, out))
        self.assertIn('graft: interrupted', err)
        self.assertNotIn('Traceback', err)
        self.assertEqual(['releases'], self.names_below(self.root / 'build'))


class TestCommand(TreeTestCase):

    def test_prints_the_path(self):
        code, out, err = self.graft('checkout', 'alder', '--to',
                                    self.folder / 'there')
        self.assertEqual((0, f'{self.folder}/there\n', ''), (code, out, err))
        self.assertTrue((self.folder / 'there' / MANAGER).is_file())

    def test_newest_by_default(self):
        self.assertEqual((0, f'{self.root}/build/beta-stock\n', ''),
                         self.graft('checkout', '--stock'))
