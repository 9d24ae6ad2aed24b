"""What can go wrong, as exceptions: one class per error code of PROTOCOL.md#errors.

Programs look at the class (or ``code``) and at ``retryable``; ``message`` is for people.
"""

from __future__ import annotations

import builtins
import enum
from typing import Any, Optional


class ErrorCode(enum.IntEnum):
    """The numbers on the wire. Never reused."""

    BAD_REQUEST = 1
    QUERY_ERROR = 2
    NOT_FOUND = 3
    READ_ONLY = 4
    TIMEOUT = 5
    CANCELLED = 6
    OVERLOADED = 7
    WORKER_LOST = 8
    UNAVAILABLE = 9
    DENIED = 10
    TOO_LARGE = 11
    UNKNOWN_SERVICE = 12
    INTERNAL = 13
    UNKNOWN_SESSION = 14
    CONNECTION = 15

    @property
    def label(self) -> str:
        """The name as in PROTOCOL.md, logs and other clients: ``query_error``."""
        return self.name.lower()


_RETRYABLE = frozenset(
    {
        ErrorCode.TIMEOUT,
        ErrorCode.OVERLOADED,
        ErrorCode.UNAVAILABLE,
        ErrorCode.UNKNOWN_SESSION,
    }
)


class Error(Exception):
    """A request, or the connection, has failed.

    code       the kind of failure.
    message    what happened, for people; the engine's own text is passed on whole.
    where      "worker 2", an endpoint, "startup.sql:14"; may be empty.
    retryable  whether the same request, sent again, may succeed.
    number     the request's number, where wait() raises it; otherwise None.
    """

    code: ErrorCode
    number: Optional[int] = None

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        where: str = "",
        retryable: Optional[bool] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.retryable = code in _RETRYABLE if retryable is None else retryable

    def __str__(self) -> str:
        place = f" (at {self.where})" if self.where else ""
        return f"{self.code.label}: {self.message}{place}"

    def __reduce__(self) -> tuple[Any, ...]:
        return make_error, (self.code, self.message, self.where, self.retryable)


class BadRequestError(Error, ValueError):
    """The arguments are wrong. Nothing was run."""


class QueryError(Error):
    """The engine's verdict on the query. Do not retry."""


class NotFoundError(Error, LookupError):
    """The named request, worker or object does not exist."""


class ReadOnlyError(Error):
    """The statement would write, or change state, on a worker that is read-only."""


class RequestTimeout(Error, builtins.TimeoutError):
    """The deadline passed; the query was interrupted. Retry with more time."""


class RequestCancelled(Error):
    """Somebody cancelled the request, or the client was closed."""


class OverloadedError(Error):
    """Refused before any work began. Retry with backoff."""


class WorkerLostError(Error):
    """The query's worker died; ``retryable`` tells whether to try again."""


class UnavailableError(Error):
    """No worker can answer now. Retry later."""


class DeniedError(Error, PermissionError):
    """The server does not accept this user."""


class TooLargeError(Error):
    """Over a limit, which the message names."""


class UnknownServiceError(Error):
    """There is no such service."""


class InternalError(Error):
    """A fault of shortq or of the engine."""


class ConnectionLostError(Error, ConnectionError):
    """No connection, or it broke; a sync request under way may or may not have run."""


_CLASSES: dict[ErrorCode, type[Error]] = {
    ErrorCode.BAD_REQUEST: BadRequestError,
    ErrorCode.QUERY_ERROR: QueryError,
    ErrorCode.NOT_FOUND: NotFoundError,
    ErrorCode.READ_ONLY: ReadOnlyError,
    ErrorCode.TIMEOUT: RequestTimeout,
    ErrorCode.CANCELLED: RequestCancelled,
    ErrorCode.OVERLOADED: OverloadedError,
    ErrorCode.WORKER_LOST: WorkerLostError,
    ErrorCode.UNAVAILABLE: UnavailableError,
    ErrorCode.DENIED: DeniedError,
    ErrorCode.TOO_LARGE: TooLargeError,
    ErrorCode.UNKNOWN_SERVICE: UnknownServiceError,
    ErrorCode.INTERNAL: InternalError,
    ErrorCode.CONNECTION: ConnectionLostError,
}


def make_error(
    code: ErrorCode, message: str, where: str = "", retryable: Optional[bool] = None
) -> Error:
    """An exception of the code's own class."""
    return _CLASSES.get(code, Error)(code, message, where, retryable)
