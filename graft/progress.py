# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Progress of long work: on a terminal, and nothing in a pipe."""
from __future__ import annotations

import sys


class Progress:
    """A bar on a terminal's standard error.

    :param what: what is being done
    :param total: how many steps it has
    """

    def __init__(self, what: str, total: int) -> None:
        self._bar = None
        if sys.stderr.isatty() and total > 1:
            from rich.console import Console
            from rich.progress import Progress as Bar
            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(what, total=total)

    def __enter__(self) -> Progress:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_) -> None:
        if self._bar:
            self._bar.stop()

    def say(self, text: str) -> None:
        """Print a line of the work's own output."""
        if self._bar:
            self._bar.stop()
        print(text, flush=True)
        if self._bar:
            self._bar.start()

    def advance(self) -> None:
        """One step is done."""
        if self._bar:
            self._bar.advance(self._task)
