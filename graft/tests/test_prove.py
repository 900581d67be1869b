# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import ddt

from graft import prove
from graft.prove import Verdict
from graft.suite import Outcome
from graft.tests import base
from graft.tests import test_suite

ONE, TWO = 'nova.tests.test_bug_100.A.one', 'nova.tests.test_bug_100.A.two'
LOAD = 'nova.tests.test_bug_100'


def outcome(passed=(), failed=(), broken=()):
    return Outcome(tuple(passed), dict.fromkeys(failed, 'why\n'),
                   dict.fromkeys(broken, 'whence\n'), 1.0)


@ddt.ddt
class TestJudge(base.ProjectTestCase):

    def judge(self, stock, forked, series='alpha'):
        fork = self.mini.fork(series)
        return prove.judge(fork.project.change('bug-100'), fork, stock,
                           forked)

    @ddt.data(
        ('alpha', outcome([ONE], [TWO]), Verdict.PROVEN),
        ('alpha', outcome([], [ONE, TWO]), Verdict.PROVEN),
        ('beta', outcome([ONE, TWO]), Verdict.PINNED))
    @ddt.unpack
    def test_as_it_should_be(self, series, stock, verdict):
        proof = self.judge(stock, outcome([ONE, TWO]), series)
        self.assertEqual((verdict, ()), (proof.verdict, proof.reasons))

    @ddt.data(
        ('alpha', outcome([ONE, TWO]), outcome([ONE, TWO]),
         'no test fails on the stock release'),
        ('alpha', outcome([], [ONE, TWO]), outcome([ONE], [TWO]),
         f'fails on the fork: {TWO}'),
        ('alpha', outcome([], [ONE]), outcome([ONE, TWO]),
         f'ran on one side only: {TWO}'),
        ('alpha', outcome([], [ONE, TWO]), outcome([ONE]),
         f'ran on one side only: {TWO}'),
        ('alpha', outcome([], [], [LOAD]), outcome([ONE]),
         f'does not load: {LOAD}'),
        ('alpha', outcome([], [ONE]), outcome([], [], [LOAD]),
         f'does not load: {LOAD}'),
        ('alpha', outcome(), outcome(), 'no test ran'),
        ('beta', outcome([ONE], [TWO]), outcome([ONE, TWO]),
         f'fixed upstream, but fails there: {TWO}'),
        ('beta', outcome([ONE, TWO]), outcome([ONE], [TWO]),
         f'fails on the fork: {TWO}'))
    @ddt.unpack
    def test_not_proven(self, series, stock, forked, reason):
        proof = self.judge(stock, forked, series)
        self.assertIs(Verdict.UNPROVEN, proof.verdict)
        self.assertIn(reason, ' '.join(proof.reasons))
        self.assertEqual([proof], prove.unproven([proof]))

    def test_what_only_adds(self):
        self.mini.write('changes/03-more.toml', base.code("""
            fixes = "alpha"
            tests = ["nova.tests.test_bug_100"]
            message = "Bring more\\n"
            """))
        fork = self.mini.fork('alpha')
        change = fork.project.change('more')
        for stock in outcome([ONE]), outcome([], [ONE]):
            proof = prove.judge(change, fork, stock, outcome([ONE]))
            self.assertIs(Verdict.ADDS, proof.verdict)
        proof = prove.judge(change, fork, outcome([ONE]), outcome([], [ONE]))
        self.assertIs(Verdict.UNPROVEN, proof.verdict)

    def test_told(self):
        proof = self.judge(outcome([ONE], [TWO]), outcome([ONE, TWO]))
        self.assertEqual('bug-100 on alpha: proven (stock: 1 of 2 tests '
                         'fail; fork: 0 of 2)', prove.tell(proof))

    def test_told_why_not(self):
        proof = self.judge(outcome([], [ONE]), outcome([], [ONE]))
        self.assertEqual(
            ['bug-100 on alpha: NOT PROVEN (stock: 1 of 1 tests fail; fork: '
             '1 of 1)',
             f'    fails on the fork: {ONE}',
             f'    {ONE}',
             '        why'], prove.tell(proof).splitlines())


class TestProve(base.ProjectTestCase):
    """With the real stestr, in trees of the miniature."""

    def setUp(self):
        super().setUp()
        self.patch_attribute('graft.prove.Environment', test_suite.Here)

    def test_on_stock_and_fork(self):
        code, out, err = self.graft('prove', 'all', 'alpha..beta')
        self.assertEqual(
            ['bug-100 on alpha: proven (stock: 1 of 2 tests fail; fork: 0 '
             'of 2)',
             'bug-200 on alpha: proven (stock: 2 of 2 tests fail; fork: 0 '
             'of 2)',
             'bug-100 on beta: fixed upstream (stock: 0 of 2 tests fail; '
             'fork: 0 of 2)',
             'bug-200 on beta: proven (stock: 2 of 2 tests fail; fork: 0 '
             'of 2)',
             '8 tests pass on the fork; 0 of 4 not proven'],
            out.splitlines())
        self.assertEqual((0, ''), (code, err))

    def test_test_that_sees_nothing(self):
        self.mini.replace('nova/tests/test_bug_100.py',
                          '"lid": "shut"', '"lid": ')
        code, out, err = self.graft('prove', 'bug-100', 'alpha')
        self.assertEqual(1, code)
        self.assertIn('bug-100 on alpha: NOT PROVEN', out)
        self.assertIn('    no test fails on the stock release', out)
        self.assertIn('1 of 1 not proven', out)

    def test_test_that_does_not_load(self):
        """One change's broken tests are not held against another."""
        self.mini.write('nova/tests/test_bug_200.py', 'import no_such\n')
        code, out, err = self.graft('prove', 'all', 'alpha')
        self.assertEqual(1, code)
        self.assertIn('bug-100 on alpha: proven', out)
        self.assertIn('bug-200 on alpha: NOT PROVEN', out)
        self.assertIn('does not load: ', out)
        self.assertIn('No module named \'no_such\'', out)

    def test_where_there_is_no_python(self):
        self.mini.replace('series/alpha/series.toml', '3.', '99.')
        code, out, err = self.graft('prove', '--available', 'all', 'alpha')
        self.assertEqual((0, ''), (code, err))
        self.assertIn('bug-100 on alpha: not proven here\n    alpha runs on '
                      'Python 99.', out)
        self.assertIn('0 of 2 not proven', out)

    def test_here_it_is_proven(self):
        code, out, err = self.graft('prove', '--available', 'all', 'alpha')
        self.assertEqual((0, ''), (code, err))
        self.assertIn('bug-100 on alpha: proven', out)

    def test_not_affected_needs_no_environment(self):
        self.mini.replace('changes/01-bug-100.toml', 'beta..', '')
        self.patch_attribute('graft.prove.Environment', None)
        self.assertEqual(
            (0, 'bug-100 on beta: not affected\n'
                '0 tests pass on the fork; 0 of 1 not proven\n', ''),
            self.graft('prove', 'bug-100', 'beta'))


class TestOwn(base.ProjectTestCase):

    def test_names_that_begin_alike(self):
        change = self.mini.project.change('bug-100')
        mine = ('nova.tests.test_bug_100.A.one',
                'nova.tests.test_bug_100.A.two(case)')
        other = ('nova.tests.test_bug_1001.A.one',
                 'nova.tests.test_bug_100_more.A.one')
        self.assertEqual(mine, prove._of(outcome(mine + other),
                                         change).passed)
