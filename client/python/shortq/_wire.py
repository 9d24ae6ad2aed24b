"""Frame 0 of every message that a client sends or receives (PROTOCOL.md#header).

Pure: no sockets, no clock. What a peer sends is untrusted: decode() raises Malformed or returns
a message whose every field has been checked.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Callable, Union

import msgpack

from shortq import _limits as limits
from shortq.errors import ErrorCode

Bytes = Union[bytes, memoryview]


class Malformed(Exception):
    """A peer's bytes are not what PROTOCOL.md says."""


class Kind(enum.IntEnum):
    HELLO = 1
    WELCOME = 2
    REQUEST = 3
    CANCEL = 4
    REPLY = 5
    ERROR = 6
    HEARTBEAT = 8
    PING = 9
    GOODBYE = 14
    CREDIT = 15
    PROGRESS = 17


class Mode(enum.IntEnum):
    DEFERRED = 0
    SYNC = 1


class Priority(enum.IntEnum):
    """High, normal and low share the workers by weights 16:4:1."""

    HIGH = 0
    NORMAL = 1
    LOW = 2


@dataclasses.dataclass(frozen=True)
class Hello:
    pid: int = 0
    agent: str = ""
    user: str = ""


@dataclasses.dataclass(frozen=True)
class Welcome:
    version: int
    session: int
    workers: int
    generation: int
    query_bytes_max: int
    result_bytes_max: int
    pending_max: int
    heartbeat_ms: int
    server: str


@dataclasses.dataclass(frozen=True)
class Request:
    id: int
    session: int
    mode: Mode = Mode.DEFERRED
    priority: Priority = Priority.NORMAL
    streaming: bool = False
    timeout_ms: int = 0
    min_generation: int = 0
    service: str = ""


@dataclasses.dataclass(frozen=True)
class Cancel:
    id: int
    session: int


@dataclasses.dataclass(frozen=True)
class Facts:
    worker: int
    generation: int
    queued_us: int
    run_us: int
    rows: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Reply:
    id: int
    attempt: int
    sequence: int
    batches: int
    last: bool
    facts: Facts


@dataclasses.dataclass(frozen=True)
class ErrorReply:
    id: int
    code: ErrorCode
    retryable: bool
    sick: bool
    facts: Facts


@dataclasses.dataclass(frozen=True)
class Heartbeat:
    session: int = 0
    running: int = 0
    progress_ppm: int = -1
    rss_bytes: int = 0


@dataclasses.dataclass(frozen=True)
class Ping:
    pass


@dataclasses.dataclass(frozen=True)
class Goodbye:
    session: int


@dataclasses.dataclass(frozen=True)
class Credit:
    """How many bytes of an attempt the reader has taken in all; id 0: of all the session's."""

    id: int
    session: int
    attempt: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Progress:
    id: int
    progress_ppm: int


FromClient = Union[Hello, Request, Cancel, Heartbeat, Goodbye, Credit]
FromServer = Union[Welcome, Reply, ErrorReply, Heartbeat, Ping, Progress]


def encode(message: FromClient) -> bytes:
    """Frame 0 of a message that a client sends. Pre: its fields are within their limits."""
    fields: list[Any]
    if isinstance(message, Request):
        fields = [
            Kind.REQUEST,
            message.id,
            message.session,
            int(message.mode),
            int(message.priority),
            message.streaming,
            message.timeout_ms,
            message.min_generation,
            message.service,
        ]
    elif isinstance(message, Heartbeat):
        fields = [
            Kind.HEARTBEAT,
            message.session,
            message.running,
            message.progress_ppm,
            message.rss_bytes,
        ]
    elif isinstance(message, Cancel):
        fields = [Kind.CANCEL, message.id, message.session]
    elif isinstance(message, Credit):
        fields = [Kind.CREDIT, message.id, message.session, message.attempt, message.bytes]
    elif isinstance(message, Goodbye):
        fields = [Kind.GOODBYE, message.session]
    else:
        role_client = 0
        fields = [
            Kind.HELLO,
            role_client,
            limits.VERSION_MIN,
            limits.VERSION_MAX,
            message.pid,
            message.agent,
            message.user,
            b"",
        ]
    return _pack([limits.VERSION_MAX, int(fields[0]), *fields[1:]])


def _pack(value: Any) -> bytes:
    packed = msgpack.packb(value, use_bin_type=True)
    assert isinstance(packed, bytes)
    return packed


def unpack(frame: Bytes) -> Any:
    """One msgpack value that fills `frame` exactly. Raises Malformed."""
    try:
        return msgpack.unpackb(frame, raw=False, strict_map_key=False)
    except (ValueError, msgpack.UnpackException, RecursionError, MemoryError, TypeError) as error:
        raise Malformed(f"not one msgpack value: {error}") from None


# ---- fields: a check per type of PROTOCOL.md#header ----


def _uint(maximum: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if type(value) is not int or not 0 <= value <= maximum:  # True is an int, too.
            raise Malformed(f"{value!r:.40} is not an integer from 0 to {maximum}")
        return value

    return check


_u8 = _uint(limits.U8_MAX)
_u16 = _uint(limits.U16_MAX)
_u32 = _uint(limits.U32_MAX)
_u64 = _uint(limits.U64_MAX)


def _i32(value: Any) -> int:
    if type(value) is not int or not -(1 << 31) <= value < 1 << 31:
        raise Malformed(f"{value!r:.40} does not fit 32 bits")
    return value


def _bool(value: Any) -> bool:
    if type(value) is not bool:
        raise Malformed(f"{value!r:.40} is not a bool")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise Malformed(f"{value!r:.40} is not a text")
    return value


def _code(value: Any) -> ErrorCode:
    try:
        return ErrorCode(_u8(value))
    except ValueError:
        raise Malformed(f"{value} is no error code") from None


_FACTS = (_u32, _u32, _u64, _u64, _u64, _u64)
_CHECKS: dict[int, tuple[Callable[[Any], Any], ...]] = {
    Kind.WELCOME: (_u16, _u64, _u32, _u32, _u64, _u64, _u32, _u32, _text),
    Kind.REPLY: (_u64, _u32, _u32, _u32, _bool, *_FACTS),
    Kind.ERROR: (_u64, _code, _bool, _bool, *_FACTS),
    Kind.HEARTBEAT: (_u64, _u64, _i32, _u64),
    Kind.PING: (),
    Kind.PROGRESS: (_u64, _i32),
}


def decode(frame: Bytes) -> FromServer:
    """A message of the server's. Raises Malformed, also for a kind that servers do not send."""
    if len(frame) > limits.HEADER_BYTES_MAX:
        raise Malformed(f"a header of {len(frame)} bytes")
    items = unpack(frame)
    if type(items) is not list or len(items) < 2:
        raise Malformed("the header is not an array of version and kind")
    version, kind = _u16(items[0]), _u8(items[1])
    checks = _CHECKS.get(kind)
    if checks is None:
        raise Malformed(f"kind {kind} is none that a server sends")
    # The layout of an error is the same in every version.
    if kind != Kind.ERROR and not limits.VERSION_MIN <= version <= limits.VERSION_MAX:
        raise Malformed(f"version {version}")
    if len(items) != 2 + len(checks):
        raise Malformed(f"{len(items) - 2} fields instead of {len(checks)}")
    fields = [check(item) for check, item in zip(checks, items[2:])]
    if kind == Kind.REPLY:
        return _reply(fields)
    if kind == Kind.ERROR:
        return ErrorReply(*[*fields[:4], Facts(*fields[4:])])
    if kind == Kind.WELCOME:
        return Welcome(*fields)
    if kind == Kind.PROGRESS:
        return Progress(*fields)
    return Heartbeat(*fields) if kind == Kind.HEARTBEAT else Ping()


def _reply(fields: list[Any]) -> Reply:
    reply = Reply(*[*fields[:5], Facts(*fields[5:])])
    if reply.batches > limits.BATCHES_PER_REPLY_MAX:
        raise Malformed(f"{reply.batches} batches in one message")
    return reply
