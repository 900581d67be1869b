# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""How Placement is asked: with which version, and many things at once."""

import threading
from typing import Any
from typing import Callable
from typing import Dict
from typing import Iterable
from typing import List
from typing import Mapping
from typing import NamedTuple
from typing import Tuple
from typing import TypeVar

from keystoneauth1 import exceptions as ks_exc

Version = Tuple[int, int]
Thing = TypeVar('Thing')

# The oldest that does: trees of providers.
OLDEST = (1, 14)
# The newest that this knows; a newer Placement has it as well.
NEWEST = (1, 39)
# What is lost below a version.
SINCE: Dict[str, Version] = {
    # When a consumer's allocations have changed: their age is taken from
    # Nova's records alone, and unknown where there is none.
    'last-modified': (1, 15),
    # Consumer generations: nothing is deleted.
    'generations': (1, 28),
    # Consumer types: consumers that are not Nova's are known by the
    # provider alone.
    'consumer-types': (1, 38),
}


class Unreachable(Exception):
    """Placement does not answer, or not as it should."""


class Reply(NamedTuple):
    """What Placement answers.

    :ivar status: the HTTP status
    :ivar document: what its JSON says; None if the status is not 200
    :ivar headers: the HTTP headers
    """
    status: int
    document: Any
    headers: Mapping[str, str]


class Client:
    """Placement, asked with the newest version that both sides know."""

    def __init__(self, report_client, workers: int = 1) -> None:
        """Find out which version both sides know.

        :param report_client: a nova.scheduler.client.report
            .SchedulerReportClient, which knows where Placement is
        :param workers: how many requests may be in flight at once
        :raises Unreachable: if Placement can not be asked
        """
        self._client = report_client
        self.workers = workers
        self.version = self._negotiate()

    def has(self, what: str) -> bool:
        """Whether Placement is new enough for something, see SINCE."""
        return self.version >= SINCE[what]

    @property
    def microversion(self) -> str:
        return '%d.%d' % self.version

    def _negotiate(self) -> Version:
        document = self._reply('GET /', self._ask('get', '/'), 200).document
        try:
            newest = document['versions'][0]['max_version']
            major, minor = newest.split('.')
            version = (int(major), int(minor))
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            raise Unreachable('GET / of Placement tells no max_version: is '
                              'its endpoint right?')
        if version < OLDEST:
            raise Unreachable('Placement has microversion %s; needed is %d.%d'
                              % ((newest,) + OLDEST))
        return min(version, NEWEST)

    def get(self, path: str, *also: int) -> Reply:
        """GET a path.

        :param path: with the query
        :param also: statuses that are no error, besides 200
        :returns: the reply
        :raises Unreachable: on any other answer, or none
        """
        return self._reply('GET ' + path, self._ask(
            'get', path, version=self.microversion), 200, *also)

    def put(self, path: str, document: dict):
        """PUT a document, with the version that has consumer generations.

        What came with later ones, such as the consumer's type, stays what it
        is.

        :returns: the response, whatever its status
        :raises Unreachable: if there is none
        """
        return self._ask('put', path, document,
                         version='%d.%d' % SINCE['generations'])

    def _ask(self, method: str, *args, **kwargs):
        try:
            response = getattr(self._client, method)(*args, **kwargs)
        except ks_exc.ClientException as error:
            raise Unreachable(' '.join(str(error).split()))
        if response is None:
            # The report client has logged why.
            raise Unreachable('no answer; see the log, and [placement] in '
                              'the configuration')
        return response

    @staticmethod
    def _reply(request: str, response, *statuses: int) -> Reply:
        status = response.status_code
        if status in (401, 403):
            raise Unreachable('the credentials in [placement] are refused '
                              '(status %d)' % status)
        if status not in statuses:
            raise Unreachable('%s has status %d' % (request, status))
        try:
            document = response.json() if status == 200 else None
        except ValueError:
            raise Unreachable('%s is not answered in JSON: is the endpoint '
                              'of Placement right?' % request)
        return Reply(status, document, response.headers)

    def for_each(self, function: Callable[[Thing], None],
                 things: Iterable[Thing]) -> None:
        """Call a function for many things, some at once.

        :param function: called with one thing, from several threads
        :param things: the things
        :raises Exception: the first error of the function, when all that had
            begun have ended
        """
        todo = list(things)[::-1]
        errors: List[BaseException] = []

        def work():
            while todo and not errors:
                try:
                    thing = todo.pop()
                except IndexError:  # another thread was faster
                    return
                try:
                    function(thing)
                except BaseException as error:
                    errors.append(error)

        threads = [threading.Thread(target=work, daemon=True)
                   for _ in range(min(self.workers, len(todo)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
