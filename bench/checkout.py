#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What ``graft checkout`` costs: time and memory, beyond pip's own.

For each series three programs run one after the other, each from nothing:
pip brings the release; graft lays out the release alone; graft lays out the
fork. The last line of the output is one JSON object with all figures.

usage: checkout.py [SERIES...]      (by default 2026.2 and rocky)
"""
from __future__ import annotations

from collections.abc import Sequence
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRAFT = (sys.executable, '-m', 'graft', '--root', str(ROOT))


def measure(command: Sequence[str], build: str) -> tuple[float, float]:
    """Run a program and those it starts.

    :returns: wall seconds, and the peak memory of the largest process in MB
    """
    env = {**os.environ, 'PYTHONPATH': str(ROOT), 'GRAFT_BUILD': build}
    start = time.monotonic()
    pid = os.posix_spawn(command[0], command, env, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - start
    if status:
        sys.exit(f'{" ".join(command)} failed.')
    return wall, usage.ru_maxrss / 1024


def bench(series: str) -> dict[str, float]:
    """The figures of one series."""
    with tempfile.TemporaryDirectory() as build:
        pip, _ = measure(
            (sys.executable, '-c',
             'import sys; from graft.project import Project;'
             'from graft.release import Release;'
             'project = Project.find();'
             'Release.get(project, project.series.named(sys.argv[1]))',
             series), build)
        stock, stock_memory = measure(
            (*GRAFT, 'checkout', series, '--stock'), build)
        fork, fork_memory = measure((*GRAFT, 'checkout', series), build)
        for path in pathlib.Path(build).glob(f'{series}*'):
            shutil.rmtree(path)
    return {
        'pip_s': round(pip, 2),
        'release_s': round(stock, 2), 'release_mb': round(stock_memory),
        'fork_s': round(fork, 2), 'fork_mb': round(fork_memory),
        'ratio': round(fork / stock, 2)}


def main(names: Sequence[str]) -> None:
    """Print a line for each series, and all of it as JSON."""
    figures = {}
    print(f'{"series":10} {"pip":>8} {"release alone":>18} {"fork":>18} '
          f'{"ratio":>6}')
    for name in names or ('2026.2', 'rocky'):
        one = figures[name] = bench(name)
        print(f'{name:10} {one["pip_s"]:6.2f} s '
              f'{one["release_s"]:8.2f} s {one["release_mb"]:4.0f} MB '
              f'{one["fork_s"]:8.2f} s {one["fork_mb"]:4.0f} MB '
              f'{one["ratio"]:6.2f}', flush=True)
    print(json.dumps(figures))


if __name__ == '__main__':
    os.chdir(ROOT)
    main(sys.argv[1:])
