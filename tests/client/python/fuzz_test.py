"""Goal: no bytes that a server may send make the Python client raise anything but Malformed, or
read what it should have refused. Method: the corpus of the C++ fuzz targets (tests/fuzz/), and
random changes of it, always the same; SHORTQ_FUZZ_CHANGES for more of them.
"""

import os
import pathlib
import random
import unittest
from collections.abc import Callable, Iterator

from servers import FACTS
from shortq import _wire as wire
from shortq._assembly import ReplyAssembly, facts_of
from shortq._wire import Malformed, decode
from shortq.table import Table

_CORPUS = pathlib.Path(__file__).parents[2] / "fuzz" / "corpus"
_CHANGES = int(os.environ.get("SHORTQ_FUZZ_CHANGES", "2000"))
_TELLING = b"\x00\x01\x7f\x80\xff\xc0\xc1\xdd\xdf"
_VALUES_MAX = 10_000  # Some bytes stand for a great many values.


def inputs(target: str) -> Iterator[bytes]:
    corpus = [path.read_bytes() for path in sorted((_CORPUS / target).iterdir())]
    yield from corpus
    dice = random.Random(1)
    for _ in range(_CHANGES):
        yield changed(dice, corpus)


def changed(dice: random.Random, corpus: list[bytes]) -> bytes:
    data = bytearray(dice.choice(corpus))
    for _ in range(dice.randint(1, 4)):
        at = dice.randint(0, len(data))
        edit = dice.randrange(4)
        if edit == 0:
            data[at:at] = bytes([dice.choice(_TELLING)])
        elif edit == 1:
            del data[at : at + dice.randint(1, 4)]
        elif edit == 2:
            data[at : at + 1] = bytes([dice.randrange(256)])
        else:
            data[at:at] = data[at : at + dice.randint(1, 8)]
    return bytes(data)


class Taker:
    """Takes an input apart as tests/fuzz/input.h does."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def byte(self) -> int:
        first, self.data = self.data[:1], self.data[1:]
        return first[0] if first else 0

    def frame(self) -> memoryview:
        size = self.byte()
        if size == 255:
            size = self.byte() | self.byte() << 8
        frame, self.data = self.data[:size], self.data[size:]
        return memoryview(frame)


def decode_message(data: bytes) -> None:
    decode(data)


def put_together(data: bytes) -> None:
    taker = Taker(data)
    assembly = ReplyAssembly()
    while taker.data:
        attempt, sequence, batches = taker.byte(), taker.byte(), taker.byte()
        last = bool(taker.byte() & 1)
        bodies = []
        for _ in range(taker.byte()):
            if not taker.data:
                break
            bodies.append(taker.frame())
        reply = wire.Reply(1, attempt, sequence, batches, last, wire.Facts(*FACTS))
        if assembly.add(reply, bodies) and last:
            read(assembly.take_table(facts_of(reply.facts)))
            return


def values_in(array: object) -> int:
    below = [*array.children, *array.dictionary]  # type: ignore[attr-defined]
    return array.length * (1 + sum(map(values_in, below)))  # type: ignore[attr-defined]


def read(table: Table) -> None:
    arrays = [array for column in table.columns for array in column._chunks]
    if sum(map(values_in, arrays)) <= _VALUES_MAX:
        table.to_pydict()


class FuzzTest(unittest.TestCase):
    def check(self, target: str, feed: Callable[[bytes], None]) -> None:
        taken = refused = 0
        for data in inputs(target):
            try:
                feed(data)
                taken += 1
            except Malformed:
                refused += 1
            except Exception as error:
                raise AssertionError(f"input {data.hex()}") from error
        self.assertGreater(taken, 0)
        self.assertGreater(refused, 0)

    def test_messages_are_read_or_malformed(self) -> None:
        self.check("message", decode_message)

    def test_replies_are_read_or_malformed(self) -> None:
        self.check("assembly", put_together)
