# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""A tap on Placement: every request of a test passes it."""

import contextlib
import functools
import importlib
import threading

import fixtures

try:
    from testtools import content
except ImportError:
    content = None  # type: ignore[assignment]

from placement_fixture import calls
from placement_fixture import rules
from placement_fixture import wire

# Placement's own package, or where it lay inside nova up to Rocky.
DEPLOYS = ('placement.deploy', 'nova.api.openstack.placement.deploy')


class Tap(calls.Calls, fixtures.Fixture):
    """What PlacementTap and PlacementFixture share.

    requests: a wire.Request for each request so far, in order of arrival.
    app: the tapped application, the latest if there are several.
    """

    def _setUp(self):
        self.requests = []
        self.app = None
        self._watches = []
        self._faults = []
        # Not at import: by now eventlet, if used, has made it green.
        self._local = threading.local()
        self.addCleanup(self._stop)
        if content:
            self.addDetail('placement-requests', content.Content(
                content.UTF8_TEXT,
                lambda: [self.story().encode('utf-8')]))

    def wrap(self, app):
        """A WSGI application with the tap before it."""
        self.app = functools.partial(self._serve, app)
        return self.app

    def tap(self, callback, method=None, path=None, where=None, when=None):
        """Call callback(request) before and after each matching request.

        method, path, where, when: see wire.Match; all requests by default.
        Requests the callback itself makes, in its own thread, pass untapped.
        It may block: only its own request waits. An exception in it does not
        reach the client; it fails the test when the fixture is cleaned up.
        Returns a handle with stop(), which is also a context manager.
        """
        return self._watch(rules.Watch(
            self, self._guard(callback),
            self._match(method, path, where, when)))

    def hold(self, method=None, path=None, when='before', where=None,
             timeout=60):
        """Hold the first matching request still until it is released.

        when='before': Placement has not seen it yet; 'after': Placement has
        served it, the client has no answer yet.
        timeout: seconds after which the request goes on by itself, and the
        test fails when the fixture is cleaned up.
        Returns a handle with wait_reached(timeout) and release(), and the
        held request as .request; as a context manager it releases at the end.
        """
        return self._watch(rules.Hold(
            self, self._match(method, path, where, when), timeout))

    def fault(self, method=None, path=None, status=None, body=None,
              delay=None, close=False, times=1, when='before', where=None,
              optional=False):
        """Make the next matching request fail, once.

        status: answer with this; 409 says that the provider was concurrently
        updated, see rules.CONSUMER_CONFLICT for the other kind.
        body: the detail of the error (str), or the whole document.
        close: drop the connection instead of answering.
        delay: seconds to wait first; alone, the request is then served.
        times: how many requests.
        when='after': Placement has done what was asked, but the client gets
        the fault all the same.
        optional: by default a fault that nobody ran into fails the test when
        the fixture is cleaned up.
        Returns a handle with stop() and .left, the number still to come.
        """
        if status is None and not delay and not close:
            raise ValueError('a fault wants a status, a delay or close=True')
        fault = rules.Fault(
            self._match(method, path, where, when),
            rules.answer_for(status, body, close), delay, times, optional)
        self._faults.append(fault)
        return fault

    @contextlib.contextmanager
    def untapped(self):
        """Let this thread's requests pass unseen and unharmed meanwhile."""
        depth = getattr(self._local, 'depth', 0)
        self._local.depth = depth + 1
        try:
            yield
        finally:
            self._local.depth = depth

    def story(self):
        """All requests so far, a line each."""
        if self.app is None:
            return ('No Placement application was loaded under this tap: set '
                    'it up before the fixture that loads Placement.')
        if not self.requests:
            return 'No requests to Placement so far.'
        return 'Requests to Placement so far:\n' + ''.join(
            '  %s\n' % request for request in self.requests)

    def fail(self, error):
        """Have the test fail with this error when it is cleaned up."""
        self.addCleanup(_throw, error)

    def forget(self, watch):
        if watch in self._watches:
            self._watches.remove(watch)

    def _match(self, method, path, where, when):
        return wire.Match(method, path, where and self._guard(where), when)

    def _guard(self, function):
        """A test's function, such that the client notices nothing of it."""

        def guarded(request):
            with self.untapped():
                try:
                    return function(request)
                except Exception as error:
                    # The client must not be the one to get it: it might
                    # swallow it.
                    self.fail(error)

        return guarded

    def _watch(self, watch):
        self._watches.append(watch)
        return watch

    def _serve(self, app, environ, start_response):
        if getattr(self._local, 'depth', 0):
            return app(environ, start_response)
        request = wire.Request(environ)
        self.requests.append(request)
        self._show(request)
        answer = self._fail_on_purpose(request)
        if answer is None:
            answer = wire.Answer.of(app, environ)
        after = request.answered(answer)
        late = self._fail_on_purpose(after)
        if late is not None:
            answer = late
            after = request.answered(late)
        self._show(after)
        return answer.send(start_response)

    def _show(self, request):
        for watch in list(self._watches):
            watch(request)

    def _fail_on_purpose(self, request):
        for fault in self._faults:
            answer = fault(request)
            if answer is not None:
                return answer
        return None

    def _release(self):
        watches, self._watches = self._watches, []
        for watch in watches:
            watch.stop()

    def _stop(self):
        self._release()
        unused = [str(fault) for fault in self._faults
                  if fault.left and not fault.optional]
        self._faults = []
        if unused:
            raise AssertionError('faults that nobody ran into: %s. %s' % (
                '; '.join(unused), self.story()))


class PlacementTap(Tap):
    """A tap on the Placement that another fixture loads.

    Use it before that fixture is set up, in nova's functional tests before
    super().setUp(): each Placement application made meanwhile is tapped.
    """

    def _setUp(self):
        super(PlacementTap, self)._setUp()
        module = _deploy_module()
        # Every loader ends up here, also one imported by its name.
        deploy = module.deploy
        self.useFixture(fixtures.MonkeyPatch(
            module.__name__ + '.deploy',
            lambda *args, **kwargs: self.wrap(deploy(*args, **kwargs))))


def _deploy_module():
    for name in DEPLOYS:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise RuntimeError('no Placement is installed: neither openstack-placement'
                       ' nor a nova that has it inside')


def _throw(error):
    raise error
