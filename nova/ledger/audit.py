# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""nova-manage placement audit, from its options to its exit code."""

import datetime
import os
import signal
import sys
from typing import Any
from typing import Dict
from typing import FrozenSet
from typing import Iterable
from typing import List
from typing import NamedTuple
from typing import Optional
import uuid as uuid_lib

from oslo_utils import timeutils

from nova.i18n import _
from nova.ledger import books as placement
from nova.ledger import cells as nova_cells
from nova.ledger import client as placement_client
from nova.ledger import memory
from nova.ledger import records as rec
from nova.ledger import repair
from nova.ledger import report
from nova.ledger import verdict

# Seconds. The longest of the gaps between two writes of one operation is as
# long as a call from one service to the other may last, in which it is
# answered or given up: rpc_response_timeout, 60 seconds. Five of these are
# for those who have raised it, and for clocks that differ.
MIN_AGE = 300
# Requests to Placement at once: more than this gains nothing where it was
# tried, and more than ten are too many for the client's connection pool.
WORKERS = 4
MOST_WORKERS = 10
# So many consumers are looked at again at a time.
CHUNK = 500

FORMATS = ('text', 'json', 'openmetrics')

# Exit codes
CLEAN = 0
ERROR = 1
FOUND = 3
DELETED = 4
INVALID = 127
INTERRUPTED = 130  # as a shell says of what SIGINT has ended


class Invalid(Exception):
    """An option is wrong. The message says which, and what is right."""


class Options(NamedTuple):
    """What is asked for.

    :ivar verbose: tell each finding
    :ivar provider: uuid of the only provider to look at
    :ivar delete: delete what is nobody's
    :ivar consumers: uuids of the only consumers to look at; all if empty
    :ivar min_age: how long a finding must have been so
    :ivar max_delete: delete nothing if there is more than this; None is any
    :ivar ignored: uuids of consumers and providers to leave alone
    :ivar output_format: one of FORMATS
    :ivar state_file: where to remember what need not be read again
    :ivar workers: how many requests to Placement at once
    """
    verbose: bool = False
    provider: Optional[str] = None
    delete: bool = False
    consumers: FrozenSet[str] = frozenset()
    min_age: datetime.timedelta = datetime.timedelta()
    max_delete: Optional[int] = None
    ignored: FrozenSet[str] = frozenset()
    output_format: str = 'text'
    state_file: Optional[str] = None
    workers: int = WORKERS

    @classmethod
    def parse(cls, verbose: bool, provider_uuid: Optional[str], delete: bool,
              consumers: Optional[Iterable[str]], min_age: Any,
              max_delete: Any, ignore: Optional[str],
              output_format: Optional[str], state_file: Optional[str],
              workers: Any) -> 'Options':
        """Options as the command line has them, strings mostly.

        :raises Invalid: if one of them is wrong
        """
        output_format = output_format or 'text'
        if output_format not in FORMATS:
            raise Invalid(_('--format: %(got)s is none of %(formats)s.') % {
                'got': output_format, 'formats': ', '.join(FORMATS)})
        return cls(
            verbose, _uuid('--resource_provider', provider_uuid), delete,
            frozenset(_uuid('--consumer', each) for each in consumers or ()),
            datetime.timedelta(seconds=_number('--min-age', min_age) or 0),
            _number('--max-delete', max_delete),
            frozenset() if ignore is None else _read_ignored(ignore),
            output_format, _writable('--state-file', state_file),
            _number('--workers', workers, 1, MOST_WORKERS) or WORKERS)


def _uuid(option: str, text: Optional[str]) -> Optional[str]:
    if text is None:
        return None
    try:
        # Which may be in capitals, in braces or without dashes.
        return str(uuid_lib.UUID(text))
    except ValueError:
        raise Invalid(_('%(option)s: %(got)s is not a UUID.') % {
            'option': option, 'got': text})


def _number(option: str, text: Any, least: int = 0,
            most: int = 10 ** 9) -> Optional[int]:
    if text is None:
        return None
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not least <= number <= most:
        raise Invalid(
            _('%(option)s: %(got)s is not a whole number from %(least)d to '
              '%(most)d.') % {'option': option, 'got': text, 'least': least,
                              'most': most})
    return number


def _writable(option: str, path: Optional[str]) -> Optional[str]:
    """The path of a file that can be written, or None if none is given."""
    if path is None:
        return None
    folder = os.path.dirname(os.path.abspath(path))
    if not path or os.path.isdir(path) or not os.access(folder, os.W_OK):
        raise Invalid(_('%(option)s: %(path)s can not be written.') % {
            'option': option, 'path': path})
    return path


def _read_ignored(path: str) -> FrozenSet[str]:
    """The uuids in a file, one a line; what follows a # is a comment."""
    try:
        with open(path) as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(_('--ignore: can not read %(path)s: %(why)s.') % {
            'path': path, 'why': getattr(error, 'strerror', error)})
    words = [line.partition('#')[0].strip() for line in lines]
    return frozenset(
        _uuid('--ignore: line %d of %s' % (number, path), word)
        for number, word in enumerate(words, 1) if word)


class Interrupt:
    """Ctrl-C, which waits for the request to Placement that is under way."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> 'Interrupt':
        try:
            self._before = signal.signal(signal.SIGINT, self._ask)
        except ValueError:  # only the main thread gets signals
            self._before = None
        return self

    def _ask(self, _signal, _frame) -> None:
        if self.asked:  # a second time: at once
            raise KeyboardInterrupt()
        self.asked = True

    def __exit__(self, *_exception) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


class Stopped(Exception):
    """Ctrl-C before anything was deleted."""


class Progress:
    """One line on standard error, if that is a terminal."""

    def __init__(self, interrupt: Interrupt) -> None:
        self._interrupt = interrupt
        self._shown = sys.stderr.isatty()

    def step(self, what: str, total: int):
        """Begin to count something up.

        :returns: a function to be called after each
        :raises Stopped: by that function, when Ctrl-C was pressed
        """
        done = [0]

        def count() -> None:
            done[0] += 1
            if self._shown:
                sys.stderr.write('\r%s: %d of %d' % (what, done[0], total))
                if done[0] == total:
                    sys.stderr.write('\r\x1b[K')
                sys.stderr.flush()
            if self._interrupt.asked:
                raise Stopped()
        return count


class Audit:
    """Compares Placement's books with Nova's records, once."""

    def __init__(self, options: Options, client: placement_client.Client,
                 cells: nova_cells.Cells, interrupt: Interrupt) -> None:
        self.options = options
        self.books = placement.Books(client)
        self.cells = cells
        self.interrupt = interrupt
        self.progress = Progress(interrupt)
        self.judge = verdict.Judge(self.books, options.min_age)
        self.findings: List[verdict.Finding] = []
        self.records = rec.Records()
        self.projects: Dict[str, Optional[str]] = {}
        self.cloud: Optional[List[str]] = None
        self.ignored = 0

    def look(self) -> None:
        """Look at all, and again at what is suspicious.

        :raises nova.ledger.client.Unreachable: if Placement does not answer
        :raises nova.ledger.cells.Unreachable: if the API database does not
        :raises Stopped: when Ctrl-C was pressed
        """
        self.books.read_providers(self.options.provider)
        if self.options.provider and not self.books.providers:
            return
        if self.options.consumers:
            consumers = sorted(self.options.consumers)
            self.books.read_consumers(consumers)
            self.records = self.cells.look_at(consumers)
            self._judge()
            return
        self._recall()
        while True:
            self._read(uuid for uuid in self.books.providers
                       if uuid not in self.books.allocations)
            self.records = self.cells.look()
            self._judge()
            outdated = memory.outdated(
                self.books, self.records, self.projects)
            if not outdated:
                return
            self._forget(outdated)

    def _judge(self) -> None:
        suspects = self.judge.first_look(self.records)
        self.ignored = 0
        self.findings = self._look_again(self._chosen(suspects))
        if not self.options.provider:
            self.findings += [
                finding for finding in self.judge.stuck(self.records)
                if self._is_chosen(finding.consumer.uuid)]

    def _read(self, providers: Iterable[str]) -> None:
        uuids = list(providers)
        self.books.read_allocations(
            uuids, self.progress.step(_('Reading Placement'), len(uuids)))

    # What need not be read again

    def _recall(self) -> None:
        """Take from the state file what has not changed since."""
        if not self.options.state_file or not self.books.whole:
            return
        self.cloud = self.cells.identity()
        try:
            remembered = memory.load(self.options.state_file, self.cloud)
        except memory.Useless as error:
            report.say(_('The state file %(path)s is not used: %(why)s.') % {
                'path': self.options.state_file, 'why': error})
            return
        for uuid, provider in self.books.providers.items():
            before = remembered.get(uuid)
            if before and before.generation == provider.generation:
                self.books.recall(uuid, before.allocations)

    def _forget(self, providers: Iterable[str]) -> None:
        for uuid in providers:
            del self.books.allocations[uuid]

    def remember(self) -> None:
        """Write the state file, if all has been looked at."""
        if self.cloud is None or self.interrupt.asked:
            return
        try:
            memory.save(self.options.state_file, self.cloud, self.books, {
                finding.provider for finding in self.findings
                if finding.action != verdict.NOTHING})
        except OSError as error:
            report.say(_('The state file %(path)s is not written: %(why)s.')
                       % {'path': self.options.state_file,
                          'why': error.strerror})

    def _is_chosen(self, consumer: str, provider: str = '') -> bool:
        if self.options.consumers and consumer not in self.options.consumers:
            return False
        if self.options.ignored & {consumer, provider}:
            self.ignored += 1
            return False
        return True

    def _chosen(self, suspects: verdict.Suspects) -> verdict.Suspects:
        """Leave out what is not asked for, or to be ignored."""
        suspects.holders = [
            each for each in suspects.holders
            if self._is_chosen(each.consumer, each.provider)]
        for servers in (suspects.missing, suspects.unusual):
            for uuid, instance in list(servers.items()):
                node = self.records.node_of(instance)
                if not self._is_chosen(uuid, node.uuid if node else ''):
                    del servers[uuid]
        return suspects

    def _look_again(self, suspects: verdict.Suspects,
                    ) -> List[verdict.Finding]:
        findings: List[verdict.Finding] = []
        flavors = self.cells.flavors(suspects.unusual.values())
        self.judge.explain(suspects, self.records, flavors)
        consumers = suspects.consumers
        count = self.progress.step(_('Looking again'), len(consumers))
        for start in range(0, len(consumers), CHUNK):
            some = consumers[start:start + CHUNK]
            held = self._read_held(some, count)
            records = self.cells.look_at(some)
            self.records.note_silent(records.silent)
            findings += self.judge.second_look(
                suspects.among(some), held, records, flavors)
        return findings

    def _read_held(self, consumers: List[str], count) -> Dict[str, rec.Held]:
        held: Dict[str, rec.Held] = {}

        def read(consumer: str) -> None:
            held[consumer] = self.books.read_consumer(consumer)
            self.projects[consumer] = held[consumer].project
            self.books.correct(held[consumer])
            count()

        self.books.client.for_each(read, consumers)
        return held

    # What comes of it

    def tell(self, text: report.Text) -> None:
        """Tell the findings, by provider; delete on the way if so asked."""
        fixer = repair.Repair(self.books, self.findings)
        delete = self.options.delete and not self._too_many()
        by_provider: Dict[Optional[str], List[verdict.Finding]] = {}
        for finding in self.findings:
            by_provider.setdefault(finding.provider, []).append(finding)
        for uuid, provider in self.books.providers.items():
            node = self.records.nodes.get(provider.root)
            text.provider(provider, bool(self.records.silent) or (
                node is not None and not node.deleted))
            for finding in by_provider.pop(uuid, ()):
                if delete and not self.interrupt.asked:
                    fixer.remove(finding)
                text.finding(finding)
        for findings in by_provider.values():
            for finding in findings:
                text.finding(finding)
        text.processed(self.processed)

    def _too_many(self) -> bool:
        most = self.options.max_delete
        return most is not None and most < self.deletable

    def _too_old(self) -> bool:
        """Whether nothing can be deleted, though something is to be."""
        return self.deletable > 0 and not self.books.client.has('generations')

    @property
    def deletable(self) -> int:
        return sum(finding.deletable for finding in self.findings)

    @property
    def processed(self) -> int:
        """How many allocations are nobody's, or were, up to now."""
        return sum(
            finding.deletable and finding.action in (
                (verdict.DELETED,) if self.options.delete and
                not self._too_many() else (verdict.NOTHING,))
            for finding in self.findings)

    @property
    def exit_code(self) -> int:
        if self.interrupt.asked:
            return INTERRUPTED
        failed = any(finding.action == verdict.FAILED
                     for finding in self.findings)
        if failed or self.records.silent or self.options.delete and (
                self._too_many() or self._too_old()):
            return ERROR
        if not self.processed:
            return CLEAN
        return DELETED if self.options.delete else FOUND


def run(options: Options, context, report_client) -> int:
    """Audit, and tell what was found.

    :param options: what is asked for
    :param context: nova.context.RequestContext of an administrator
    :param report_client: nova.scheduler.client.report.SchedulerReportClient
    :returns: the exit code
    """
    started_at = timeutils.utcnow()
    with Interrupt() as interrupt:
        try:
            client = placement_client.Client(report_client, options.workers)
            audit = Audit(options, client, nova_cells.Cells(context),
                          interrupt)
            audit.look()
        except placement_client.Unreachable as error:
            report.say(_('Placement can not be asked: %s.') % error)
            return ERROR
        except nova_cells.Unreachable as error:
            report.say(_('The API database can not be read: %s.') % error)
            return ERROR
        except Stopped:
            report.say(_('Interrupted. Nothing was deleted.'))
            return INTERRUPTED
        if options.provider and not audit.books.providers:
            (print if options.output_format == 'text' else report.say)(
                _('Resource provider with UUID %s does not exist.')
                % options.provider)
            return INVALID
        _tell(audit, started_at)
        audit.remember()
        return audit.exit_code


def _tell(audit: Audit, started_at: datetime.datetime) -> None:
    options = audit.options
    as_text = options.output_format == 'text'
    audit.tell(report.Text(options.verbose, as_text))
    for cell in audit.records.silent:
        report.say(_('Cell %(cell)s does not answer: %(why)s. What may be of '
                     'its servers is left alone.') % {
            'cell': cell.label, 'why': cell.error})
    if options.delete and audit._too_many():
        report.say(_('Nothing was deleted: %(found)d allocations are more '
                     'than --max-delete %(most)d.') % {
            'found': audit.deletable, 'most': options.max_delete})
    if audit.interrupt.asked:
        report.say(_('Interrupted. Deleted so far: %d of %d allocations.')
                   % (audit.processed, audit.deletable))
    if not as_text:
        print(_document(audit, started_at))


def _document(audit: Audit, started_at: datetime.datetime) -> str:
    told = report.Audit(
        started_at=started_at,
        finished_at=timeutils.utcnow(),
        microversion=audit.books.client.microversion,
        delete=audit.options.delete,
        whole=audit.books.whole and not audit.options.consumers,
        cells=audit.records.cells,
        nodes=audit.records.nodes,
        providers=audit.books.providers,
        remembered=len(audit.books.remembered),
        findings=audit.findings,
        ignored=audit.ignored,
        interrupted=audit.interrupt.asked,
        exit_code=audit.exit_code)
    if audit.options.output_format == 'json':
        return report.as_json(told)
    return report.as_openmetrics(told)
