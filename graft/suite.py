# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Running tests in a tree, in parallel, by stestr.

stestr finds tests by walking a folder. Importing all of Nova's takes longer
than running a few, so that a small package that loads just the wanted ones
stands in their place. What does not load is one failing test there, or else
stestr would run none.
"""
from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import os
import pathlib
import tempfile

from graft.environment import Environment
from graft.errors import GraftError

_SUITE = '''\
import unittest

NAMES = {names!r}


def not_loaded(name, why):
    def fail():
        raise ImportError(why)

    fail.__name__ = '{not_loaded}' + name
    return unittest.FunctionTestCase(fail)


def load_tests(loader, tests, pattern):
    suite = unittest.TestSuite()
    for name in NAMES:
        found = loader.loadTestsFromName(name)
        if loader.errors:
            found = not_loaded(name, loader.errors.pop())
            del loader.errors[:]
        suite.addTest(found)
    return suite
'''

#: Stands before the name of what could not be loaded.
NOT_LOADED = 'not-loaded.'


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How tests went.

    :ivar passed: ids of those that passed
    :ivar failed: ids of those that failed, with what they said
    :ivar broken: ids of what could not even be loaded
    :ivar seconds: how long all took together
    """

    passed: tuple[str, ...]
    failed: dict[str, str]
    broken: dict[str, str]
    seconds: float

    @property
    def ran(self) -> set[str]:
        return {*self.passed, *self.failed}


class Suite:
    """Some tests, in a tree, in the environment of its series.

    :param names: dotted names of modules, classes or tests
    """

    def __init__(
        self, environment: Environment, tree: pathlib.Path,
        names: Sequence[str],
    ) -> None:
        self.environment = environment
        self.tree = tree
        self.names = list(names)

    def run(self, words: Sequence[str] = ()) -> int:
        """Run them for a person to watch; stestr's exit code.

        :param words: further words to stestr, such as a regular expression
        """
        self._prepare()
        return self._stestr('run', '--slowest', *words)

    def outcome(self) -> Outcome:
        """Run them quietly and say how each went."""
        self._prepare()
        with (tempfile.TemporaryFile() as stream,
              tempfile.TemporaryFile('w+') as noise):
            self._stestr('run', '--subunit', stdout=stream, stderr=noise)
            stream.seek(0)
            outcome = _read(stream)
            if not (outcome.ran or outcome.broken):
                noise.seek(0)
                raise GraftError(f'No test ran.\n{noise.read().strip()}',
                                 'Are the tests\' names right?')
            return outcome

    def _prepare(self) -> None:
        folder = self.tree / 'graft_suite'
        folder.mkdir(exist_ok=True)
        (folder / '__init__.py').write_text(
            _SUITE.format(names=self.names, not_loaded=NOT_LOADED))

    def _stestr(self, *words: str, stdout=None, stderr=None) -> int:
        workers = str(os.cpu_count() or 1)
        command, *rest = words
        return self.environment.run(
            ['stestr', '--test-path', './graft_suite', '--top-dir', '.',
             command, '--concurrency', workers, *rest],
            self.tree, stdout=stdout, stderr=stderr)


def _read(stream) -> Outcome:
    """The outcome that a subunit stream tells of."""
    import subunit
    import testtools

    tests: list = []
    result = testtools.StreamToDict(tests.append)
    result.startTestRun()
    subunit.ByteStreamToStreamResult(stream, 'stdout').run(result)
    result.stopTestRun()
    passed, failed, broken, seconds = [], {}, {}, 0.0
    for test in tests:
        name, status = test['id'], test['status']
        start, stop = test['timestamps']
        if None not in (start, stop):
            seconds += (stop - start).total_seconds()
        if status in ('success', 'xfail'):
            passed.append(name)
        elif status in ('fail', 'uxsuccess', 'inprogress'):
            said = _said(test['details'])
            if name.startswith(NOT_LOADED):
                broken[name.removeprefix(NOT_LOADED)] = said
            else:
                failed[name] = said
    return Outcome(tuple(sorted(passed)), failed, broken, seconds)


def _said(details: dict) -> str:
    """What a test said, its traceback last."""
    texts = {name: detail.as_text() for name, detail in details.items()
             if detail.content_type.type == 'text'}
    return '\n'.join(texts[name] for name in
                     sorted(texts, key=lambda name: 'traceback' in name))
