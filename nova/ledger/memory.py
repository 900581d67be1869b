# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""The state file: what need not be read again.

Placement raises the generation of a provider whenever an allocation is placed
on it. It does not when one is removed, or moved away. So a provider whose
generation has not changed has gained nothing, and what is remembered of it is
all that can be held there. What is no longer held is found out otherwise:

- who may not hold it is a suspect, and suspects are always read afresh;
- who may, and no longer does, is missed from the totals that Placement has of
  its project, one number a resource class.

So an audit with a state file finds just what one without it finds. One thing
it can not see: a provider that was deleted and made anew with the same UUID,
and has come to the same generation as before.
"""

import json
import os
import tempfile
from typing import Dict
from typing import Iterable
from typing import List
from typing import NamedTuple
from typing import Optional
from typing import Set

from nova.i18n import _
from nova.ledger import amounts
from nova.ledger import books as placement
from nova.ledger import records as rec

VERSION = 1


class Remembered(NamedTuple):
    """What was held on a provider when it had a generation."""
    generation: int
    allocations: placement.Allocations


class Useless(Exception):
    """A state file that can not be used. The message says why."""


def load(path: str, cloud: List[str]) -> Dict[str, Remembered]:
    """Read a state file.

    :param path: where it is
    :param cloud: what tells the cloud from others
    :returns: what is remembered, by provider; nothing if there is no file
    :raises Useless: if it is no state file, of another cloud or version
    """
    try:
        with open(path) as file:
            document = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Useless(str(error))
    try:
        if document['version'] != VERSION:
            raise Useless(_('it is of version %s') % document['version'])
        if document['cloud'] != cloud:
            raise Useless(_('it is of other cells'))
        kinds = [dict(kind) for kind in document['resources']]
        return {
            uuid: Remembered(int(generation), {
                consumer: kinds[kind] for consumer, kind in held.items()})
            for uuid, (generation, held) in document['providers'].items()}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise Useless(_('it is no state file, or a broken one'))


def save(path: str, cloud: List[str], books: placement.Books,
         but: Iterable[str]) -> None:
    """Write a state file, all of it or nothing.

    :param path: where
    :param cloud: what tells the cloud from others
    :param books: what is to be remembered
    :param but: the providers that are to be read again in any case
    :raises OSError: if it can not be written
    """
    kinds: Dict[tuple, int] = {}
    changed = set(but)
    providers = {
        uuid: (provider.generation, {
            consumer: kinds.setdefault(tuple(resources.items()), len(kinds))
            for consumer, resources in books.allocations[uuid].items()})
        for uuid, provider in books.providers.items() if uuid not in changed}
    folder = os.path.dirname(os.path.abspath(path))
    # Which nobody else may read.
    handle, draft = tempfile.mkstemp(prefix=os.path.basename(path) + '.',
                                     dir=folder)
    try:
        with os.fdopen(handle, 'w') as file:
            json.dump({
                'version': VERSION,
                'cloud': cloud,
                'resources': [dict(kind) for kind in kinds],
                'providers': providers,
            }, file)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def outdated(books: placement.Books, records: rec.Records,
             projects: Dict[str, Optional[str]]) -> Set[str]:
    """Which providers hold less than is remembered of them, perhaps.

    :param books: Placement's side, in part remembered
    :param records: Nova's side
    :param projects: of the consumers that Nova's side does not know
    :returns: uuids of providers that were not read again, but have to be
    """
    if not books.remembered:
        return set()
    owners = dict(projects)
    for uuid, instance in records.instances.items():
        owners[uuid] = instance.project
    for uuid, migration in records.migrations.items():
        owners.setdefault(uuid, owners.get(migration.instance))
    totals: Dict[Optional[str], rec.Resources] = {}
    where: Dict[Optional[str], Set[str]] = {}
    for provider, held in books.allocations.items():
        for consumer, resources in held.items():
            project = owners.get(consumer)
            amounts.add(totals.setdefault(project, {}), resources)
            if provider in books.remembered:
                where.setdefault(project, set()).add(provider)
    told = books.read_totals(project for project in where if project)
    return set().union(*(
        providers for project, providers in where.items()
        if totals[project] != told.get(project)))
