# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Taking away what is nobody's.

A finding comes from a second look, and what is taken away is taken with the
consumer generation of that look: if Placement refuses, someone is alive, and
it is left to them.
"""

from typing import Dict
from typing import Iterable
from typing import List

from nova.ledger import books as placement
from nova.ledger import verdict


class Repair:
    """Takes away what findings say is nobody's."""

    def __init__(self, books: placement.Books,
                 findings: Iterable[verdict.Finding]) -> None:
        """The means to take away what findings say.

        :param books: Placement's side
        :param findings: all; what one consumer wrongly holds on several
            providers is taken away in one request
        """
        self._books = books
        self._by_consumer: Dict[str, List[verdict.Finding]] = {}
        for finding in findings:
            if finding.deletable:
                self._by_consumer.setdefault(
                    finding.consumer.uuid, []).append(finding)

    def remove(self, finding: verdict.Finding) -> None:
        """Take away what a finding is about, and note what became of it.

        :param finding: one of those given
        """
        if not finding.deletable or finding.action != verdict.NOTHING:
            return
        together = self._by_consumer[finding.consumer.uuid]
        if not self._books.client.has('generations'):
            for each in together:
                each.left('this Placement has no consumer generations, '
                          'without which nothing is safe to delete')
            return
        outcome = self._books.remove(
            finding.held, [each.provider for each in together])
        for each in together:
            if outcome == placement.CHANGED:
                each.left('it has changed since it was looked at')
            else:
                each.action = (
                    verdict.DELETED if outcome == placement.REMOVED
                    else verdict.FAILED)
