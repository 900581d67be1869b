# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Placement's side: who holds what."""

import datetime
import email.utils
from typing import Callable
from typing import Dict
from typing import Iterable
from typing import List
from typing import Optional
from typing import Set
import urllib.parse

from oslo_utils import timeutils

from nova.ledger import client as placement
from nova.ledger import records as rec

# {consumer: resources}
Allocations = Dict[str, rec.Resources]

# What came of taking something away
REMOVED = 'removed'
CHANGED = 'changed'
FAILED = 'failed'


class Books:
    """Who holds what, by provider.

    :ivar providers: those that are looked at, by uuid, in Placement's order
    :ivar roots: uuid of the root of each provider that is known of
    :ivar allocations: by provider, once read
    :ivar whole: whether these are all providers
    :ivar remembered: those whose allocations are from an earlier look
    """

    def __init__(self, client: placement.Client) -> None:
        self.client = client
        self.providers: Dict[str, rec.Provider] = {}
        self.roots: Dict[str, str] = {}
        self.allocations: Dict[str, Allocations] = {}
        self.whole = True
        self.remembered: Set[str] = set()
        self._same: Dict[tuple, rec.Resources] = {}

    def covers(self, root: str) -> bool:
        """Whether the root of a tree is among what is looked at."""
        return self.whole or root in self.providers

    # The first look

    def read_providers(self, uuid: Optional[str] = None) -> None:
        """Read the list of providers.

        :param uuid: only this one
        :raises nova.ledger.client.Unreachable: if Placement does not answer
        """
        self.whole = uuid is None
        tree = self._list('?in_tree=%s' % uuid if uuid else '')
        for provider in tree:
            self.roots[provider.uuid] = provider.root
            if uuid in (None, provider.uuid):
                self.providers[provider.uuid] = provider

    def _list(self, query: str) -> List[rec.Provider]:
        found = self.client.get('/resource_providers' + query).document
        return [
            rec.Provider(each['uuid'], each['name'], each['generation'],
                         each['root_provider_uuid'])
            for each in found['resource_providers']]

    def read_allocations(self, uuids: Iterable[str],
                         done: Callable[[], None] = lambda: None) -> None:
        """Read what is held on providers, several at once.

        :param uuids: the providers'
        :param done: called after each
        :raises nova.ledger.client.Unreachable: if Placement does not answer
        """
        def read(uuid: str) -> None:
            self.allocations[uuid] = self._allocations(uuid)
            self.remembered.discard(uuid)
            done()

        self.client.for_each(read, uuids)

    def recall(self, provider: str, allocations: Allocations) -> None:
        """Take what is held on a provider from an earlier look."""
        self.allocations[provider] = allocations
        self.remembered.add(provider)

    def correct(self, held: rec.Held) -> None:
        """Forget what a consumer no longer holds of what is remembered."""
        for uuid in self.remembered:
            if uuid not in held.allocations:
                self.allocations[uuid].pop(held.consumer, None)

    def read_totals(self, projects: Iterable[str]) -> Dict[str,
                                                           rec.Resources]:
        """Read what projects hold, on all providers together.

        :param projects: their ids
        :raises nova.ledger.client.Unreachable: if Placement does not answer
        """
        totals: Dict[str, rec.Resources] = {}

        def read(project: str) -> None:
            query = urllib.parse.urlencode({'project_id': project})
            usages = self.client.get('/usages?' + query).document['usages']
            if self.client.has('consumer-types'):
                # By type; each with the number of its consumers as well.
                usages, by_type = {}, usages
                for each in by_type.values():
                    for name, amount in each.items():
                        if name != 'consumer_count':
                            usages[name] = usages.get(name, 0) + amount
            totals[project] = usages

        self.client.for_each(read, projects)
        return totals

    def read_consumers(self, consumers: Iterable[str]) -> None:
        """Read what is held on the providers by some consumers only.

        :param consumers: their uuids
        :raises nova.ledger.client.Unreachable: if Placement does not answer
        """
        def read(consumer: str) -> None:
            held = self.read_consumer(consumer)
            for provider, resources in held.allocations.items():
                if provider in self.providers:
                    self.allocations.setdefault(provider, {})[
                        consumer] = resources

        self.client.for_each(read, consumers)

    def _allocations(self, provider: str) -> Allocations:
        # 404: it has been deleted since, and nothing was held on it then.
        reply = self.client.get(
            '/resource_providers/%s/allocations' % provider, 404)
        if reply.status == 404:
            return {}
        return {consumer: self._shared(held['resources'])
                for consumer, held in reply.document['allocations'].items()}

    def _shared(self, resources: rec.Resources) -> rec.Resources:
        """One copy of what many hold alike: memory is the reason."""
        return self._same.setdefault(
            tuple(resources.items()), resources)

    def read_sharers(self, provider: str) -> Set[str]:
        """The roots of the trees that a provider out of them may serve.

        :param provider: uuid of a provider
        :returns: the uuids of the root providers that are in one of its
            aggregates; none if it is in no aggregate
        """
        reply = self.client.get(
            '/resource_providers/%s/aggregates' % provider, 404)
        if reply.status == 404:
            return set()
        aggregates = reply.document['aggregates']
        if not aggregates:
            return set()
        members = self._list('?member_of=in:' + ','.join(aggregates))
        return {member.root for member in members
                if member.uuid != provider}

    # The second look

    def read_consumer(self, consumer: str) -> rec.Held:
        """What one consumer holds now, everywhere.

        :param consumer: its uuid
        :raises nova.ledger.client.Unreachable: if Placement does not answer
        """
        reply = self.client.get('/allocations/%s' % consumer)
        document = reply.document
        read_at = (_http_time(reply.headers.get('Date')) or
                   timeutils.utcnow())
        return rec.Held(
            consumer,
            {provider: held['resources']
             for provider, held in document['allocations'].items()},
            document.get('consumer_generation'),
            document.get('consumer_type'),
            document.get('project_id'), document.get('user_id'),
            (_http_time(reply.headers.get('Last-Modified'))
             if self.client.has('last-modified') and document['allocations']
             else None),
            read_at)

    # Taking away

    def remove(self, held: rec.Held, providers: Iterable[str]) -> str:
        """Take away what a consumer holds on some providers.

        In one request, which Placement refuses if anything has changed since
        it was read.

        :param held: what it holds, from :meth:`read_consumer`
        :param providers: uuids of the providers
        :returns: REMOVED, CHANGED if Placement refused, FAILED if it did
            anything else
        """
        gone = set(providers)
        document = {
            'allocations': {
                other: {'resources': resources}
                for other, resources in held.allocations.items()
                if other not in gone},
            'consumer_generation': held.generation,
            'project_id': held.project,
            'user_id': held.user,
        }
        try:
            response = self.client.put(
                '/allocations/%s' % held.consumer, document)
        except placement.Unreachable:
            return FAILED
        if response.status_code == 409:
            return CHANGED
        return REMOVED if response.status_code == 204 else FAILED


def _http_time(text: Optional[str]) -> rec.Time:
    """The time that a HTTP header tells, which is UTC, or None."""
    parsed = email.utils.parsedate(text) if text else None
    return datetime.datetime(*parsed[:6]) if parsed else None
