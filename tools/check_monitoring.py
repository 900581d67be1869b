#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Check what surrounds the audit's JSON and OpenMetrics.

What the audit really writes is in the two examples that its unit tests hold
it to. So these are the measure: the schema has to fit the one, as it has to
fit the document in the manual; and what the dashboard and the alerts ask for
has to be in the other. Queries and rules are then checked by promtool, which
comes with Prometheus.

usage: check_monitoring.py
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import jsonschema
from prometheus_client.openmetrics import parser
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / 'nova' / 'tests' / 'unit' / 'ledger'
SCHEMA = ROOT / 'nova' / 'ledger' / 'audit.schema.json'
MANUAL = ROOT / 'doc' / 'source' / 'audit.rst'
MONITORING = ROOT / 'monitoring'

# What a scrape adds to each metric.
SCRAPED = {'instance', 'job'}
DATA_SOURCE = {'type': 'prometheus', 'uid': '${datasource}'}

_JSON_IN_RST = re.compile(
    r'^\.\. code-block:: json\n\n((?: +\S.*\n)+)', re.MULTILINE)
_METRIC = re.compile(r'(nova_ledger_\w+)(?:\{([^}]*)\})?')
_MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"')
_GROUPING = re.compile(r'\b(?:by|without|on|ignoring)\s*\(([^)]*)\)')

Metrics = dict[str, set[str]]


def read_metrics() -> Metrics:
    """The metrics that the audit writes, each with its labels."""
    text = (EXAMPLES / 'example.prom').read_text(encoding='utf-8')
    return {family.name: {label for sample in family.samples
                          for label in sample.labels}
            for family in parser.text_string_to_metric_families(text)}


def load_dashboard() -> dict:
    return json.loads((MONITORING / 'grafana-dashboard.json').read_text())


def load_rules() -> list[dict]:
    """The alerting rules."""
    document = yaml.safe_load((MONITORING / 'alerts.yaml').read_text())
    return [rule for group in document['groups'] for rule in group['rules']]


# Without promtool

def documents() -> Iterator[tuple[str, str]]:
    """The JSON documents there are: where each is, and its text."""
    yield 'example.json', (EXAMPLES / 'example.json').read_text()
    text = MANUAL.read_text(encoding='utf-8')
    found = _JSON_IN_RST.search(text)
    yield MANUAL.name, found[1] if found else 'null'


def check_schema() -> Iterator[str]:
    """What is wrong with the schema, or by it with the documents."""
    schema = json.loads(SCHEMA.read_text())
    try:
        jsonschema.Draft7Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        yield f'{SCHEMA.name}: {error.message} at {error.json_path}'
        return
    for name, text in documents():
        document = json.loads(text)
        for wrong in jsonschema.Draft7Validator(schema).iter_errors(document):
            yield f'{name}: {wrong.message} at {wrong.json_path}'


def check_query(query: str, metrics: Metrics, kinds: set[str],
                ) -> Iterator[str]:
    """What a query asks for and the audit does not write."""
    asked = _METRIC.findall(query)
    if not asked:
        yield 'asks for nothing of the audit'
    known = set(SCRAPED)
    for name, matchers in asked:
        if name not in metrics:
            yield f'there is no metric {name}'
            continue
        known |= metrics[name]
        for label, value in _MATCHER.findall(matchers):
            if label not in metrics[name] | SCRAPED:
                yield f'{name} has no label {label}'
            elif label == 'kind' and not value.startswith('$'):
                for kind in set(value.split('|')) - kinds:
                    yield f'there is no kind {kind}'
    for labels in _GROUPING.findall(query):
        for label in set(re.findall(r'\w+', labels)) - known:
            yield f'there is no label {label} to group by'


def data_sources(part: Any) -> Iterator[Any]:
    """All that a dashboard names as a data source."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name == 'datasource':
                yield value
            yield from data_sources(value)
    elif isinstance(part, list):
        for each in part:
            yield from data_sources(each)


def queries(dashboard: dict) -> Iterator[tuple[str, str]]:
    """The queries of a dashboard's panels, each with where it stands."""
    for panel in dashboard['panels']:
        for target in panel['targets']:
            yield f'panel "{panel["title"]}"', target['expr']


def check_dashboard(dashboard: dict, metrics: Metrics, kinds: set[str],
                    ) -> Iterator[str]:
    """What is wrong with the dashboard."""
    variables = dashboard['templating']['list']
    asked = [*queries(dashboard),
             *((f'variable {each["name"]}', each['query']['query'])
               for each in variables if each['type'] == 'query')]
    names = {each['name'] for each in variables}
    for where, query in asked:
        for problem in check_query(query, metrics, kinds):
            yield f'{where}: {problem}'
        for name in set(re.findall(r'\$(\w+)', query)) - names:
            yield f'{where}: there is no variable {name}'
    if 'datasource' not in names:
        yield 'there is no variable datasource'
    for source in data_sources(dashboard):
        if source != DATA_SOURCE:
            yield f'data source {source} is not the variable'
    ids = Counter(panel['id'] for panel in dashboard['panels'])
    for number, count in ids.items():
        if count > 1:
            yield f'{count} panels have the id {number}'


def check_rules(rules: list[dict], metrics: Metrics, kinds: set[str],
                ) -> Iterator[str]:
    """What is wrong with the alerting rules, and what is not tested."""
    text = (MONITORING / 'alerts_test.yaml').read_text()
    tests = [each for test in yaml.safe_load(text)['tests']
             for each in test['promql_expr_test']]
    for rule in rules:
        name = rule['alert']
        problems = list(check_query(rule['expr'], metrics, kinds))
        problems += [f'has no {each}' for each in ('summary', 'description')
                     if not rule['annotations'].get(each)]
        if rule['labels'].get('severity') not in ('critical', 'warning'):
            problems.append('has no severity')
        outcomes = {bool(test['exp_samples']) for test in tests
                    if f'alertname="{name}"' in test['expr']}
        if True not in outcomes:
            problems.append('is never tested to fire')
        if False not in outcomes:
            problems.append('is never tested not to fire')
        yield from (f'alert {name}: {problem}' for problem in problems)


# With promtool

def as_rules(dashboard: dict) -> str:
    """A dashboard's queries as rules, for promtool to parse."""
    rules = [{'record': f'panel:{number}',
              'expr': re.sub(r'\$\w+', 'any', query)}
             for number, (_, query) in enumerate(queries(dashboard))]
    return yaml.safe_dump({'groups': [{'name': 'queries', 'rules': rules}]})


def promtool(*arguments: str | pathlib.Path) -> Iterator[str]:
    """What promtool finds wrong, as it says it."""
    done = subprocess.run(
        ['promtool', *arguments], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        yield f'promtool {arguments[0]} {arguments[1]}:\n{done.stdout}'


def check_with_promtool(dashboard: dict) -> Iterator[str]:
    """What promtool finds wrong with the rules, their tests, the queries."""
    if shutil.which('promtool') is None:
        yield ('promtool is missing, so neither rules nor queries were '
               'checked. It comes with the package "prometheus" of Debian '
               'and Ubuntu, and with Prometheus itself.')
        return
    yield from promtool('check', 'rules', MONITORING / 'alerts.yaml')
    yield from promtool('test', 'rules', MONITORING / 'alerts_test.yaml')
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'queries.yaml'
        path.write_text(as_rules(dashboard))
        yield from promtool('check', 'rules', path)


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    metrics = read_metrics()
    kinds = set(json.loads((EXAMPLES / 'example.json').read_text())['summary'])
    dashboard, rules = load_dashboard(), load_rules()
    problems = [
        *check_schema(),
        *check_dashboard(dashboard, metrics, kinds),
        *check_rules(rules, metrics, kinds),
        *check_with_promtool(dashboard),
    ]
    for problem in problems:
        print(problem)
    print(f'monitoring: {len(metrics)} metrics, {len(dashboard["panels"])} '
          f'panels, {len(rules)} alerts, {len(problems)} problems')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
