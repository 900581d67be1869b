# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What graft's tests have in common."""
from __future__ import annotations

import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import fixtures
import hypothesis
import testtools

from graft import cli
from graft.series import Series
from graft.tests import miniature

# The same examples in every run, and no time limit on a busy machine.
hypothesis.settings.register_profile(
    'graft', derandomize=True, database=None, deadline=None, max_examples=60)
hypothesis.settings.load_profile('graft')

#: The checkout that graft is run from.
HERE = pathlib.Path(__file__).parents[2]

ALPHA = Series('alpha', '1.0.0', 'alder', ('3.11',), pathlib.Path('alpha'))


class TestCase(testtools.TestCase):
    """A test with a home and a folder of its own."""

    def setUp(self):
        super().setUp()
        for name in list(os.environ):
            if name.startswith(('GIT_', 'GRAFT_', 'PIP_', 'UV_')):
                self.set_variable(name, None)
        self.home = pathlib.Path(
            self.useFixture(fixtures.TempHomeDir()).path)
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def set_variable(self, name, value):
        self.useFixture(fixtures.EnvironmentVariable(name, value))

    def patch_attribute(self, name, value):
        self.useFixture(fixtures.MonkeyPatch(name, value))

    def assert_told(self, error, *words):
        """That an error's message tells of all that matters."""
        for word in words:
            self.assertIn(word, str(error))


class ProjectTestCase(TestCase):
    """A test in the miniature project."""

    def setUp(self):
        super().setUp()
        self.mini = self.useFixture(miniature.Miniature())
        self.root = self.mini.root

    def graft(self, *words):
        """Run a command of graft; its exit code, output and errors."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = cli.main(['--root', str(self.root), *map(str, words)])
            except SystemExit as error:
                code = error.code
        return code, out.getvalue(), err.getvalue()

    def start_graft(self, *words, **more):
        """Start graft in a process of its own."""
        return subprocess.Popen(
            [sys.executable, '-m', 'graft', '--root', str(self.root),
             *map(str, words)],
            cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, preexec_fn=_heed_interrupts, **more)

    def names_below(self, folder):
        """The names of what is in a folder, none where there is none."""
        return (sorted(path.name for path in folder.iterdir())
                if folder.exists() else [])


def _heed_interrupts():
    # Whoever is run in the background is made to ignore them.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def git(folder, *words, stdin=None):
    """Run git as a user would."""
    return subprocess.run(
        ['git', *map(str, words)], cwd=folder, check=True, input=stdin,
        capture_output=True, text=True).stdout.removesuffix('\n')


def files_of(folder):
    """The files of a tree and what is in them, git's own left out."""
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob('*'))
            if path.is_file() and '.git' not in path.parts}


def code(text):
    """A module's text, written with the margin of the test around it."""
    return textwrap.dedent(text).lstrip('\n')
