# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Changes: what the fork does, each fit to be one Gerrit review."""
from __future__ import annotations

import dataclasses
import hashlib
import pathlib
import re
from typing import Any

from graft import toml
from graft.errors import GraftError
from graft.errors import UsageError
from graft.series import AllSeries
from graft.series import Series


@dataclasses.dataclass(frozen=True)
class Change:
    """One change, as its file in ``changes/`` describes it.

    :ivar name: what it is called, for instance ``bug-1798688``
    :ivar message: its commit message without footers
    :ivar bugs: numbers of the bugs it closes, and of related ones
    :ivar fixes: the series in which it is to fix something
    :ivar pins: those where upstream has it, and its tests keep it so
    :ivar files: what it brings that upstream does not have: tests, a
        release note; paths below the tree
    :ivar own_files: the same, for the fork alone: tests that need more than
        upstream's own fixtures; not for a review
    :ivar tests: the tests that prove it, by dotted names
    :ivar upstream_tests: upstream's own tests of what it touches
    """

    name: str
    message: str
    fixes: tuple[Series, ...]
    pins: tuple[Series, ...]
    bugs: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    own_files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    upstream_tests: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: pathlib.Path, all_series: AllSeries) -> Change:
        """Read ``changes/<number>-<name>.toml``."""
        data: dict[str, Any] = toml.load(path)
        name = re.sub(r'^\d+-', '', path.stem)
        text = {key: data.pop(key, '') for key in ('message', 'fixes', 'pins')}
        lists = {field.name for field in dataclasses.fields(cls)
                 if field.default == ()}
        wrong = [f'no "{key}" is known' for key in data if key not in lists]
        wrong += [f'"{key}" is no list of strings'
                  for key, value in data.items() if key in lists and
                  not (isinstance(value, list) and
                       all(isinstance(one, str) for one in value))]
        wrong += [f'"{key}" is no string' for key, value in text.items()
                  if not isinstance(value, str)]
        if not text['message']:
            wrong.append('it has no "message"')
        if wrong:
            raise GraftError(
                f'{path}: {"; ".join(wrong)}',
                'See the reference of changes in the documentation.')
        try:
            fixes, pins = (tuple(all_series.range(text[key]))
                           for key in ('fixes', 'pins'))
        except UsageError as error:
            raise UsageError(f'{path}: {error.message}', error.hint) from error
        return cls(name=name, message=text['message'].strip() + '\n',
                   fixes=fixes, pins=pins,
                   **{key: tuple(value) for key, value in data.items()})

    @property
    def change_id(self) -> str:
        """Gerrit's Change-Id: the same in every series, for good."""
        seed = f'nova-ledger change {self.name}\n'
        return 'I' + hashlib.sha1(seed.encode()).hexdigest()

    @property
    def subject(self) -> str:
        return self.message.splitlines()[0]

    def concerns(self, series: Series) -> bool:
        """Whether the series has, or had, what the change is about."""
        return series in self.fixes or series in self.pins
