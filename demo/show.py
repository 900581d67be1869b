# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The tables: what the plays saw, for a person to read.

Nothing is said by colour alone, and 80 columns are enough.
"""
from __future__ import annotations

from collections.abc import Sequence
import itertools

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from demo.scenarios import Scenario
from demo.stage import Moment
from demo.stage import Pair
from demo.stage import Play
from graft.fork import State

_WIDEST = 100
_RIGHT, _WRONG, _DIM = 'green', 'bold red', 'dim'
_STATES = {
    State.APPLIES: 'fixed by the fork',
    State.FIXED: 'fixed upstream',
    State.MOVED: 'anchor moved',
    State.UNAFFECTED: 'not affected',
}


class Show:
    """Where it is all shown: standard output, in colour on a terminal."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._console.width = min(self._console.width, _WIDEST)

    def tell(self, pairs: Sequence[Pair], missing: dict[str, str]) -> None:
        """Show what was played.

        :param pairs: all of it, scenario by scenario
        :param missing: why what is not played is not, by series
        """
        for scenario, some in itertools.groupby(
                pairs, key=lambda pair: pair.scenario):
            self._scenario(scenario)
            for pair in some:
                self._pair(pair)
        self._summary(pairs, missing)

    def _scenario(self, scenario: Scenario) -> None:
        self._head(scenario.title, f'  {scenario.change}')
        self._console.print(scenario.story)
        self._console.print(scenario.measure)

    def _pair(self, pair: Pair) -> None:
        where = f'{pair.fork.series}, {_STATES[pair.state]}'
        self._console.print()
        if pair.all_right:
            self._say(f'{where}: the stock release is right at every '
                      f'moment, and so is the fork.', _RIGHT)
            return
        table = _table(where, f'stock {pair.fork.series.nova}',
                       f'fork {pair.fork.version}')
        for moments in itertools.zip_longest(pair.stock.moments,
                                             pair.fixed.moments):
            when = next(moment.when for moment in moments if moment)
            table.add_row(when, *map(_seen, moments))
        self._console.print(_indented(table))
        for name, play in (('stock release', pair.stock),
                           ('fork', pair.fixed)):
            if play.said is not None:
                self._audit(name, play)
            if play.noise:
                self._say(f'The play on the {name} failed:', _WRONG)
                print(play.noise)

    def _audit(self, name: str, play: Play) -> None:
        self._say(f'On the {name} the audit prints' +
                  (':' if play.said else ' nothing.'), 'bold')
        for line in play.said:
            self._say(line.rstrip(), indent=4)
        for uuid, what in play.names.items():
            if any(uuid in line for line in play.said):
                self._say(f'({uuid} is {what})', _DIM, indent=4)

    def _summary(
        self, pairs: Sequence[Pair], missing: dict[str, str],
    ) -> None:
        self._head('In short')
        table = _table('', 'stock release', 'fork', leading=1)
        for pair in pairs:
            table.add_row(
                f'{pair.scenario.title}\non {pair.fork.series}: '
                f'{_STATES[pair.state]}',
                _verdict(pair.stock), _verdict(pair.fixed))
        if pairs:
            self._console.print(_indented(table))
            self._console.print()
        for series, why in missing.items():
            self._say(f'Not played on {series}: {why}', 'yellow')
        surprises = [pair.surprise for pair in pairs if pair.surprise]
        for surprise in surprises:
            self._say(f'NOT AS IT SHOULD BE: {surprise}', _WRONG)
        if pairs and not surprises:
            bugs = sum(pair.stock.has_bug for pair in pairs)
            self._say(f'As it should be: the stock releases go wrong in '
                      f'{bugs} of {len(pairs)} plays, the fork in none.',
                      _RIGHT)

    def _head(self, text: str, more: str = '') -> None:
        self._console.print()
        self._console.rule(Text.assemble((text, 'bold'), more),
                           align='left', style=_DIM)

    def _say(self, text: str, style: str = '', indent: int = 2) -> None:
        self._console.print(_indented(Text(text, style=style), indent))


def _indented(what: Table | Text, indent: int = 2) -> Padding:
    return Padding(what, (0, 0, 0, indent), expand=isinstance(what, Table))


def _table(*heads: str, leading: int = 0) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, expand=True,
                  pad_edge=False, header_style='bold', leading=leading)
    first, *others = heads
    table.add_column(first, width=28)
    for head in others:
        table.add_column(head, ratio=1)
    return table


def _seen(moment: Moment | None) -> Text:
    if moment is None:
        return Text('not played', style=_WRONG)
    if moment.is_right:
        return Text(moment.seen, style=_RIGHT)
    return Text(f'{moment.seen} WRONG', style=_WRONG)


def _verdict(play: Play) -> Text:
    word, style = (('FAILED', _WRONG) if play.noise else
                   ('right', _RIGHT) if play.is_right else ('BUG', _WRONG))
    return Text(f'{word}: {play.outcome}', style=style)
