# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import ast

import ddt
from hypothesis import given
from hypothesis import strategies

from graft import pattern
from graft.tests import base
from graft.tests import miniature

STATEMENTS = list(pattern.statements(ast.parse(miniature.ALPHA).body))


def found(anchor, source):
    """The lines where an anchor is found."""
    block = ast.parse(base.code(source)).body
    return [match.line for match in pattern.Pattern(anchor).find(block)]


@ddt.ddt
class TestPattern(base.TestCase):

    @given(strategies.sampled_from(STATEMENTS))
    def test_every_statement_is_found_by_its_own_text(self, node):
        source = ast.get_source_segment(
            miniature.ALPHA, node, padded=True).removeprefix('        el')
        whole = ast.parse(miniature.ALPHA).body
        lines = [match.line
                 for match in pattern.Pattern(source).find(whole)]
        self.assertIn(node.lineno, lines)

    @given(strategies.sampled_from(STATEMENTS))
    def test_layout_does_not_matter(self, node):
        whole = ast.parse(miniature.ALPHA).body
        lines = [match.line
                 for match in pattern.Pattern(ast.unparse(node)).find(whole)]
        self.assertIn(node.lineno, lines)

    @ddt.data(
        ('a = 1', 'a = 1'),
        ('a = ...', 'a = b(c)[d]'),
        ('a.b(...)', 'a.b()'),
        ('a.b(...)', 'a.b(1, *c, d=2, **e)'),
        ('....b(...)', 'x.y[0].b(1)'),
        ('....b(...)', 'c = x.b(1)'),
        ('....b(...)', 'return x.b(1)'),
        ('a(1, ...)', 'a(1, 2, c=3)'),
        ('a(..., 3)', 'a(1, 2, 3)'),
        ('a(..., c=3)', 'a(b=1, c=3)'),
        ('a(..., c=...)', 'a(1, b=2, c=3)'),
        ('a(b=1, c=2)', 'a(c=2, b=1)'),
        ('a(**b)', 'a(**b)'),
        ("a['b']", "del a['b']"),
        ('a and ...', 'if a and b and c: pass'),
        ('if a: ...', 'if a:\n    b()\n    c()'),
        ('if a: ...', 'if a: b()\nelse: c()'),
        ('if a:\n    ...\n    c()', 'if a:\n    b()\n    c()'),
        ('if a:\n    b()\nelse: ...', 'if a:\n    b()\nelse:\n    c()'),
        ('try: ...\nexcept a: ...', 'try:\n    b()\nexcept a:\n    c()'),
        ('with a() as b: ...', 'with a() as b:\n    c()'),
        ('for a in ...: ...', 'for a in b():\n    c()'),
        ('while a: ...', 'while a:\n    b()\nelse:\n    c()'),
        ('raise a(...)', 'raise a("why") from b'),
        ("a = 'b' 'c'", 'a = "bc"'),
        ("a = u'b'", "a = 'b'"),
        ('lambda: ...', 'a = lambda: 1'),
        ('await a()', 'async def f():\n    await a()'),
    )
    @ddt.unpack
    def test_fits(self, anchor, source):
        if anchor.startswith('raise'):
            # What is raised from another says so.
            self.assertEqual([], found(anchor, source))
            anchor += ' from ...'
        self.assertEqual(1, len(found(anchor, source)), anchor)

    @ddt.data(
        ('a = 1', 'a = 2'),
        ('a = 1', 'a = True'),
        ('a = 1', 'a += 1'),
        ('a.b(...)', 'x.a.b()'),
        ('a.b(...)', 'b(a)'),
        ('a()', 'a(1)'),
        ('a()', 'a(b=1)'),
        ('a(1, ...)', 'a(2, 1)'),
        ('a(b=1)', 'a(b=1, c=2)'),
        ('a(..., b=1)', 'a(1)'),
        ('if a: ...', 'if not a: pass'),
        ('if a:\n    b()', 'if a:\n    b()\n    c()'),
        ('if a:\n    b()', 'if a:\n    b()\nelse:\n    c()'),
        ('if a:\n    b()\nelse: ...', 'if a:\n    b()'),
        ('a()\nb()', 'a()\nc()\nb()'),
        ('a()\n...\nb()', 'b()\na()'),
        ('a()\n...\nb()', 'a()\nif c:\n    b()'),
        ('for a in b: ...', 'async def f():\n    async for a in b: pass'),
    )
    @ddt.unpack
    def test_does_not_fit(self, anchor, source):
        self.assertEqual([], found(anchor, source), anchor)

    @ddt.data('if a:\n    x()', 'if a:\n    b\nelse:\n    x()',
              'try:\n    x()\nfinally:\n    b',
              'try:\n    b\nexcept c:\n    x()',
              'with a:\n    x()', 'for a in b:\n    x()\nelse:\n    c',
              'while a:\n    if b:\n        x()', 'def f():\n    x()',
              'async def f():\n    x()',
              'class C:\n    def f(self):\n        x()',
              'match a:\n    case 1:\n        x()', 'a = [x() for b in c]',
              '@x()\ndef f(): pass', 'def f(a=x()): pass')
    def test_looks_everywhere(self, source):
        self.assertEqual(1, len(found('x()', source)), source)

    def test_finds_all(self):
        self.assertEqual([1, 2, 4], found('x(...)', """
            x(1)
            x(2)
            if a:
                x(3)
            """))

    def test_one_in_another(self):
        self.assertEqual([1, 1], found('x(...)', 'x(x(1))\n'))

    def test_a_run_goes_on_after_a_gap(self):
        """The first that fits after a gap need not be the right one."""
        self.assertEqual([1], found('a()\n...\nb()\nc()', """
            a()
            b()
            x()
            b()
            c()
            """))

    def test_a_run_covers_its_statements(self):
        block = ast.parse('z()\na()\nx()\nb()\ny()\n').body
        match, = pattern.Pattern('a()\n...\nb()').find(block)
        self.assertEqual([2, 3, 4],
                         [node.lineno for node in match.statements])

    def test_a_gap_may_be_empty(self):
        self.assertEqual([1], found('a()\n...\nb()', 'a()\nb()\n'))

    @ddt.data('', '   ', '...', '...\n...', '...\na()', 'if a', 'a(',
              '# comment')
    def test_no_anchor(self, text):
        self.assertRaises(SyntaxError, pattern.Pattern, text)

    def test_names(self):
        self.assertEqual({'a', 'b', 'c', 'd'},
                         pattern.Pattern('a.b(c, d=...).d').names())

    def test_margin_is_left_out(self):
        self.assertEqual('if a:\n    b()', str(pattern.Pattern("""
            if a:
                b()
            """)))
