# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What an audit says: as text, as JSON, as OpenMetrics.

The text on standard output is an interface: its lines are those of the audit
since 21 (Ussuri), to the letter. One of these is gone: that it stops, when
something can not be deleted, for it no longer does. All else goes to standard
error.
"""

import datetime
import json
import sys
from typing import Any
from typing import Dict
from typing import List
from typing import NamedTuple
from typing import Optional

from nova.i18n import _
from nova.ledger import records as rec
from nova.ledger import verdict

# Of the JSON document: a new name or value in it is no new version, a name
# or value that goes, or means something else, is. See audit.schema.json.
VERSION = 1


class Audit(NamedTuple):
    """All there is to tell of an audit."""
    started_at: datetime.datetime
    finished_at: datetime.datetime
    microversion: str
    delete: bool
    whole: bool  # all providers and consumers were looked at
    cells: List[rec.Cell]
    nodes: Dict[str, rec.Node]
    providers: Dict[str, rec.Provider]
    remembered: int  # how many providers were not read again
    findings: List[verdict.Finding]
    ignored: int
    interrupted: bool
    exit_code: int

    def place(self, finding: verdict.Finding) -> Dict[str, Any]:
        """Where a finding is, in words."""
        provider = self.providers.get(finding.provider)
        node = self.nodes.get(provider.root if provider else finding.provider)
        return {
            'uuid': finding.provider,
            'name': provider.name if provider else None,
            'root': provider.root if provider else finding.provider,
            'host': node.host if node else None,
            'node': node.node if node else None,
            'cell': node.cell if node else None,
        }


class Text:
    """The lines of the audit, as they come."""

    def __init__(self, verbose: bool, shown: bool = True) -> None:
        """The audit in words.

        :param verbose: tell each finding
        :param shown: False if standard output is for something else
        """
        self._verbose = verbose and shown
        self._shown = shown

    def _out(self, line: str) -> None:
        if self._verbose:
            print(line)

    def _err(self, line: str) -> None:
        if self._verbose:
            say(line)

    def provider(self, provider: rec.Provider, known: bool) -> None:
        """Begin with what is found on a provider.

        :param known: whether the root of its tree is a compute node, or may
            be one of a cell that does not answer
        """
        if not known:
            self._out(_('The compute node for UUID %s can not be found')
                      % provider.root)

    def finding(self, finding: verdict.Finding) -> None:
        """Tell a finding, and what became of it."""
        uuid = finding.consumer.uuid
        if not finding.deletable:
            self._err(describe(finding))
            return
        self._out(_('Allocations were set against consumer UUID '
                    '%(consumer_uuid)s but no existing instances or '
                    'active migrations are related. ')
                  % {'consumer_uuid': uuid})
        values = {'consumer_uuid': uuid, 'rp': finding.provider,
                  'allocations': finding.resources}
        if finding.action == verdict.FAILED:
            (print if self._shown else say)(
                _('Not able to delete allocations for consumer UUID %s')
                % uuid)
        elif finding.action == verdict.DELETED:
            self._out(_('Deleted allocations for consumer UUID '
                        '%(consumer_uuid)s on Resource Provider '
                        '%(rp)s: %(allocations)s') % values)
        elif finding.action == verdict.LEFT:
            say(describe(finding))
        else:
            self._out(_('Allocations for consumer UUID '
                        '%(consumer_uuid)s on Resource Provider '
                        '%(rp)s can be deleted: '
                        '%(allocations)s') % values)

    def processed(self, number: int) -> None:
        """Tell how many allocations can be deleted, or were."""
        if number:
            self._out(_('Processed %(num)s allocation%(suffix)s')
                      % {'num': number,
                         'suffix': 's.' if number > 1 else '.'})


def say(line: str) -> None:
    """Tell something on standard error."""
    print(line, file=sys.stderr)


def describe(finding: verdict.Finding) -> str:
    """A finding in one line."""
    reason = verdict.REASONS[finding.reason]
    where = _('Consumer UUID %s') % finding.consumer.uuid
    if finding.provider:
        where += _(' on Resource Provider %s') % finding.provider
    if finding.reason == 'cell-silent':
        return _('%(where)s is left alone: no answer from cell %(cells)s.') % {
            'where': where,
            'cells': ', '.join(cell.label for cell in finding.cells)}
    if finding.action == verdict.LEFT:
        return _('%(where)s is left alone: %(why)s.') % {
            'where': where, 'why': finding.why_left}
    if finding.kind == verdict.YOUNG:
        return _('%(where)s is left alone: %(kind)s, as %(reason)s, but '
                 'since %(age)s only.') % {
            'where': where, 'kind': finding.detail['looks_like'],
            'reason': reason, 'age': _seconds(finding.age)}
    text = '%s: %s, %s' % (where, finding.kind, reason)
    if finding.kind == verdict.STUCK:
        text += ', since %s' % _seconds(finding.age)
    if finding.kind == verdict.WRONG_AMOUNT:
        text += ': %s instead of %s' % (
            finding.detail['held'], finding.detail['expected'])
    elif finding.resources:
        text += ': %s' % finding.resources
    return text


def _seconds(age: Optional[datetime.timedelta]) -> str:
    return 'who knows when' if age is None else (
        '%d seconds' % age.total_seconds())


# JSON

def as_json(audit: Audit) -> str:
    """The whole audit as a JSON document, see audit.schema.json."""
    return json.dumps({
        'version': VERSION,
        'started_at': _time(audit.started_at),
        'finished_at': _time(audit.finished_at),
        'exit_code': audit.exit_code,
        'delete': audit.delete,
        'complete': audit.whole and not audit.interrupted and not any(
            cell.silent for cell in audit.cells),
        'interrupted': audit.interrupted,
        'placement': {'microversion': audit.microversion},
        'cells': [{'uuid': cell.uuid, 'name': cell.name,
                   'error': cell.error} for cell in audit.cells],
        'providers': {'looked_at': len(audit.providers),
                      'remembered': audit.remembered},
        'ignored': audit.ignored,
        'summary': _summary(audit),
        'findings': [_finding(audit, each) for each in audit.findings],
    }, indent=2)


def _summary(audit: Audit) -> Dict[str, int]:
    summary = dict.fromkeys(verdict.KINDS, 0)
    for finding in audit.findings:
        summary[finding.kind] += 1
    return summary


def _finding(audit: Audit, finding: verdict.Finding) -> Dict[str, Any]:
    who = finding.consumer
    return {
        'kind': finding.kind,
        'reason': finding.reason,
        'text': describe(finding),
        'consumer': {'uuid': who.uuid, 'type': who.type.lower()},
        'provider': audit.place(finding) if finding.provider else None,
        'resources': finding.resources,
        'deletable': finding.deletable,
        'action': finding.action,
        'why_left': finding.why_left,
        'age_seconds': (None if finding.age is None
                        else int(finding.age.total_seconds())),
        'detail': finding.detail,
        'evidence': {
            'placement': _held(finding.held),
            'nova': {
                'phase': who.phase,
                'instance': _instance(who.instance),
                'migrations': [_migration(each)
                               for each in finding.migrations],
                'silent_cells': [cell.uuid for cell in finding.cells],
            },
        },
    }


def _held(held: Optional[rec.Held]) -> Optional[Dict[str, Any]]:
    return held and {
        'allocations': held.allocations,
        'consumer_generation': held.generation,
        'consumer_type': held.type,
        'project_id': held.project,
        'user_id': held.user,
        'changed_at': _time(held.changed_at),
        'read_at': _time(held.read_at),
    }


def _instance(instance: Optional[rec.Instance]) -> Optional[Dict[str, Any]]:
    return instance and {
        'uuid': instance.uuid,
        'cell': instance.cell,
        'host': instance.host,
        'node': instance.node,
        'vm_state': instance.vm_state,
        'task_state': instance.task_state,
        'deleted': instance.deleted,
        'changed_at': _time(instance.updated_at),
    }


def _migration(migration: rec.Migration) -> Dict[str, Any]:
    return {
        'uuid': migration.uuid,
        'instance': migration.instance,
        'type': migration.type,
        'status': migration.status,
        'source_host': migration.source_host,
        'dest_host': migration.dest_host,
        'changed_at': _time(migration.updated_at),
    }


def _time(when: rec.Time) -> Optional[str]:
    return when.replace(microsecond=0).isoformat() + 'Z' if when else None


# OpenMetrics

def as_openmetrics(audit: Audit) -> str:
    """The audit as gauges, in OpenMetrics' text format."""
    counts: Dict[tuple, int] = {}
    amounts: Dict[tuple, int] = {}
    for finding in audit.findings:
        place = audit.place(finding)
        labels = (finding.kind, place['uuid'] or '', place['name'] or '',
                  place['host'] or '')
        counts[labels] = counts.get(labels, 0) + 1
        for name, amount in finding.resources.items():
            key = labels + (name,)
            amounts[key] = amounts.get(key, 0) + amount
    totals = {(kind,): number for kind, number in _summary(audit).items()}
    where = ('kind', 'provider', 'provider_name', 'host')
    lines: List[str] = []
    lines += _gauge('findings', 'Findings of the last audit, by kind',
                    ('kind',), totals)
    lines += _gauge('provider_findings',
                    'Findings of the last audit, by resource provider',
                    where, counts)
    lines += _gauge('provider_resources',
                    'What the findings are about: amounts of resources',
                    where + ('resource_class',), amounts)
    lines += _gauge('deleted_allocations', 'Allocations deleted by the audit',
                    (), {(): sum(each.action == verdict.DELETED
                                 for each in audit.findings)})
    lines += _gauge('cell_answered', 'Whether a cell answered the audit',
                    ('cell', 'cell_name'), {
                        (cell.uuid, cell.name or ''): int(not cell.silent)
                        for cell in audit.cells})
    lines += _gauge('providers', 'Resource providers that were looked at',
                    ('how',), {
                        ('read',): len(audit.providers) - audit.remembered,
                        ('remembered',): audit.remembered})
    lines += _gauge('audit_exit_code', 'Exit code of the audit', (),
                    {(): audit.exit_code})
    lines += _gauge('audit_finished_timestamp_seconds',
                    'When the audit ended', (),
                    {(): _epoch(audit.finished_at)})
    lines += _gauge('audit_duration_seconds', 'How long the audit took', (),
                    {(): (audit.finished_at -
                          audit.started_at).total_seconds()})
    return '\n'.join(lines + ['# EOF'])


def _gauge(name: str, text: str, labels: tuple,
           values: Dict[tuple, Any]) -> List[str]:
    name = 'nova_ledger_' + name
    lines = ['# TYPE %s gauge' % name]
    if name.endswith('_seconds'):
        lines.append('# UNIT %s seconds' % name)
    lines.append('# HELP %s %s' % (name, text))
    for key, value in values.items():
        told = ','.join('%s="%s"' % (label, _escaped(each))
                        for label, each in zip(labels, key))
        lines.append('%s%s %s' % (name, '{%s}' % told if told else '', value))
    return lines


def _escaped(text: str) -> str:
    return (text.replace('\\', r'\\').replace('"', r'\"')
            .replace('\n', r'\n'))


def _epoch(when: datetime.datetime) -> float:
    return when.replace(tzinfo=datetime.timezone.utc).timestamp()
