# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import ast

from hypothesis import given
from hypothesis import strategies

from graft import text
from graft.errors import GraftError
from graft.tests import base
from graft.tests import miniature

LINES = strategies.lists(strategies.sampled_from(
    ['a = 1', '# größer', '', 'b = """', '"""', 'if a:\n    b()', 'c = "ü"']))


def parsed(source):
    """A Text, or None where the source is no Python."""
    try:
        return text.Text('m.py', source)
    except GraftError:
        return None


class TestSplices(base.TestCase):

    def spliced(self, source, *splices):
        module = text.Text('m.py', source)
        for splice in splices:
            module.splice(*splice)
        return module.spliced()

    @given(LINES, strategies.sampled_from(['\n', '\r\n']),
           strategies.booleans())
    def test_nothing_changes_without_splices(self, lines, end, ended):
        source = end.join(lines) + (end if ended else '')
        module = parsed(source)
        if module:
            self.assertEqual(source, module.spliced())

    @given(strategies.data())
    def test_other_lines_stay_as_they_are(self, data):
        lines = miniature.ALPHA.splitlines(keepends=True)
        marks = sorted(data.draw(strategies.lists(strategies.integers(
            1, len(lines) + 1), min_size=2, max_size=6, unique=True)))
        module = text.Text('m.py', miniature.ALPHA)
        kept, at = [], 1
        for first, last in zip(marks[::2], marks[1::2]):
            module.splice(first, last, '## ours\n')
            kept += lines[at - 1:first - 1] + ['## ours\n']
            at = last
        self.assertEqual(''.join(kept + lines[at - 1:]), module.spliced())

    def test_order_of_insertions_at_one_place_is_kept(self):
        self.assertEqual('a\nx\ny\nb\n', self.spliced(
            'a\nb\n', (2, 2, 'x\n'), (2, 2, 'y\n')))

    def test_insertion_before_what_is_replaced(self):
        self.assertEqual('x\nc\n', self.spliced(
            'a\n', (1, 2, 'c\n'), (1, 1, 'x\n')))

    def test_two_that_touch_the_same_lines(self):
        error = self.assertRaises(GraftError, self.spliced, 'a\nb\nc\n',
                                  (1, 3, ''), (2, 3, 'x\n'))
        self.assert_told(error, 'm.py', 'near line 2', 'one edit')

    def test_no_line_end_at_the_end(self):
        self.assertEqual('x\na', self.spliced('a', (1, 1, 'x\n')))
        self.assertEqual('a\nx\n', self.spliced('a', (2, 2, 'x\n')))
        self.assertEqual('a\n', self.spliced('a\nb', (2, 3, '')))

    def test_line_ends_of_windows(self):
        self.assertEqual('a\r\nx\r\ny\r\nb\r\n', self.spliced(
            'a\r\nb\r\n', (2, 2, 'x\ny\r\n')))

    def test_form_feed_is_no_line_end(self):
        self.assertEqual('a\n\x0c\nb\nx\nc\n', self.spliced(
            'a\n\x0c\nb\nc\n', (4, 4, 'x\n')))

    def test_offset_after_wide_characters(self):
        module = text.Text('m.py', 'a = "größer", b\n')
        node = module.tree.body[0].value.elts[1]
        start = module.offset(node.lineno, node.col_offset)
        self.assertEqual('b', module.source[start])

    def test_no_python(self):
        error = self.assertRaises(GraftError, text.Text, 'm.py', 'if:\n')
        self.assert_told(error, 'm.py', 'not Python')

    def test_old_escapes_make_no_noise(self):
        self.useFixture(base.fixtures.WarningsFilter(
            [{'action': 'error', 'category': DeprecationWarning},
             {'action': 'error', 'category': SyntaxWarning}]))
        self.assertEqual("'\\d'\n", text.Text('m.py', "'\\d'\n").spliced())


class TestStatements(base.TestCase):

    def module(self, source):
        self.text = text.Text('m.py', base.code(source))
        return self.text.tree.body

    def test_comments_above_belong_to_a_statement(self):
        one, two = self.module("""
            a = 1
            # About b,
            # at length.
            b = 2
            """)
        self.assertEqual(2, self.text.first_line(two))
        self.assertEqual(4, self.text.first_line(two, comments=False))

    def test_comment_of_the_block_before_does_not(self):
        one, two = self.module("""
            if a:
                b()
                # Nothing else to do.
            c()
            """)
        self.assertEqual(4, self.text.first_line(two))

    def test_decorators_do(self):
        function, = self.module("""
            # Why.
            @one
            @two(
                3)
            def f(): pass
            """)
        self.assertEqual(1, self.text.first_line(function))
        self.assertEqual(2, self.text.first_line(function, comments=False))

    def test_not_alone(self):
        first, second, block, fork, last = self.module("""
            a(); b()  # two
            if c: d()
            if e:
                f()
            elif g:
                h()  # with a comment
            i = '''
            '''  # ü
            """)
        self.assertIn('shares', self.text.not_alone([first]))
        self.assertIn('middle', self.text.not_alone([second]))
        self.assertEqual('', self.text.not_alone([first, second]))
        self.assertEqual('', self.text.not_alone([block]))
        self.assertIn('middle', self.text.not_alone(block.body))
        self.assertEqual('', self.text.not_alone([fork]))
        self.assertIn('elif', self.text.not_alone(fork.orelse))
        self.assertEqual('', self.text.not_alone(fork.orelse[0].body))
        self.assertEqual('', self.text.not_alone([last]))


class TestBlock(base.TestCase):

    def test_margin_and_first_line_end_go(self):
        self.assertEqual('if a:\n    b()\n', text.block('''
            if a:
                b()
            '''))

    def test_blank_line_at_the_end_stays(self):
        self.assertEqual('a()\n\n', text.block('''
            a()

            '''))

    def test_a_line_end_is_added(self):
        self.assertEqual('a()\n', text.block('a()'))


MARGINS = strategies.sampled_from(['', '    ', '        ', '\t'])


class TestReindent(base.TestCase):

    @given(MARGINS, MARGINS)
    def test_there_and_back(self, there, back):
        start = text.reindent(miniature.ALPHA, back)
        self.assertEqual(start, text.reindent(
            text.reindent(start, there, back), back, there))

    @given(MARGINS.filter(bool))
    def test_meaning_stays(self, indent):
        moved = 'if 1:\n' + text.reindent(miniature.ALPHA, indent)
        block = ast.parse(moved).body[0].body
        self.assertEqual(
            ast.dump(ast.parse(miniature.ALPHA)),
            ast.dump(ast.Module(body=block, type_ignores=[])))

    def test_inside_of_strings_stays(self):
        self.assertEqual('    a = """\n  b\n"""\n    c = 1\n', text.reindent(
            'a = """\n  b\n"""\nc = 1\n', '    '))
        self.assertEqual('    a = f"""\n  {b}\n"""\n    c = 1\n',
                         text.reindent(
                             'a = f"""\n  {b}\n"""\nc = 1\n', '    '))

    def test_strings_side_by_side_move(self):
        self.assertEqual("        a('b'\n          'c')\n", text.reindent(
            "    a('b'\n      'c')\n", '        ', '    '))

    def test_blank_lines_stay_blank(self):
        self.assertEqual('    a\n\n    b\n', text.reindent('a\n\nb\n', '    '))

    def test_comment_out_of_line_joins(self):
        self.assertEqual('        a\n        # b\n', text.reindent(
            '    a\n# b\n', '        ', '    '))

    def test_fragment(self):
        self.assertEqual('    else:\n        a(\n', text.reindent(
            'else:\n    a(\n', '    '))
