"""The session under a lock, and the thread that carries out its actions.

Callers change the session and ring; only the thread touches the socket, and only it answers.
"""

from __future__ import annotations

import atexit
import functools
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Optional, Union

from shortq import _wire as wire
from shortq._actions import Answer, Open, Piece, Send, Tell
from shortq._session import Phase, Session
from shortq._transport import Transport
from shortq._wakeup import Wakeup
from shortq.errors import Error, ErrorCode, make_error
from shortq.options import ConnectOptions, QueryOptions, ServerInfo
from shortq.table import Table

Reply = Union[Table, Error]
OnReply = Callable[[int, Reply], None]
OnPiece = Callable[[Table, int], None]  # Rows, and how many bytes they hold.

_MESSAGES_PER_ROUND = 64  # Between two looks at the clock and the callers.
_LOG = logging.getLogger("shortq")


class Connection:
    """Threads: safe to share. Not across fork(): the child must connect for itself."""

    def __init__(self, options: ConnectOptions) -> None:
        self._process = os.getpid()
        self._connect_timeout = options.connect_timeout
        self._server_key = options.server_key
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)  # The phase.
        self._session = Session(options, self._process)
        self._listeners: dict[int, OnReply] = {}
        self._readers: dict[int, OnPiece] = {}  # Of streaming requests.
        self._forgotten: deque[int] = deque()  # To be cancelled.
        self._stopping = False
        self._wakeup = Wakeup()
        self._session.start(time.monotonic())
        _connections.add(self)
        self._thread = threading.Thread(target=self._run, name="shortq", daemon=True)
        self._thread.start()

    def wait_until_open(self) -> None:
        """Raises Error: why there is no connection."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._session.phase is not Phase.GREETING, self._connect_timeout
            )
            if self._session.phase is not Phase.OPEN:
                raise self._session.connect_error()

    def submit(
        self,
        mode: wire.Mode,
        text: str,
        parameters: bytes,
        options: QueryOptions,
        on_reply: OnReply,
        on_piece: Optional[OnPiece] = None,
    ) -> int:
        """The request's number. Raises Error; then on_reply is not called. Otherwise it is, once,
        on the connection's thread, perhaps before this returns. With on_piece, the request is a
        streaming one: it is called before, for each piece, and take() is owed for what it gets."""
        if os.getpid() != self._process:
            raise make_error(
                ErrorCode.CONNECTION,
                "this client was made by another process "
                f"({self._process}), which has forked; connect again",
            )
        with self._lock:
            now = time.monotonic()
            number = self._session.submit(
                now, mode, text, parameters, options, streaming=on_piece is not None
            )
            self._listeners[number] = on_reply
            if on_piece is not None:
                self._readers[number] = on_piece
        self._wakeup.ring()
        return number

    def check_may_wait(self) -> None:
        """Raises BadRequestError in a callback, on the thread that brings the replies."""
        if threading.current_thread() is self._thread:
            raise make_error(
                ErrorCode.BAD_REQUEST,
                "a callback cannot wait for a reply: it is on the thread that brings them",
            )

    def take(self, number: int, count: int) -> None:
        """The reader of a streaming request has used so many bytes."""
        with self._lock:
            self._session.take(number, count)
        self._wakeup.ring()

    def cancel(self, number: int) -> None:
        with self._lock:
            self._session.cancel(number)
        self._wakeup.ring()

    def forget(self, number: int) -> None:
        """As cancel(), a little later. Takes no lock: the garbage collector may call it while this
        very thread holds one."""
        if os.getpid() == self._process:
            self._forgotten.append(number)
            self._wakeup.ring()

    def server(self) -> ServerInfo:
        with self._lock:
            return self._session.server

    def close(self) -> None:
        """Says goodbye and ends every request with CANCELLED. May be called again."""
        if os.getpid() != self._process:
            return  # The parent's connection is not the child's to close.
        self.request_stop()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def request_stop(self) -> None:
        """As close(), without waiting. Takes no lock: the garbage collector may call it while this
        very thread holds one."""
        if os.getpid() == self._process:
            self._stopping = True
            self._wakeup.ring()

    # ---- the thread ----

    def _run(self) -> None:
        try:
            transport = Transport(self._server_key)
            try:
                self._serve(transport)
            except Exception as error:  # Nobody may wait for a thread that is gone.
                _LOG.exception("the connection's thread has failed")
                self._give_up(f"the client's connection failed: {error}")
            finally:
                transport.close()
        finally:
            self._wakeup.close()

    def _serve(self, transport: Transport) -> None:
        while self._carry_out(transport):
            with self._lock:
                longest = self._session.next_wake() - time.monotonic()
            transport.wait(self._wakeup.descriptor(), longest)
            self._wakeup.clear()
            self._read(transport)

    def _read(self, transport: Transport) -> None:
        changes = transport.changes()
        for _ in range(_MESSAGES_PER_ROUND):
            frames = transport.receive()
            if frames is None:
                break
            with self._lock:
                self._session.receive(time.monotonic(), frames)
        else:
            return  # Silence is judged only once everything that came was heard.
        with self._lock:
            now = time.monotonic()
            if changes.disconnected:
                self._session.disconnected(now)
            if changes.hung_up or changes.mismatch:
                self._session.handshake_failed(now, changes.mismatch)
            if changes.refused:
                self._session.refused(now)
            self._session.tick(now)

    def _carry_out(self, transport: Transport) -> bool:
        """False once the client is closing and everything has been told."""
        with self._changed:
            goes_on = not self._stopping
            while self._forgotten:
                self._session.cancel(self._forgotten.popleft())
            if not goes_on:
                self._session.stop()
            actions = self._session.take_actions()
            self._changed.notify_all()
        for action in actions:
            if isinstance(action, Open):
                transport.open(action.endpoint)
            elif isinstance(action, Send):
                transport.send(action.frames)
            elif isinstance(action, Answer):
                self._deliver(action.number, action.reply)
            elif isinstance(action, Piece):
                self._hand_on(action)
            elif isinstance(action, Tell):
                _guarded(functools.partial(action.callback, action.progress))
        return goes_on

    def _deliver(self, number: int, reply: Reply) -> None:
        with self._lock:
            listener = self._listeners.pop(number, None)
            self._readers.pop(number, None)
        if listener is not None:
            _guarded(functools.partial(listener, number, reply))

    def _hand_on(self, piece: Piece) -> None:
        with self._lock:
            reader = self._readers.get(piece.number)
        if reader is not None:
            _guarded(functools.partial(reader, piece.table, piece.bytes))

    def _give_up(self, why: str) -> None:
        """Goes by the listeners, not by the session: an answer may have been under way."""
        error = make_error(ErrorCode.INTERNAL, why)
        with self._changed:
            self._session.abandon(error)
            self._session.take_actions()
            numbers = list(self._listeners)
            self._changed.notify_all()
        for number in numbers:
            self._deliver(number, error)


_connections: "weakref.WeakSet[Connection]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """A program that ends says goodbye, too."""
    for connection in list(_connections):
        connection.close()


def _guarded(call: Callable[[], None]) -> None:
    """A callback that fails must not end the connection's thread."""
    try:
        call()
    except Exception:
        _LOG.exception("a callback has failed")
