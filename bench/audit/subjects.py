# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What is measured: runs of an audit, and the floor."""
from __future__ import annotations

from collections.abc import Sequence
import json
import pathlib
import shutil
import uuid

import sqlalchemy as sa

from bench.audit import process
from bench.audit.nova import Nova
from bench.audit.site import Site

#: Exit codes of the audit.
_FOUND, _NO_SUCH_PROVIDER = 3, 127
#: Connections to Placement of the floor's client.
_CONNECTIONS = 4


class Look:
    """A run of ``nova-manage placement audit``.

    :ivar nova: whose it is
    :cvar reports: whether it should report orphans
    :param words: its options
    """

    reports = True
    _code = _FOUND

    def __init__(self, site: Site, nova: Nova, words: Sequence[str]) -> None:
        self.nova = nova
        self._site = site
        self._words = ('placement', 'audit', '--verbose', *words)

    def run(self) -> process.Done:
        """Run it."""
        return self._run(self.nova.manage(self._site.conf, *self._words))

    def count(self) -> int:
        """Run it once more.

        :returns: how many SELECTs it takes
        """
        tally = self._site.folder / 'tally'
        tally.unlink(missing_ok=True)
        self._run(self.nova.inside(
            'count.py', str(tally), '--config-file', str(self._site.conf),
            *self._words))
        return tally.stat().st_size

    def _run(self, command: Sequence[str]) -> process.Done:
        return process.run(command, self.nova.environ).check(self._code)


class StartUp(Look):
    """A run that has nothing to do: it asks for a provider there is not."""

    reports = False
    _code = _NO_SUCH_PROVIDER

    def __init__(self, site: Site, nova: Nova, words: Sequence[str]) -> None:
        super().__init__(site, nova, (
            *words, '--resource_provider', str(uuid.UUID(int=0))))


class LookWithMemory(Look):
    """A run that is given a state file.

    :param before: what the file holds before each run; need not be there
    :ivar after: the path of the file
    """

    def __init__(self, site: Site, nova: Nova, words: Sequence[str],
                 before: pathlib.Path) -> None:
        self.after = site.folder / 'state'
        self._before = before
        super().__init__(
            site, nova, (*words, '--state-file', str(self.after)))

    def _run(self, command: Sequence[str]) -> process.Done:
        self.after.unlink(missing_ok=True)
        if self._before.exists():
            shutil.copy(self._before, self.after)
        return super()._run(command)


class Floor:
    """Bare reads of what an audit has to read."""

    reports = False

    def __init__(self, site: Site, nova: Nova) -> None:
        self.nova = nova
        what = site.folder / 'floor.json'
        what.write_text(json.dumps({
            'placement': site.placement.url, 'connections': _CONNECTIONS,
            'cells': list(map(_arguments, site.cells[1:]))}))
        what.chmod(0o600)
        self._command = nova.inside('floor.py', str(what))

    def run(self) -> process.Done:
        """Run it."""
        return process.run(self._command, self.nova.environ).check()

    def count(self) -> int:
        """How many SELECTs it takes."""
        return int(self.run().stdout)


def _arguments(url: str) -> dict[str, str | int]:
    """The arguments with which a driver connects to a database."""
    parts = sa.make_url(url)
    given = {'host': parts.host, 'port': parts.port, 'user': parts.username,
             'password': parts.password, 'database': parts.database,
             **parts.query}
    return {name: value for name, value in given.items()
            if value is not None}
