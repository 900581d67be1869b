# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import contextlib
import io

from graft.progress import Progress
from graft.tests import base


class Terminal(io.StringIO):

    def isatty(self):
        return True


class TestProgress(base.TestCase):

    def shown(self, stream, total=3):
        self.patch_attribute('sys.stderr', stream)
        self.set_variable('TERM', 'xterm')
        with Progress('looking', total) as progress:
            for _ in range(total):
                progress.advance()
        return stream.getvalue()

    def test_on_a_terminal(self):
        self.assertIn('looking', self.shown(Terminal()))

    def test_what_is_said_goes_out(self):
        for stream in (Terminal(), io.StringIO()):
            out = io.StringIO()
            self.patch_attribute('sys.stderr', stream)
            with (contextlib.redirect_stdout(out),
                  Progress('looking', 3) as progress):
                progress.say('seen')
                progress.advance()
            self.assertEqual('seen\n', out.getvalue())

    def test_not_in_a_pipe(self):
        self.assertEqual('', self.shown(io.StringIO()))

    def test_not_for_one_step(self):
        self.assertEqual('', self.shown(Terminal(), total=1))
