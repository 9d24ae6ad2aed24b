"""The client: hopen, sync and deferred sync, for shortq servers."""

from __future__ import annotations

import concurrent.futures
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, Optional, Union

from shortq import _wire as wire
from shortq._connection import Connection, Reply
from shortq._parameters import encode_parameters
from shortq._transport import check_endpoint, find_server_key
from shortq._version import __version__
from shortq._wire import Priority
from shortq.errors import Error, ErrorCode, make_error
from shortq.options import (
    ConnectOptions,
    Progress,
    QueryOptions,
    ServerInfo,
    endpoints_from,
    query_options,
)
from shortq.stream import PieceQueue, Stream, StreamBase
from shortq.table import Table

OnProgress = Callable[[Progress], None]
PriorityName = Union[str, Priority]


class Future(concurrent.futures.Future[Table]):
    """A request under way.

    result() gives the Table, or raises its Error. cancel() also stops the query at the server; the
    future is cancelled at once, as the standard library says. Client.cancel() stops it and lets
    the future end with the server's own answer.
    """

    number: int = 0

    def __init__(self, client: "Client") -> None:
        super().__init__()
        self._client: Optional["Client"] = client  # Kept alive until the reply is here.

    def cancel(self) -> bool:
        client = self._client
        cancelled = super().cancel()
        if cancelled and client is not None:
            client.cancel(self.number)
        return cancelled

    def _settle(self, _number: int, reply: Reply) -> None:
        self._client = None
        if not self.set_running_or_notify_cancel():
            return
        if isinstance(reply, Error):
            self.set_exception(reply)
        else:
            self.set_result(reply)


class Arrived(NamedTuple):
    """What wait() returns: the next reply to an async_() request."""

    number: int
    table: Table


class Client:
    """A connection to a primary; connect() makes it.

    Reconnects by itself: unanswered deferred requests are sent again; sync requests end with
    ConnectionLostError, since they may have changed state.

    Parameters are positional (`?`, `$1`), or a dict of named ones (`$name`): None, bool, int (64
    bits), float, str, bytes, datetime.date, datetime.datetime (with a zone: converted to UTC).

    Options of a request, by keyword:
      timeout         seconds, the whole budget, queueing and delivery included; None: none.
      priority        "high", "normal" or "low".
      min_generation  only a worker with at least this generation of the data may answer.
      service         empty: the default service.
      progress        called with a Progress now and then while the query runs, and for each piece
                      of a large result, on the connection's thread: it must be brief, and
                      cannot wait for this client.

    Errors: every failure of a request is a shortq.Error of its code's class.
    Threads: safe to share; a background thread owns the socket and the heartbeats.
    """

    def __init__(self, options: ConnectOptions) -> None:
        """Use connect(). Raises Error if no endpoint answers in time."""
        for endpoint in options.endpoints:
            check_endpoint(endpoint)
        self._connection = Connection(options)
        self._finalizer = weakref.finalize(self, self._connection.request_stop)
        self._inbox = _Inbox()
        try:
            self._connection.wait_until_open()
        except BaseException:
            self.close()
            raise

    # ---- one request ----

    def sync(self, text: str, *params: Any, timeout: Optional[float] = None) -> Table:
        """Evaluates `text` in the primary's own engine, in order of arrival (kdb+: h "text")."""
        self._connection.check_may_wait()
        return _result(self.submit_sync(text, *params, timeout=timeout))

    def deferred(
        self,
        text: str,
        *params: Any,
        timeout: Optional[float] = None,
        priority: PriorityName = Priority.NORMAL,
        min_generation: int = 0,
        service: str = "",
        progress: Optional[OnProgress] = None,
    ) -> Table:
        """Runs `text` on the least-busy worker and waits (kdb+: (neg h) q; h[]).

        Ctrl-C, or any other exception while waiting, stops the query at the server.
        """
        self._connection.check_may_wait()
        return _result(
            self.submit(
                text,
                *params,
                timeout=timeout,
                priority=priority,
                min_generation=min_generation,
                service=service,
                progress=progress,
            )
        )

    # ---- many under way ----

    def submit(
        self,
        text: str,
        *params: Any,
        timeout: Optional[float] = None,
        priority: PriorityName = Priority.NORMAL,
        min_generation: int = 0,
        service: str = "",
        progress: Optional[OnProgress] = None,
    ) -> Future:
        """Sends a deferred request; the future ends with its reply.

        Raises only BadRequestError, for arguments; every other refusal is the future's.
        """
        options = query_options(timeout, priority, min_generation, service, progress)
        return self._submit(wire.Mode.DEFERRED, text, params, options)

    def submit_sync(self, text: str, *params: Any, timeout: Optional[float] = None) -> Future:
        """As submit(), for a sync request."""
        options = query_options(timeout, Priority.NORMAL, 0, "", None)
        return self._submit(wire.Mode.SYNC, text, params, options)

    def async_(
        self,
        text: str,
        *params: Any,
        timeout: Optional[float] = None,
        priority: PriorityName = Priority.NORMAL,
        min_generation: int = 0,
        service: str = "",
        progress: Optional[OnProgress] = None,
    ) -> int:
        """Sends a deferred request and returns its number at once; wait() gets the reply."""
        options = query_options(timeout, priority, min_generation, service, progress)
        parameters = encode_parameters(params)
        with self._inbox.expecting():
            return self._connection.submit(
                wire.Mode.DEFERRED, text, parameters, options, self._inbox.deliver
            )

    def wait(self, timeout: Optional[float] = None) -> Arrived:
        """The next reply to any async_() request, in order of arrival.

        Raises the Error that the request ended with, which has its `number`; RequestTimeout if
        nothing arrives in `timeout` seconds; NotFoundError if no such request is under way.
        """
        self._connection.check_may_wait()
        number, reply = self._inbox.take(timeout)
        if isinstance(reply, Error):
            reply.number = number
            raise reply
        return Arrived(number, reply)

    def cancel(self, request: Union[Future, int]) -> None:
        """Asks for a request to be stopped. Its reply still comes: the result, or
        RequestCancelled."""
        number = request.number if isinstance(request, Future) else request
        self._connection.cancel(number)

    # ---- large results ----

    def stream(
        self,
        text: str,
        *params: Any,
        timeout: Optional[float] = None,
        priority: PriorityName = Priority.NORMAL,
        min_generation: int = 0,
        service: str = "",
        progress: Optional[OnProgress] = None,
    ) -> Stream:
        """Runs `text` on the least-busy worker; its rows are read piece by piece, as they come.

        with client.stream("from trade") as pieces:
            for table in pieces: ...
        """
        options = query_options(timeout, priority, min_generation, service, progress)
        stream = Stream(PieceQueue())
        self._start_stream(stream, text, params, options)
        return stream

    def _start_stream(
        self, stream: StreamBase, text: str, params: tuple[Any, ...], options: QueryOptions
    ) -> None:
        connection, queue = self._connection, stream._queue
        number = connection.submit(
            wire.Mode.DEFERRED, text, encode_parameters(params), options, queue.end, queue.bring
        )
        stream.begin(number, connection.take, self.cancel, connection.forget)

    # ---- the connection ----

    @property
    def server(self) -> ServerInfo:
        """Who answers, and its limits."""
        return self._connection.server()

    def close(self) -> None:
        """Says goodbye: requests under way are cancelled. May be called again."""
        self._finalizer.detach()
        self._connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        _kind: Optional[type[BaseException]],
        _error: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<shortq.Client of {self.server.endpoint}>"

    def _submit(
        self, mode: wire.Mode, text: str, params: tuple[Any, ...], options: QueryOptions
    ) -> Future:
        parameters = encode_parameters(params)
        future = Future(self)
        try:
            future.number = self._connection.submit(mode, text, parameters, options, future._settle)
        except Error as error:
            future._settle(0, error)
        return future


def _result(future: Future) -> Table:
    try:
        return future.result()
    except BaseException:
        future.cancel()  # No effect on one that has ended.
        raise


class _Inbox:
    """Replies to async_() requests, in order of arrival."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._arrived: deque[tuple[int, Reply]] = deque()
        self._open = 0  # Requests without a reply yet.

    def expecting(self) -> "_Expecting":
        return _Expecting(self)

    def change_open(self, by: int) -> None:
        with self._changed:
            self._open += by
            self._changed.notify_all()

    def deliver(self, number: int, reply: Reply) -> None:
        with self._changed:
            self._open -= 1
            self._arrived.append((number, reply))
            self._changed.notify_all()

    def take(self, timeout: Optional[float]) -> tuple[int, Reply]:
        with self._changed:
            if not self._changed.wait_for(lambda: self._arrived or self._open == 0, timeout):
                raise make_error(ErrorCode.TIMEOUT, "no reply arrived in the time given to wait()")
            if not self._arrived:
                raise make_error(ErrorCode.NOT_FOUND, "no async request is under way")
            return self._arrived.popleft()


class _Expecting:
    """A request counts as open from before it is sent, unless sending it fails."""

    def __init__(self, inbox: _Inbox) -> None:
        self._inbox = inbox

    def __enter__(self) -> None:
        self._inbox.change_open(+1)

    def __exit__(self, kind: Optional[type[BaseException]], *_rest: Any) -> None:
        if kind is not None:
            self._inbox.change_open(-1)


def connect(
    *where: Union[str, int],
    host: Optional[str] = None,
    port: Optional[int] = None,
    connect_timeout: Optional[float] = None,
    wait_until_ready: bool = False,
    user: str = "",
    agent: str = "",
    password: str = "",
    server_key: Union[str, "os.PathLike[str]"] = "",
) -> Client:
    """A client of the shortq server at tcp://127.0.0.1:5001, or `where`.

    where             a port; a host and a port; or endpoints like "tcp://host:5001" or "host:5001",
                      tried in order and again when one is lost (failover).
    connect_timeout   seconds until the first welcome. None: 5, or 10 with a password, for a server
                      takes its time after wrong ones.
    wait_until_ready  keep trying within connect_timeout until a worker can answer, not only the
                      primary.
    agent             program and version, shown in shortq.clients.
    user, password    for a server that was started with --users.
    server_key        public key of a server that was started with --curve-keys: its 40
                      characters, or the file that has it. All is encrypted then.
                      A path may be a str or a pathlib.Path. A password is a str, and
                      goes as its UTF-8.

    Raises ConnectionLostError if no endpoint answered in time, DeniedError, BadRequestError for a
    malformed endpoint or a server of another protocol version. A client reconnects by itself; one
    that is denied then is finished, and each of its calls raises DeniedError: connect anew.
    """
    if isinstance(server_key, os.PathLike):
        server_key = os.fspath(server_key)
    for name, value in (("user", user), ("password", password), ("server_key", server_key)):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if connect_timeout is None:
        connect_timeout = 10.0 if password else 5.0
    options = ConnectOptions(
        endpoints_from(where, host, port),
        connect_timeout,
        wait_until_ready,
        agent or f"shortq-python/{__version__}",
        user,
        password,
        find_server_key(server_key),
    )
    return Client(options)
