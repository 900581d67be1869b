# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import ddt

from graft.errors import AnchorError
from graft.errors import GraftError
from graft.errors import UsageError
from graft.git import Repository
from graft.review import Review
from graft.tests import base
from graft.tests import miniature

MANAGER = miniature.MANAGER


class ReviewTestCase(base.ProjectTestCase):

    def setUp(self):
        super().setUp()
        (self.home / '.gitconfig').write_text(base.code("""
            [user]
                name = Zoë Reviewer
                email = zoe@example.org
            [init]
                defaultBranch = master
            """))
        self.clone = self.folder / 'clone'
        self.clone.mkdir()
        base.git(self.clone, 'init', '--quiet')
        self.fill('beta')
        self.branch('stable/alder')
        self.fill('alpha')

    def fill(self, series):
        """Commit what a branch of a series holds."""
        for path, text in miniature.release(
                '0', miniature.ALPHA if series == 'alpha'
                else miniature.BETA).items():
            if path.startswith('nova/'):
                target = self.clone / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
        base.git(self.clone, 'add', '--all')
        base.git(self.clone, 'commit', '--quiet', f'--message={series}')

    def branch(self, name):
        base.git(self.clone, 'checkout', '--quiet', '-b', name)

    def review(self, change='bug-100', *words, clone=None):
        project = self.mini.project
        return Review(project, project.change(change), Repository(
            clone or self.clone)).commit(*words)

    def refused(self, *words, kind=GraftError, told=()):
        """That a review is refused and the clone is as it was."""
        before = self.snapshot()
        error = self.assertRaises(kind, self.review, *words)
        self.assert_told(error, *told)
        self.assertEqual(before, self.snapshot())
        return error

    def snapshot(self):
        return (base.files_of(self.clone),
                base.git(self.clone, 'status', '--porcelain'),
                base.git(self.clone, 'rev-parse', 'HEAD'))

    def show(self, *words):
        return base.git(self.clone, 'show', *words)


class TestCommit(ReviewTestCase):

    def test_message(self):
        commit = self.review()
        change = self.mini.project.change('bug-100')
        self.assertEqual(commit, base.git(self.clone, 'rev-parse', 'HEAD'))
        self.assertEqual(
            f'{change.message}\n'
            f'Closes-Bug: #100\n'
            f'Related-Bug: #99\n'
            f'Change-Id: {change.change_id}\n'
            f'Signed-off-by: Zoë Reviewer <zoe@example.org>',
            self.show('--no-patch', '--format=%B').strip())
        self.assertEqual('Zoë Reviewer <zoe@example.org>', self.show(
            '--no-patch', '--format=%an <%ae>'))

    def test_content(self):
        self.review()
        self.assertEqual(
            [MANAGER, 'nova/tests/test_bug_100.py',
             'releasenotes/notes/lid-0123456789abcdef.yaml'],
            self.show('--name-only', '--format=').splitlines())
        fork = self.mini.fork('alpha')
        self.assertEqual(
            fork.modules_of(fork.project.change('bug-100'))[MANAGER],
            (self.clone / MANAGER).read_text())
        self.assertEqual('', base.git(self.clone, 'status', '--porcelain'))

    def test_one_change_without_those_before(self):
        self.review('bug-200')
        text = (self.clone / MANAGER).read_text()
        self.assertIn('def pour', text)
        self.assertNotIn("'shut'\n\n        self.heat", text)
        self.assertNotIn('nova/tests/test_own_200.py',
                         self.show('--name-only', '--format='))

    def test_one_on_the_other(self):
        self.review('bug-100')
        self.review('bug-200')
        fork = self.mini.fork('alpha')
        self.assertEqual(
            fork.modules_of(fork.project.change('bug-200'))[MANAGER],
            (self.clone / MANAGER).read_text())

    def test_branch_ahead_of_the_release(self):
        path = self.clone / MANAGER
        path.write_text(path.read_text().replace(
            'MAX = 3', 'MAX = 4').replace('def tea', 'def coffee'))
        base.git(self.clone, 'commit', '--all', '--quiet', '--message=more')
        self.review()
        self.assertIn('MAX = 4', path.read_text())

    def test_line_ends_of_windows(self):
        """A clone with core.autocrlf shows no more than the change."""
        base.git(self.clone, 'config', 'core.autocrlf', 'true')
        path = self.clone / MANAGER
        path.unlink()
        base.git(self.clone, 'checkout', '--', MANAGER)
        self.assertIn(b'\r\n', path.read_bytes())
        self.review()
        self.assertIn('3 insertions(+), 3 deletions(-)', self.show(
            '--shortstat', '--format=', '--', MANAGER))
        self.assertNotIn(b'\n', path.read_bytes().replace(b'\r\n', b''))

    def test_graft_within_a_hook(self):
        """git tells hooks of its own repository by variables."""
        self.set_variable('GIT_DIR', str(self.folder / 'other'))
        self.set_variable('GIT_INDEX_FILE', str(self.folder / 'index'))
        self.review()
        self.set_variable('GIT_DIR', None)
        self.set_variable('GIT_INDEX_FILE', None)
        self.assertEqual('Shut the lid before it gets hot',
                         self.show('--no-patch', '--format=%s'))


@ddt.ddt
class TestSeries(ReviewTestCase):

    @ddt.data('stable/alpha', 'unmaintained/alder', 'stable/1')
    def test_by_the_branch(self, name):
        self.branch(name)
        self.review()

    def test_by_what_the_branch_follows(self):
        other = self.folder / 'other'
        base.git(self.folder, 'clone', '--quiet', self.clone, other)
        base.git(other, 'checkout', '--quiet', '--track', '-b', 'topic',
                 'origin/stable/alder')
        self.review('bug-100', clone=other)
        base.git(other, 'checkout', '--quiet', '--track', '-b', 'bugfix/1',
                 'origin/master')
        self.review('bug-200', clone=other)

    def test_master_is_the_newest(self):
        base.git(self.clone, 'checkout', '--quiet', 'master')
        self.refused('bug-100', told=('Upstream has fixed bug-100',))
        self.review('bug-200')

    @ddt.data('topic', 'feature/alpha')
    def test_not_told(self, name):
        self.branch(name)
        self.refused(kind=UsageError, told=('--series',))
        self.review('bug-100', 'alder')

    def test_no_branch(self):
        base.git(self.clone, 'checkout', '--quiet', '--detach')
        self.refused(kind=UsageError, told=('--series',))

    def test_unknown(self):
        self.refused('bug-100', 'gamma', kind=UsageError,
                     told=('"gamma"', 'Known: alpha, beta.'))
        self.branch('stable/gamma')
        self.refused(kind=UsageError, told=('"gamma"', 'Known: alpha, beta.'))

    def test_not_concerned(self):
        self.mini.replace('changes/02-bug-200.toml', 'alpha..', 'beta')
        self.refused('bug-200', told=('bug-200 does not concern alpha',))


@ddt.ddt
class TestRefused(ReviewTestCase):

    def test_no_clone(self):
        for folder in (self.folder, self.folder / 'none'):
            error = self.assertRaises(UsageError, self.review, clone=folder)
            self.assert_told(error, str(folder), 'no git clone')

    def test_no_clone_of_nova(self):
        other = self.folder / 'other'
        other.mkdir()
        base.git(other, 'init', '--quiet')
        error = self.assertRaises(UsageError, self.review, clone=other)
        self.assert_told(error, str(other), 'no clone of Nova', MANAGER)

    def test_changed_file(self):
        (self.clone / 'nova/water.py').write_text('mine')
        self.refused(told=('not committed', 'stash'))

    def test_staged_file(self):
        (self.clone / 'nova/water.py').write_text('mine')
        base.git(self.clone, 'add', '--all')
        self.refused(told=('not committed',))

    @ddt.data('normal', 'no')
    def test_new_file(self, shown):
        base.git(self.clone, 'config', 'status.showUntrackedFiles', shown)
        (self.clone / 'mine').touch()
        self.refused(told=('not committed',))

    def test_there_already(self):
        self.review()
        self.refused(told=('bug-100 is on this branch already',))

    def test_anchor_does_not_fit(self):
        path = self.clone / MANAGER
        path.write_text(path.read_text().replace('self.heat(w', 'self.hot(w'))
        base.git(self.clone, 'commit', '--all', '--quiet', '--message=more')
        self.refused(kind=AnchorError, told=(
            MANAGER, 'Kettle.boil', 'self.heat(...)', 'matches nothing',
            'line 39: self.hot(water', 'mend the anchor'))

    def test_file_is_there_already(self):
        (self.clone / 'nova/tests/test_bug_100.py').touch()
        base.git(self.clone, 'add', '--all')
        base.git(self.clone, 'commit', '--quiet', '--message=more')
        self.refused(told=('nova/tests/test_bug_100.py', 'there already'))

    @ddt.data('name', 'email')
    def test_nobody(self, what):
        base.git(self.folder, 'config', '--global', '--unset', f'user.{what}')
        self.refused(told=('who you are', 'user.name', 'Signed-off-by'))

    def test_git_will_not_commit(self):
        base.git(self.clone, 'config', 'commit.gpgSign', 'true')
        base.git(self.clone, 'config', 'gpg.program', 'false')
        ignored = self.clone / 'ignored'
        (self.clone / '.git/info/exclude').write_text('ignored\n')
        ignored.write_text('mine')
        self.refused(told=('git commit failed', 'gpg'))
        self.assertEqual('mine', ignored.read_text())

    def test_interrupted(self):
        write = Repository.git

        def interrupted(git, *words, **more):
            if words[0] == 'commit':
                raise KeyboardInterrupt
            return write(git, *words, **more)

        self.patch_attribute('graft.git.Repository.git', interrupted)
        self.refused(kind=KeyboardInterrupt)


class TestBackport(ReviewTestCase):

    def setUp(self):
        super().setUp()
        base.git(self.clone, 'checkout', '--quiet', 'master')
        self.first = self.review('bug-200')
        base.git(self.clone, 'checkout', '--quiet', 'stable/alder')

    def picked(self):
        return [line for line in self.show(
            '--no-patch', '--format=%B').splitlines() if 'cherry' in line]

    def test_noted(self):
        self.review('bug-200', '', 'master')
        self.assertEqual([f'(cherry picked from commit {self.first})'],
                         self.picked())

    def test_carries_earlier_ones(self):
        second = self.review('bug-200', '', 'master')
        base.git(self.clone, 'checkout', '--quiet', '-b', 'older',
                 'stable/alder~1')
        third = self.review('bug-200', 'alpha', second[:10])
        self.assertNotEqual(second, third)
        self.assertEqual([f'(cherry picked from commit {self.first})',
                          f'(cherry picked from commit {second})'],
                         self.picked())

    def test_same_change_id(self):
        self.review('bug-200', '', 'master')
        line, = (line for line in self.show(
            '--no-patch', '--format=%B').splitlines()
            if line.startswith('Change-Id'))
        self.assertIn(line, self.show('--no-patch', '--format=%B',
                                      self.first).splitlines())

    def test_no_such_commit(self):
        self.refused('bug-200', '', 'nowhere', kind=UsageError,
                     told=('no commit "nowhere"',))

    def test_another_change(self):
        self.refused('bug-100', '', 'master', kind=UsageError,
                     told=('master is not a commit of bug-100',))


class TestCommand(ReviewTestCase):

    def test_prints_the_commit(self):
        code, out, err = self.graft('review', 'bug-100', self.clone)
        self.assertEqual((0, ''), (code, err))
        self.assertEqual(base.git(self.clone, 'rev-parse', 'HEAD'),
                         out.strip())

    def test_options(self):
        self.branch('topic')
        code, out, err = self.graft('review', 'bug-100', self.clone,
                                    '--series', 'alpha',
                                    '--backport-of', 'none')
        self.assertEqual((2, '', 'graft: There is no commit "none" in the '
                                 'clone.\n'), (code, out, err))
