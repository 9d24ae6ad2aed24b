"""Goal: every layout of PROTOCOL.md#results is read, also those that DuckDB does not send, and no
array is taken that does not hold together. Method: columns built by hand, buffer by buffer; then
each way to break them.
"""

import decimal
import struct
import unittest
from typing import Any, Optional

import msgpack
import shortq
from servers import FACTS
from shortq import _wire as wire
from shortq._assembly import ReplyAssembly, facts_of
from shortq._wire import Malformed


class Part:
    """One node: a format, how many rows and nulls, the buffers, and what is below it."""

    def __init__(
        self,
        form: str,
        length: int,
        *buffers: bytes,
        nulls: int = 0,
        children: tuple["Part", ...] = (),
        dictionary: Optional["Part"] = None,
        name: str = "x",
        engine_type: str = "",
    ) -> None:
        self.form, self.length, self.nulls, self.buffers = form, length, nulls, buffers
        self.children, self.dictionary = children, (dictionary,) if dictionary else ()
        self.name, self.engine_type = name, engine_type

    def field(self) -> list[Any]:
        below = [[part.field() for part in parts] for parts in (self.children, self.dictionary)]
        return [self.name, self.form, self.engine_type, True, [], *below]

    def parts(self) -> list["Part"]:
        out = [self]
        for part in (*self.children, *self.dictionary):
            out += part.parts()
        return out


def read(part: Part) -> shortq.Column:
    """The column through the whole way from frames. Raises Malformed."""
    nodes: list[int] = []
    buffers: list[bytes] = []
    for each in part.parts():
        nodes += [each.length, each.nulls, len(each.buffers)]
        buffers += each.buffers
    layout = [part.length, nodes, [len(buffer) for buffer in buffers]]
    frames = [msgpack.packb([part.field()]), msgpack.packb(layout), *filter(None, buffers)]
    reply = wire.Reply(1, 0, 0, 1, True, wire.Facts(*FACTS))
    assembly = ReplyAssembly()
    assembly.add(reply, [memoryview(frame) for frame in frames])
    return assembly.take_table(facts_of(reply.facts)).columns[0]


def ints(code: str, *values: Any) -> bytes:
    return struct.pack(f"<{len(values)}{code}", *values)


def numbers(*values: int, **options: Any) -> Part:
    return Part("i", len(values), b"", ints("i", *values), **options)


def view(text: bytes, number: int = 0, offset: int = 0) -> bytes:
    if len(text) <= 12:
        return ints("i", len(text)) + text.ljust(12, b"\0")
    return ints("i", len(text)) + text[:4] + ints("i", number, offset)


NULL_LAST = b"\x03"  # Of three rows.
LONG = b"a text that is longer than twelve bytes"


class LayoutsTest(unittest.TestCase):
    def expect(self, part: Part, *values: Any) -> None:
        self.assertEqual(read(part).to_pylist(), list(values))

    def test_numbers_of_every_width(self) -> None:
        for form, code in zip("cCsSiIlLefg", "bBhHiIqQefd"):
            with self.subTest(form):
                self.expect(Part(form, 2, b"", ints(code, 5, 7)), 5, 7)
        self.expect(Part("n", 2), None, None)
        self.expect(Part("b", 3, NULL_LAST, b"\x05", nulls=1), True, False, None)

    def test_decimals_of_every_width(self) -> None:
        one = decimal.Decimal("-1.25")
        for bits in (32, 64, 128, 256):
            raw = (-125).to_bytes(bits // 8, "little", signed=True)
            with self.subTest(bits):
                self.expect(Part(f"d:5,2,{bits}", 1, b"", raw), one)
        self.expect(Part("d:5,-2", 1, b"", (3).to_bytes(16, "little")), decimal.Decimal("3E+2"))

    def test_texts_of_every_layout(self) -> None:
        offsets = (0, 2, 2, 5)
        for form, code in (("u", "i"), ("U", "q")):
            self.expect(Part(form, 3, b"", ints(code, *offsets), b"abcde"), "ab", "", "cde")
        self.expect(
            Part("z", 3, NULL_LAST, ints("i", *offsets), b"abcde", nulls=1), b"ab", b"", None
        )
        self.expect(Part("w:2", 2, b"", b"abcd"), b"ab", b"cd")
        views = Part("vu", 3, NULL_LAST, view(b"short") + view(LONG, 1, 2) + b"\xff" * 16, b"",
                     b"--" + LONG, nulls=1)  # fmt: skip
        self.expect(views, "short", LONG.decode(), None)
        self.expect(Part("u", 1, b"", ints("i", 0, 2), b"\xff\xfe"), "\udcff\udcfe")

    def test_times_of_every_unit(self) -> None:
        for form, raw, text in (
            ("tts", ints("i", 3661), "01:01:01"),
            ("ttm", ints("i", 1500), "00:00:01.5"),
            ("ttn", ints("q", 1), "00:00:00.000000001"),
            ("tdm", ints("q", 86_400_000), "1970-01-02"),
            ("tss:", ints("q", -1), "1969-12-31 23:59:59"),
            ("tsn:UTC", ints("q", 1000), "1970-01-01 00:00:00.000001+00"),
            ("tDm", ints("q", 1500), "00:00:01.5"),
            ("tiM", ints("i", 14), "1 year 2 months"),
            ("tiD", ints("i", 2, 1500), "2 days 00:00:01.5"),
        ):
            with self.subTest(form):
                self.assertEqual(read(Part(form, 1, b"", raw)).text(0), text)

    def test_lists_of_every_layout(self) -> None:
        child = numbers(1, 2, 3)
        for form, code in (("+l", "i"), ("+L", "q")):
            part = Part(form, 2, b"", ints(code, 0, 1, 3), children=(child,))
            self.expect(part, [1], [2, 3])
        for form, code in (("+vl", "i"), ("+vL", "q")):
            part = Part(form, 2, b"", ints(code, 1, 0), ints(code, 2, 2), children=(child,))
            self.expect(part, [2, 3], [1, 2])
        self.expect(Part("+w:3", 1, b"", children=(child,)), [1, 2, 3])
        self.expect(Part("+w:0", 2, b"", children=(child,)), [], [])

    def test_structs_and_maps(self) -> None:
        a, b = numbers(1, 2, name="a"), numbers(3, 4, name="b")
        self.expect(Part("+s", 2, b"\x01", nulls=1, children=(a, b)), {"a": 1, "b": 3}, None)
        self.expect(Part("+s", 2, b""), {}, {})
        entries = Part("+s", 2, b"", children=(a, b))
        self.expect(Part("+m", 1, b"", ints("i", 0, 2), children=(entries,)), {1: 3, 2: 4})

    def test_unions(self) -> None:
        a, b = numbers(1, 2, 3), Part("u", 3, b"", ints("i", 0, 1, 2, 3), b"xyz")
        self.expect(Part("+us:5,7", 3, b"\x07\x05\x07", children=(a, b)), "x", 2, "z")
        dense = Part("+ud:5,7", 3, b"\x07\x05\x07", ints("i", 2, 0, 0), children=(a, b))
        self.expect(dense, "z", 1, "x")

    def test_dictionaries_and_runs(self) -> None:
        words = Part("u", 2, b"", ints("i", 0, 1, 3), b"abb")
        part = Part("C", 3, NULL_LAST, b"\x01\x00\xff", nulls=1, dictionary=words)
        self.expect(part, "bb", "a", None)
        runs = Part("+r", 5, children=(numbers(2, 9), words))
        self.expect(runs, "a", "a", "bb", "bb", "bb")

    def test_rows_of_length_0_need_no_buffer(self) -> None:
        for part in (Part("i", 0, b"", b""), Part("u", 0, b"", b"", b""),
                     Part("+l", 0, b"", b"", children=(Part("i", 0, b"", b""),))):  # fmt: skip
            self.expect(part)


class BrokenTest(unittest.TestCase):
    def refuse(self, part: Part) -> None:
        with self.assertRaises(Malformed):
            column = read(part)
            self.fail(f"{part.form} was taken: {column.to_pylist()}")

    def test_buffers_that_are_too_short(self) -> None:
        self.refuse(Part("i", 3, b"", ints("i", 1, 2)))
        self.refuse(Part("b", 9, b"", b"\xff"))
        self.refuse(Part("i", 9, b"\xff", ints("i", *range(9)), nulls=1))
        self.refuse(Part("d:5,2", 1, b"", bytes(15)))
        self.refuse(Part("w:3", 2, b"", bytes(5)))
        self.refuse(Part("u", 2, b"", ints("i", 0, 1), b"ab"))
        self.refuse(Part("vu", 2, b"", view(b"x")))
        self.refuse(Part("+us:0", 2, b"\0", children=(numbers(1, 2),)))
        self.refuse(Part("+ud:0", 2, b"\0\0", ints("i", 0), children=(numbers(1, 2),)))

    def test_nulls_that_are_not_counted(self) -> None:
        self.refuse(Part("i", 3, NULL_LAST, ints("i", 1, 2, 3)))
        self.refuse(Part("i", 3, b"", ints("i", 1, 2, 3), nulls=1))
        self.refuse(Part("i", 1, b"\0", ints("i", 1), nulls=2))

    def test_offsets(self) -> None:
        for offsets in ((0, 2, 1, 3), (-1, 0, 1, 2), (0, 1, 2, 4), (2, 1, 2, 3)):
            self.refuse(Part("u", 3, b"", ints("i", *offsets), b"abc"))
            self.refuse(Part("+l", 3, b"", ints("i", *offsets), children=(numbers(1, 2, 3),)))
        self.refuse(Part("U", 1, b"", ints("q", 0, 1 << 40), b"abc"))

    def test_views(self) -> None:
        self.refuse(Part("vu", 1, b"", view(LONG, 1), LONG))
        self.refuse(Part("vu", 1, b"", view(LONG, -1), LONG))
        self.refuse(Part("vu", 1, b"", view(LONG, 0, 1), LONG))
        self.refuse(Part("vu", 1, b"", view(LONG, 0, -1), LONG))
        self.refuse(Part("vu", 1, b"", ints("i", -1, 0, 0, 0), LONG))

    def test_list_views(self) -> None:
        for offset, size in ((0, 4), (3, 1), (-1, 1), (0, -1), (4, 0)):
            self.refuse(Part("+vl", 1, b"", ints("i", offset), ints("i", size),
                             children=(numbers(1, 2, 3),)))  # fmt: skip

    def test_children(self) -> None:
        child = numbers(1, 2, 3)
        self.refuse(Part("+w:2", 2, b"", children=(child,)))
        self.refuse(Part("+s", 4, b"", children=(child,)))
        self.refuse(Part("+us:0", 4, b"\0" * 4, children=(child,)))
        self.refuse(Part("+l", 1, b"", ints("i", 0, 1)))
        self.refuse(Part("+l", 1, b"", ints("i", 0, 1), children=(child, child)))
        self.refuse(Part("i", 1, b"", ints("i", 0), children=(child,)))
        self.refuse(Part("+m", 1, b"", ints("i", 0, 1), children=(child,)))
        self.refuse(Part("+m", 1, b"", ints("i", 0, 1), children=(Part("+s", 3, b""),)))

    def test_unions(self) -> None:
        child = numbers(1, 2, 3)
        self.refuse(Part("+us:0", 1, b"\x01", children=(child,)))
        self.refuse(Part("+us:0", 1, b"\xff", children=(child,)))
        self.refuse(Part("+us:0,0", 1, b"\0", children=(child, child)))
        self.refuse(Part("+us:0,1", 1, b"\0", children=(child,)))
        self.refuse(Part("+ud:0", 1, b"\0", ints("i", 3), children=(child,)))
        self.refuse(Part("+ud:0", 1, b"\0", ints("i", -1), children=(child,)))

    def test_dictionaries(self) -> None:
        words = Part("u", 2, b"", ints("i", 0, 1, 2), b"ab")
        self.refuse(Part("c", 2, b"", b"\x00\x02", dictionary=words))
        self.refuse(Part("c", 2, b"", b"\x00\xff", dictionary=words))
        self.refuse(Part("c", 2, b"\x02", b"\x00\x02", nulls=1, dictionary=words))
        self.refuse(Part("f", 1, b"", bytes(4), dictionary=words))

    def test_runs(self) -> None:
        values = numbers(1, 2)
        for ends in ((2, 2), (3, 2), (0, 5), (-1, 5), (1, 4)):
            self.refuse(Part("+r", 5, children=(numbers(*ends), values)))
        self.refuse(Part("+r", 5, children=(numbers(1, 2, 5), values)))
        self.refuse(Part("+r", 1, children=(Part("f", 1, b"", bytes(4)), values)))

    def test_numbers_of_buffers(self) -> None:
        self.refuse(Part("i", 1, ints("i", 0)))
        self.refuse(Part("i", 1, b"", ints("i", 0), b"x"))
        self.refuse(Part("n", 1, b""))

    def test_formats(self) -> None:
        wrong = (
            "x ii d: d:77,0 d:5,2,100 d:5 w: w:-1 w:99999999999 + +w:x +us +us:128 +us:, tsu tsx:"
        )
        for form in ["", "td", "ttx", *wrong.split()]:
            with self.subTest(form):
                self.refuse(Part(form, 0, b"", b""))


if __name__ == "__main__":
    unittest.main()
