"""What callers may choose, and what they are told: plain data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Optional, Union

from shortq import _limits as limits
from shortq._wire import Priority
from shortq.errors import ErrorCode, make_error

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 5001


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a request is.

    fraction     of the query that is done, 0 to 1; None while the engine does not know.
    rows, bytes  of the result that have arrived.
    """

    fraction: Optional[float]
    rows: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class ConnectOptions:
    endpoints: tuple[str, ...] = (f"tcp://{DEFAULT_HOST}:{DEFAULT_PORT}",)
    connect_timeout: float = 5.0
    wait_until_ready: bool = False
    agent: str = ""
    user: str = ""
    password: str = dataclasses.field(default="", repr=False)
    server_key: str = ""  # Z85, 40 characters; empty: nothing is encrypted.


@dataclasses.dataclass(frozen=True)
class QueryOptions:
    timeout: Optional[float] = None
    priority: Priority = Priority.NORMAL
    min_generation: int = 0
    service: str = ""
    progress: Optional[Callable[[Progress], None]] = None


@dataclasses.dataclass(frozen=True)
class ServerInfo:
    """As told by the last welcome."""

    endpoint: str = ""
    server: str = ""  # Program and version.
    workers: int = 0
    generation: int = 0
    query_bytes_max: int = 0
    pending_max: int = 0


def query_options(
    timeout: Optional[float],
    priority: Union[str, Priority],
    min_generation: int,
    service: str,
    progress: Optional[Callable[[Progress], None]],
) -> QueryOptions:
    """Raises BadRequestError."""
    if timeout is not None and (not timeout > 0 or math.isnan(timeout)):
        raise make_error(ErrorCode.BAD_REQUEST, f"the timeout is not above 0: {timeout!r}")
    if isinstance(priority, str):
        try:
            priority = Priority[priority.upper()]
        except KeyError:
            raise make_error(
                ErrorCode.BAD_REQUEST, f"no priority {priority!r}: high, normal or low"
            ) from None
    if not 0 <= min_generation <= limits.U32_MAX:
        raise make_error(ErrorCode.BAD_REQUEST, f"no generation {min_generation}")
    return QueryOptions(timeout, Priority(priority), min_generation, service, progress)


def endpoints_from(
    where: Sequence[Union[str, int]], host: Optional[str], port: Optional[int]
) -> tuple[str, ...]:
    """What connect() was told, as ZeroMQ endpoints. Raises BadRequestError."""
    if len(where) == 1 and isinstance(where[0], int):
        port, where = where[0], ()
    elif len(where) == 2 and isinstance(where[1], int) and isinstance(where[0], str):
        host, port, where = where[0], where[1], ()
    if not where or host is not None or port is not None:
        if where:
            raise make_error(ErrorCode.BAD_REQUEST, "give either endpoints, or host and port")
        return (_endpoint(host or DEFAULT_HOST, DEFAULT_PORT if port is None else port),)
    return tuple(map(_endpoint_of_text, where))


def _endpoint_of_text(text: Union[str, int]) -> str:
    if not isinstance(text, str) or not text:
        raise make_error(
            ErrorCode.BAD_REQUEST,
            f"{text!r} is no endpoint; it should look like " "tcp://127.0.0.1:5001",
        )
    if "://" in text:
        return text
    host, colon, port = text.rpartition(":")
    if colon and port.isascii() and port.isdigit() and not host.endswith(":"):
        return _endpoint(host.strip("[]"), int(port))
    return _endpoint(text, DEFAULT_PORT)


def _endpoint(host: str, port: int) -> str:
    if not 0 < port < 65536:
        raise make_error(ErrorCode.BAD_REQUEST, f"{port} is no port")
    return f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"
