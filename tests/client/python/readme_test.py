"""Goal: what the documentation shows is so. Method: the examples of client/python/README.md are run
as a doctest, on a server with the script that it shows; those of README.md are run as they are.
"""

import contextlib
import doctest
import io
import pathlib
import re
import unittest
from unittest import mock

from servers import Server

import shortq

try:
    import numpy  # noqa: F401  (an example shows an array)
except ImportError:
    raise unittest.SkipTest("numpy is not installed (tools/setup installs it)") from None

_ROOT = pathlib.Path(__file__).parents[3]


def blocks(path: str, language: str) -> list[str]:
    text = (_ROOT / path).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


class ReadmeTest(unittest.TestCase):
    def test_the_clients_examples_print_what_they_say(self) -> None:
        (script,) = blocks("client/python/README.md", "sql")
        examples = "\n".join(blocks("client/python/README.md", "python"))
        self.assertGreater(examples.count(">>>"), 20)
        test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", None, 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        report = io.StringIO()
        with Server(script=script) as server:
            with mock.patch("shortq.options.DEFAULT_PORT", server.port):
                runner.run(test, out=report.write)
        self.assertEqual(runner.failures, 0, report.getvalue())
        self.assertEqual(runner.tries, len(test.examples))

    def test_the_main_examples_run(self) -> None:
        examples = blocks("README.md", "python")
        self.assertGreater(len(examples), 0)
        script = "create table trade as select 'ORCL' as sym, 108.13 as price, 60000 as size;"
        with Server(script=script) as server:
            with mock.patch("shortq.options.DEFAULT_PORT", server.port):
                for example in examples:
                    printed = io.StringIO()
                    with contextlib.redirect_stdout(printed):
                        exec(compile(example, "README.md", "exec"), {})
                    self.assertIn("ORCL", printed.getvalue())

    def test_every_public_name_is_documented(self) -> None:
        for name in shortq.__all__:
            thing = getattr(shortq, name)
            if name not in ("__version__", "aio"):
                self.assertTrue(thing.__doc__, name)


if __name__ == "__main__":
    unittest.main()
