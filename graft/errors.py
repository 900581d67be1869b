# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What graft says when it can't go on.

Every message names what was wrong and what to do about it; a user never
sees a traceback for a thing they can mend.
"""


class GraftError(Exception):
    """A stop that the user is told of in plain words.

    :param message: what was wrong
    :param hint: what to do about it, or an empty string
    """

    #: the exit code of the command that met it
    exit_code = 1

    def __init__(self, message: str, hint: str = '') -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return '\n'.join(filter(None, (self.message, self.hint)))


class UsageError(GraftError):
    """What was asked for does not exist or makes no sense."""

    exit_code = 2


class AnchorError(GraftError):
    """An anchor that did not match exactly once."""

    exit_code = 3


class UnavailableError(GraftError):
    """Something outside is missing: a release, a network, an interpreter."""

    exit_code = 4
