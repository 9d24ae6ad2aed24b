"""Goal: a result becomes a DataFrame with the types that people expect. Method: a real server's
results as frames.
"""

import unittest

from servers import EngineCase

try:
    import pandas
except ImportError:
    raise unittest.SkipTest("pandas is not installed (Debian: python3-pandas)") from None


class PandasTest(EngineCase):
    def test_types(self) -> None:
        frame = self.query(
            """select i a, if(i = 1, null, i) b, i > 0 c, if(i = 1, null, i > 0) d,
            i::double e, if(i = 1, null, i::double) f, date '2024-01-01' + i::int g,
            if(i = 1, null, timestamp '2024-01-01 01:02:03.5') h,
            timestamptz '2024-01-01 00:00:00+00' j,
            'x' || i k, 'b'::enum('a', 'b') l, 1.5::decimal(4, 1) m
            from range(3) t(i) order by i"""
        ).to_pandas()
        self.assertEqual(
            [str(dtype) for dtype in frame.dtypes],
            [
                "int64",
                "Int64",
                "bool",
                "boolean",
                "float64",
                "float64",
                "datetime64[ns]",
                "datetime64[ns]",
                "datetime64[ns, UTC]",
                "object",
                "category",
                "object",
            ],
        )
        self.assertEqual(frame["b"].isna().tolist(), [False, True, False])
        self.assertEqual(frame["h"].isna().tolist(), [False, True, False])
        self.assertEqual(frame["g"].dt.day.tolist(), [1, 2, 3])
        self.assertEqual(frame["h"][0], pandas.Timestamp("2024-01-01 01:02:03.5"))
        self.assertEqual(frame["l"].cat.categories.tolist(), ["a", "b"])

    def test_moments_out_of_range_become_objects(self) -> None:
        frame = self.query(
            """select date '9999-12-31' a, 'infinity'::timestamp b,
            '2024-01-01 00:00:00.123456789'::timestamp_ns c"""
        ).to_pandas()
        self.assertEqual(frame["a"].dtype, object)
        self.assertEqual(frame["b"][0], "infinity")
        self.assertEqual(frame["c"][0], pandas.Timestamp("2024-01-01 00:00:00.123456789"))

    def test_names_may_come_twice(self) -> None:
        frame = self.query("select 1 a, 2 a").to_pandas()
        self.assertEqual(frame.columns.tolist(), ["a", "a"])
        self.assertEqual(frame.values.tolist(), [[1, 2]])

    def test_every_type_has_a_column(self) -> None:
        table = self.query("select * from test_all_types()")
        frame = table.to_pandas()
        self.assertEqual(frame.shape, (3, len(table.columns)))
        self.assertTrue(frame.iloc[2].isna().all())

    def test_empty_results_keep_their_columns(self) -> None:
        frame = self.query("select 1 a, 'x' b where false").to_pandas()
        self.assertEqual((frame.shape, frame.columns.tolist()), ((0, 2), ["a", "b"]))
        every = self.query("select * from test_all_types() where false").to_pandas()
        self.assertEqual(len(every), 0)
        self.assertEqual(str(every["date"].dtype), "datetime64[ns]")


if __name__ == "__main__":
    unittest.main()
