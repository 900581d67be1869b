# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import os
import signal
import socket
import subprocess
import sys

from graft.errors import UnavailableError
from graft.release import Release
from graft.tests import base
from graft.tests import miniature


class TestRelease(base.ProjectTestCase):

    def get(self, name='alpha'):
        return Release.get(self.mini.project, self.mini.series(name))

    def test_kept_one_is_taken(self):
        self.patch_attribute('graft.release._download', None)
        self.assertEqual('nova-1.0.0-py3-none-any.whl', self.get().wheel.name)

    def test_read(self):
        self.assertEqual(miniature.ALPHA, self.get().read(miniature.MANAGER))
        self.assertIsNone(self.get().read('nova/none.py'))

    def test_unpack(self):
        self.get().unpack(self.folder)
        self.assertEqual(
            ['etc/nova/kettle.conf', 'nova-1.0.0.dist-info/METADATA',
             'nova-1.0.0.dist-info/RECORD', 'nova-1.0.0.dist-info/WHEEL',
             'nova/__init__.py', 'nova/compute/__init__.py',
             'nova/compute/manager.py', 'nova/cup.py',
             'nova/tests/__init__.py', 'nova/water.py'],
            sorted(base.files_of(self.folder)))
        self.assertEqual(miniature.ALPHA.encode(),
                         (self.folder / miniature.MANAGER).read_bytes())

    def test_date(self):
        self.assertEqual('2020-05-13 10:30:00 +0000', self.get().date)

    def test_broken_one(self):
        self.get().wheel.write_bytes(b'half of it')
        error = self.assertRaises(UnavailableError, self.get)
        self.assert_told(error, 'nova-1.0.0-py3-none-any.whl', 'no wheel',
                         'Remove it')


class TestDownload(base.ProjectTestCase):
    """By the real pip, which finds a folder, or nothing."""

    def setUp(self):
        super().setUp()
        self.kept = self.root / 'build' / 'releases'
        for path in self.kept.iterdir():
            path.unlink()
        self.set_variable('PIP_CONFIG_FILE', os.devnull)
        self.set_variable('PIP_NO_INDEX', '1')
        self.set_variable('PIP_RETRIES', '0')

    def get(self):
        return Release.get(self.mini.project, self.mini.series('beta'))

    def test_fetched_and_kept(self):
        miniature.write_wheel(
            self.folder, '2.0.0',
            miniature.release('2.0.0', miniature.BETA))
        self.set_variable('PIP_FIND_LINKS', str(self.folder))
        self.assertEqual(miniature.BETA, self.get().read(miniature.MANAGER))
        self.assertEqual(['nova-2.0.0-py3-none-any.whl'],
                         self.names_below(self.kept))

    def test_there_is_none(self):
        error = self.assertRaises(UnavailableError, self.get)
        self.assert_told(error, 'pip could not bring nova 2.0.0 (beta)',
                         'No matching distribution', 'in reach?')
        self.assertEqual([], self.names_below(self.kept))

    def test_no_network(self):
        with socket.socket() as closed:
            closed.bind(('127.0.0.1', 0))
            port = closed.getsockname()[1]
            self.set_variable('PIP_NO_INDEX', None)
            self.set_variable('PIP_INDEX_URL', f'http://127.0.0.1:{port}/')
            code, out, err = self.graft('checkout', 'beta')
        self.assertEqual((4, ''), (code, out))
        self.assertIn('graft: pip could not bring nova 2.0.0 (beta)', err)
        self.assertNotIn('Traceback', err)
        self.assertEqual([], self.names_below(self.kept))
        self.assertEqual(['releases'], self.names_below(self.root / 'build'))

    def test_no_pip(self):
        empty = self.folder / 'bin' / 'python'
        empty.parent.mkdir()
        empty.write_text(
            f'#!/bin/sh\nshift 2\nexec {sys.executable} -S -m pip "$@"\n')
        empty.chmod(0o755)
        self.patch_attribute('sys.executable', str(empty))
        error = self.assertRaises(UnavailableError, self.get)
        self.assert_told(error, 'pip could not bring', 'No module named pip')

    def test_interrupted(self):
        """Ctrl-C while pip waits for an index that does not answer."""
        with socket.socket() as silent:
            silent.bind(('127.0.0.1', 0))
            silent.listen()
            port = silent.getsockname()[1]
            self.set_variable('PIP_NO_INDEX', None)
            self.set_variable('PIP_INDEX_URL', f'http://127.0.0.1:{port}/')
            graft = self.start_graft('checkout', 'beta',
                                     start_new_session=True)
            silent.settimeout(60)
            silent.accept()
            os.killpg(graft.pid, signal.SIGINT)
            out, err = graft.communicate(timeout=60)
        self.assertEqual((130, ''), (graft.returncode, out))
        self.assertEqual('graft: interrupted; nothing half-made is left '
                         'behind\n', err)
        self.assertEqual([], self.names_below(self.kept))


class TestStart(base.TestCase):

    def test_help_needs_no_network_and_little_time(self):
        """Nothing heavy is imported before it is needed."""
        loaded = subprocess.run(
            [sys.executable, '-c', 'import graft.cli, sys; print('
             '[name for name in ("rich", "subunit", "testtools") '
             'if name in sys.modules])'],
            cwd=base.HERE, capture_output=True, text=True, check=True).stdout
        self.assertEqual('[]\n', loaded)
