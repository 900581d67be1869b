# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What is wrong, and why: Placement's books held against Nova's records.

The first look tells what is surely right from suspects. The second look, at
the suspects alone, makes findings of them, or clears them.
"""

import datetime
from typing import Any
from typing import Dict
from typing import Iterable
from typing import Iterator
from typing import List
from typing import NamedTuple
from typing import Optional
from typing import Set

from oslo_utils import timeutils

from nova.ledger import amounts
from nova.ledger import books as placement
from nova.ledger import holders
from nova.ledger import records as rec

# Kinds of findings
ORPHAN = 'orphan'  # held by a server that is gone, or by nobody
LEFTOVER = 'leftover'  # of a move that is over, or a server that is elsewhere
DOUBLED = 'doubled'  # the same, and the server holds its own place as well
MISSING = 'missing'  # a server holds nothing where it is
WRONG_AMOUNT = 'wrong-amount'  # a server holds too much or too little
STUCK = 'stuck'  # a task or migration in progress that has been so for long
STRANDED = 'stranded'  # a server on a compute node that is deleted
FOREIGN = 'foreign'  # nothing of Nova's
CANNOT_KNOW = 'cannot-know'  # a cell does not answer, or records differ
YOUNG = 'young'  # wrong, but of late: it may be right in a moment

# Each, in the order in which reports tell them.
KINDS = (ORPHAN, LEFTOVER, DOUBLED, MISSING, WRONG_AMOUNT, STRANDED, STUCK,
         YOUNG, CANNOT_KNOW, FOREIGN)
# What an audit may delete.
DELETABLE = frozenset([ORPHAN, LEFTOVER, DOUBLED])

# From when on a task or a migration is stuck: the longest, a live migration
# that completes at all, takes hours.
STUCK_AFTER = datetime.timedelta(days=1)

# What became of a finding
NOTHING = 'none'
DELETED = 'deleted'
LEFT = 'left'
FAILED = 'failed'


class Suspect(NamedTuple):
    """What a consumer holds on a provider and perhaps may not."""
    consumer: str
    provider: str
    resources: rec.Resources


class Finding:
    """One thing that is wrong, with the reason and the evidence.

    :ivar kind: one of KINDS
    :ivar consumer: who
    :ivar provider: uuid of where; None if it is about the consumer alone
    :ivar resources: what is held there, or what is missing there
    :ivar reason: a word for scripts, see holders.REASONS and REASONS
    :ivar age: how long it has been so, at least; None if nobody knows
    :ivar held: what Placement said of the consumer at the second look
    :ivar migrations: what Nova said of its moves
    :ivar detail: what else belongs to it
    :ivar action: what became of it: NOTHING, DELETED, LEFT or FAILED
    :ivar why_left: if LEFT, the reason in words
    """

    def __init__(self, kind: str, consumer: holders.Consumer,
                 provider: Optional[str], resources: rec.Resources,
                 reason: str, age: Optional[datetime.timedelta] = None,
                 held: Optional[rec.Held] = None,
                 migrations: Iterable[rec.Migration] = (),
                 cells: Iterable[rec.Cell] = (),
                 detail: Optional[Dict[str, Any]] = None) -> None:
        self.kind = kind
        self.consumer = consumer
        self.provider = provider
        self.resources = resources
        self.reason = reason
        self.age = age
        self.held = held
        self.migrations = list(migrations)
        self.cells = list(cells)
        self.detail = detail or {}
        self.action = NOTHING
        self.why_left: Optional[str] = None

    @property
    def deletable(self) -> bool:
        return self.kind in DELETABLE

    def left(self, why: str) -> None:
        self.action = LEFT
        self.why_left = why

    def __repr__(self) -> str:
        return '<%s of %s on %s: %s>' % (
            self.kind, self.consumer.uuid, self.provider, self.reason)


REASONS: Dict[str, str] = dict(holders.REASONS, **{
    'not-held': 'the server is on this compute node and holds nothing there',
    'differs': 'the server holds something else than its flavor says',
    'task-stuck': 'the task state has been the same for long',
    'migration-stuck': 'the migration has been in progress for long',
})


class Suspects:
    """What a first look could not clear.

    :ivar holders: what is held by who perhaps may not, in the books' order
    :ivar missing: servers that seem to hold nothing where they are, by uuid
    :ivar unusual: servers that hold something else than their records say at
        first sight, by uuid
    """

    def __init__(self) -> None:
        self.holders: List[Suspect] = []
        self.missing: Dict[str, rec.Instance] = {}
        self.unusual: Dict[str, rec.Instance] = {}

    @property
    def consumers(self) -> List[str]:
        """All of them, each once, in the books' order."""
        seen = dict.fromkeys(suspect.consumer for suspect in self.holders)
        seen.update(dict.fromkeys(self.missing))
        seen.update(dict.fromkeys(self.unusual))
        return list(seen)

    def among(self, consumers: Iterable[str]) -> 'Suspects':
        """Those of some consumers only."""
        chosen = set(consumers)
        some = Suspects()
        some.holders = [suspect for suspect in self.holders
                        if suspect.consumer in chosen]
        some.missing = {uuid: instance
                        for uuid, instance in self.missing.items()
                        if uuid in chosen}
        some.unusual = {uuid: instance
                        for uuid, instance in self.unusual.items()
                        if uuid in chosen}
        return some


class Judge:
    """Compares the books with the records."""

    def __init__(self, books: placement.Books,
                 min_age: datetime.timedelta) -> None:
        """One who compares, and knows what is too young to tell.

        :param books: Placement's side
        :param min_age: how long a finding must have been so
        """
        self.books = books
        self.min_age = min_age
        self._sharers: Dict[str, Set[str]] = {}

    def place(self, records: rec.Records,
              provider: rec.Provider) -> holders.Place:
        """Where a provider is: on which compute node, or shared by which."""
        node = records.nodes.get(provider.root)
        if node is not None:
            return holders.Place(provider, node)
        if provider.uuid not in self._sharers:
            self._sharers[provider.uuid] = self.books.read_sharers(
                provider.uuid)
        return holders.Place(provider, None, self._sharers[provider.uuid])

    # The first look

    def first_look(self, records: rec.Records) -> Suspects:
        """Clear what is surely right.

        :param records: Nova's side, from Cells.look()
        :returns: the rest
        """
        suspects = Suspects()
        at_home = set()
        for provider in self.books.providers.values():
            held = self.books.allocations.get(provider.uuid)
            if not held:
                continue
            place = self.place(records, provider)
            for consumer, resources in held.items():
                who = holders.identify(records, consumer)
                answer = holders.may_hold(records, who, place)
                if not answer.rightful or answer.reason == 'stranded':
                    suspects.holders.append(
                        Suspect(consumer, provider.uuid, resources))
                elif who.phase == holders.AT_REST:
                    if answer.reason == 'at-rest':
                        at_home.add(consumer)
                    if not amounts.is_usual(who.instance, resources):
                        suspects.unusual[consumer] = who.instance
        totals = self._totals(suspects.unusual, records)
        suspects.unusual = {
            uuid: instance for uuid, instance in suspects.unusual.items()
            if not amounts.is_usual(instance, totals[uuid])}
        suspects.missing = {
            instance.uuid: instance
            for instance in self._at_rest_here(records)
            if instance.uuid not in at_home}
        return suspects

    def explain(self, suspects: Suspects, records: rec.Records,
                flavors: Dict[str, amounts.Flavor]) -> None:
        """Clear those that hold something unusual, but as their flavors say.

        :param suspects: from the first look
        :param records: Nova's side, from Cells.look()
        :param flavors: of those that hold something unusual; who has none
            can not be judged
        """
        totals = self._totals(suspects.unusual, records)
        suspects.unusual = {
            uuid: instance for uuid, instance in suspects.unusual.items()
            if uuid in flavors and amounts.compare(
                flavors[uuid], totals[uuid]) is not None}

    def _totals(self, servers: Dict[str, rec.Instance],
                records: rec.Records) -> Dict[str, rec.Resources]:
        """What servers hold where they are, on all providers together."""
        totals: Dict[str, rec.Resources] = {uuid: {} for uuid in servers}
        homes = {uuid: records.node_of(instance)
                 for uuid, instance in servers.items()}
        if not totals:
            return totals
        for provider, held in self.books.allocations.items():
            root = records.nodes.get(self.books.roots[provider])
            for consumer in totals.keys() & held.keys():
                if root is None or root == homes[consumer]:
                    amounts.add(totals[consumer], held[consumer])
        return totals

    def _at_rest_here(self, records: rec.Records) -> Iterator[rec.Instance]:
        """The servers at rest on the compute nodes that are looked at."""
        for instance in records.instances.values():
            node = records.node_of(instance)
            if node is None or not self.books.covers(node.uuid):
                continue
            if holders.phase(records, instance.uuid) == holders.AT_REST:
                yield instance

    # The second look

    def second_look(self, suspects: Suspects, held: Dict[str, rec.Held],
                    records: rec.Records,
                    flavors: Dict[str, amounts.Flavor]) -> List[Finding]:
        """Make findings of suspects, or clear them.

        :param suspects: from the first look, or some of these
        :param held: what each of them holds now, read afresh
        :param records: Nova's side, read after that
        :param flavors: of those that hold something unusual
        """
        found = [self._holder(suspect, held[suspect.consumer], records)
                 for suspect in suspects.holders]
        found += [self._missing(before, held[uuid], records)
                  for uuid, before in suspects.missing.items()]
        found += [self._wrong(before, held[uuid], records, flavors.get(uuid))
                  for uuid, before in suspects.unusual.items()]
        return [finding for finding in found if finding is not None]

    def _holder(self, suspect: Suspect, held: rec.Held,
                records: rec.Records) -> Optional[Finding]:
        resources = held.allocations.get(suspect.provider)
        if resources is None:
            return None
        who = holders.identify(records, suspect.consumer)
        place = self.place(records, self.books.providers[suspect.provider])
        answer = holders.may_hold(records, who, place, held.type)
        if answer.rightful and answer.reason != 'stranded':
            return None
        return self._finding(
            self._kind(who, answer, held, records), who, suspect.provider,
            resources, answer.reason, held, records, cells=answer.silent)

    def _kind(self, who: holders.Consumer, answer: holders.Answer,
              held: rec.Held, records: rec.Records) -> str:
        if answer.answer == holders.CANNOT_KNOW:
            return CANNOT_KNOW
        if answer.answer == holders.FOREIGN:
            return FOREIGN
        if answer.reason == 'stranded':
            return STRANDED
        if not who.instance or who.instance.deleted:
            return ORPHAN if answer.reason != 'migration-over' else LEFTOVER
        if answer.reason == 'elsewhere' and self._on_tree(
                records.node_of(who.instance), held):
            return DOUBLED
        return LEFTOVER

    def _missing(self, before: rec.Instance, held: rec.Held,
                 records: rec.Records) -> Optional[Finding]:
        who = holders.identify(records, before.uuid)
        if who.instance != before or who.phase != holders.AT_REST:
            return None
        node = records.node_of(before)
        if node is None or self._on_tree(node, held):
            return None
        return self._finding(
            MISSING, who, node.uuid, amounts.usual(before), 'not-held', held,
            records)

    def _wrong(self, before: rec.Instance, held: rec.Held,
               records: rec.Records,
               flavor: Optional[amounts.Flavor]) -> Optional[Finding]:
        who = holders.identify(records, before.uuid)
        node = records.node_of(before)
        if (flavor is None or who.instance != before or node is None or
                who.phase != holders.AT_REST):
            return None
        here: rec.Resources = {}
        for provider in self._on_tree(node, held, and_shared=records):
            amounts.add(here, held.allocations[provider])
        wrong = amounts.compare(flavor, here)
        if not here or wrong is None:
            return None
        return self._finding(
            WRONG_AMOUNT, who, node.uuid, here, 'differs', held, records,
            detail=wrong)

    def _on_tree(self, node: Optional[rec.Node], held: rec.Held,
                 and_shared: Optional[rec.Records] = None) -> List[str]:
        """Where a consumer holds something in the tree of a compute node.

        :param and_shared: if given, also where it does on a provider that
            is in the tree of none of these compute nodes
        """
        def root(provider: str) -> str:
            return self.books.roots.get(provider, provider)

        return [
            provider for provider in held.allocations
            if node is not None and root(provider) == node.uuid or
            and_shared is not None and root(provider) not in and_shared.nodes]

    def _finding(self, kind: str, who: holders.Consumer, provider: str,
                 resources: rec.Resources, reason: str, held: rec.Held,
                 records: rec.Records, cells: Iterable[rec.Cell] = (),
                 detail: Optional[dict] = None) -> Finding:
        migrations = _migrations(records, who)
        age = _age(who, held, migrations)
        detail = dict(detail or {})
        if kind not in (CANNOT_KNOW, FOREIGN, STRANDED) and self.min_age and (
                age is None or age < self.min_age):
            detail['looks_like'] = kind
            kind = YOUNG
        return Finding(kind, who, provider, resources, reason, age, held,
                       migrations, cells, detail)

    # What needs no second look

    @staticmethod
    def stuck(records: rec.Records) -> List[Finding]:
        """Tasks and migrations that have been in progress for very long.

        A resize that waits for its confirmation is none: that is the user's
        to give.
        """
        now = timeutils.utcnow()
        found = []
        for uuid in _too_long(now, {
                instance.uuid: instance.updated_at
                for instance in records.instances.values()
                if instance.task_state is not None}):
            who = holders.identify(records, uuid)
            found.append(Finding(
                STUCK, who, None, {}, 'task-stuck',
                now - who.instance.updated_at))
        # One that is in two cells once.
        for uuid in _too_long(now, {
                migration.uuid: migration.updated_at
                for moves in records.moves.values() for migration in moves
                if migration.uuid and migration.status != 'finished'}):
            migration = records.migrations[uuid]
            found.append(Finding(
                STUCK, holders.identify(records, uuid), None, {},
                'migration-stuck', now - migration.updated_at,
                migrations=[migration]))
        return found


def _too_long(now: datetime.datetime,
              changes: Dict[str, rec.Time]) -> List[str]:
    return [uuid for uuid, changed_at in changes.items()
            if changed_at and now - changed_at > STUCK_AFTER]


def _migrations(records: rec.Records,
                who: holders.Consumer) -> List[rec.Migration]:
    """The moves of a consumer, the latest first."""
    instance = who.migration.instance if who.migration else who.uuid
    return sorted(
        (migration for migration in records.migrations.values()
         if migration.instance == instance),
        key=lambda each: each.updated_at or datetime.datetime.min,
        reverse=True)


def _age(who: holders.Consumer, held: rec.Held,
         migrations: List[rec.Migration]) -> Optional[datetime.timedelta]:
    """How long nothing has been written about a consumer.

    Each side's times are taken by its own clock, as far as it tells it.
    """
    now = timeutils.utcnow()
    ages = [now - each.updated_at for each in [who.instance] + migrations
            if each is not None and each.updated_at]
    if held.changed_at and held.read_at:
        ages.append(held.read_at - held.changed_at)
    return min(ages) if ages else None
