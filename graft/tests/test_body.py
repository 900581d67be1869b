# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import ast

import ddt
from hypothesis import given
from hypothesis import strategies

from graft import body
from graft import text
from graft.errors import AnchorError
from graft.errors import GraftError
from graft.tests import base
from graft.tests import miniature


class BodyTestCase(base.TestCase):

    def body_of(self, source):
        """The body of the first function of a module."""
        self.text = text.Text('nova/m.py', base.code(source))
        function = next(node for node in ast.walk(self.text.tree)
                        if isinstance(node, body.Function))
        return body.Body(self.text, function, 'C.f', base.ALPHA)

    def assert_becomes(self, expected):
        result = self.text.spliced()
        ast.parse(result)
        self.assertEqual(base.code(expected), result)


class TestInsert(BodyTestCase):

    def test_before_its_comments(self):
        self.body_of("""
            def f():
                a()
                # About b.
                b()
            """).insert('new()', before='b()')
        self.assert_becomes("""
            def f():
                a()
                new()
                # About b.
                b()
            """)

    def test_after_all_of_it(self):
        self.body_of("""
            def f():
                a(1,
                  2)  # far

                b()
            """).insert('new()', after='a(...)')
        self.assert_becomes("""
            def f():
                a(1,
                  2)  # far
                new()

                b()
            """)

    def test_block_at_its_depth(self):
        self.body_of("""
            def f():
                if a:
                    b()
            """).insert('''
                if new:
                    there('is'
                          'more')

                ''', before='b()')
        self.assert_becomes("""
            def f():
                if a:
                    if new:
                        there('is'
                              'more')

                    b()
            """)

    def test_comment_alone(self):
        self.body_of("""
            def f():
                a()
            """).insert('# Why.', before='a()')
        self.assert_becomes("""
            def f():
                # Why.
                a()
            """)

    def test_at_an_end_without_line_end(self):
        one = self.body_of('def f():\n    a()')
        one.insert('new()', after='a()')
        self.assertEqual('def f():\n    a()\n    new()\n',
                         self.text.spliced())

    def test_in_nested_functions(self):
        self.body_of("""
            def f():
                class C:
                    async def g(self):
                        await a()
            """).insert('new()', after='await a()')
        self.assert_becomes("""
            def f():
                class C:
                    async def g(self):
                        await a()
                        new()
            """)

    def test_among_tabs(self):
        self.body_of('def f():\n\tif a:\n\t\tb()\n').insert(
            'if new:\n    c()', before='b()')
        self.assertEqual(
            'def f():\n\tif a:\n\t\tif new:\n\t\t    c()\n\t\tb()\n',
            self.text.spliced())
        ast.parse(self.text.spliced())

    def test_neither_or_both_places(self):
        one = self.body_of('def f():\n    a()\n')
        for places in ({}, {'before': 'a()', 'after': 'a()'}):
            error = self.assertRaises(GraftError, one.insert, 'b()', **places)
            self.assert_told(error, 'nova/m.py', 'C.f', 'before=', 'after=')


class TestReplace(BodyTestCase):

    def test_expression_only(self):
        self.body_of("""
            def f():
                größe = [ü.a( 1 ), b ]   # odd
            """).replace('....a(...)', 'c.d')
        self.assert_becomes("""
            def f():
                größe = [c.d, b ]   # odd
            """)

    def test_expression_of_several_lines(self):
        self.body_of("""
            def f():
                a = b(1)
            """).replace('b(1)', '''
                c('d'
                  'e')
                ''')
        self.assert_becomes("""
            def f():
                a = c('d'
                      'e')
            """)

    def test_expression_in_an_elif(self):
        self.body_of("""
            def f():
                if a:
                    b()
                elif c:
                    d()
            """).replace('c', 'c and e')
        self.assert_becomes("""
            def f():
                if a:
                    b()
                elif c and e:
                    d()
            """)

    def test_statement_of_an_expression(self):
        self.body_of("""
            def f():
                # About a.
                a = b.c(1)
            """).replace('....c(...)', 'a = d\nreturn a')
        self.assert_becomes("""
            def f():
                # About a.
                a = d
                return a
            """)

    def test_statement_and_comment(self):
        self.body_of("""
            def f():
                # About a.
                a = 1
            """).replace('a = 1', 'a = 2', comment=True)
        self.assert_becomes("""
            def f():
                a = 2
            """)

    def test_in_a_string_with_braces(self):
        one = self.body_of("""
            def f():
                return f'ü {a.b} c'
            """)
        one.replace('a.b', 'd')
        self.assert_becomes("""
            def f():
                return f'ü {d} c'
            """)


class TestRemove(BodyTestCase):

    def test_with_comments(self):
        self.body_of("""
            def f():
                a()
                # About b.
                b()
                c()
            """).remove('b()')
        self.assert_becomes("""
            def f():
                a()
                c()
            """)

    def test_paragraph(self):
        self.body_of("""
            def f():
                a()

                b()
                c()

                d()
            """).remove('b()', 'c()')
        self.assert_becomes("""
            def f():
                a()

                d()
            """)

    def test_the_only_one_of_a_block(self):
        self.body_of("""
            def f():
                if a:
                    b()
            """).remove('b()')
        self.assertRaises(SyntaxError, ast.parse, self.text.spliced())


class TestMove(BodyTestCase):

    def test_with_comments_and_order(self):
        self.body_of("""
            def f():
                a()
                # About b.
                b(1,
                  2)
                x()
                c()
                d()
            """).move('c()', 'b(...)', after='d()')
        self.assert_becomes("""
            def f():
                a()
                x()
                d()
                c()
                # About b.
                b(1,
                  2)
            """)

    def test_paragraph_stays_one(self):
        self.body_of("""
            def f():
                a()

                # About b.
                b()
                c()

                d()
                e()
            """).move('b()', 'c()', before='e()')
        self.assert_becomes("""
            def f():
                a()

                d()
                # About b.
                b()
                c()

                e()
            """)

    def test_to_another_depth(self):
        self.body_of("""
            def f():
                if a:
                    b('c'
                      'd', '''
              e''')
                    x()
                g()
            """).move('b(...)', before='g()')
        self.assert_becomes("""
            def f():
                if a:
                    x()
                b('c'
                  'd', '''
              e''')
                g()
            """)

    def test_away_from_an_end_without_line_end(self):
        one = self.body_of('def f():\n    a()\n    b()')
        one.move('b()', before='a()')
        self.assertEqual('def f():\n    b()\n    a()\n', self.text.spliced())

    def test_into_itself(self):
        one = self.body_of("""
            def f():
                if a:
                    b()
                    c()
            """)
        one.move('if a: ...', before='c()')
        error = self.assertRaises(GraftError, self.text.spliced)
        self.assert_told(error, 'nova/m.py', 'two edits')


class TestWrap(BodyTestCase):

    def test_several(self):
        self.body_of("""
            def f():
                # About a.
                a()

                b('c'
                  'd')
                e()
            """).wrap('a()', code='''
                with new:
                    ...
                ''')
        self.assert_becomes("""
            def f():
                with new:
                    # About a.
                    a()

                b('c'
                  'd')
                e()
            """)

    def test_those_that_follow(self):
        self.body_of("""
            def f():
                a()
                b('c'
                  'd')
                e()
            """).wrap('a()', 'b(...)', code='''
                try:
                    ...
                finally:
                    g()
                ''')
        self.assert_becomes("""
            def f():
                try:
                    a()
                    b('c'
                      'd')
                finally:
                    g()
                e()
            """)

    def test_those_apart(self):
        one = self.body_of("""
            def f():
                a()
                b()
                c()
            """)
        error = self.assertRaises(GraftError, one.wrap, 'a()', 'c()',
                                  code='if 1:\n    ...')
        self.assert_told(error, 'nova/m.py', 'C.f', 'line 2', 'line 4',
                         'follow')


@ddt.ddt
class TestAnchors(BodyTestCase):

    SOURCE = """
        def f():
            a = first(1)
            a = second(1)
            x(); y()
            if p: q()
            if r:
                s()
            elif t:
                u()
        """

    def test_none(self):
        one = self.body_of(self.SOURCE)
        error = self.assertRaises(AnchorError, one.remove, 'a = first(2)')
        self.assert_told(error, 'nova/m.py', 'C.f', 'alpha', 'a = first(2)',
                         'nothing', 'line 2: a = first(1)', 'mend the anchor')

    def test_nothing_near(self):
        one = self.body_of(self.SOURCE)
        error = self.assertRaises(AnchorError, one.remove, 'völlig.anders')
        self.assert_told(error, 'nova/m.py', 'C.f', 'völlig.anders',
                         'nothing comes near', 'Look where')

    def test_several(self):
        one = self.body_of(self.SOURCE)
        error = self.assertRaises(AnchorError, one.remove, 'a = ...')
        self.assert_told(error, 'nova/m.py', 'C.f', 'a = ...', 'more than',
                         'line 2: a = first(1)', 'line 3: a = second(1)',
                         'Say more')

    def test_of_several_lines_is_quoted_whole(self):
        one = self.body_of(self.SOURCE)
        error = self.assertRaises(AnchorError, one.remove, 'a = 1\nb = 2')
        self.assert_told(error, '    a = 1\n    b = 2\n')

    @ddt.data('x()', 'y()', 'q()', 'if t: ...')
    def test_no_line_of_its_own(self, anchor):
        for act in (lambda one: one.remove(anchor),
                    lambda one: one.insert('new()', before=anchor),
                    lambda one: one.insert('new()', after=anchor),
                    lambda one: one.move(anchor, before='a = first(1)'),
                    lambda one: one.replace(anchor, 'a = 1\nb = 2'),
                    lambda one: one.wrap(anchor, code='if 1:\n    ...')):
            one = self.body_of(self.SOURCE)
            error = self.assertRaises(AnchorError, act, one)
            self.assert_told(error, 'nova/m.py', 'C.f', anchor, 'line ')
            self.assertEqual(base.code(self.SOURCE), self.text.spliced())

    def test_no_pattern(self):
        one = self.body_of(self.SOURCE)
        for anchor in ('a =', '...', ''):
            error = self.assertRaises(GraftError, one.remove, anchor)
            self.assert_told(error, 'nova/m.py', 'C.f', repr(anchor),
                             'not a pattern')

    def test_has(self):
        one = self.body_of(self.SOURCE)
        self.assertTrue(one.has('a = ...'))
        self.assertFalse(one.has('b = ...'))

    def test_series(self):
        one = self.body_of(self.SOURCE)
        self.assertIs(base.ALPHA, one.series)


class TestLayout(BodyTestCase):

    ANCHORS = ("self.log.append('asked')", "self.lid = 'open'",
               'if self.cups > MAX: ...', 'self.heat(...)',
               "self.lid = 'shut'", 'return self')

    @given(strategies.sampled_from(ANCHORS), strategies.sampled_from(ANCHORS),
           strategies.sampled_from(['before', 'after']))
    def test_a_move_changes_no_line(self, anchor, place, side):
        """Lines go elsewhere as they are; nothing else is touched."""
        if anchor == place:
            return
        module = text.Text(miniature.MANAGER, miniature.ALPHA)
        function = next(node for node in ast.walk(module.tree)
                        if getattr(node, 'name', '') == 'boil')
        body.Body(module, function, 'Kettle.boil', base.ALPHA).move(
            anchor, **{side: place})
        before = miniature.ALPHA.splitlines()
        after = module.spliced().splitlines()
        self.assertEqual(sorted(filter(None, before)),
                         sorted(filter(None, after)))
        # What is above and below the function stands where it stood.
        start, end = function.lineno, len(before) - function.end_lineno
        self.assertEqual(before[:start], after[:start])
        self.assertEqual(before[-end:], after[-end:])

    def test_nothing_else_changes(self):
        module = text.Text(miniature.MANAGER, miniature.ALPHA)
        function = next(node for node in ast.walk(module.tree)
                        if getattr(node, 'name', '') == 'boil')
        one = body.Body(module, function, 'Kettle.boil', base.ALPHA)
        one.move("self.lid = 'shut'", before='self.heat(...)')
        one.replace("'open'", 'None')
        lid = """
        # Steam goes where it wants, so shut it.
        self.lid = 'shut'
"""
        heat = '        self.heat(water'
        self.assertEqual(
            miniature.ALPHA.replace(lid, '').replace(
                heat, lid.removeprefix('\n') + '\n' + heat).replace(
                "self.lid = 'open'", 'self.lid = None'),
            module.spliced())
