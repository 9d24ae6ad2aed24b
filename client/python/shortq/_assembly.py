"""Puts the pieces of one reply together (PROTOCOL.md#reply)."""

from __future__ import annotations

from collections.abc import Sequence

from shortq import _wire as wire
from shortq._arrays import Batch, build_batch
from shortq._check import check_batch, check_schema
from shortq._schema import Field, decode_layout, decode_schema
from shortq._wire import Malformed
from shortq.table import ReplyFacts, Table


class ReplyAssembly:
    """Collects the batches of one reply, to be taken piece by piece or at the end."""

    def __init__(self) -> None:
        self._start(attempt=0)

    def _start(self, attempt: int) -> None:
        self.attempt = attempt
        self._next_sequence = 0
        self._fields: tuple[Field, ...] = ()
        self._batches: list[Batch] = []

    def add(self, reply: wire.Reply, bodies: Sequence[memoryview]) -> bool:
        """False for a piece of an earlier attempt, which is ignored. One of a later attempt drops
        what came before it. Raises Malformed for a gap, or bodies that do not fit together."""
        if reply.attempt < self.attempt:
            return False
        if reply.attempt > self.attempt:
            self._start(reply.attempt)
        if reply.sequence != self._next_sequence:
            raise Malformed(
                f"piece {reply.sequence} came where piece {self._next_sequence} was " "due"
            )
        self._next_sequence += 1
        if reply.sequence == 0:
            if not bodies:
                raise Malformed("its first piece has no schema")
            self._fields = decode_schema(bodies[0])
            check_schema(self._fields)
            bodies = bodies[1:]
        self._batches += read_batches(self._fields, reply.batches, bodies)
        return True

    def take_table(self, facts: ReplyFacts) -> Table:
        """What has come since the last call."""
        batches, self._batches = self._batches, []
        return Table(self._fields, batches, facts)


def read_batches(fields: Sequence[Field], count: int, bodies: Sequence[memoryview]) -> list[Batch]:
    """The batches of one piece, checked. Raises Malformed."""
    batches = []
    at = 0
    for _ in range(count):
        if at == len(bodies):
            raise Malformed("a batch is missing")
        layout = decode_layout(bodies[at])
        at += 1
        if len(bodies) - at < layout.frames:
            raise Malformed("a buffer is missing")
        batch = build_batch(fields, layout, bodies[at : at + layout.frames])
        check_batch(fields, batch)
        batches.append(batch)
        at += layout.frames
    if at != len(bodies):
        raise Malformed("it has spare frames")
    return batches


def facts_of(facts: wire.Facts) -> ReplyFacts:
    return ReplyFacts(
        facts.worker,
        facts.generation,
        facts.queued_us / 1000,
        facts.run_us / 1000,
        facts.rows,
        facts.bytes,
    )
