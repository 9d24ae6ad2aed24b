"""What a session orders its shell to do: carried out in sequence."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Union

from shortq._wire import Bytes
from shortq.errors import Error
from shortq.options import Progress
from shortq.table import Table


@dataclasses.dataclass(frozen=True)
class Open:
    """Close the socket, if any, and open a fresh one."""

    endpoint: str


@dataclasses.dataclass(frozen=True)
class Send:
    frames: Sequence[Bytes]


@dataclasses.dataclass(frozen=True)
class Tell:
    """A request that asked to be told has come further."""

    callback: Callable[[Progress], None]
    progress: Progress


@dataclasses.dataclass(frozen=True)
class Piece:
    """Rows of a streaming request, before its Answer. Hand `bytes` to take() when they are used."""

    number: int
    table: Table
    bytes: int


@dataclasses.dataclass(frozen=True)
class Answer:
    """Exactly one per accepted request. A streaming one's table has the facts, and no rows."""

    number: int
    reply: Union[Table, Error]


Action = Union[Open, Send, Tell, Piece, Answer]
