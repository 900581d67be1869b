# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import shutil
import subprocess

from graft import export
from graft.errors import GraftError
from graft.errors import UsageError
from graft.tests import base
from graft.tests import miniature
from graft.tree import Tree


class TestExport(base.ProjectTestCase):

    def setUp(self):
        super().setUp()
        self.patches = self.folder / 'out' / 'patches'

    def export(self, kind, series='alpha', **more):
        return [path.name for path in export.export(
            Tree(self.mini.fork(series)), kind, self.patches, **more)]

    def unpacked(self, series='alpha'):
        """A release as a packager has it: without git."""
        folder = self.folder / 'package'
        folder.mkdir()
        self.mini.fork(series).release.unpack(folder)
        return folder

    def expected(self, series='alpha'):
        """What the fork is, less what is for it alone."""
        files = base.files_of(Tree(self.mini.fork(series)).make())
        del files['nova/tests/test_own_200.py']
        return files

    @staticmethod
    def below_nova(files):
        return {path: text for path, text in files.items()
                if path.startswith('nova/')}

    def test_quilt_by_patch(self):
        self.assertEqual(['bug-100.patch', 'bug-200.patch', 'series'],
                         self.export('quilt'))
        self.assertEqual(['bug-100.patch', 'bug-200.patch', 'series'],
                         self.names_below(self.patches))
        folder = self.unpacked()
        for name in (self.patches / 'series').read_text().splitlines():
            subprocess.run(['patch', '-p1', '--fuzz=0', '--silent',
                            '--input', self.patches / name],
                           cwd=folder, check=True)
        self.assertEqual(self.expected(), base.files_of(folder))

    def test_quilt_header(self):
        self.export('quilt')
        text = (self.patches / 'bug-100.patch').read_text()
        self.assertTrue(text.startswith(base.code("""
            Description: Shut the lid before it gets hot
             The lid is shut once the water boils; out goes the steam. Shut
             it first – as anyone would.
             .
             It is as simple as that.
            Author: nova-ledger contributors
            Origin: other, nova-ledger
            Forwarded: not-needed
            Bug: https://bugs.launchpad.net/nova/+bug/100
            ---
            diff --git a/nova/compute/manager.py b/nova/compute/manager.py
            """)), text)

    def test_format_patch_by_git_am(self):
        self.assertEqual(['0001-Shut-the-lid-before-it-gets-hot.patch',
                          '0002-Pour-what-has-been-boiled.patch'],
                         self.export('format-patch'))
        folder = self.unpacked()
        base.git(folder, 'init', '--quiet')
        (self.home / '.gitconfig').write_text(
            '[user]\nname = packager\nemail = p@ckag.er\n')
        base.git(folder, 'add', '--all', '--force')
        base.git(folder, 'commit', '--quiet', '--message=release')
        base.git(folder, 'am', '--quiet',
                 *sorted(self.patches.glob('*.patch')))
        self.assertEqual(self.expected(), base.files_of(folder))
        tree = Tree(self.mini.fork('alpha'))
        self.assertEqual(
            base.git(tree.path, 'log', '-2', '--format=%an %aI %B'),
            base.git(folder, 'log', '-2', '--format=%an %aI %B'))

    def test_kolla_as_its_images_apply_it(self):
        self.assertEqual(
            ['bug-100.patch', 'bug-200.patch', 'series'],
            self.export('kolla', site_packages='/opt/venv/lib/site-packages'))
        below = self.patches / 'nova-base'
        self.assertEqual(['nova-base'], self.names_below(self.patches))
        image = self.folder / 'image'
        site = image / 'opt' / 'venv' / 'lib' / 'site-packages'
        site.mkdir(parents=True)
        self.mini.fork('alpha').release.unpack(site)
        # The options are kolla's.
        for name in (below / 'series').read_text().splitlines():
            subprocess.run(['patch', '-p0', '--fuzz=0', '--ignore-whitespace',
                            '--silent', '--input', below / name],
                           cwd=image, check=True)
        self.assertEqual(self.below_nova(self.expected()),
                         self.below_nova(base.files_of(site)))
        self.assertNotEqual([], list(site.glob('nova/tests/test_bug_*')))

    def test_kolla_wants_to_know_where(self):
        error = self.assertRaises(UsageError, self.export, 'kolla')
        self.assert_told(error, '--site-packages', '/var/lib/kolla/')
        for path in ('relative/path', '/with space', '/', '/up/../../x y'):
            error = self.assertRaises(UsageError, self.export, 'kolla',
                                      site_packages=path)
            self.assert_told(error, path, 'absolute')
        self.assertFalse(self.patches.exists())

    def test_bundle_by_git_clone(self):
        [name] = self.export('bundle')
        fork = self.mini.fork('alpha')
        self.assertEqual(f'nova-{fork.version}.bundle', name)
        folder = self.folder / 'clone'
        base.git(self.folder, 'clone', '--quiet', '--branch', 'ledger/alpha',
                 str(self.patches / name), str(folder))
        tree = Tree(fork)
        self.assertEqual(base.git(tree.path, 'rev-parse', 'HEAD'),
                         base.git(folder, 'rev-parse', 'HEAD'))
        self.assertEqual(base.files_of(tree.path), base.files_of(folder))
        self.assertEqual('', base.git(tree.path, 'branch', '--list',
                                      'ledger/*'))

    def test_same_bytes_again(self):
        self.export('format-patch')
        first = base.files_of(self.patches)
        shutil.rmtree(self.patches)
        shutil.rmtree(self.root / 'build' / 'alpha')
        (self.home / '.gitconfig').write_text(
            '[diff]\nnoprefix = true\nalgorithm = histogram\n'
            '[format]\nsignOff = true\nnumbered = true\n')
        self.export('format-patch')
        self.assertEqual(first, base.files_of(self.patches))

    def test_line_ends_of_windows(self):
        self.mini.release('1.0.0', miniature.ALPHA.replace('\n', '\r\n'))
        self.export('quilt')
        folder = self.unpacked()
        for name in ('bug-100.patch', 'bug-200.patch'):
            subprocess.run(['patch', '-p1', '--binary', '--silent', '--input',
                            self.patches / name], cwd=folder, check=True)
        self.assertEqual(self.expected(), base.files_of(folder))

    def test_folder_is_in_use(self):
        self.patches.mkdir(parents=True)
        (self.patches / 'mine').touch()
        error = self.assertRaises(GraftError, self.export, 'quilt')
        self.assert_told(error, str(self.patches), 'not empty', 'Name')
        self.assertEqual(['mine'], self.names_below(self.patches))

    def test_empty_folder_is_taken(self):
        self.patches.mkdir(parents=True)
        self.export('quilt')
        self.assertEqual(3, len(self.names_below(self.patches)))

    def test_nothing_to_export(self):
        for name in ('01-bug-100', '02-bug-200'):
            self.mini.write(f'changes/{name}.toml', 'message = "None"\n')
        error = self.assertRaises(GraftError, self.export, 'quilt')
        self.assert_told(error, 'alpha')
        self.assertFalse(self.patches.exists())

    def test_interrupted(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        self.patch_attribute('graft.export._to_quilt', interrupt)
        self.assertRaises(KeyboardInterrupt, self.export, 'quilt')
        self.assertEqual([], self.names_below(self.patches.parent))

    def test_command(self):
        self.assertEqual(
            (0, ''.join(f'{self.root}/patches/beta/{name}\n' for name in (
                'bug-100.patch', 'bug-200.patch', 'series')), ''),
            self.graft('export'))
