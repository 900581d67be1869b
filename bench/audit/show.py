# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The tables, and the figures as data."""
from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from bench.audit.cloud import Cloud
from bench.audit.trial import Cost

_TITLES = {
    'stock': 'stock',
    'fork': 'fork',
    'floor': 'floor: bare reads',
    'stock_start_up': 'stock, start-up alone',
    'fork_start_up': 'fork, start-up alone',
    'fork_first': 'fork, writes state file',
    'fork_unchanged': 'fork, again: no change',
    'fork_changed': 'fork, again: some changed',
    'stock_to_fork': 'stock : fork',
    'stock_to_fork_net': '  less their start-ups',
    'fork_to_floor': 'fork : floor',
    'fork_to_fork_unchanged': 'fork : fork, no change',
}
_NET = ('wall_s', 'cpu_s')


def ratios(costs: Mapping[str, Cost]) -> dict[str, dict[str, float]]:
    """How the costs of two things compare, for each figure that has one."""
    net = {nova: {figure: getattr(costs[nova], figure) -
                  getattr(costs[f'{nova}_start_up'], figure)
                  for figure in _NET} for nova in ('stock', 'fork')}
    found = {
        'stock_to_fork': _ratio(costs['stock']._asdict(),
                                costs['fork']._asdict()),
        'stock_to_fork_net': _ratio(net['stock'], net['fork']),
        'fork_to_floor': _ratio(costs['fork']._asdict(),
                                costs['floor']._asdict())}
    if 'fork_unchanged' in costs:
        found['fork_to_fork_unchanged'] = _ratio(
            costs['fork']._asdict(), costs['fork_unchanged']._asdict())
    return found


def data(cloud: Cloud, costs: Mapping[str, Cost],
         surprises: list[str]) -> dict[str, Any]:
    """All about one combination, for JSON."""
    return {
        **cloud.size._asdict(), **counts(cloud), 'surprises': surprises,
        'costs': {name: {figure: _rounded(value)
                         for figure, value in cost._asdict().items()}
                  for name, cost in costs.items()},
        'ratios': ratios(costs)}


def counts(cloud: Cloud) -> dict[str, int]:
    """How much there is of what matters."""
    return {
        'servers': len(cloud.servers), 'moving': len(cloud.moving),
        'orphans': len(cloud.deleted) + len(cloud.strangers),
        'orphaned': len(cloud.orphaned()),
        'stock_only': len(cloud.awaited())}


def table(cloud: Cloud, costs: Mapping[str, Cost],
          surprises: list[str]) -> str:
    """One combination, for a person."""
    size = cloud.size
    lines = [
        f'{size.hosts} hosts, {size.servers_per_host} servers each, '
        f'{size.cells} cell{"s"[:size.cells > 1]}, {size.shape}', '',
        f'{"":25} {"wall":>7} {"CPU":>7} {"Placement":>9} {"database":>8} '
        f'{"":>8} {"":>6} {"peak":>4}',
        f'{"":25} {"s":>7} {"s":>7} {"CPU s":>9} {"CPU s":>8} '
        f'{"requests":>8} {"SELECT":>6} {"MB":>4}']
    lines += (_row(name, cost._asdict(), 2, 0)
              for name, cost in costs.items())
    lines.append('')
    lines += (_row(name, values, 1, 1)
              for name, values in ratios(costs).items())
    return '\n'.join([*lines, '', *_verdict(cloud, surprises), ''])


def _verdict(cloud: Cloud, surprises: list[str]) -> Iterator[str]:
    if surprises:
        yield from (f'NOT AS IT OUGHT TO BE: {text}.' for text in surprises)
        return
    number = counts(cloud)
    yield (f'Both report the {number["orphaned"]} allocations of '
           f'{number["orphans"]} orphans. Stock reports '
           f'{number["stock_only"]} more:')
    yield 'what live servers hold where they are moving to.'


def _row(name: str, values: Mapping[str, float | None], seconds: int,
         counts: int) -> str:
    """A line.

    :param seconds: decimal places of times
    :param counts: those of all else
    """
    def cell(figure: str, width: int, places: int) -> str:
        value = values.get(figure)
        text = '' if value is None else f'{value:.{places}f}'
        return f'{text:>{width}}'

    return ' '.join([
        f'{_TITLES[name]:25}', cell('wall_s', 7, seconds),
        cell('cpu_s', 7, seconds), cell('placement_cpu_s', 9, seconds),
        cell('database_cpu_s', 8, seconds), cell('requests', 8, counts),
        cell('selects', 6, counts), cell('peak_mb', 4, counts)])


def _ratio(first: Mapping[str, float | None],
           second: Mapping[str, float | None]) -> dict[str, float]:
    return {figure: round(first[figure] / second[figure], 2)
            for figure in first
            if (first[figure] or 0) > 0 and (second[figure] or 0) > 0}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
