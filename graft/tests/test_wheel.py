# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import base64
import csv
import hashlib
import os
import stat
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

from graft import pep517
from graft.environment import find_uv
from graft.tests import base
from graft.tests import miniature
from graft.wheel import Wheel

INFO = 'nova-1.0.0+ledger.7.dist-info'


class WheelTestCase(base.ProjectTestCase):

    def wheel(self, series='alpha', folder=None):
        return Wheel(self.mini.fork(series)).write(
            folder or self.folder / 'dist')

    def install(self, source):
        """Install by uv and return the path of the interpreter."""
        place = self.folder / 'env'
        subprocess.run([sys.executable, '-m', 'venv', '--without-pip', place],
                       check=True)
        subprocess.run(
            [find_uv(), 'pip', 'install', '--offline', '--no-deps', '--quiet',
             '--no-cache', '--python', place / 'bin/python', source],
            check=True)
        return place / 'bin' / 'python'


class TestWheel(WheelTestCase):

    def test_name_and_version(self):
        path = self.wheel()
        self.assertEqual('nova-1.0.0+ledger.7-py3-none-any.whl', path.name)
        with zipfile.ZipFile(path) as archive:
            metadata = archive.read(f'{INFO}/METADATA').decode()
        self.assertIn('\nVersion: 1.0.0+ledger.7\n', metadata)
        # The description stays as it is.
        self.assertTrue(metadata.endswith('\n\nVersion: 1.0.0\nis what this '
                                          'is about.\n'))

    def test_content(self):
        with zipfile.ZipFile(self.wheel()) as archive:
            self.assertEqual(
                ['nova-1.0.0+ledger.7.data/data/etc/nova/kettle.conf',
                 'nova-1.0.0+ledger.7.data/scripts/kettle',
                 f'{INFO}/METADATA', f'{INFO}/RECORD', f'{INFO}/WHEEL',
                 'nova/__init__.py', 'nova/compute/__init__.py',
                 'nova/compute/manager.py', 'nova/cup.py',
                 'nova/tests/__init__.py', 'nova/tests/test_bug_100.py',
                 'nova/tests/test_bug_200.py', 'nova/water.py'],
                sorted(archive.namelist()))
            fork = self.mini.fork('alpha')
            modules = fork.modules_of(fork.project.change('bug-200'))
            self.assertEqual(modules[miniature.MANAGER].encode(),
                             archive.read(miniature.MANAGER))

    def test_record(self):
        with zipfile.ZipFile(self.wheel()) as archive:
            self.assertEqual(f'{INFO}/RECORD', archive.namelist()[-1])
            rows = list(csv.reader(
                archive.read(f'{INFO}/RECORD').decode().splitlines()))
            self.assertEqual(sorted(archive.namelist()),
                             sorted(path for path, _, _ in rows))
            for path, digest, size in rows[:-1]:
                data = archive.read(path)
                kind, _, told = digest.partition('=')
                self.assertEqual(
                    hashlib.new(kind, data).digest(),
                    base64.urlsafe_b64decode(told + '=' * (-len(told) % 4)))
                self.assertEqual(len(data), int(size))
            self.assertEqual([f'{INFO}/RECORD', '', ''], rows[-1])

    def test_same_bytes_anywhere(self):
        first = self.wheel()
        self.addCleanup(os.umask, os.umask(0o077))
        self.set_variable('TZ', 'Asia/Tokyo')
        second = self.wheel(folder=self.folder / 'other')
        self.assertEqual(first.read_bytes(), second.read_bytes())
        self.assertEqual(0o644, stat.S_IMODE(second.stat().st_mode))

    def test_interrupted(self):
        self.patch_attribute('graft.wheel._info', self.interrupt)
        self.assertRaises(KeyboardInterrupt, self.wheel)
        self.assertEqual([], self.names_below(self.folder / 'dist'))

    @staticmethod
    def interrupt(path):
        raise KeyboardInterrupt

    def test_installs_and_works(self):
        python = self.install(self.wheel())
        said = subprocess.run(
            [python, '-c', 'from importlib import metadata;'
             'from nova.compute import manager;'
             'print(metadata.version("nova"), manager.Kettle(1).pour())'],
            cwd=self.folder, check=True, capture_output=True, text=True)
        self.assertEqual('1.0.0+ledger.7 cup of water\n', said.stdout)
        self.assertTrue((self.folder / 'env/etc/nova/kettle.conf').is_file())
        self.assertTrue(os.access(self.folder / 'env/bin/kettle', os.X_OK))

    def test_command(self):
        self.assertEqual(
            (0, f'{self.root}/dist/nova-2.0.0+ledger.7-py3-none-any.whl\n',
             ''), self.graft('build'))
        self.assertEqual(
            (0, f'{self.folder}/d/nova-1.0.0+ledger.7-py3-none-any.whl\n',
             ''), self.graft('build', 'alpha', '--to', self.folder / 'd'))


class TestPEP517(WheelTestCase):

    def setUp(self):
        super().setUp()

        class Here:
            find = staticmethod(lambda start: self.mini.project)

        self.patch_attribute('graft.pep517.Project', Here)

    def test_wheel_of_the_newest(self):
        name = pep517.build_wheel(str(self.folder))
        self.assertEqual('nova-2.0.0+ledger.7-py3-none-any.whl', name)
        self.assertEqual(self.wheel('beta').read_bytes(),
                         (self.folder / name).read_bytes())

    def test_wheel_of_another(self):
        self.assertEqual(
            'nova-1.0.0+ledger.7-py3-none-any.whl',
            pep517.build_wheel(str(self.folder), {'series': 'alpha'}))
        self.set_variable('GRAFT_SERIES', 'alder')
        self.assertEqual('nova-1.0.0+ledger.7-py3-none-any.whl',
                         pep517.build_wheel(str(self.folder)))

    def test_metadata(self):
        self.set_variable('GRAFT_SERIES', 'alpha')
        self.assertEqual(INFO, pep517.prepare_metadata_for_build_wheel(
            str(self.folder)))
        self.assertEqual(['METADATA', 'WHEEL'],
                         self.names_below(self.folder / INFO))
        self.assertIn('\nVersion: 1.0.0+ledger.7\n',
                      (self.folder / INFO / 'METADATA').read_text())

    def test_sdist(self):
        base.git(self.root, 'init', '--quiet')
        base.git(self.root, 'add', 'changes', 'series')
        name = pep517.build_sdist(str(self.folder))
        self.assertEqual('nova-2.0.0+ledger.7.tar.gz', name)
        with tarfile.open(self.folder / name) as archive:
            self.assertEqual(
                {f'nova-2.0.0+ledger.7/{path}' for path in (
                    'PKG-INFO', 'changes/01-bug-100.toml',
                    'changes/02-bug-200.toml', 'series/alpha/constraints.txt',
                    'series/alpha/series.toml', 'series/beta/constraints.txt',
                    'series/beta/series.toml')}, set(archive.getnames()))

    def test_unknown_series(self):
        error = self.assertRaises(SystemExit, pep517.build_wheel,
                                  str(self.folder), {'series': 'gamma'})
        self.assertIn('graft: There is no series "gamma".', str(error))

    def test_installed_from_source(self):
        """``pip install .`` in a checkout, as it stands in the README."""
        for path in (base.HERE / 'graft').glob('*.py'):
            self.mini.write(f'graft/{path.name}', path.read_text())
        text = (base.HERE / 'pyproject.toml').read_text()
        self.mini.write('pyproject.toml', text.replace(
            'requires = ["pip", "tomli; python_version < \'3.11\'"]',
            'requires = []'))
        # For tomli, which Python 3.10 needs and which can't be fetched.
        self.set_variable('PYTHONPATH', sysconfig.get_path('purelib'))
        python = self.install(self.root)
        said = subprocess.run(
            [python, '-c', 'from importlib import metadata;'
             'print(metadata.version("nova"))'],
            cwd=self.folder, check=True, capture_output=True, text=True)
        self.assertEqual(
            f'2.0.0+ledger.{self.mini.project.ledger}\n', said.stdout)
