# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Runs one program and writes what it took into a file, as JSON.

A process of its own, and a small one: to Linux the peak memory of a program
is at least that of the process which started it.

usage: launcher.py FILE PROGRAM [WORD...]
"""
import json
import os
import signal
import sys
import time


def main(path: str, command: list) -> None:
    """Run a program; if this one is terminated, so is that."""
    start = time.monotonic()
    pid = os.posix_spawn(command[0], command, os.environ)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - start
    with open(path, 'w') as file:
        json.dump({'code': os.waitstatus_to_exitcode(status), 'wall_s': wall,
                   'cpu_s': usage.ru_utime + usage.ru_stime,
                   'peak_mb': usage.ru_maxrss / 1024}, file)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
