# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A running Placement."""
from __future__ import annotations

from collections.abc import Iterator
import contextlib
import json
import pathlib
import subprocess
from typing import NamedTuple
import urllib.request

from bench.audit.nova import Nova
from graft.errors import GraftError


class Meter(NamedTuple):
    """What a Placement has done so far."""

    requests: int
    cpu_s: float


class Placement:
    """A Placement in a process of its own.

    :ivar url: where it is
    """

    def __init__(self, process: subprocess.Popen) -> None:
        self._process = process
        self.url = self._answer()

    def meter(self) -> Meter:
        """What it has done so far."""
        self._process.stdin.write('\n')
        self._process.stdin.flush()
        return Meter(**json.loads(self._answer()))

    def put(self, path: str, body: dict) -> None:
        """Write something, by its API."""
        urllib.request.urlopen(urllib.request.Request(
            self.url + path, json.dumps(body).encode(), method='PUT',
            headers={'Content-Type': 'application/json',
                     'OpenStack-API-Version': 'placement 1.28'})).close()

    def _answer(self) -> str:
        line = self._process.stdout.readline()
        if not line:
            raise GraftError('Placement has ended.',
                             'Its log is beside its configuration; keep it '
                             'with --keep.')
        return line.strip()


@contextlib.contextmanager
def serve(nova: Nova, folder: pathlib.Path) -> Iterator[Placement]:
    """Start a Placement; stop it in the end.

    :param nova: in whose environment it runs
    :param folder: where its ``placement.conf`` is
    """
    environ = {**nova.environ, 'OS_PLACEMENT_CONFIG_DIR': str(folder)}
    with ((folder / 'placement.err').open('w') as errors,
          subprocess.Popen(
              nova.inside('serve.py'), env=environ, text=True,
              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
              start_new_session=True) as process):
        try:
            yield Placement(process)
        finally:
            process.terminate()
