# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Running a program and saying what it took."""
from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

from graft.errors import GraftError

_LAUNCHER = pathlib.Path(__file__).resolve().parent / 'launcher.py'


class Done(NamedTuple):
    """How a program went.

    :ivar wall_s: seconds from its start to its end
    :ivar cpu_s: seconds of CPU, its own and its children's
    :ivar peak_mb: the peak memory of the largest process
    """

    command: Sequence[str]
    code: int
    stdout: str
    stderr: str
    wall_s: float
    cpu_s: float
    peak_mb: float

    def check(self, code: int = 0) -> Done:
        """Itself, if it ended with an exit code.

        :raises GraftError: with what it said, if it did not
        """
        if self.code != code:
            said = (self.stdout + self.stderr).splitlines()[-20:]
            raise GraftError(
                f'{" ".join(self.command)}\nended with {self.code}, not '
                f'{code}:\n' + '\n'.join(f'    {line}' for line in said))
        return self


def run(command: Sequence[str], environ: Mapping[str, str]) -> Done:
    """Run a program to its end.

    :param environ: its whole environment
    """
    with (tempfile.NamedTemporaryFile() as figures,
          tempfile.TemporaryFile('w+') as stdout,
          tempfile.TemporaryFile('w+') as stderr):
        launcher = subprocess.Popen(
            [sys.executable, '-IS', str(_LAUNCHER), figures.name, *command],
            env=environ, stdin=subprocess.DEVNULL, stdout=stdout,
            stderr=stderr)
        try:
            launcher.wait()
        finally:
            launcher.terminate()
            launcher.wait()
        stdout.seek(0)
        stderr.seek(0)
        return Done(command, stdout=stdout.read(), stderr=stderr.read(),
                    **json.load(figures))
