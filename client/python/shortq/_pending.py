"""Requests under way, and what was taken of their replies (PROTOCOL.md#flow-control)."""

from __future__ import annotations

import dataclasses
from typing import Optional

from shortq import _limits as limits
from shortq import _wire as wire
from shortq._assembly import ReplyAssembly
from shortq.options import Progress, QueryOptions


@dataclasses.dataclass
class Taken:
    """Bytes that were taken, and how many of them the server knows of."""

    bytes: int = 0
    told: int = 0

    def add(self, count: int) -> bool:
        """Whether it is time for a credit."""
        self.bytes += count
        if self.bytes - self.told < limits.CREDIT_STEP_BYTES:
            return False
        self.told = self.bytes
        return True


@dataclasses.dataclass
class Pending:
    """A request without its final reply."""

    mode: wire.Mode
    options: QueryOptions
    bodies: tuple[bytes, ...]  # Text [, parameters]: kept for sending again.
    submitted: float
    assembly: ReplyAssembly
    streaming: bool = False
    handed_on: bool = False  # A piece has: its reader cannot start again.
    expires: Optional[float] = None  # The user's deadline.
    sent: bool = False  # In the session that is open now.
    progress: Progress = Progress(None, 0, 0)
    taken: Taken = dataclasses.field(default_factory=Taken)
