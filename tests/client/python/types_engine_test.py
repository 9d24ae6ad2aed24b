"""Goal: every type of DuckDB's arrives as what the engine holds. Method: a real server answers each
expression twice, as itself and cast to VARCHAR; the client's text of its own value has to be the
engine's. Then the Python values of each type, in and out of datetime's range, one by one.
"""

import datetime
import decimal
import math
import unittest
import uuid
from datetime import timezone

import shortq
from servers import Server
from shortq import Interval

_NUMBERS = """
    1e15::double, 1e16::double, 0.0001::double, 0.00001::double, 1e-310::double, 'inf'::double,
    123456789012345678::double, 16777217::float, 1e10::float, 1e-5::float, '-inf'::float,
    3.4028235e38::float, 1.17549435e-38::float, 0.1::float, 0.3::float, '-0.0'::double,
    'nan'::float, 'nan'::double, 0::double, 100::double, 0.5::decimal(1,1), (-0.05)::decimal(2,2),
    0.05::decimal(38,37), 12::decimal(4,0), (-12.3)::decimal(9,1), 0::decimal(9,2),
    0::decimal(38,0), (-170141183460469231731687303715884105728)::hugeint,
    (-1)::hugeint,
    340282366920938463463374607431768211455::uhugeint, (-1)::bignum, 0::bignum,
    '123456789012345678901234567890'::bignum, '-123456789012345678901234567890'::bignum
"""
_TIMES = """
    date '0044-03-15 (BC)', 'infinity'::date, '-infinity'::date, date '12345-01-01',
    date '0001-01-01', date '9999-12-31', date '0000-01-01', date '2024-02-29',
    '-infinity'::timestamp, 'infinity'::timestamp, timestamp '0044-03-15 (BC) 12:00:00.5',
    timestamp '0001-01-01', timestamp '9999-12-31 23:59:59.999999', timestamp '10000-01-01',
    time '24:00:00', time '00:00:00', time '23:59:59.999999', '01:02:03.123456789'::time_ns,
    '01:02:03.123456'::time_ns, timestamp '1969-12-31 23:59:59.999999',
    '2024-01-01 00:00:00.120'::timestamp_ms, '2024-01-01 00:00:00.1234567'::timestamp_ns,
    '2024-01-01 00:00:00.123456'::timestamp_ns, '2024-01-01'::timestamp_s, 'infinity'::timestamp_s,
    '2024-01-01 00:00:00.12+00'::timestamptz, 'infinity'::timestamptz, '01:02:03+05:30'::timetz,
    '01:02:03.000001+00'::timetz, '00:00:00-15:59:59'::timetz, '24:00:00+01'::timetz,
    interval '1 year 2 months 3 days 04:05:06', interval '-14 months', interval '1 month -1 day',
    interval '100 hours 0.5 s', interval '0 s', interval '-1 s', interval '1 second'
"""
_BYTES = r"""
    '\xAB\x00abc\x22\x5C'::blob, ''::blob, '', '101'::bit, '0'::bit, '11111111000000001'::bit,
    '00000000-0000-0000-0000-0000000000af'::uuid, 'b,c'::enum('a','b,c'),
    '{"a": [1, null]}'::json, chr(0) || 'x', 'ÄÖ€🦆', repeat('long text ', 100)
"""
_NESTED = r"""
    ['a','a b','a, b','',null,'null','it''s','"q"','x]',' l','t ','a=b','a:b','b\s'],
    ['a\b''c', '\', 'nUlL', '(', '{', 'a;b', e'new\nline', e'tab\t'], [date '2024-01-01'],
    [timestamp '2024-01-01 01:02:03'], [interval '1 day 01:00:00'], ['b,c'::enum('a','b,c')],
    ['101'::bit], [{'a': '10'::bit, 'b': 1::uhugeint}], ['{"a": 1}'::json],
    [340282366920938463463374607431768211455::uhugeint], ['a,b'::blob, '\xAB'::blob],
    [[1, null], [], null], [1, 2]::int[2], [null, 2]::int[2], row(1, 'a b', 'c,d'),
    {'a': 1, 'b c': 'x, y', 'd': null, 'it''s': [1.50, 2]}, {'a': row('a:b', 1)},
    map {'k': 'v', 'k 2': 'v=2', '': null}, map {1: [1, 2], 2: []}, map {[1]: {'a': 'b'}}, map {},
    union_value(a := 'x, y'), [union_value(a := 'x:y')], union_value(a := ['x, y']),
    union_value(a := null::int), [map {'a': 'b:c'}], {'u': union_value(n := 1.5)},
    [12::bignum, -1::bignum], [null::int], []::int[], [uuid '00000000-0000-0000-0000-0000000000af'],
    [0.5::decimal(1,1)], [0.1::float, null], {'a': {'b': {'c': [1]}}}, [true, false, null]
"""
# The engine's cast misprints the last instant of timestamptz by a millisecond ("...54.776806"; the
# value is ...54.775806), and prints GEOMETRY as WKT, where the value is its WKB.
_MISPRINTED = {"timestamp_tz", "geometry"}


class TypesTest(unittest.TestCase):
    server: Server
    client: shortq.Client

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = cls.enterClassContext(Server(workers=1))
        cls.client = cls.enterClassContext(cls.server.connect())

    def value(self, expression: str) -> object:
        return self.client.deferred(f"select {expression}").scalar()

    def compare(self, query: str, except_for: set[str] = frozenset()) -> int:  # type: ignore
        """How many cells were equal."""
        values = self.client.deferred(f"select * from ({query})")
        texts = self.client.deferred(f"select columns(*)::varchar from ({query})")
        self.assertEqual(len(values), len(texts))
        cells = 0
        for mine, engines in zip(values.columns, texts.columns):
            if mine.name in except_for:
                continue
            for row, expected in enumerate(engines):
                with self.subTest(column=mine.name, type=mine.type, row=row):
                    self.assertEqual(mine.text(row), "NULL" if expected is None else expected)
                cells += 1
        return cells

    def test_every_type_prints_as_the_engine_prints_it(self) -> None:
        self.assertGreater(self.compare("select * from test_all_types()", _MISPRINTED), 150)

    def test_edges_print_as_the_engine_prints_them(self) -> None:
        for expressions in (_NUMBERS, _TIMES, _BYTES, _NESTED):
            self.assertGreater(self.compare(f"select {expressions}"), 10)

    def test_columns_with_nulls_over_many_batches(self) -> None:
        # Each type with nulls between its values, and more rows than a batch has.
        cells = self.compare(
            """
            select if(i % 3 = 0, null, i) a, if(i % 3 = 1, null, i::varchar) b, i % 2 = 0 c,
                   if(i % 5 = 0, null, [i, null]) d, {'x': i, 'y': if(i % 2 = 0, null, 'v')} e,
                   if(i % 4 = 0, null, date '2000-01-01' + i::int) f, i::decimal(18, 3) / 8 g,
                   if(i % 7 = 0, null, map {i: i::varchar}) h, i::double / 7 j, i::hugeint << 64 k,
                   if(i % 2 = 0, null, ['a', 'b', 'c'][i % 3 + 1]::enum('a', 'b', 'c')) l,
                   if(i % 6 = 0, null, to_minutes(i)) m, [i, if(i % 3 = 0, null, i)]::bigint[2] n
            from range(5000) t(i) order by i"""
        )
        self.assertEqual(cells, 13 * 5000)

    def test_empty_results_keep_their_columns(self) -> None:
        table = self.client.deferred("select * from test_all_types() limit 0")
        self.assertEqual(len(table), 0)
        self.assertGreater(len(table.columns), 50)
        self.assertEqual([list(column) for column in table.columns], [[]] * len(table.columns))
        self.assertEqual(table.rows(), [])

    def test_numbers_become_python_numbers(self) -> None:
        self.assertIs(self.value("true"), True)
        self.assertEqual(self.value("18446744073709551615::ubigint"), 2**64 - 1)
        self.assertEqual(
            self.value("(-170141183460469231731687303715884105728)::hugeint"), -(2**127)
        )
        self.assertEqual(
            self.value("340282366920938463463374607431768211455::uhugeint"), 2**128 - 1
        )
        self.assertEqual(self.value(f"'-{10**60}'::bignum"), -(10**60))
        self.assertEqual(self.value("0.5::float"), 0.5)
        self.assertTrue(math.isnan(self.value("'nan'::double")))  # type: ignore[arg-type]
        self.assertEqual(self.value("'-inf'::double"), -math.inf)
        self.assertEqual(math.copysign(1, self.value("'-0.0'::double")), -1)  # type: ignore
        found = self.value("1.500::decimal(9,3)")
        self.assertIsInstance(found, decimal.Decimal)
        self.assertEqual(str(found), "1.500")
        self.assertIsInstance(self.value("7::decimal(38,0)"), decimal.Decimal)

    def test_times_become_datetimes(self) -> None:
        self.assertEqual(self.value("date '2024-02-29'"), datetime.date(2024, 2, 29))
        self.assertEqual(self.value("time '01:02:03.000004'"), datetime.time(1, 2, 3, 4))
        self.assertEqual(
            self.value("timestamp '9999-12-31 23:59:59.999999'"), datetime.datetime.max
        )
        self.assertEqual(
            self.value("timestamptz '2024-01-01 01:00:00+02'"),
            datetime.datetime(2023, 12, 31, 23, tzinfo=timezone.utc),
        )
        zone = timezone(datetime.timedelta(hours=5, minutes=30))
        self.assertEqual(
            self.value("timetz '01:02:03.5+05:30'"), datetime.time(1, 2, 3, 500000, zone)
        )
        self.assertEqual(
            self.value("'2024-01-01 00:00:00.123456'::timestamp_ns"),
            datetime.datetime(2024, 1, 1, 0, 0, 0, 123456),
        )
        self.assertEqual(
            self.value("interval '14 months 3 days 1.5 s'"), Interval(14, 3, 1_500_000_000)
        )

    def test_times_that_datetime_cannot_hold_become_text(self) -> None:
        for expression, text in (
            ("'infinity'::date", "infinity"),
            ("date '12345-01-01'", "12345-01-01"),
            ("time '24:00:00'", "24:00:00"),
            ("timestamp '0044-03-15 (BC) 12:00:00'", "0044-03-15 (BC) 12:00:00"),
            ("'2024-01-01 00:00:00.123456789'::timestamp_ns", "2024-01-01 00:00:00.123456789"),
        ):
            with self.subTest(expression):
                self.assertEqual(self.value(expression), text)

    def test_bytes_and_texts(self) -> None:
        self.assertEqual(self.value(r"'\x00\xFF'::blob"), b"\x00\xff")
        self.assertEqual(self.value("'00101'::bit"), "00101")
        self.assertEqual(
            self.value("uuid '00000000-0000-0000-0000-0000000000af'"), uuid.UUID(int=175)
        )
        self.assertEqual(self.value("'b'::enum('a', 'b')"), "b")
        self.assertEqual(self.value("'{\"a\": 1}'::json"), '{"a": 1}')
        self.assertEqual(self.value("'ÄÖ€🦆' || chr(0)"), "ÄÖ€🦆\0")
        self.assertIsNone(self.value("null"))

    def test_nested_values_become_lists_dicts_and_tuples(self) -> None:
        self.assertEqual(self.value("[[1, null], [], null]"), [[1, None], [], None])
        self.assertEqual(self.value("[1, null]::int[2]"), [1, None])
        self.assertEqual(
            self.value("{'a': 1, 'b': {'c': [date '2024-01-01']}}"),
            {"a": 1, "b": {"c": [datetime.date(2024, 1, 1)]}},
        )
        self.assertEqual(self.value("row(1, 'a')"), (1, "a"))
        self.assertEqual(self.value("map {'k': [1], 'l': null}"), {"k": [1], "l": None})
        self.assertEqual(self.value("map {[1]: 'a'}"), [([1], "a")])
        self.assertEqual(self.value("union_value(a := 5)"), 5)
        self.assertEqual(self.value("[{'a': '10'::bit, 'b': 1::uhugeint}]"), [{"a": "10", "b": 1}])

    def test_a_statement_without_a_result_gives_no_columns(self) -> None:
        table = self.client.sync("create or replace table t (a integer)")
        self.assertEqual((table.names, table.rows()), ([], []))


if __name__ == "__main__":
    unittest.main()
