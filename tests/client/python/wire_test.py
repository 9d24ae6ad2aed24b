"""Goal: messages are read and written as PROTOCOL.md says, and nothing malformed is taken for
good. Method: the bytes of its example; each field replaced by what it may not be; every cut of a
reply, and every flipped bit of a real one.
"""

import datetime
import math
import re
import unittest
from typing import Any

import msgpack
import shortq
from servers import FACTS, Server, bigint_bodies
from shortq import _wire as wire
from shortq._assembly import ReplyAssembly, facts_of
from shortq._parameters import encode_parameters
from shortq._wire import Kind, Malformed, decode, encode


def from_hex(text: str) -> bytes:
    return bytes.fromhex(text)


class ExampleTest(unittest.TestCase):
    """The session in bytes at the end of PROTOCOL.md."""

    def test_hello_and_welcome(self) -> None:
        self.assertEqual(
            encode(wire.Hello(258, "cli")),
            from_hex("99 01 01 00 01 01 cd 01 02 a3 63 6c 69 a0 c4 00"),
        )
        welcome = decode(from_hex("9b 01 02 01 09 02 01 ce 01 00 00 00 00 cd 27 10 cd 03 e8 a1 73"))
        self.assertEqual(welcome, wire.Welcome(1, 9, 2, 1, 16 << 20, 0, 10000, 1000, "s"))

    def test_request_with_a_parameter(self) -> None:
        request = wire.Request(7, 9, timeout_ms=1000)
        self.assertEqual(encode(request), from_hex("9a 01 03 07 09 00 01 c2 cd 03 e8 00 a0"))
        self.assertEqual(encode_parameters([-1]), from_hex("91 93 a0 02 ff"))

    def test_reply(self) -> None:
        frames = [
            memoryview(from_hex(text))
            for text in (
                "9d 01 05 07 00 00 01 c3 02 01 05 cc c8 01 22",
                "91 97 a1 6e a1 6c a6 42 49 47 49 4e 54 c3 90 90 90",
                "93 01 93 01 00 02 92 00 08",
                "ff ff ff ff ff ff ff ff",
            )
        ]
        reply = decode(frames[0])
        assert isinstance(reply, wire.Reply)
        self.assertEqual(reply.facts, wire.Facts(2, 1, 5, 200, 1, 34))
        assembly = ReplyAssembly()
        self.assertTrue(assembly.add(reply, frames[1:]))
        table = assembly.take_table(facts_of(reply.facts))
        self.assertEqual(table.to_pydict(), {"n": [-1]})
        self.assertEqual(table.facts, shortq.ReplyFacts(2, 1, 0.005, 0.2, 1, 34))


class DecodeTest(unittest.TestCase):
    REPLY = [1, int(Kind.REPLY), 7, 0, 0, 1, True, *FACTS]

    def refuse(self, fields: Any) -> None:
        with self.subTest(fields=fields), self.assertRaises(Malformed):
            decode(msgpack.packb(fields, use_bin_type=True))

    def test_a_good_one_is_taken(self) -> None:
        decode(msgpack.packb(self.REPLY))

    def test_every_field_is_checked(self) -> None:
        for place in range(len(self.REPLY)):
            swapped = 1 if self.REPLY[place] is True else True  # 1 is not true, true is not 1.
            for wrong in (-1, "1", b"1", None, 1.0, [], swapped):
                self.refuse([*self.REPLY[:place], wrong, *self.REPLY[place + 1 :]])

    def test_the_number_of_fields_is_exact(self) -> None:
        self.refuse(self.REPLY[:-1])
        self.refuse([*self.REPLY, 0])
        for fields in ([], [1], 5, "reply", {1: 2}, None):
            self.refuse(fields)

    def test_bytes_before_and_after_are_refused(self) -> None:
        good = msgpack.packb(self.REPLY)
        for end in range(len(good)):
            with self.assertRaises(Malformed):
                decode(good[:end])
        with self.assertRaises(Malformed):
            decode(good + b"\0")
        with self.assertRaises(Malformed):
            decode(b"\x00" * 2000)
        with self.assertRaises(Malformed):
            decode(b"\xc1")

    def test_a_text_has_to_be_utf8(self) -> None:
        welcome = [1, int(Kind.WELCOME), 1, 9, 2, 1, 0, 0, 0, 1000]
        decode(msgpack.packb([*welcome, "s"]))
        with self.assertRaises(Malformed):
            decode(msgpack.packb([*welcome, "s"])[:-1] + b"\xff")

    def test_unknown_kinds_versions_and_codes_are_refused(self) -> None:
        self.refuse([1, 99])
        self.refuse([2, *self.REPLY[1:]])
        self.refuse([1, int(Kind.ERROR), 7, 99, False, False, *FACTS])

    def test_an_error_is_read_whatever_its_version(self) -> None:
        error = decode(msgpack.packb([77, int(Kind.ERROR), 0, 1, False, False, *FACTS]))
        assert isinstance(error, wire.ErrorReply)
        self.assertIs(error.code, shortq.ErrorCode.BAD_REQUEST)


class ReplyBytesTest(unittest.TestCase):
    """A result of every type, damaged."""

    def damaged(self, bodies: list[bytes]) -> bool:
        """Whether it was refused. If not, every cell of it can be read."""
        reply = wire.Reply(1, 0, 0, 1, True, wire.Facts(*FACTS))
        assembly = ReplyAssembly()
        try:
            assembly.add(reply, [memoryview(body) for body in bodies])
        except Malformed:
            return True
        table = assembly.take_table(facts_of(reply.facts))
        for column in table.columns:
            self.assertEqual(len(column.to_pylist()), len(table))
            for row in range(len(table)):
                column.text(row)
        return False

    def test_every_missing_spare_or_cut_frame_is_refused(self) -> None:
        bodies = [bytes(body) for body in bigint_bodies(5)]
        self.assertFalse(self.damaged(bodies))
        for place in range(len(bodies)):
            self.assertTrue(self.damaged(bodies[:place] + bodies[place + 1 :]), place)
            self.assertTrue(
                self.damaged(bodies[:place] + [bodies[place][:-1]] + bodies[place + 1 :])
            )
        self.assertTrue(self.damaged([*bodies, b"spare"]))

    def test_flipped_bits_are_refused_or_harmless(self) -> None:
        query = """select a.*, 'long enough for a view' s, map {[1, 2]: 'x'} m, [1, 2]::int[2] f,
                   union_value(a := 'b') u, 'b'::enum('a', 'b') e, 5::decimal(30, 2) d
                   from (select i, [i, null] l, {'x': i::varchar} t from range(4) r(i)) a"""
        bodies = capture(query)
        self.assertFalse(self.damaged(bodies))
        refused = harmless = 0
        for place, body in enumerate(bodies):
            for at in range(len(body)):
                for bit in range(8):
                    wrong = bytearray(body)
                    wrong[at] ^= 1 << bit
                    damage = [*bodies[:place], bytes(wrong), *bodies[place + 1 :]]
                    if self.damaged(damage):
                        refused += 1
                    else:
                        harmless += 1
        self.assertGreater(refused, 1000)
        self.assertGreater(harmless, 100)  # Flipped bits of the values themselves.


def capture(query: str) -> list[bytes]:
    """The bodies of a real server's one-piece reply."""
    bodies: list[bytes] = []
    original = ReplyAssembly.add

    def spy(self: ReplyAssembly, reply: wire.Reply, frames: Any) -> bool:
        bodies.extend(map(bytes, frames))
        return original(self, reply, frames)

    ReplyAssembly.add = spy  # type: ignore[method-assign]
    try:
        with Server(workers=1) as server, server.connect() as client:
            client.deferred(query)
    finally:
        ReplyAssembly.add = original  # type: ignore[method-assign]
    return bodies


class ParametersTest(unittest.TestCase):
    def entries(self, *values: Any) -> Any:
        return msgpack.unpackb(encode_parameters(values))

    def test_each_type_of_the_protocol(self) -> None:
        for value, entry in (
            (None, [0, None]),
            (True, [1, True]),
            (-(1 << 63), [2, -(1 << 63)]),
            (2.0, [3, 2.0]),
            ("ä", [4, "ä"]),
            (b"\0\xff", [5, b"\0\xff"]),
            (bytearray(b"x"), [5, b"x"]),
            (datetime.date(1969, 12, 31), [6, -1]),
            (datetime.datetime(1970, 1, 1, 0, 0, 1), [7, 10**6]),
            (datetime.datetime(1, 1, 1), [7, -62135596800 * 10**6]),
        ):
            with self.subTest(value):
                self.assertEqual(self.entries(value), [["", *entry]])

    def test_doubles_survive(self) -> None:
        values = [entry[2] for entry in self.entries(-0.0, math.inf, math.nan)]
        self.assertEqual(math.copysign(1, values[0]), -1)
        self.assertEqual(values[1], math.inf)
        self.assertTrue(math.isnan(values[2]))

    def test_a_dict_holds_named_ones(self) -> None:
        self.assertEqual(self.entries({"a": 1, "b": None}), [["a", 2, 1], ["b", 0, None]])
        self.assertEqual(encode_parameters([{}]), b"")

    def test_what_cannot_be_sent_is_refused(self) -> None:
        for wrong in (
            1 << 63,
            -(1 << 63) - 1,
            datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc),
            object(),
            [1],
            1j,
            "\ud800",
            datetime.time(1),
            {1: 2},
            {"": 1},
        ):
            with self.subTest(wrong), self.assertRaises(shortq.BadRequestError):
                encode_parameters([wrong])
        with self.assertRaises(shortq.TooLargeError):
            encode_parameters([1] * 4097)
        with self.assertRaises(shortq.TooLargeError):
            encode_parameters([{"x" * 256: 1}])


class ErrorsTest(unittest.TestCase):
    def test_every_code_has_its_class(self) -> None:
        from shortq.errors import ErrorCode, make_error

        classes = {type(make_error(code, "m")) for code in ErrorCode}
        self.assertEqual(len(classes), len(ErrorCode))  # Error itself for unknown_session.

    def test_errors_can_be_pickled(self) -> None:
        import pickle

        from shortq.errors import ErrorCode, make_error

        made = pickle.loads(pickle.dumps(make_error(ErrorCode.TIMEOUT, "m", "w", False)))
        self.assertIsInstance(made, TimeoutError)
        self.assertEqual((made.message, made.where, made.retryable), ("m", "w", False))
        self.assertEqual(str(made), "timeout: m (at w)")

    def test_the_codes_are_those_of_the_protocol(self) -> None:
        import pathlib

        text = pathlib.Path(__file__).parents[3].joinpath("proto/PROTOCOL.md").read_text("utf-8")
        rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", text, re.MULTILINE)
        self.assertEqual([(str(int(code)), code.label) for code in shortq.ErrorCode], rows)


if __name__ == "__main__":
    unittest.main()
