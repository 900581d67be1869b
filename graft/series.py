# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The series: which release of Nova each is, and what it runs on."""
from __future__ import annotations

import dataclasses
import functools
import pathlib
import re
from typing import Any

from graft import toml
from graft.errors import GraftError
from graft.errors import UsageError


@functools.total_ordering
@dataclasses.dataclass(frozen=True, eq=False)
class Series:
    """One series, as its folder in ``series/`` describes it.

    :ivar name: the name OpenStack calls its branch by: queens … zed, then
        2023.1 …
    :ivar nova: the version of the release the series stands for
    :ivar codename: its codename
    :ivar python: the Python versions it runs on, the best first
    :ivar build_constraints: what building its dependencies needs
    :ivar environment: variables its functional tests want
    :ivar folder: where its constraints lie
    """

    name: str
    nova: str
    codename: str
    python: tuple[str, ...]
    folder: pathlib.Path
    build_constraints: tuple[str, ...] = ()
    environment: dict[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def load(cls, folder: pathlib.Path) -> Series:
        """Read ``series/<name>/series.toml``."""
        path = folder / 'series.toml'
        data: dict[str, Any] = toml.load(path)
        try:
            return cls(
                name=folder.name,
                nova=data['nova'],
                codename=data['codename'],
                python=tuple(data['python']),
                build_constraints=tuple(data.get('build_constraints', ())),
                environment=dict(data.get('environment', {})),
                folder=folder)
        except KeyError as error:
            raise GraftError(f'{path} does not say {error}.') from error

    @property
    def number(self) -> int:
        """Nova's major version, which orders the series."""
        return int(self.nova.split('.')[0])

    @property
    def names(self) -> set[str]:
        """Every name the series goes by, in lower case."""
        return {self.name, self.codename, str(self.number), self.nova}

    @property
    def constraints(self) -> pathlib.Path:
        """The file that pins everything the series runs with."""
        return self.folder / 'constraints.txt'

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.number)

    def __eq__(self, other: object) -> bool:
        return self.number == self._number_of(other)

    def __lt__(self, other: object) -> bool:
        return self.number < self._number_of(other)

    def _number_of(self, other: object) -> int:
        if isinstance(other, Series):
            return other.number
        return AllSeries.of(self.folder.parent).named(str(other)).number


class AllSeries:
    """All series of the project, oldest first."""

    def __init__(self, series: list[Series]) -> None:
        self._series = sorted(series, key=lambda one: one.number)

    @classmethod
    @functools.cache
    def of(cls, folder: pathlib.Path) -> AllSeries:
        """Those described in a folder, normally ``series/``."""
        return cls([Series.load(path.parent)
                    for path in folder.glob('*/series.toml')])

    def __iter__(self):
        return iter(self._series)

    @property
    def newest(self) -> Series:
        return self._series[-1]

    def named(self, name: str) -> Series:
        """The series of a name: codename, year, number or version.

        :raises UsageError: where no series goes by it
        """
        wanted = name.strip().lower()
        for one in self._series:
            if wanted in one.names:
                return one
        raise UsageError(
            f'There is no series "{name}".',
            'Known: ' + ', '.join(map(str, self._series)) + '.')

    def range(self, text: str) -> list[Series]:
        """The series of a range such as ``queens..train`` or ``ussuri..``.

        A single name is a range of one; several ranges stand apart by
        commas; an empty text is no series.
        """
        found: list[Series] = []
        for part in filter(None, re.split(r'[,\s]+', text)):
            first, dots, last = part.partition('..')
            low = self.named(first) if first else self._series[0]
            high = (self.named(last) if last else
                    self.newest if dots else low)
            if low > high:
                raise UsageError(f'{low} comes after {high} in "{part}".',
                                 'A range goes from old to new.')
            found += [one for one in self._series if low <= one <= high]
        return found
