"""Goal: numpy sees what the engine holds, without a copy where the layout allows it. Method: a real
server's results as arrays, compared with Python's own values.
"""

import unittest

from servers import EngineCase

try:
    import numpy
except ImportError:
    raise unittest.SkipTest("numpy is not installed (tools/setup installs it)") from None


class NumpyTest(EngineCase):
    def test_numbers_are_views_of_what_came(self) -> None:
        table = self.query(
            """select i::tinyint a, i::usmallint b, i::bigint c, i::float d, i::double e,
            '2024-01-01'::timestamp + to_seconds(i) f, time '01:00' g, interval 3 days h
            from range(100) t(i) order by i"""
        )
        dtypes = ["i1", "u2", "i8", "f4", "f8", "M8[us]", "m8[us]"]
        for column, dtype in zip(table.columns, dtypes):
            array = column.to_numpy()
            with self.subTest(column.name):
                self.assertEqual(array.dtype, numpy.dtype(dtype))
                self.assertFalse(array.flags.owndata)
                self.assertFalse(array.flags.writeable)
                self.assertIs(column.chunks_to_numpy()[0].base.obj, array.base.obj)
        self.assertEqual(table["c"].to_numpy().tolist(), list(range(100)))
        self.assertEqual(table["f"].to_numpy()[1], numpy.datetime64("2024-01-01T00:00:01"))
        self.assertEqual(table["h"].to_numpy()["days"].tolist(), [3] * 100)

    def test_nulls_are_masked(self) -> None:
        column = self.query("select if(i % 2 = 0, null, i) a from range(9) t(i)")["a"]
        array = column.to_numpy()
        self.assertIsInstance(array, numpy.ma.MaskedArray)
        self.assertEqual(array.tolist(), column.to_pylist())
        self.assertEqual(column.null_count, 5)

    def test_batches_are_put_together(self) -> None:
        column = self.query("select i, if(i = 4000, null, i) n from range(50000) t(i) order by i")
        self.assertGreater(len(column["i"].chunks_to_numpy()), 1)
        self.assertEqual(column["i"].to_numpy().tolist(), list(range(50000)))
        self.assertEqual(column["n"].to_numpy().tolist(), column["n"].to_pylist())

    def test_every_type_has_an_array(self) -> None:
        for column in self.query("select * from test_all_types()").columns:
            with self.subTest(column.name):
                array = column.to_numpy()
                self.assertEqual(array.shape, (3,))
                self.assertIsInstance(array, numpy.ma.MaskedArray)
                mask = array.mask if array.dtype.names is None else array.mask["days"]
                self.assertEqual(mask.tolist(), [False, False, True])
                if array.dtype == object:
                    self.assertEqual(str(array.tolist()), str(column.to_pylist()))  # NaN.

    def test_empty_results_have_empty_arrays(self) -> None:
        table = self.query("select 1 a, 'x' b, [1] c, true d, date '2024-01-01' e where false")
        for column in table.columns:
            self.assertEqual(column.to_numpy().shape, (0,))

    def test_lists_of_equal_length_stay_lists(self) -> None:
        array = self.query("select [i, i] l from range(3) t(i) order by i")["l"].to_numpy()
        self.assertEqual(array.shape, (3,))
        self.assertEqual(array.tolist(), [[0, 0], [1, 1], [2, 2]])


if __name__ == "__main__":
    unittest.main()
