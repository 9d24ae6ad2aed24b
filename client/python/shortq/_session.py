"""The client's end of a connection as a pure state machine: hello and welcome, requests and their
replies, deadlines, heartbeats, loss and failover. PROTOCOL.md#hello to #reconnecting.

No sockets, clocks or threads: facts and the time (seconds, monotonic) come in, actions go out.

  greeting --welcome--> open --loss: silence, disconnect, unknown session--> greeting
  greeting --refusal: denied, other version--> failed (for good)
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import heapq
import math
from collections.abc import Sequence
from typing import Any, Optional, Union

from shortq import _limits as limits
from shortq import _wire as wire
from shortq._actions import Action, Answer, Open, Piece, Send, Tell
from shortq._assembly import ReplyAssembly, facts_of
from shortq._pending import Pending, Taken
from shortq._wire import Bytes, Malformed
from shortq.errors import Error, ErrorCode, make_error
from shortq.options import ConnectOptions, QueryOptions, ServerInfo
from shortq.table import Table


class Phase(enum.Enum):
    GREETING = enum.auto()
    OPEN = enum.auto()
    FAILED = enum.auto()


@dataclasses.dataclass(frozen=True)
class SessionTimes:
    """How long things may take, in seconds. Fixed in production; tests may shorten them.

    silence_failover  a server that is silent this long is given up where there is another endpoint.
    silence_alone     with one endpoint there is nothing to win by leaving early: a server that was
                      paused comes back with every request it holds.
    hello_first       patience per attempt; doubles each round, up to hello_longest.
    hello_judged      with a password: a server may let whoever guessed before wait.
    attempt_gap       between the starts of two attempts.
    lost_patience     requests without a connection end after this long.
    deadline_slack    what a request's own deadline leaves to the server, to answer itself.
    """

    silence_failover: float = 3
    silence_alone: float = 15
    hello_first: float = 1
    hello_longest: float = 8
    hello_judged: float = 10
    attempt_gap: float = 0.1
    lost_patience: float = 30
    deadline_slack: float = 2


_HEARTBEAT_DEFAULT = 1.0
_ROUNDS_MAX = 8
_HUNG_UP_MAX = 3  # In between, a server may have been restarted.
_DEADLINES_KEPT = 64


class Session:
    """Threads: none of its own; callers take turns."""

    def __init__(
        self, options: ConnectOptions, pid: int = 0, times: SessionTimes = SessionTimes()
    ) -> None:
        self.phase = Phase.GREETING
        self.server = ServerInfo()
        self.malformed = 0  # Messages that made no sense, and were dropped.
        self._options = options
        self._hello = wire.Hello(pid, _cut(options.agent, limits.AGENT_BYTES_MAX), options.user)
        self._times = times
        self._session = 0
        self._requests: dict[int, Pending] = {}  # In order of submission.
        self._deadlines: list[tuple[float, int]] = []  # A heap; answered ones linger.
        self._last_number = 0
        self._actions: list[Action] = []
        # Greeting: which endpoint is being tried, since when, and when to try the next.
        self._attempts = 0  # Since the connection was lost.
        self._attempt_started = 0.0
        self._next_attempt = 0.0
        self._lost_at = 0.0
        self._ever_open = False
        self._answered_not_ready = False
        self._hung_up = 0  # Handshakes that the other end ended, in a row.
        self._refusal: Optional[Error] = None
        # Open.
        self._heartbeat = _HEARTBEAT_DEFAULT
        self._next_heartbeat = 0.0
        self._last_heard = 0.0
        self._taken = Taken()  # Of all replies of the session.

    def take_actions(self) -> list[Action]:
        actions, self._actions = self._actions, []
        return actions

    def start(self, now: float) -> None:
        self._lost_at = now
        if problem := _problem_of_credentials(self._options):
            self.abandon(make_error(ErrorCode.BAD_REQUEST, problem))
        else:
            self._open_next(now)

    # ---- requests ----

    def submit(
        self,
        now: float,
        mode: wire.Mode,
        text: str,
        parameters: bytes = b"",
        options: QueryOptions = QueryOptions(),
        streaming: bool = False,
    ) -> int:
        """The request's number. Raises Error: nothing was sent, and no Answer follows."""
        encoded = _encode(text, "the query")
        self._refuse(encoded, parameters, options)
        bodies = (encoded, parameters) if parameters else (encoded,)
        request = Pending(mode, options, bodies, now, ReplyAssembly(), streaming)
        self._last_number += 1
        number = self._last_number
        if options.timeout is not None and options.timeout * 1000 <= limits.U32_MAX:
            # Beyond what the wire can say, a deadline is as good as none.
            request.expires = now + options.timeout
            deadline = request.expires + self._times.deadline_slack
            self._forget_old_deadlines()
            heapq.heappush(self._deadlines, (deadline, number))
        self._requests[number] = request
        if self.phase is Phase.OPEN:
            self._send_request(now, number, request)
        return number

    def _refuse(self, text: bytes, parameters: bytes, options: QueryOptions) -> None:
        if self.phase is Phase.FAILED:
            raise self.connect_error()
        if self._ever_open and len(text) + len(parameters) > self.server.query_bytes_max:
            raise make_error(
                ErrorCode.TOO_LARGE,
                f"the query and its parameters have {len(text) + len(parameters)} bytes; the "
                f"server takes at most {self.server.query_bytes_max} (--max-query-bytes)",
                self.server.endpoint,
            )
        if len(_encode(options.service, "the name of the service")) > limits.SERVICE_BYTES_MAX:
            raise make_error(ErrorCode.TOO_LARGE, "the name of the service is too long")
        pending_max = self.server.pending_max
        if self._ever_open and pending_max != 0 and len(self._requests) >= pending_max:
            raise make_error(
                ErrorCode.OVERLOADED,
                f"this client has {len(self._requests)} unanswered requests, as many as the "
                "server allows (--max-pending-per-client)",
                self.server.endpoint,
            )

    def _send_request(self, now: float, number: int, request: Pending) -> None:
        timeout_ms = 0
        if request.expires is not None:
            timeout_ms = min(max(math.ceil((request.expires - now) * 1000), 1), limits.U32_MAX)
        options = request.options
        request.sent = True
        self._send(
            wire.Request(
                number,
                self._session,
                request.mode,
                options.priority,
                request.streaming,
                timeout_ms,
                options.min_generation,
                options.service,
            ),
            request.bodies,
        )

    def cancel(self, number: int) -> None:
        """No effect on a request that has been answered."""
        if number not in self._requests:
            return
        if self.phase is Phase.OPEN:
            self._send(wire.Cancel(number, self._session))
        else:
            self._fail(number, ErrorCode.CANCELLED, "cancelled while there was no connection")

    def take(self, number: int, count: int) -> None:
        """The reader of a streaming request has used so many bytes of its pieces."""
        request = self._requests.get(number)
        if request is not None and request.sent:
            self._credit(number, request, count)

    def _credit(self, number: int, request: Pending, count: int) -> None:
        if request.taken.add(count):
            self._send(
                wire.Credit(number, self._session, request.assembly.attempt, request.taken.bytes)
            )

    def _answer(self, number: int, reply: Union[Table, Error]) -> None:
        if self._requests.pop(number, None) is not None:
            self._actions.append(Answer(number, reply))

    def _fail(
        self, number: int, code: ErrorCode, message: str, retryable: Optional[bool] = None
    ) -> None:
        self._answer(number, make_error(code, message, self.server.endpoint, retryable))

    # ---- connection ----

    def _open_next(self, now: float) -> None:
        endpoints = self._options.endpoints
        endpoint = endpoints[self._attempts % len(endpoints)]
        self.server = dataclasses.replace(self.server, endpoint=endpoint)
        rounds = min(self._attempts // len(endpoints), _ROUNDS_MAX)
        patience = min(self._times.hello_first * 2**rounds, self._times.hello_longest)
        self._attempts += 1
        self._attempt_started = now
        self._next_attempt = now + patience
        self._actions.append(Open(endpoint))
        if self._options.password:
            self._next_attempt = now + self._times.hello_judged
            self._send(self._hello, (self._options.password.encode("utf-8"),))
        else:
            self._send(self._hello)

    def _schedule_attempt(self, now: float) -> None:
        self._next_attempt = max(now, self._attempt_started + self._times.attempt_gap)

    def _lose(self, now: float) -> None:
        self.phase = Phase.GREETING
        self._session = 0
        self._lost_at = now
        self._attempts = 0
        for number, request in list(self._requests.items()):
            self._break(number, request)
        self._schedule_attempt(now)
        if self._next_attempt <= now:
            self._open_next(now)

    def _break(self, number: int, request: Pending) -> None:
        """The connection of a request was lost: it is sent again, unless that could do harm."""
        endpoint = self.server.endpoint
        if request.handed_on:
            self._fail(
                number,
                ErrorCode.CONNECTION,
                f"the connection to {endpoint} broke in the middle of the result",
                retryable=True,
            )
        elif request.sent and request.mode is wire.Mode.SYNC:
            self._fail(
                number,
                ErrorCode.CONNECTION,
                f"the connection to {endpoint} broke while a sync request was under way; "
                "it may or may not have run",
            )
        request.sent = False
        request.assembly = ReplyAssembly()
        request.taken = Taken()

    def abandon(self, error: Error) -> None:
        """Ends every request, and every later one, with this error."""
        self.phase = Phase.FAILED
        self._refusal = error
        for number in list(self._requests):
            self._answer(number, copy.copy(error))  # Raising one notes where, in the exception.

    def disconnected(self, now: float) -> None:
        """The current socket lost its connection."""
        if self.phase is Phase.OPEN:
            self._lose(now)
        if self.phase is Phase.GREETING:
            self._schedule_attempt(now)

    def refused(self, now: float) -> None:
        """The current socket could not connect; it keeps trying."""
        # Alone, the socket's own retries do; they are quicker than a fresh one.
        if self.phase is Phase.GREETING and len(self._options.endpoints) > 1:
            self._schedule_attempt(now)

    def connect_error(self) -> Error:
        """Why there is no connection: the server's refusal, or that nobody answered."""
        if self._refusal is not None:
            return copy.copy(self._refusal)
        endpoints = ", ".join(self._options.endpoints)
        within = f"{self._options.connect_timeout:g} s"
        if self._answered_not_ready:
            return make_error(
                ErrorCode.CONNECTION,
                f"cannot use {endpoints}: shortq answered, but no worker was ready within "
                f"{within}; is it still loading?",
                endpoints,
            )
        port = self._options.endpoints[0].rpartition(":")[2]
        return make_error(
            ErrorCode.CONNECTION,
            f"cannot connect to {endpoints}: no shortq answered within {within}; is it running? "
            f"(start one with: shortq -p {port} 2 startup.sql)",
            endpoints,
        )

    def stop(self) -> None:
        """Says goodbye and ends every request with CANCELLED."""
        if self.phase is Phase.OPEN:
            self._send(wire.Goodbye(self._session))
        self.abandon(make_error(ErrorCode.CANCELLED, "the client was closed"))

    def _send(self, message: wire.FromClient, bodies: Sequence[Bytes] = ()) -> None:
        self._actions.append(Send([wire.encode(message), *bodies]))

    # ---- messages ----

    def receive(self, now: float, frames: Sequence[memoryview]) -> None:
        """A message from the current socket. Untrusted: what makes no sense is counted and
        dropped."""
        if self.phase is Phase.FAILED or not frames:
            return
        try:
            message = wire.decode(frames[0])
        except Malformed:
            self.malformed += 1
            return
        self._last_heard = now
        if isinstance(message, wire.Welcome):
            self._on_welcome(now, message)
        elif isinstance(message, wire.Reply):
            self._on_reply(message, frames[1:])
            if self.phase is Phase.OPEN and self._taken.add(sum(map(len, frames[1:]))):
                self._send(wire.Credit(0, self._session, 0, self._taken.bytes))
        elif isinstance(message, wire.Progress):
            self._on_progress(message)
        elif isinstance(message, wire.ErrorReply):
            self._on_error(now, message, frames)

    def _on_welcome(self, now: float, welcome: wire.Welcome) -> None:
        if self.phase is not Phase.GREETING:
            return
        if not limits.VERSION_MIN <= welcome.version <= limits.VERSION_MAX:
            self.abandon(
                make_error(
                    ErrorCode.BAD_REQUEST,
                    f"the server speaks protocol version {welcome.version}, this client version "
                    f"{limits.VERSION_MAX}",
                    self.server.endpoint,
                )
            )
            return
        if self._options.wait_until_ready and not self._ever_open and welcome.workers == 0:
            self._answered_not_ready = True
            self._send(wire.Goodbye(welcome.session))
            self._attempts -= 1  # The same endpoint again.
            self._schedule_attempt(now)
            return
        self._refusal = None
        self._hung_up = 0
        self._session = welcome.session
        self.server = ServerInfo(
            self.server.endpoint,
            welcome.server,
            welcome.workers,
            welcome.generation,
            welcome.query_bytes_max,
            welcome.pending_max,
        )
        self.phase = Phase.OPEN
        self._ever_open = True
        self._last_heard = now
        self._heartbeat = welcome.heartbeat_ms / 1000 or _HEARTBEAT_DEFAULT
        self._next_heartbeat = now + self._heartbeat
        self._taken = Taken()
        for number, request in self._requests.items():
            self._send_request(now, number, request)

    def _on_reply(self, reply: wire.Reply, bodies: Sequence[memoryview]) -> None:
        request = self._requests.get(reply.id)
        if request is None or not request.sent:
            return  # Timed out here, or not ours.
        attempt = request.assembly.attempt
        try:
            arrived = request.assembly.add(reply, bodies)
            if arrived and request.handed_on and request.assembly.attempt != attempt:
                raise Malformed("a streamed reply starts again")
        except Malformed as problem:
            self.malformed += 1
            self._send(wire.Cancel(reply.id, self._session))
            self._fail(reply.id, ErrorCode.INTERNAL, f"malformed reply: {problem}")
            return
        if not arrived:
            return
        if request.assembly.attempt != attempt:
            request.taken = Taken()
        self._pass_on(reply, request, sum(map(len, bodies)))

    def _pass_on(self, reply: wire.Reply, request: Pending, size: int) -> None:
        """A good piece has been added to the assembly."""
        self._tell(request, rows=reply.facts.rows, bytes=reply.facts.bytes)
        if request.streaming:
            request.handed_on = True
            piece = request.assembly.take_table(facts_of(reply.facts))
            self._actions.append(Piece(reply.id, piece, size))
        if reply.last:
            self._answer(reply.id, request.assembly.take_table(facts_of(reply.facts)))
        elif not request.streaming:
            self._credit(reply.id, request, size)

    def _on_progress(self, progress: wire.Progress) -> None:
        request = self._requests.get(progress.id)
        if request is not None and request.sent:
            known = progress.progress_ppm >= 0
            self._tell(request, fraction=min(progress.progress_ppm / 1e6, 1.0) if known else None)

    def _tell(self, request: Pending, **news: Any) -> None:
        request.progress = dataclasses.replace(request.progress, **news)
        if request.options.progress is not None:
            self._actions.append(Tell(request.options.progress, request.progress))

    def _on_error(self, now: float, error: wire.ErrorReply, frames: Sequence[memoryview]) -> None:
        message = _text_of(frames, 1) or error.code.label
        converted = make_error(error.code, message, _text_of(frames, 2), error.retryable)
        if error.code is ErrorCode.UNKNOWN_SESSION:
            if self.phase is Phase.OPEN:
                self._lose(now)
        elif error.id == 0:
            self._on_connection_error(now, converted)
        else:
            self._answer(error.id, converted)

    def _on_connection_error(self, now: float, error: Error) -> None:
        error.where = error.where or self.server.endpoint
        greeting = self.phase is Phase.GREETING
        if error.code is ErrorCode.DENIED or (error.code is ErrorCode.BAD_REQUEST and greeting):
            self.abandon(error)
        elif greeting:
            self._refusal = error  # Told if no later attempt succeeds.
            self._schedule_attempt(now)

    def handshake_failed(self, now: float, mismatch: bool) -> None:
        """The two ends did not come together: one of them encrypts and the other does not
        (`mismatch`), or the other end hung up, as it does on who has another server's key."""
        if self.phase is not Phase.GREETING:
            return
        where, encrypts = self.server.endpoint, bool(self._options.server_key)
        if mismatch:
            message = (
                f"this client encrypts, and the server at {where} does not: it was started "
                "without --curve-keys"
                if encrypts
                else f"the server at {where} wants encryption (or is no shortq): give its "
                "public key (server_key)"
            )
            self.abandon(make_error(ErrorCode.DENIED, message, where))
            return
        self._hung_up += 1
        message = (
            f"cannot agree on encryption with the server at {where}: is the server key its own, "
            "and was it started with --curve-keys?"
            if encrypts
            else f"the server at {where} hangs up at once; if it wants encryption, give its "
            "public key (server_key); or is that its port for kdb+ clients?"
        )
        self._refusal = make_error(ErrorCode.CONNECTION, message, where)
        code = ErrorCode.DENIED if encrypts else ErrorCode.CONNECTION
        may_still_start = self._ever_open or self._options.wait_until_ready
        often = self._hung_up >= _HUNG_UP_MAX * len(self._options.endpoints)
        if often and not may_still_start:
            self.abandon(make_error(code, message, where))
        elif len(self._options.endpoints) > 1:
            self._schedule_attempt(now)

    # ---- time ----

    def tick(self, now: float) -> None:
        """Deadlines, heartbeats, silence. Call when next_wake() has come and the socket is
        drained."""
        self._expire(now)
        if self.phase is Phase.OPEN and now - self._last_heard >= self._silence_limit():
            # If it is only slow, it need not finish the old ones.
            self._send(wire.Goodbye(self._session))
            self._lose(now)
        if self.phase is Phase.OPEN and now >= self._next_heartbeat:
            self._send(wire.Heartbeat(self._session))
            self._next_heartbeat = now + self._heartbeat
        if self.phase is Phase.GREETING and now >= self._next_attempt:
            self._open_next(now)
        if self.phase is Phase.GREETING and self._ever_open:
            self._give_up_waiting(now)

    def next_wake(self) -> float:
        """When tick() is due; infinity for never."""
        while self._deadlines and self._deadlines[0][1] not in self._requests:
            heapq.heappop(self._deadlines)
        wake = self._deadlines[0][0] if self._deadlines else math.inf
        if self.phase is Phase.OPEN:
            return min(wake, self._next_heartbeat, self._last_heard + self._silence_limit())
        return min(wake, self._next_attempt) if self.phase is Phase.GREETING else wake

    def _forget_old_deadlines(self) -> None:
        """Once those of answered requests are the most."""
        if len(self._deadlines) > 2 * len(self._requests) + _DEADLINES_KEPT:
            self._deadlines = [entry for entry in self._deadlines if entry[1] in self._requests]
            heapq.heapify(self._deadlines)

    def _silence_limit(self) -> float:
        several = len(self._options.endpoints) > 1
        return self._times.silence_failover if several else self._times.silence_alone

    def _expire(self, now: float) -> None:
        while self._deadlines and self._deadlines[0][0] <= now:
            number = heapq.heappop(self._deadlines)[1]
            request = self._requests.get(number)
            if request is None:
                continue
            if request.sent:
                self._send(wire.Cancel(number, self._session))
            self._fail(
                number,
                ErrorCode.TIMEOUT,
                f"no answer from {self.server.endpoint} within the timeout of "
                f"{request.options.timeout:g} s",
            )

    def _give_up_waiting(self, now: float) -> None:
        patience = self._times.lost_patience
        endpoints = ", ".join(self._options.endpoints)
        for number, request in list(self._requests.items()):
            if max(self._lost_at, request.submitted) + patience <= now:
                self._fail(
                    number,
                    ErrorCode.CONNECTION,
                    f"the connection to {endpoints} broke, and no shortq answered there for "
                    f"{patience:g} s",
                )


def _encode(text: str, what: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise make_error(ErrorCode.BAD_REQUEST, f"{what} is not valid Unicode: {error}") from None


def _problem_of_user(user: str) -> str:
    try:
        encoded = user.encode("utf-8")
    except UnicodeEncodeError:
        return "the user's name is not valid Unicode"
    if len(encoded) > limits.USER_BYTES_MAX:  # A name cut short may be another user's.
        return f"the user's name has more than {limits.USER_BYTES_MAX} bytes"
    return ""


def _problem_of_credentials(options: ConnectOptions) -> str:
    if problem := _problem_of_user(options.user):
        return problem
    try:
        encoded = options.password.encode("utf-8")
    except UnicodeEncodeError:
        return "the password is not valid Unicode"
    if len(encoded) > limits.PASSWORD_BYTES_MAX:
        return f"the password has more than {limits.PASSWORD_BYTES_MAX} bytes"
    if options.password and not options.user:
        return "a password needs a user's name"
    return ""


def _cut(text: str, most: int) -> str:
    """At most so many bytes of UTF-8, cut between characters."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def _text_of(frames: Sequence[memoryview], index: int) -> str:
    """A body that should be text; cut at the limit, empty if the peer left it out."""
    if index >= len(frames):
        return ""
    return bytes(frames[index][: limits.ERROR_TEXT_BYTES_MAX]).decode("utf-8", "replace")
