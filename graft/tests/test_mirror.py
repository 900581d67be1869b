# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import pathlib

import ddt

from graft import mirror
from graft.change import Change
from graft.errors import AnchorError
from graft.errors import GraftError
from graft.series import AllSeries
from graft.series import Series
from graft.tests import base

BETA = Series('beta', '2.0.0', 'birch', ('3.11',), pathlib.Path('beta'))
ALL = AllSeries([base.ALPHA, BETA])
CHANGE = Change('bug-1', 'Subject\n', (base.ALPHA, BETA), ())

UPSTREAM = """
    '''Upstream.'''

    import sys


    # About C.
    class C:

        x = 1

        def one(self):
            return 1   # odd

        # About two.
        @property
        @staticmethod
        def two():
            return 2

        class Inner(object):
            def deep(self): return sys

        async def three(self):
            await self.one()


    class Flat(Exception): pass


    def last():
        return 'ü'
    """


class MirrorTestCase(base.TestCase):

    def mirror_of(self, source):
        path = self.folder / 'nova' / 'm.py'
        path.parent.mkdir(exist_ok=True)
        path.write_text(base.code(source))
        return mirror.Mirror(self.folder, 'nova/m.py')

    def applied(self, source, upstream=UPSTREAM, series=base.ALPHA):
        return self.mirror_of(source).apply(
            base.code(upstream), CHANGE, series, ALL)

    def refused(self, source, *words, kind=GraftError):
        error = self.assertRaises(kind, self.applied, source)
        self.assert_told(error, 'nova/m.py', *words)
        return error

    def assert_adds(self, before, added, after, source):
        """That code comes between two lines and nothing else changes."""
        result = self.applied(source)
        self.assertIn(before + added + after, result)
        self.assertEqual(base.code(UPSTREAM),
                         result.replace(before + added, before, 1))


class TestAdd(MirrorTestCase):

    def test_before_the_next(self):
        self.assert_adds(
            '   # odd\n\n', '    # Why.\n    def new(self):\n'
            '        """Ours."""\n        return 3\n\n',
            '    # About two.\n    @property', """
            class C:
                # Why.
                @add(change='bug-1')
                def new(self):
                    \"\"\"Ours.\"\"\"
                    return 3

                @edit(change='bug-9')
                def two(body):
                    pass
            """)

    def test_after_the_last_before(self):
        self.assert_adds(
            '   # odd\n', '\n    def new(self):\n        return 3\n',
            '\n    # About two.', """
            class C:
                @edit(change='bug-9')
                def one(body):
                    pass

                @add(change='bug-1')
                def new(self):
                    return 3
            """)

    def test_at_the_end_of_a_class(self):
        self.assert_adds(
            '        await self.one()\n',
            '\n    async def new(self):\n        return 3\n'
            '\n    def newer(self):\n        return 4\n', '\n\nclass Flat', """
            class C:
                @add(change='bug-1')
                async def new(self):
                    return 3

                @add(change='bug-1')
                def newer(self):
                    return 4
            """)

    def test_at_the_end_of_a_module(self):
        self.assert_adds(
            "    return 'ü'\n", '\n\ndef new():\n    return 3\n', '', """
            @add(change='bug-1')
            def new():
                return 3
            """)

    def test_before_a_class(self):
        self.assert_adds(
            'import sys\n\n\n', 'def new():\n    return 3\n\n\n',
            '# About C.\nclass C', """
            @add(change='bug-1')
            def new():
                return 3

            class C:
                @edit(change='bug-9')
                def one(body):
                    pass
            """)

    def test_keeps_its_own_decorators(self):
        self.assert_adds(
            "    return 'ü'\n",
            '\n\n@a\n@b(1)\ndef new():\n    return 3\n', '', """
            @a
            @add(change='bug-1',
                 series='alpha..')
            @b(1)
            def new():
                return 3
            """)

    def test_there_already(self):
        self.refused("""
            class C:
                @add(change='bug-1')
                async def three(self):
                    pass
            """, 'C.three', 'there already', 'alpha', '@replace',
            kind=AnchorError)

    def test_no_such_class(self):
        self.refused("""
            class D:
                @add(change='bug-1')
                def new(self):
                    pass
            """, 'no class D', 'Look where', kind=AnchorError)

    def test_class_without_lines_of_its_own(self):
        self.refused("""
            class Flat:
                @add(change='bug-1')
                def new(self):
                    pass
            """, 'Flat.new', 'no room', kind=AnchorError)

    def test_to_an_empty_module(self):
        one = self.mirror_of("""
            @add(change='bug-1')
            def new():
                return 3
            """)
        error = self.assertRaises(AnchorError, one.apply, '', CHANGE,
                                  base.ALPHA, ALL)
        self.assert_told(error, 'nova/m.py', 'new', 'no room')


class TestReplace(MirrorTestCase):

    def test_whole(self):
        self.assertIn(
            '\n    # About two.\n    @staticmethod\n    def two():\n'
            '        return os\n\n    class Inner', self.applied("""
            import os

            class C:
                @replace(change='bug-1')
                @staticmethod
                def two():
                    return os
            """))

    def test_imports_come_along(self):
        self.assertIn("'''Upstream.'''\n\nimport os\nimport sys\n\n\n#",
                      self.applied("""
                          import os
                          import re

                          @replace(change='bug-1')
                          def last():
                              return os
                          """))

    def test_not_there(self):
        self.refused("""
            @replace(change='bug-1')
            def first():
                pass
            """, 'alpha has no function first', kind=AnchorError)


class TestRemove(MirrorTestCase):

    def test_with_its_comments_and_decorators(self):
        self.assertNotIn('two', self.applied("""
            class C:
                @remove(change='bug-1')
                def two():
                    pass
            """))

    def test_gap(self):
        done = self.applied("""
            @remove(change='bug-1')
            def last():
                pass
            """)
        self.assertFalse(done.endswith('\n\n'), done)

    def test_not_there(self):
        self.refused("""
            @remove(change='bug-1')
            def first():
                pass
            """, 'alpha has no function first', kind=AnchorError)


class TestEdit(MirrorTestCase):

    def test_async(self):
        self.assertIn('        self.new()\n        await self.one()\n',
                      self.applied("""
                          class C:
                              @edit(change='bug-1')
                              def three(body):
                                  body.insert('self.new()',
                                              before='await ...')
                          """))

    def test_module_level(self):
        self.assertIn('def last():\n    return 3\n', self.applied("""
            @edit(change='bug-1')
            def last(body):
                body.replace("'ü'", '3')
            """))

    def test_what_stands_in_no_function(self):
        done = self.applied("""
            @edit(change='bug-1')
            def __body__(body):
                body.insert('import os', before='import sys')

            class C:
                @edit(change='bug-1')
                def __body__(body):
                    body.replace('x = 1', 'x = 2')
            """)
        self.assertIn('\nimport os\nimport sys\n', done)
        self.assertIn('class C:\n\n    x = 2\n', done)

    def test_two_of_one_function(self):
        self.assertIn('def last():\n    a()\n    b()\n    return', (
            self.applied("""
                @edit(change='bug-1')
                def last(body):
                    body.insert('a()', before='return ...')

                @edit(change='bug-1')
                def last(body):
                    body.insert('b()', before='return ...')
                """)))

    def test_not_there(self):
        self.refused("""
            class C:
                @edit(change='bug-1')
                def four(body):
                    pass
            """, 'alpha has no function C.four', 'Look where',
            kind=AnchorError)

    def test_there_twice(self):
        error = self.assertRaises(AnchorError, self.applied, """
            @edit(change='bug-1')
            def f(body):
                pass
            """, 'def f():\n    a()\n\n\ndef f():\n    b()\n')
        self.assert_told(error, 'nova/m.py', 'f is there 2 times', '1, 5')

    def test_of_one_line(self):
        self.refused("""
            class C:
                class Inner:
                    @edit(change='bug-1')
                    def deep(body):
                        body.insert('a()', before='return ...')
            """, 'C.Inner.deep', 'return', 'middle', kind=AnchorError)

    def test_makes_no_python(self):
        self.refused("""
            @edit(change='bug-1')
            def last(body):
                body.remove('return ...')
            """, 'alpha', 'bug-1', 'invalid')

    def test_fails_itself(self):
        self.refused("""
            @edit(change='bug-1')
            def last(body):
                body.undo()
            """, 'last', 'AttributeError', 'undo')

    def test_other_changes_are_left_out(self):
        self.assertEqual(base.code(UPSTREAM), self.applied("""
            @edit(change='bug-9')
            def last(body):
                body.remove('nothing')
            """))

    def test_other_series_are_left_out(self):
        source = """
            @edit(change='bug-1', series='beta..')
            def last(body):
                body.replace("'ü'", '3')
            """
        self.assertEqual(base.code(UPSTREAM), self.applied(source))
        self.assertIn('return 3', self.applied(source, series=BETA))


class TestFixedWhen(MirrorTestCase):

    SOURCE = """
        @edit(change='bug-1', fixed_when="return 'ü'")
        def last(body):
            body.remove('something.more')
        """

    def test_fits(self):
        self.assertEqual(base.code(UPSTREAM), self.applied(self.SOURCE))

    def test_does_not_fit(self):
        error = self.assertRaises(
            AnchorError, self.applied, self.SOURCE,
            UPSTREAM.replace('ü', 'u'))
        self.assert_told(error, 'something.more')

    def test_function_is_gone(self):
        error = self.assertRaises(
            AnchorError, self.applied, self.SOURCE,
            UPSTREAM.replace('last', 'first'))
        self.assert_told(error, 'no function last')


@ddt.ddt
class TestRead(MirrorTestCase):

    def test_changes(self):
        self.assertEqual({'bug-1', 'bug-2'}, self.mirror_of("""
            '''Why.'''
            from graft import edit

            class C:
                '''What.'''

                class D:
                    @edit(change='bug-1')
                    def a(body):
                        pass

            @edit(change='bug-2')
            def b(body):
                pass
            """).changes())

    @ddt.data('def a(body): pass', '@other\ndef a(body): pass',
              'class C:\n    async def a(self): pass')
    def test_says_nothing(self, source):
        self.refused(source, 'a says neither', '@edit', '@add')

    @ddt.data('X = 1', 'class C:\n    x = 1', 'if a:\n    import b', 'a()')
    def test_would_go_nowhere(self, source):
        self.refused(source, 'nowhere', source.splitlines()[-1].strip()[:2])

    @ddt.data(
        '@edit(change=NAME)', '@edit()', '@edit(change="a", serie="b")',
        '@edit(change="a", fixed_when="if")', '@edit("a")')
    def test_says_it_wrongly(self, decorator):
        self.refused(f'{decorator}\ndef a(body): pass', 'line 1', '@edit',
                     'change=')

    def test_edit_that_would_never_run(self):
        self.refused('@edit(change="a")\nasync def a(body): pass', 'plain')

    def test_no_python(self):
        self.refused('def', 'not Python')


class TestWords(base.TestCase):

    def test_do_nothing_when_run(self):
        """A graft can be imported: by an editor, by a documentation tool."""
        from graft import add
        from graft import edit
        from graft import replace
        for word in (add, edit, replace):
            self.assertIs(base.code, word(change='bug-1')(base.code))
