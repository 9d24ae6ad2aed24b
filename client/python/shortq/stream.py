"""Results that are read piece by piece, as they come (PROTOCOL.md#flow-control)."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Optional, Union

from shortq._connection import Reply
from shortq.errors import Error
from shortq.table import ReplyFacts, Table


class PieceQueue:
    """What the connection's thread has brought and the reader has not used yet.

    The server stops at 4 MiB that are not used, so it stays small. `on_news` is called on the
    connection's thread. Threads: one that brings, one that takes.
    """

    def __init__(self, on_news: Callable[[], None] = lambda: None) -> None:
        self._changed = threading.Condition()
        self._pieces: deque[tuple[Table, int]] = deque()
        self._end: Optional[Reply] = None
        self._on_news = on_news

    def bring(self, table: Table, size: int) -> None:
        with self._changed:
            self._pieces.append((table, size))
            self._changed.notify_all()
        self._on_news()

    def end(self, _number: int, reply: Reply) -> None:
        with self._changed:
            self._end = reply
            self._changed.notify_all()
        self._on_news()

    def wait(self) -> None:
        """Until take() has something."""
        with self._changed:
            self._changed.wait_for(lambda: self._pieces or self._end is not None)

    def take(self) -> Union[tuple[Table, int], Reply, None]:
        """A piece; or what the reply ended with, after the last one; or nothing yet."""
        with self._changed:
            return self._pieces.popleft() if self._pieces else self._end


class StreamBase:
    """What Stream and aio's have in common: what was read, and what is owed to the server."""

    def __init__(self, queue: PieceQueue) -> None:
        self._queue = queue
        self._number = 0
        self._take: Callable[[int, int], None] = lambda _number, _count: None
        self._cancel: Callable[[int], None] = lambda _number: None
        self._in_use = 0  # Bytes of the piece that the reader has.
        self._over = False
        self.facts = ReplyFacts()  # Complete once the last piece was read.
        self.names: list[str] = []  # Of the columns; known once a piece, or the end, was read.

    def begin(
        self,
        number: int,
        take: Callable[[int, int], None],
        cancel: Callable[[int], None],
        forget: Callable[[int], None],
    ) -> None:
        self._number, self._take, self._cancel = number, take, cancel
        # One that nobody has any more would hold its worker for the server's --stall time.
        weakref.finalize(self, forget, number).atexit = False

    def close(self) -> None:
        """Stops the query, if it has not ended. May be called again."""
        if not self._over:
            self._over = True
            self._cancel(self._number)

    def _release(self) -> None:
        """The reader asks for more: it has used the piece before."""
        if self._in_use:
            self._take(self._number, self._in_use)
            self._in_use = 0

    def _next(self) -> Union[Table, None, bool]:
        """A piece with rows; None at the end; False if there is nothing yet."""
        while not self._over:
            found = self._queue.take()
            if found is None:
                return False
            if isinstance(found, Error):
                self._over = True
                raise found
            if isinstance(found, Table):
                self._over = True
                self.facts, self.names = found.facts, found.names
                break
            table, self._in_use = found
            self.facts, self.names = table.facts, table.names
            if len(table) > 0:
                return table
            self._release()
        return None


class Stream(StreamBase):
    """Iterates over a result as tables of some rows, each near 1 MiB; client.stream() makes it.

    The server waits for a slow reader, holding 4 MiB for it; one that takes nothing for the
    server's --stall time (30 s) loses the query. Leaving a `with` block, or close(), stops it, and
    so does dropping it. Its worker is held meanwhile: read several at once, not in turns.
    An error in the middle is raised after the rows that came before it; WorkerLostError and
    ConnectionLostError are retryable then, from the start.
    """

    def __iter__(self) -> "Stream":
        return self

    def __next__(self) -> Table:
        self._release()
        while True:
            found = self._next()
            if found is None:
                raise StopIteration
            if isinstance(found, Table):
                return found
            try:
                self._queue.wait()
            except BaseException:  # Ctrl-C.
                self.close()
                raise

    def __enter__(self) -> "Stream":
        return self

    def __exit__(
        self,
        _kind: Optional[type[BaseException]],
        _error: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        self.close()
