# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
import ddt

from graft.errors import GraftError
from graft.errors import UsageError
from graft.series import AllSeries
from graft.tests import base


class SeriesTestCase(base.TestCase):

    def setUp(self):
        super().setUp()
        for number, name in enumerate(('old', 'mid', '2024.1'), 9):
            self.add(name, f'nova = "{number}.1.0"\ncodename = "c{number}"\n'
                           f'python = ["3.9", "3.8"]\n')

    def add(self, name, text):
        folder = self.folder / 'series' / name
        folder.mkdir(parents=True)
        (folder / 'series.toml').write_text(text)

    @property
    def all(self):
        return AllSeries.of(self.folder / 'series')

    def names(self, text):
        return [str(one) for one in self.all.range(text)]


@ddt.ddt
class TestAllSeries(SeriesTestCase):

    def test_oldest_first(self):
        self.assertEqual(['old', 'mid', '2024.1'], list(map(str, self.all)))
        self.assertEqual('2024.1', str(self.all.newest))

    @ddt.data('2024.1', 'c11', 'C11', '11', '11.1.0', ' 2024.1 ')
    def test_named(self, name):
        self.assertEqual('2024.1', str(self.all.named(name)))

    @ddt.data('2024', 'new', '', '12', '1')
    def test_unknown(self, name):
        error = self.assertRaises(UsageError, self.all.named, name)
        self.assert_told(error, f'no series "{name}"',
                         'Known: old, mid, 2024.1.')

    @ddt.data(
        ('', []), ('mid', ['mid']), ('mid..', ['mid', '2024.1']),
        ('..mid', ['old', 'mid']), ('old..2024.1', ['old', 'mid', '2024.1']),
        ('old, 11', ['old', '2024.1']), ('..', ['old', 'mid', '2024.1']),
        ('mid..mid', ['mid']))
    @ddt.unpack
    def test_range(self, text, expected):
        self.assertEqual(expected, self.names(text))

    def test_range_the_wrong_way_round(self):
        error = self.assertRaises(UsageError, self.names, 'mid..old')
        self.assert_told(error, 'mid comes after old', 'from old to new')

    def test_range_of_unknown(self):
        self.assertRaises(UsageError, self.names, 'old..new')


class TestSeries(SeriesTestCase):

    def test_compares_with_names(self):
        mid = self.all.named('mid')
        self.assertTrue(mid == 'mid' and mid == 'c10' and mid != 'old')
        self.assertTrue('old' < mid < '2024.1')
        self.assertTrue(mid <= 'mid' <= mid and mid > 'old' and mid >= '9')
        self.assertRaises(UsageError, lambda: mid < 'unknown')

    def test_same_when_loaded_twice(self):
        folder = self.folder / 'series' / 'mid'
        one = type(self.all.newest).load(folder)
        self.assertEqual(1, len({one, self.all.named('mid')}))

    def test_reads_all(self):
        self.add('new', '''
            nova = "12.0.0"
            codename = "c12"
            python = ["3.12"]
            build_constraints = ["setuptools<58"]
            environment = {A = "b"}
            ''')
        one = self.all.named('new')
        self.assertEqual(('3.12',), one.python)
        self.assertEqual(('setuptools<58',), one.build_constraints)
        self.assertEqual({'A': 'b'}, one.environment)
        self.assertEqual(self.folder / 'series/new/constraints.txt',
                         one.constraints)

    def test_something_lacks(self):
        self.add('new', 'nova = "12.0.0"\n')
        error = self.assertRaises(GraftError, lambda: self.all)
        self.assert_told(error, 'new/series.toml', 'codename')

    def test_no_toml(self):
        self.add('new', 'nova = ')
        error = self.assertRaises(GraftError, lambda: self.all)
        self.assert_told(error, 'new/series.toml', 'not TOML')
