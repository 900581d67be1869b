# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import ddt

from graft import status
from graft.errors import GraftError
from graft.tests import base

TABLE = """\
| series | nova  | bug-100        | bug-200 |
|--------|-------|----------------|---------|
| alpha  | 1.0.0 | applies        | applies |
| beta   | 2.0.0 | fixed upstream | applies |
"""
PAGE = '# Title\n{begin}\n{table}{end}\nmore\n'.format(
    begin='<!-- graft status: begin -->', end='<!-- graft status: end -->',
    table='{}')


@ddt.ddt
class TestUpdate(base.TestCase):

    @ddt.data('', 'old\n', 'old\n\nolder\n')
    def test_between_its_marks(self, old):
        self.assertEqual(PAGE.format(TABLE),
                         status.update(PAGE.format(old), TABLE))

    def test_takes_the_table_as_it_is(self):
        self.assertEqual(PAGE.format('\\1 \\n\n'),
                         status.update(PAGE.format(''), '\\1 \\n\n'))

    def test_no_marks(self):
        self.assertRaises(GraftError, status.update, 'text', TABLE)


class TestCommand(base.ProjectTestCase):

    def setUp(self):
        super().setUp()
        self.page = self.folder / 'page.md'
        self.page.write_text(PAGE.format('old\n'))

    def test_table(self):
        self.assertEqual((0, TABLE, ''), self.graft('status'))

    def test_some_series(self):
        expected = TABLE.splitlines()
        code, out, err = self.graft('status', 'alder')
        self.assertEqual((0, ''), (code, err))
        self.assertEqual('| alpha  | 1.0.0 | applies | applies |',
                         out.splitlines()[-1])
        self.assertEqual(len(expected) - 1, len(out.splitlines()))

    def test_check(self):
        code, out, err = self.graft('status', '--check', self.page)
        self.assertEqual((1, ''), (code, out))
        self.assertIn(f'{self.page} does not show', err)
        self.assertIn(f'graft status --update {self.page}', err)
        self.assertEqual(PAGE.format('old\n'), self.page.read_text())

    def test_update(self):
        self.assertEqual((0, '', ''),
                         self.graft('status', '--update', self.page))
        self.assertEqual(PAGE.format(TABLE), self.page.read_text())
        self.assertEqual((0, '', ''),
                         self.graft('status', '--check', self.page))

    def test_anchor_moved(self):
        self.mini.replace(base.miniature.MANAGER, "'return self'",
                          "'return other'")
        code, out, err = self.graft('status', 'alpha')
        self.assertEqual(1, code)
        self.assertIn('anchor moved', out)
        self.assertIn('Kettle.boil (alpha): the anchor\n    return other', err)
        self.assertIn('line 45: return self', err)

    def test_no_such_page(self):
        for option in ('--check', '--update'):
            code, out, err = self.graft('status', option, self.folder / 'no')
            self.assertEqual((1, ''), (code, out))
            self.assertEqual(
                f'graft: {self.folder}/no: No such file or directory\n', err)
