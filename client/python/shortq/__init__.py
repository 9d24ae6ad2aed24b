"""shortq: the Python client of shortq, a kdb+-style least-busy query dispatcher.

    import shortq

    with shortq.connect(port=5001) as client:
        table = client.deferred("select sym, price from trade where size > ?", 50000)
        for sym, price in table:
            print(sym, price)
"""

from shortq import aio
from shortq._schema import Field
from shortq._times import Interval
from shortq._version import __version__
from shortq._wire import Priority
from shortq.client import Arrived, Client, Future, connect
from shortq.errors import (
    BadRequestError,
    ConnectionLostError,
    DeniedError,
    Error,
    ErrorCode,
    InternalError,
    NotFoundError,
    OverloadedError,
    QueryError,
    ReadOnlyError,
    RequestCancelled,
    RequestTimeout,
    TooLargeError,
    UnavailableError,
    UnknownServiceError,
    WorkerLostError,
)
from shortq.options import Progress, ServerInfo
from shortq.stream import Stream
from shortq.table import Column, ReplyFacts, Table

__all__ = [
    "Arrived",
    "BadRequestError",
    "Client",
    "Column",
    "ConnectionLostError",
    "DeniedError",
    "Error",
    "ErrorCode",
    "Field",
    "Future",
    "InternalError",
    "Interval",
    "NotFoundError",
    "OverloadedError",
    "Priority",
    "Progress",
    "QueryError",
    "ReadOnlyError",
    "ReplyFacts",
    "RequestCancelled",
    "RequestTimeout",
    "ServerInfo",
    "Stream",
    "Table",
    "TooLargeError",
    "UnavailableError",
    "UnknownServiceError",
    "WorkerLostError",
    "__version__",
    "aio",
    "connect",
]
