# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The environment a series' tests run in: its Python and what it pins.

Nova itself is not installed there: a tree is, by being the working
directory.
"""
from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

from graft.errors import GraftError
from graft.errors import UnavailableError
from graft.process import run
from graft.project import Project
from graft.series import Series


@dataclasses.dataclass(frozen=True)
class Environment:
    """A virtual environment of one series.

    :ivar project: what it belongs to
    :ivar series: whose it is
    """

    project: Project
    series: Series

    @property
    def path(self) -> pathlib.Path:
        return self.project.build / 'env' / str(self.series)

    @property
    def python(self) -> pathlib.Path:
        """Its interpreter."""
        return self.path / 'bin' / 'python'

    def make(self) -> Environment:
        """Create it, unless it is there as the series wants it.

        :raises UnavailableError: where no interpreter of the series is
            found, or a package can't be brought
        """
        stamp = self.path / 'graft'
        if stamp.is_file() and stamp.read_text() == self._digest():
            return self
        interpreter = find_interpreter(self.series)
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        print(f'graft: making the environment of {self.series} with '
              f'{interpreter.name}', file=sys.stderr)
        run([interpreter, '-m', 'venv', '--without-pip', self.path])
        self._install()
        stamp.write_text(self._digest())
        return self

    def variables(self) -> dict[str, str]:
        """What programs in it need in their environment."""
        paths = ['.', *map(str, self.project.test_paths)]
        return {
            'PATH': f'{self.path / "bin"}{os.pathsep}{os.environ["PATH"]}',
            'VIRTUAL_ENV': str(self.path),
            'PYTHON': 'python',
            'PYTHONPATH': os.pathsep.join(paths),
            # The same order of sets and dicts in every run.
            'PYTHONHASHSEED': '0',
            'PYTHONWARNINGS': 'ignore',
            # Newer series would choose native threads where they may.
            'OS_NOVA_DISABLE_EVENTLET_PATCHING': 'False',
            'OS_STDOUT_CAPTURE': '1',
            'OS_STDERR_CAPTURE': '1',
            'OS_TEST_TIMEOUT': '300',
            **self.series.environment,
        }

    def run(
        self, command: Sequence[str], tree: pathlib.Path,
        variables: Mapping[str, str] | None = None,
        stdout=None, stderr=None,
    ) -> int:
        """Run a program in a tree, its output going where ours goes.

        :returns: its exit code
        """
        env = {**os.environ, **self.variables(), **(variables or {})}
        program = shutil.which(command[0], path=env['PATH'])
        if program is None:
            raise UnavailableError(
                f'The environment of {self.series} has no program '
                f'"{command[0]}".', '')
        return subprocess.run([program, *command[1:]], cwd=tree, env=env,
                              stdout=stdout, stderr=stderr,
                              check=False).returncode

    def _install(self) -> None:
        build = self.path / 'build-constraints.txt'
        build.write_text(''.join(
            f'{line}\n' for line in self.series.build_constraints))
        uv = find_uv()
        try:
            run([uv, 'pip', 'install', '--quiet', '--no-deps',
                 '--python', self.python, '--build-constraints', build,
                 '--requirements', self.series.constraints],
                env=_index())
        except GraftError as error:
            shutil.rmtree(self.path, ignore_errors=True)
            raise UnavailableError(
                f'What {self.series} pins could not be installed.\n{error}',
                'Is the package index in reach?') from error

    def _digest(self) -> str:
        digest = hashlib.sha256(self.series.constraints.read_bytes())
        digest.update(repr((self.series.python,
                            self.series.build_constraints)).encode())
        return digest.hexdigest() + '\n'


def find_interpreter(series: Series) -> pathlib.Path:
    """An interpreter that a series runs on.

    Looked for on the PATH, then where pyenv and uv keep theirs.

    :raises UnavailableError: where there is none, with how to get one
    """
    for version in series.python:
        for path in _candidates(version):
            if _is(path, version):
                return path
    wanted, best = ' or '.join(series.python), series.python[0]
    ways = [f'"pyenv install {best}"',
            f'your distribution\'s python{best}-venv package']
    if int(best.split('.')[1]) >= 8:  # uv has none that are older.
        ways.insert(0, f'"uv python install {best}"')
    raise UnavailableError(
        f'{series} runs on Python {wanted}, and none is here.',
        f'Get one by {" or ".join(ways)}.')


def _candidates(version: str) -> Iterator[pathlib.Path]:
    for place in os.environ.get('PATH', '').split(os.pathsep):
        yield pathlib.Path(place) / f'python{version}'
    roots = [os.environ.get('PYENV_ROOT'), '~/.pyenv']
    for root in filter(None, roots):
        versions = pathlib.Path(root).expanduser() / 'versions'
        for folder in sorted(versions.glob(f'{version}.*'), reverse=True):
            yield folder / 'bin' / f'python{version}'
    store = pathlib.Path(os.environ.get('XDG_DATA_HOME') or
                         '~/.local/share').expanduser()
    for folder in sorted(store.glob(f'uv/python/cpython-{version}.*')):
        yield folder / 'bin' / f'python{version}'


def _is(path: pathlib.Path, version: str) -> bool:
    """Whether a path is a working interpreter of a version.

    A pyenv shim of a version that is not switched on is not.
    """
    if not path.is_file():
        return False
    try:
        done = subprocess.run(
            [path, '-c', 'import sys, venv;'
             'print("%d.%d" % sys.version_info[:2])'],
            capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.strip() == version


def find_uv() -> str:
    """The uv that is installed beside graft, or on the PATH.

    :raises UnavailableError: where there is none
    """
    beside = pathlib.Path(sys.executable).parent / 'uv'
    found = str(beside) if beside.is_file() else shutil.which('uv')
    if found is None:
        raise UnavailableError('There is no uv.',
                               'Get it by "pip install uv".')
    return found


def _index() -> dict[str, str]:
    """uv's settings that make it use the index pip is set to use."""
    if 'UV_INDEX_URL' in os.environ or 'UV_DEFAULT_INDEX' in os.environ:
        return {}
    done = subprocess.run(
        [sys.executable, '-m', 'pip', 'config', 'get', 'global.index-url'],
        capture_output=True, text=True, check=False)
    url = os.environ.get('PIP_INDEX_URL') or done.stdout.strip()
    return {'UV_DEFAULT_INDEX': url} if url else {}
