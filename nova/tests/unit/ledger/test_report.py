# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors

import contextlib
import copy
import datetime
import io
import json
import os
import re
import uuid

import jsonschema
try:
    from prometheus_client.openmetrics import parser as openmetrics
except ImportError:  # what Nova needs has brought it since Xena
    openmetrics = None

from nova import ledger
from nova.ledger import holders
from nova.ledger import records as rec
from nova.ledger import report
from nova.ledger import verdict
from nova import test

HERE = os.path.dirname(__file__)

NOW = datetime.datetime(2026, 3, 1, 12, 0, 0)
DAYS = datetime.timedelta(days=3)
USUAL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 20}

# Why somebody may hold something. Of such there is no finding.
RIGHTFUL = {'in-flight', 'at-rest', 'shared', 'not-judged'}


def named(name):
    """A UUID that is the same whenever it is asked for."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


CELL = rec.Cell(named('cell1'), 'cell1')
SILENT = rec.Cell(named('cell2'), 'cell2', 'no answer within 60 seconds')
CELLS = [rec.Cell('00000000-0000-0000-0000-000000000000', 'cell0'), CELL,
         SILENT]
NODES = {node.uuid: node for node in (
    rec.Node(named('one'), 1, 'one', 'one.example', CELL.uuid),
    rec.Node(named('two'), 2, 'two', 'two.example', CELL.uuid),
    rec.Node(named('old'), 3, 'old', 'old.example', CELL.uuid, deleted=True))}
PROVIDERS = {provider.uuid: provider for provider in [
    rec.Provider(node.uuid, node.node, 7, node.uuid)
    for node in NODES.values()
] + [rec.Provider(named('pci'), 'two.example_0000:81:00.0', 2, named('two')),
     rec.Provider(named('share'), 'share', 9, named('share'))]}


def server(name, host=None, **more):
    """The record of a server."""
    return rec.Instance(
        named(name), CELL.uuid, host, host and host + '.example',
        vm_state='active', updated_at=NOW - DAYS, vcpus=2, memory_mb=2048,
        disk_gb=20, **more)


def held(name, allocations, consumer_type='INSTANCE'):
    """What Placement says of a consumer.

    :param allocations: resources by the name of the provider
    """
    return rec.Held(
        named(name), {named(where): resources
                      for where, resources in allocations.items()},
        3, consumer_type, named('project'), named('user'), NOW - DAYS, NOW)


def holder(kind, reason, name, where, phase, resources=USUAL, instance=None,
           also=None, consumer_type='INSTANCE', migration=None, **more):
    """A finding about what is held somewhere."""
    return verdict.Finding(
        kind, holders.Consumer(named(name), phase, instance, migration),
        named(where), resources, reason, more.pop('age', DAYS),
        held(name, dict({where: resources}, **also or {}), consumer_type),
        migrations=[migration] if migration else (), **more)


def orphan(**more):
    return holder(
        verdict.ORPHAN, 'deleted', 'orphan', 'one', holders.DELETED,
        instance=server('orphan', 'one', deleted=True), **more)


def leftover():
    return holder(
        verdict.LEFTOVER, 'migration-over', 'move', 'one', holders.AT_REST,
        instance=server('moved', 'two'), consumer_type='MIGRATION',
        migration=rec.Migration(
            named('move'), named('moved'), CELL.uuid, 'confirmed', 'resize',
            'one', 'one.example', 'two', 'two.example', NOW - DAYS))


def doubled():
    return holder(
        verdict.DOUBLED, 'elsewhere', 'doubled', 'two', holders.AT_REST,
        instance=server('doubled', 'one'), also={'one': USUAL})


def missing():
    return verdict.Finding(
        verdict.MISSING,
        holders.Consumer(named('missing'), holders.AT_REST,
                         server('missing', 'one')),
        named('one'), USUAL, 'not-held', DAYS,
        rec.Held(named('missing'), {}, read_at=NOW))


def wrong_amount():
    return holder(
        verdict.WRONG_AMOUNT, 'differs', 'small', 'two', holders.AT_REST,
        resources={'VCPU': 1, 'MEMORY_MB': 2048, 'DISK_GB': 20, 'VGPU': 1},
        instance=server('small', 'two'), detail={
            'expected': {'VCPU': 2}, 'held': {'VCPU': 1},
            'not_computed': ['VGPU']})


def stranded():
    return holder(
        verdict.STRANDED, 'stranded', 'stranded', 'old', holders.AT_REST,
        instance=server('stranded', 'old'))


def stuck():
    return verdict.Finding(
        verdict.STUCK,
        holders.Consumer(named('stuck'), holders.IN_FLIGHT,
                         server('stuck', 'one', task_state='migrating')),
        None, {}, 'task-stuck', DAYS)


def young(**more):
    return holder(
        verdict.YOUNG, 'elsewhere', 'young', 'two', holders.AT_REST,
        instance=server('young', 'one'),
        detail={'looks_like': verdict.LEFTOVER}, **more)


def cannot_know():
    return holder(
        verdict.CANNOT_KNOW, 'cell-silent', 'hidden', 'two', holders.UNKNOWN,
        cells=[SILENT], age=None)


def foreign():
    return holder(
        verdict.FOREIGN, 'foreign-type', 'foreign', 'share', holders.UNKNOWN,
        resources={'CUSTOM_LICENCE': 1}, consumer_type='LICENCE')


def one_of_each():
    """A finding of each kind."""
    return [orphan(), leftover(), doubled(), missing(), wrong_amount(),
            stranded(), stuck(), young(age=datetime.timedelta(seconds=40)),
            cannot_know(), foreign()]


def audit(findings=(), **more):
    """All there is to tell, of an audit that nothing was wrong with."""
    return report.Audit(**dict({
        'started_at': NOW, 'finished_at': NOW + datetime.timedelta(seconds=9),
        'microversion': '1.39', 'delete': False, 'whole': True,
        'cells': CELLS[:2], 'nodes': NODES, 'providers': PROVIDERS,
        'remembered': 0, 'findings': list(findings), 'ignored': 0,
        'interrupted': False, 'exit_code': 0}, **more))


def example():
    """The audit that example.json and example.prom tell of.

    Where the report is to change, print as_json(example()) and
    as_openmetrics(example()) into them.
    """
    findings = one_of_each()
    findings[0].action = verdict.DELETED
    findings[1].left('it has changed since it was looked at')
    findings[2].action = verdict.FAILED
    return audit(findings, delete=True, cells=CELLS, remembered=3, ignored=1,
                 exit_code=1)


def example_text(ending):
    with open(os.path.join(HERE, 'example.' + ending)) as file:
        return file.read()


def load_schema():
    folder = os.path.dirname(ledger.__file__)
    with open(os.path.join(folder, 'audit.schema.json')) as file:
        return json.load(file)


def objects_in(schema):
    """All parts of a schema that list an object's names."""
    if isinstance(schema, dict):
        if isinstance(schema.get('properties'), dict):
            yield schema
        for part in schema.values():
            for found in objects_in(part):
                yield found
    elif isinstance(schema, list):
        for part in schema:
            for found in objects_in(part):
                yield found


def words_of(schema, name):
    """The words that a schema lists for something, in its order."""
    return [each['const'] for each in schema[name]['oneOf']]


class TextTestCase(test.NoDBTestCase):
    """The lines, byte for byte."""

    def _told(self, *findings, **options):
        """What is told of findings: standard output, and standard error."""
        return self._printed(
            lambda text: [text.finding(each) for each in findings], **options)

    def _printed(self, tell, verbose=True, shown=True):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            tell(report.Text(verbose, shown))
        return out.getvalue(), err.getvalue()

    def _related(self, name):
        return ('Allocations were set against consumer UUID %s but no '
                'existing instances or active migrations are related. \n'
                % named(name))

    def test_can_be_deleted(self):
        for name, finding in (('orphan', orphan()), ('move', leftover())):
            self.assertEqual(
                (self._related(name) +
                 "Allocations for consumer UUID %s on Resource Provider %s "
                 "can be deleted: {'VCPU': 2, 'MEMORY_MB': 2048, "
                 "'DISK_GB': 20}\n" % (named(name), named('one')), ''),
                self._told(finding))

    def test_deleted(self):
        finding = doubled()
        finding.action = verdict.DELETED
        self.assertEqual(
            (self._related('doubled') +
             "Deleted allocations for consumer UUID %s on Resource Provider "
             "%s: {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 20}\n"
             % (named('doubled'), named('two')), ''),
            self._told(finding))

    def test_failed(self):
        finding = orphan()
        finding.action = verdict.FAILED
        failed = ('Not able to delete allocations for consumer UUID %s\n'
                  % named('orphan'))
        self.assertEqual((self._related('orphan') + failed, ''),
                         self._told(finding))
        self.assertEqual((failed, ''), self._told(finding, verbose=False))
        # Standard output is a document.
        self.assertEqual(('', failed), self._told(finding, shown=False))

    def test_left_alone(self):
        finding = orphan()
        finding.left('it has changed since it was looked at')
        left = ('Consumer UUID %s on Resource Provider %s is left alone: it '
                'has changed since it was looked at.\n'
                % (named('orphan'), named('one')))
        self.assertEqual((self._related('orphan'), left),
                         self._told(finding))
        self.assertEqual(('', left), self._told(finding, verbose=False))
        self.assertEqual(('', left), self._told(finding, shown=False))

    def test_others_are_told_on_standard_error(self):
        said = {
            missing: "one: missing, the server is on this compute node and "
                     "holds nothing there: {'VCPU': 2, 'MEMORY_MB': 2048, "
                     "'DISK_GB': 20}",
            wrong_amount: "two: wrong-amount, the server holds something "
                          "else than its flavor says: {'VCPU': 1} instead of "
                          "{'VCPU': 2}",
            stranded: "old: stranded, the record of the compute node that "
                      "the server is on is deleted: {'VCPU': 2, "
                      "'MEMORY_MB': 2048, 'DISK_GB': 20}",
            foreign: "share: foreign, its consumer type is not one of Nova: "
                     "{'CUSTOM_LICENCE': 1}",
            cannot_know: "two is left alone: no answer from cell cell2 (%s)."
                         % SILENT.uuid,
        }
        for make, text in said.items():
            finding = make()
            where, what = re.match(r'(\w+)(.*)', text).groups()
            self.assertEqual(
                ('', 'Consumer UUID %s on Resource Provider %s%s\n'
                 % (finding.consumer.uuid, named(where), what)),
                self._told(finding))

    def test_stuck(self):
        finding = stuck()
        stem = ('Consumer UUID %s: stuck, the task state has been the same '
                'for long, since ' % named('stuck'))
        self.assertEqual(('', stem + '259200 seconds\n'),
                         self._told(finding))
        finding.age = None
        self.assertEqual(('', stem + 'who knows when\n'),
                         self._told(finding))

    def test_young(self):
        stem = ('Consumer UUID %s on Resource Provider %s is left alone: '
                'leftover, as the server is on another compute node, but '
                'since ' % (named('young'), named('two')))
        for age, text in ((datetime.timedelta(seconds=40.7), '40 seconds'),
                          (None, 'who knows when')):
            self.assertEqual(('', stem + text + ' only.\n'),
                             self._told(young(age=age)))

    def test_not_verbose(self):
        deleted = orphan()
        deleted.action = verdict.DELETED
        self.assertEqual(('', ''), self._told(
            deleted, *one_of_each(), verbose=False))

    def test_verbose_beside_a_document(self):
        self.assertEqual(('', ''), self._told(*one_of_each(), shown=False))

    def test_provider(self):
        lost = ('The compute node for UUID %s can not be found\n'
                % named('two'))
        child = PROVIDERS[named('pci')]
        for known, verbose, text in ((False, True, lost), (True, True, ''),
                                     (False, False, '')):
            self.assertEqual((text, ''), self._printed(
                lambda told: told.provider(child, known), verbose))

    def test_processed(self):
        for number, line in ((0, ''), (1, 'Processed 1 allocation.\n'),
                             (2, 'Processed 2 allocations.\n')):
            self.assertEqual((line, ''), self._printed(
                lambda text: text.processed(number)))
            self.assertEqual(('', ''), self._printed(
                lambda text: text.processed(number), verbose=False))


class JSONTestCase(test.NoDBTestCase):

    def setUp(self):
        super(JSONTestCase, self).setUp()
        self.schema = load_schema()

    def _document(self, told):
        """As it comes out, once the schema agrees."""
        document = json.loads(report.as_json(told))
        jsonschema.Draft7Validator.check_schema(self.schema)
        jsonschema.Draft7Validator(self.schema).validate(document)
        return document

    def test_example(self):
        self.assertEqual(example_text('json'),
                         report.as_json(example()) + '\n')

    def test_example_has_each_kind(self):
        document = self._document(example())
        self.assertEqual(list(verdict.KINDS),
                         list(document['summary']))
        self.assertEqual({1}, set(document['summary'].values()))
        self.assertEqual(set(verdict.KINDS),
                         {each['kind'] for each in document['findings']})

    def test_nothing_found(self):
        document = self._document(audit())
        self.assertEqual([], document['findings'])
        self.assertEqual({0}, set(document['summary'].values()))

    def test_no_name_goes_without_description(self):
        # The schema allows names it does not know, for those to come; what
        # there is now it has to know, and to require.
        for part in objects_in(self.schema):
            part.setdefault('additionalProperties', False)
            if 'looks_like' not in part['properties']:
                self.assertEqual(list(part['properties']),
                                 part['required'])
        self._document(example())
        for part in objects_in(self.schema):
            for name, about in part['properties'].items():
                while '$ref' in about and 'description' not in about:
                    about = self.schema['definitions'][
                        about['$ref'].rpartition('/')[2]]
                if 'properties' not in about:
                    self.assertIn('description', about, name)

    def test_words_are_those_of_the_code(self):
        parts = self.schema['definitions']
        finding = parts['finding']['properties']
        self.assertEqual(list(verdict.KINDS), words_of(parts, 'kind'))
        self.assertEqual(set(verdict.REASONS) - RIGHTFUL,
                         set(words_of(parts, 'reason')))
        self.assertEqual(
            [verdict.NOTHING, verdict.DELETED, verdict.LEFT, verdict.FAILED],
            words_of(finding, 'action'))
        self.assertEqual(
            [holders.IN_FLIGHT, holders.AT_REST, holders.OFFLOADED,
             holders.NOWHERE, holders.DELETED, holders.UNKNOWN],
            words_of(parts['evidence']['properties']['nova']['properties'],
                     'phase'))
        self.assertEqual(report.VERSION,
                         self.schema['properties']['version']['const'])

    def test_schema_refuses(self):
        right = json.loads(report.as_json(example()))
        validator = jsonschema.Draft7Validator(self.schema)
        for path, value in (
                (('version',), 2),
                (('exit_code',), 2),
                (('started_at',), '2026-03-01 12:00'),
                (('summary', 'orphan'), -1),
                (('summary', 'other'), 1),
                (('findings', 0, 'kind'), 'other'),
                (('findings', 0, 'reason'), 'at-rest'),
                (('findings', 0, 'action'), None),
                (('findings', 0, 'resources', 'VCPU'), '2'),
                (('findings', 0, 'provider', 'uuid'), None)):
            wrong = copy.deepcopy(right)
            part = wrong
            for name in path[:-1]:
                part = part[name]
            part[path[-1]] = value
            self.assertFalse(validator.is_valid(wrong), path)

    def test_complete(self):
        self.assertTrue(self._document(audit())['complete'])
        for incomplete in (audit(whole=False), audit(cells=CELLS),
                           audit(interrupted=True, exit_code=130)):
            self.assertFalse(self._document(incomplete)['complete'])

    def test_no_cell(self):
        nobody = rec.Cell('-', '', 'no cell is mapped')
        document = self._document(audit(cells=CELLS[:1] + [nobody],
                                        exit_code=1))
        self.assertEqual('no cell is mapped', document['cells'][1]['error'])

    def test_place(self):
        def place(where):
            found = holder(verdict.ORPHAN, 'unknown', 'orphan', where,
                           holders.UNKNOWN)
            return self._document(audit([found]))['findings'][0]['provider']

        two = {'root': named('two'), 'host': 'two', 'node': 'two.example',
               'cell': CELL.uuid}
        self.assertEqual(
            dict(two, uuid=named('pci'), name='two.example_0000:81:00.0'),
            place('pci'))
        self.assertEqual(dict(two, uuid=named('two'), name='two.example'),
                         place('two'))
        self.assertEqual(
            {'uuid': named('share'), 'name': 'share', 'host': None,
             'root': named('share'), 'node': None, 'cell': None},
            place('share'))
        # One that was not looked at.
        self.assertEqual(
            {'uuid': named('else'), 'name': None, 'host': None,
             'root': named('else'), 'node': None, 'cell': None},
            place('else'))

    def test_archived(self):
        # There a UUID and a time is all.
        told = self._document(audit([holder(
            verdict.ORPHAN, 'deleted', 'orphan', 'one', holders.DELETED,
            instance=rec.Instance(named('orphan'), CELL.uuid, deleted=True,
                                  updated_at=NOW))]))
        instance = told['findings'][0]['evidence']['nova']['instance']
        self.assertEqual(
            (None, None, True, '2026-03-01T12:00:00Z'),
            (instance['host'], instance['vm_state'], instance['deleted'],
             instance['changed_at']))

    def test_old_placement(self):
        # It tells no generation, no type and no time.
        finding = orphan(age=None)
        finding.held = rec.Held(
            named('orphan'), finding.held.allocations, read_at=NOW)
        told = self._document(audit([finding], microversion='1.14'))
        self.assertIsNone(told['findings'][0]['age_seconds'])
        placement = told['findings'][0]['evidence']['placement']
        self.assertEqual(
            [None] * 5,
            [placement[name] for name in (
                'consumer_generation', 'consumer_type', 'project_id',
                'user_id', 'changed_at')])

    def test_fractions_of_seconds_are_dropped(self):
        document = self._document(audit(
            [young(age=datetime.timedelta(seconds=40.7))],
            started_at=NOW.replace(microsecond=999999)))
        self.assertEqual('2026-03-01T12:00:00Z', document['started_at'])
        self.assertEqual(40, document['findings'][0]['age_seconds'])


class OpenMetricsTestCase(test.NoDBTestCase):

    def _lines(self, *args, **kwargs):
        return report.as_openmetrics(audit(*args, **kwargs)).splitlines()

    def _parsed(self, told):
        """The values by metric and labels, as a scraper reads them."""
        if openmetrics is None:
            self.skipTest('prometheus_client is not here')
        text = report.as_openmetrics(told) + '\n'
        return {
            (sample.name,) + tuple(sorted(sample.labels.items())):
            sample.value
            for family in openmetrics.text_string_to_metric_families(text)
            for sample in family.samples}

    def test_example(self):
        self.assertEqual(example_text('prom'),
                         report.as_openmetrics(example()) + '\n')

    def test_example_is_read(self):
        values = self._parsed(example())
        for kind in verdict.KINDS:
            self.assertEqual(
                1, values['nova_ledger_findings', ('kind', kind)])
        self.assertEqual(1, values['nova_ledger_audit_exit_code',])
        self.assertEqual(1, values['nova_ledger_deleted_allocations',])
        self.assertEqual(9, values['nova_ledger_audit_duration_seconds',])
        self.assertEqual(
            (NOW - datetime.datetime(1970, 1, 1)).total_seconds() + 9,
            values['nova_ledger_audit_finished_timestamp_seconds',])
        for cell in CELLS:
            self.assertEqual(cell != SILENT, values[
                'nova_ledger_cell_answered', ('cell', cell.uuid),
                ('cell_name', cell.name)])
        self.assertEqual(2, values['nova_ledger_providers', ('how', 'read')])
        self.assertEqual(
            3, values['nova_ledger_providers', ('how', 'remembered')])

    def test_all_metrics_are_there_when_nothing_is_found(self):
        def families(lines):
            return [line for line in lines if line.startswith('# TYPE')]

        self.assertEqual(families(example_text('prom').splitlines()),
                         families(self._lines()))
        lines = self._lines()
        for kind in verdict.KINDS:
            self.assertIn('nova_ledger_findings{kind="%s"} 0' % kind, lines)
        self.assertIn('nova_ledger_deleted_allocations 0', lines)
        self.assertEqual('# EOF', lines[-1])

    def test_amounts_add_up(self):
        others = [orphan(), orphan()]
        others[1].resources = {'VCPU': 3, 'PCPU': 1}
        lines = self._lines(others)
        labels = ('kind="orphan",provider="%s",provider_name="one.example",'
                  'host="one"' % named('one'))
        self.assertIn('nova_ledger_provider_findings{%s} 2' % labels, lines)
        for name, amount in (('VCPU', 5), ('MEMORY_MB', 2048), ('PCPU', 1)):
            self.assertIn(
                'nova_ledger_provider_resources{%s,resource_class="%s"} %d'
                % (labels, name, amount), lines)

    def test_finding_without_a_place(self):
        self.assertIn(
            'nova_ledger_provider_findings{kind="stuck",provider="",'
            'provider_name="",host=""} 1', self._lines([stuck()]))

    def test_awkward_names(self):
        for name, escaped in (('a "b"', r'a \"b\"'), ('a\\b', r'a\\b'),
                              ('a\nb', r'a\nb'), ('a\\nb', r'a\\nb'),
                              ('\\"\n', r'\\\"\n'), ('Łódź', 'Łódź')):
            providers = {named('one'): rec.Provider(
                named('one'), name, 1, named('one'))}
            told = audit([orphan()], providers=providers,
                         cells=[CELL._replace(name=name)])
            self.assertIn('provider_name="%s"' % escaped,
                          report.as_openmetrics(told))
            self.assertIn('cell_name="%s"' % escaped,
                          report.as_openmetrics(told))

    def test_awkward_names_are_read(self):
        for name in ('a "b"', 'a\\b', 'a\nb', 'a\\nb', '\\"\n', 'Łódź',
                     '}', ',', '# EOF'):
            told = audit([orphan()], providers={named('one'): rec.Provider(
                named('one'), name, 1, named('one'))})
            self.assertEqual(1, self._parsed(told)[
                'nova_ledger_provider_findings', ('host', 'one'),
                ('kind', 'orphan'), ('provider', named('one')),
                ('provider_name', name)])
