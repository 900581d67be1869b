# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What a test can have done to requests: watch, hold, fail."""

import threading
import time

from placement_fixture import wire

CONSUMER_CONFLICT = (
    'consumer generation conflict - injected by placement-fixture')
PROVIDER_CONFLICT = (
    'resource provider concurrently updated - injected by placement-fixture')


class Watch(object):
    """Calls a function with each matching request, until stopped."""

    def __init__(self, tap, callback, match):
        self._tap = tap
        self._callback = callback
        self._match = match

    def __call__(self, request):
        if self._match(request):
            self._callback(request)

    def stop(self):
        """Call it no more."""
        self._tap.forget(self)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.stop()


class Hold(object):
    """Holds the first matching request still until it is released.

    Events are made here, not at import, so that under eventlet's monkey
    patching they are green.
    """

    def __init__(self, tap, match, timeout):
        self._tap = tap
        self._match = match
        self._timeout = timeout
        self._lock = threading.Lock()
        self._reached = threading.Event()
        self._released = threading.Event()
        self.request = None

    def __call__(self, request):
        with self._lock:
            if (self.request or self._released.is_set() or
                    not self._match(request)):
                return
            self.request = request
        request.notes.append('held')
        self._reached.set()
        if not self._released.wait(self._timeout):
            self._tap.fail(AssertionError(
                'held %s for %s s and nobody released it' % (
                    request.label, self._timeout)))

    def wait_reached(self, timeout=30):
        """Wait until a request is held, and return it.

        timeout: seconds; AssertionError with the story so far when it ends.
        """
        if not self._reached.wait(timeout):
            raise AssertionError('waited %s s for %s in vain. %s' % (
                timeout, self._match, self._tap.story()))
        return self.request

    def release(self):
        """Let the request go on; if none came yet, hold none."""
        self._released.set()

    stop = release

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.release()


class Fault(object):
    """Makes the next matching requests fail, or late."""

    def __init__(self, match, answer, delay, times, optional):
        self._match = match
        self._answer = answer
        self._delay = delay
        self._lock = threading.Lock()
        self.optional = optional
        self.left = times

    def __call__(self, request):
        """The answer to give instead; None to let the request pass."""
        with self._lock:
            if not self.left or not self._match(request):
                return None
            self.left -= 1
        request.notes.append('fault')
        if self._delay:
            time.sleep(self._delay)
        return self._answer

    def stop(self):
        """Inject no more, and do not mind what is left."""
        self.left = 0

    def __str__(self):
        return '%s, %d left' % (self._match, self.left)


def answer_for(status, body, close):
    """The answer a fault gives: an Answer, Dropped, or None for neither."""
    if close:
        if status or body:
            raise ValueError('a dropped connection has no status or body')
        return wire.Dropped()
    if status is None:
        if body:
            raise ValueError('a body wants a status')
        return None
    if body is not None and not isinstance(body, str):
        return wire.Answer.of_json(status, body)
    if status == 409:
        return wire.Answer.error(status, body or PROVIDER_CONFLICT,
                                 'placement.concurrent_update')
    return wire.Answer.error(
        status, body or 'injected by placement-fixture',
        'placement.undefined_code' if status < 500 else None)
