"""The client for asyncio: the same calls, to be awaited.

    client = await shortq.aio.connect(port=5001)
    table = await client.deferred("select 42")
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Optional, Union

from shortq import client as blocking
from shortq._wire import Priority
from shortq.options import Progress, ServerInfo, query_options
from shortq.stream import PieceQueue, StreamBase
from shortq.table import Table


class Client:
    """A connection to a primary; connect() makes it. As shortq.Client.

    Cancelling a task that awaits a reply (also by asyncio.wait_for) stops its query at the server.
    Threads: of one event loop; a background thread owns the socket and the heartbeats.
    """

    def __init__(self, client: blocking.Client) -> None:
        """Use connect()."""
        self._client = client

    async def sync(self, text: str, *params: Any, timeout: Optional[float] = None) -> Table:
        """Evaluates `text` in the primary's own engine, in order of arrival."""
        return await asyncio.wrap_future(self._client.submit_sync(text, *params, timeout=timeout))

    async def deferred(
        self,
        text: str,
        *params: Any,
        timeout: Optional[float] = None,
        priority: blocking.PriorityName = Priority.NORMAL,
        min_generation: int = 0,
        service: str = "",
        progress: Optional[Callable[[Progress], None]] = None,
    ) -> Table:
        """Runs `text` on the least-busy worker. `progress` is called on the event loop."""
        loop = asyncio.get_running_loop()

        def tell(made: Progress) -> None:
            assert progress is not None
            _call_soon(loop, progress, made)

        return await asyncio.wrap_future(
            self._client.submit(
                text,
                *params,
                timeout=timeout,
                priority=priority,
                min_generation=min_generation,
                service=service,
                progress=tell if progress else None,
            )
        )

    def stream(
        self,
        text: str,
        *params: Any,
        timeout: Optional[float] = None,
        priority: blocking.PriorityName = Priority.NORMAL,
        min_generation: int = 0,
        service: str = "",
    ) -> "Stream":
        """As shortq.Client.stream(), for `async with` and `async for`."""
        options = query_options(timeout, priority, min_generation, service, None)
        stream = Stream(asyncio.get_running_loop())
        self._client._start_stream(stream, text, params, options)
        return stream

    @property
    def server(self) -> ServerInfo:
        return self._client.server

    async def close(self) -> None:
        """Says goodbye: requests under way are cancelled."""
        await asyncio.to_thread(self._client.close)

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(
        self,
        _kind: Optional[type[BaseException]],
        _error: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        await self.close()


class Stream(StreamBase):
    """Iterates over a result as tables of some rows; as shortq.Stream."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        news = asyncio.Event()
        # Not by way of this object: the connection would keep it when nobody else does.
        super().__init__(PieceQueue(lambda: _call_soon(loop, news.set)))
        self._news = news

    def __aiter__(self) -> "Stream":
        return self

    async def __anext__(self) -> Table:
        self._release()
        while True:
            self._news.clear()
            found = self._next()
            if found is None:
                raise StopAsyncIteration
            if isinstance(found, Table):
                return found
            try:
                await self._news.wait()
            except BaseException:
                self.close()
                raise

    async def __aenter__(self) -> "Stream":
        return self

    async def __aexit__(
        self,
        _kind: Optional[type[BaseException]],
        _error: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        self.close()


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[..., Any], *arguments: Any) -> None:
    try:
        loop.call_soon_threadsafe(call, *arguments)
    except RuntimeError:
        pass  # The loop is closed: nobody waits any more.


async def connect(*where: Union[str, int], **options: Any) -> Client:
    """As shortq.connect(), with the same arguments."""
    loop = asyncio.get_running_loop()
    connecting = loop.run_in_executor(None, lambda: blocking.connect(*where, **options))
    try:
        return Client(await asyncio.shield(connecting))
    except asyncio.CancelledError:
        connecting.add_done_callback(_close_unwanted)
        raise


def _close_unwanted(connecting: "asyncio.Future[blocking.Client]") -> None:
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()
