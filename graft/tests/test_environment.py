# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import os
import pathlib
import subprocess
import sys

import ddt

from graft import environment
from graft.errors import UnavailableError
from graft.series import Series
from graft.tests import base

HERE = f'{sys.version_info[0]}.{sys.version_info[1]}'


@ddt.ddt
class TestFindInterpreter(base.TestCase):

    def setUp(self):
        super().setUp()
        for name in ('PYENV_ROOT', 'XDG_DATA_HOME'):
            self.set_variable(name, None)
        self.bin = self.folder / 'bin'
        self.set_variable('PATH', str(self.bin))

    def interpreter(self, folder, version, says=None, code=0):
        """A program that answers as a Python would."""
        path = folder / f'python{version}'
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho {says or version}\nexit {code}\n')
        path.chmod(0o755)
        return path

    def find(self, *versions):
        series = Series('alpha', '1.0.0', 'alder', versions or ('3.8', '3.7'),
                        self.folder)
        return environment.find_interpreter(series)

    def test_on_the_path(self):
        path = self.interpreter(self.bin, '3.8')
        self.assertEqual(path, self.find())

    def test_best_first(self):
        self.interpreter(self.bin, '3.7')
        path = self.interpreter(self.bin, '3.8')
        self.assertEqual(path, self.find())

    def test_second_best(self):
        path = self.interpreter(self.bin, '3.7')
        self.assertEqual(path, self.find())

    @ddt.data({'code': 1}, {'says': '3.9'})
    def test_what_does_not_work_is_passed_over(self, how):
        """A pyenv shim stands on the path for each version it knows."""
        self.interpreter(self.bin, '3.8', **how)
        path = self.interpreter(self.folder / 'more', '3.8')
        self.set_variable('PATH', f'{self.bin}:{self.folder / "more"}')
        self.assertEqual(path, self.find())

    def test_what_is_no_program_is_passed_over(self):
        self.interpreter(self.bin, '3.8').chmod(0o644)
        (self.bin / 'python3.7').mkdir()
        self.assertRaises(UnavailableError, self.find)

    @ddt.data('.pyenv/versions/3.8.18/bin',
              '.local/share/uv/python/cpython-3.8.20-linux/bin')
    def test_where_tools_keep_theirs(self, place):
        path = self.interpreter(self.home / place, '3.8')
        self.assertEqual(path, self.find())

    def test_where_they_are_told_to(self):
        path = self.interpreter(self.folder / 'p/versions/3.8.1/bin', '3.8')
        self.set_variable('PYENV_ROOT', str(self.folder / 'p'))
        self.assertEqual(path, self.find())

    def test_none(self):
        error = self.assertRaises(UnavailableError, self.find)
        self.assert_told(
            error, 'alpha', '3.8 or 3.7', 'uv python install 3.8',
            'pyenv install 3.8', 'python3.8-venv')

    def test_none_and_too_old_for_uv(self):
        error = self.assertRaises(UnavailableError, self.find, '3.6')
        self.assert_told(error, 'pyenv install 3.6', 'python3.6-venv')
        self.assertNotIn('uv', error.hint.replace('pyenv', ''))


class TestFindUv(base.TestCase):

    def test_beside_the_interpreter(self):
        self.patch_attribute('sys.executable',
                             str(self.folder / 'python'))
        (self.folder / 'uv').touch()
        self.assertEqual(str(self.folder / 'uv'), environment.find_uv())

    def test_nowhere(self):
        self.patch_attribute('sys.executable', str(self.folder / 'python'))
        self.set_variable('PATH', str(self.folder))
        error = self.assertRaises(UnavailableError, environment.find_uv)
        self.assert_told(error, 'no uv', 'pip install uv')


class TestIndex(base.TestCase):

    def setUp(self):
        super().setUp()
        (self.home / '.config' / 'pip').mkdir(parents=True)

    def test_that_of_pips_variables(self):
        self.set_variable('PIP_INDEX_URL', 'https://example.org/a')
        self.assertEqual({'UV_DEFAULT_INDEX': 'https://example.org/a'},
                         environment._index())

    def test_that_of_pips_configuration(self):
        (self.home / '.config/pip/pip.conf').write_text(
            '[global]\nindex-url = https://example.org/b\n')
        self.assertEqual({'UV_DEFAULT_INDEX': 'https://example.org/b'},
                         environment._index())

    def test_that_of_uv(self):
        self.set_variable('PIP_INDEX_URL', 'https://example.org/a')
        self.set_variable('UV_DEFAULT_INDEX', 'https://example.org/c')
        self.assertEqual({}, environment._index())


class TestMake(base.ProjectTestCase):
    """With the real uv, which needs no network where nothing is pinned."""

    def setUp(self):
        super().setUp()
        self.set_variable('UV_OFFLINE', '1')
        self.set_variable('UV_NO_CACHE', '1')
        self.mini.write('series/alpha/constraints.txt', '')
        self.mini.write('series/alpha/series.toml',
                        f'nova = "1.0.0"\ncodename = "alder"\n'
                        f'python = ["{HERE}"]\nenvironment = {{A = "b"}}\n')
        interpreter = pathlib.Path(sys._base_executable)
        self.patch_attribute('graft.environment.find_interpreter',
                             lambda series: interpreter)
        self.patch_attribute('sys.stderr', base.io.StringIO())

    def environment(self, name='alpha'):
        return environment.Environment(self.mini.project,
                                       self.mini.series(name))

    def make(self):
        return self.environment().make()

    def test_made_once(self):
        one = self.make()
        self.assertEqual(self.root / 'build/env/alpha', one.path)
        mark = one.path / 'mark'
        mark.touch()
        self.make()
        self.assertTrue(mark.exists())

    def test_made_anew_for_other_pins(self):
        mark = self.make().path / 'mark'
        mark.touch()
        self.mini.write('series/alpha/constraints.txt', '# Other.\n')
        self.make()
        self.assertFalse(mark.exists())

    def test_half_of_it_is_made_anew(self):
        half = self.root / 'build/env/alpha/bin'
        half.mkdir(parents=True)
        (half / 'mark').touch()
        self.assertFalse((self.make().path / 'bin/mark').exists())

    def test_a_package_is_missing(self):
        self.mini.write('series/alpha/constraints.txt', 'oslo.water==1.0\n')
        error = self.assertRaises(UnavailableError, self.make)
        self.assert_told(error, 'alpha', 'oslo', 'in reach?')
        self.assertEqual([], self.names_below(self.root / 'build/env'))

    def test_run(self):
        one = self.make()
        tree = self.folder / 'tree'
        (tree / 'nova').mkdir(parents=True)
        (tree / 'nova/__init__.py').write_text('WHERE = "tree"\n')
        out = self.folder / 'out'
        with out.open('w') as file:
            code = one.run(
                ['python', '-c', 'import nova, os, sys; print(nova.WHERE, '
                 'os.environ["A"], os.environ["B"], sys.prefix);'
                 'sys.exit(7)'], tree, {'B': 'c'}, stdout=file)
        self.assertEqual(7, code)
        self.assertEqual(f'tree b c {one.path}\n', out.read_text())

    def test_run_what_is_not_there(self):
        error = self.assertRaises(UnavailableError, self.make().run,
                                  ['no-such-thing'], self.folder)
        self.assert_told(error, 'alpha', '"no-such-thing"')

    def test_command(self):
        tree = subprocess.run(
            [sys.executable, '-m', 'graft', '--root', self.root, 'run',
             'alpha', '--stock', '--', 'python', '-c',
             'import os; print(os.getcwd())'],
            env={**os.environ, 'PATH': os.pathsep.join((
                str(pathlib.Path(sys._base_executable).parent),
                os.environ['PATH']))},
            cwd=base.HERE, check=True, capture_output=True, text=True).stdout
        self.assertEqual(f'{self.root}/build/alpha-stock\n', tree)
