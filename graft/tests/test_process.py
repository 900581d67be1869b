# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import sys

from graft import process
from graft.errors import GraftError
from graft.tests import base


class TestRun(base.TestCase):

    def python(self, code, **more):
        return process.run([sys.executable, '-c', code], **more)

    def test_output(self):
        self.assertEqual('ü\n', self.python('print("\\u00fc")', env={
            'PYTHONIOENCODING': 'utf-8'}))

    def test_input(self):
        self.assertEqual('ü', self.python(
            'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())',
            stdin='ü'))

    def test_variables(self):
        self.set_variable('GRAFT_A', 'a')
        self.set_variable('GRAFT_B', 'b')
        code = 'import os; print([os.environ.get("GRAFT_" + name) ' \
               'for name in "ABC"])'
        self.assertEqual("[None, 'b', 'c']\n", self.python(
            code, env={'GRAFT_A': None, 'GRAFT_C': 'c'}))

    def test_failure_in_its_own_words(self):
        error = self.assertRaises(GraftError, self.python,
                                  'raise SystemExit("so it is")')
        self.assert_told(error, 'python', '(1)', '    so it is')

    def test_no_such_program(self):
        error = self.assertRaises(GraftError, process.run, ['no-such-thing'])
        self.assert_told(error, 'no program no-such-thing', 'Install')
