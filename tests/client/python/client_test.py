"""Goal: the whole client behaves: connecting, threads, loss, and servers that talk nonsense.
Method: the test plays the server on a real socket and decides what comes when.
"""

import concurrent.futures
import errno
import gc
import multiprocessing
import pathlib
import re
import subprocess
import sys
import threading
import unittest
import unittest.mock
import weakref

import msgpack
import shortq
import zmq
from servers import FACTS, PATIENCE, FakeServer, bigint_bodies, wait_until
from shortq._wire import Kind

_ROOT = pathlib.Path(__file__).parents[3]


class Accepting(threading.Thread):
    """Connects in a thread of its own, while the test plays the server."""

    def __init__(self, *where: object, **options: object) -> None:
        super().__init__()
        self._where, self._options = where, options
        self.client: shortq.Client
        self.start()

    def run(self) -> None:
        self.client = shortq.connect(*self._where, **self._options)  # type: ignore[arg-type]

    def done(self) -> shortq.Client:
        self.join(PATIENCE)
        return self.client


class ClientCase(unittest.TestCase):
    def setUp(self) -> None:
        self.server = self.enterContext(FakeServer())
        accepting = Accepting(port=self.server.port)
        self.hello = self.server.welcome()
        self.client = self.enterContext(accepting.done())

    def next_request(self) -> int:
        """The id of the next request."""
        return int(self.server.hear(Kind.REQUEST)[0][2])


class BrokenTransportTest(unittest.TestCase):
    def test_a_socket_that_cannot_be_opened_is_an_error_not_a_wait(self) -> None:
        fault = zmq.ZMQError(errno.EINVAL)
        with (
            unittest.mock.patch.object(zmq.Socket, "monitor", side_effect=fault),
            self.assertLogs("shortq", "ERROR"),
            self.assertRaisesRegex(shortq.InternalError, "connection failed: Invalid argument"),
        ):
            shortq.connect(port=1, connect_timeout=PATIENCE)


class ClientTest(ClientCase):
    def test_it_knows_its_server(self) -> None:
        info = self.client.server
        self.assertEqual(
            (info.endpoint, info.server, info.workers), (self.server.endpoint, "fake/1", 2)
        )
        self.assertEqual(self.hello[6], f"shortq-python/{shortq.__version__}")

    def test_the_version_is_the_projects(self) -> None:
        text = (_ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        self.assertIn(f"VERSION {shortq.__version__} ", text)

    def test_futures_end_with_their_replies(self) -> None:
        futures = [self.client.submit(f"q{i}") for i in range(3)]
        requests = [self.server.hear(Kind.REQUEST) for _ in range(3)]
        for header, text in reversed(requests):
            self.server.reply(header[2], int(text[1:]))
        self.assertEqual([future.result(PATIENCE).scalar() for future in futures], [0, 1, 2])

    def test_an_error_is_raised(self) -> None:
        future = self.client.submit("q")
        self.server.error(self.next_request(), 2, "Parser Error: no", "worker 1")
        with self.assertRaises(shortq.QueryError) as caught:
            future.result(PATIENCE)
        self.assertEqual(str(caught.exception), "query_error: Parser Error: no (at worker 1)")

    def test_wait_gives_replies_in_the_order_of_arrival(self) -> None:
        numbers = [self.client.async_("q") for _ in range(3)]
        for _ in numbers:
            self.next_request()
        self.server.reply(numbers[2], 22)
        self.server.error(numbers[0], 11)
        self.server.reply(numbers[1], 21)
        arrived = self.client.wait(PATIENCE)
        self.assertEqual((arrived.number, arrived.table.scalar()), (numbers[2], 22))
        with self.assertRaises(shortq.TooLargeError) as caught:
            self.client.wait()
        self.assertEqual(caught.exception.number, numbers[0])
        self.assertEqual(self.client.wait().number, numbers[1])
        with self.assertRaises(shortq.NotFoundError):
            self.client.wait()

    def test_wait_has_a_limit(self) -> None:
        self.client.async_("q")
        with self.assertRaises(shortq.RequestTimeout):
            self.client.wait(0.01)

    def test_cancel_reaches_the_server(self) -> None:
        future = self.client.submit("q")
        request = self.next_request()
        self.client.cancel(future)
        self.assertEqual(self.server.hear(Kind.CANCEL)[0][2], request)
        self.assertFalse(future.done())
        self.server.error(request, 6)
        with self.assertRaises(shortq.RequestCancelled):
            future.result(PATIENCE)

    def test_a_cancelled_future_stops_its_query(self) -> None:
        future = self.client.submit("q")
        request = self.next_request()
        self.assertTrue(future.cancel())
        self.assertEqual(self.server.hear(Kind.CANCEL)[0][2], request)
        with self.assertRaises(concurrent.futures.CancelledError):
            future.result()
        self.server.error(request, 6)  # Nobody minds.
        self.server.reply(self.submit_and_hear(), 1)

    def submit_and_hear(self) -> int:
        self.last = self.client.submit("q")
        return self.next_request()

    def test_heartbeats_go_out(self) -> None:
        for _ in range(3):
            self.assertEqual(self.server.hear(Kind.HEARTBEAT)[0][2], self.server.session)

    def test_close_says_goodbye_and_answers_what_is_open(self) -> None:
        future = self.client.submit("q")
        self.client.close()
        self.server.hear(Kind.GOODBYE)
        with self.assertRaises(shortq.RequestCancelled):
            future.result(PATIENCE)
        with self.assertRaises(shortq.RequestCancelled):
            self.client.deferred("q")
        self.client.close()

    def test_a_table_outlives_its_client(self) -> None:
        future = self.client.submit("q")
        self.server.reply(self.next_request(), 42)
        table = future.result(PATIENCE)
        self.client.close()
        self.assertEqual(table.rows(), [(42,)])

    def test_an_unknown_session_is_greeted_anew(self) -> None:
        deferred, sync = self.client.submit("d"), self.client.submit_sync("s")
        self.next_request()
        self.server.error(self.next_request(), 14)
        with self.assertRaises(shortq.ConnectionLostError):
            sync.result(PATIENCE)
        self.server.welcome()
        self.server.reply(self.next_request(), 3)
        self.assertEqual(deferred.result(PATIENCE).scalar(), 3)

    def test_a_server_that_is_gone_is_noticed_at_once(self) -> None:
        sync = self.client.submit_sync("s")
        self.server.hear(Kind.REQUEST)
        self.server.close()
        with self.assertRaises(shortq.ConnectionLostError):
            sync.result(10)  # By silence alone it would take 15 s.

    def test_garbage_is_survived(self) -> None:
        future = self.client.submit("q")
        request = self.next_request()
        for frames in ((b"",), (b"\xff" * 2000,), (b"\xc1",), (b"\x91\x01",), (b"", b"", b"")):
            self.server.say_raw(*frames)
        self.server.say(3, 1, 2)
        self.server.say(5, 1 << 60, 0, 0, 1, True, *FACTS)
        self.server.reply(request, 9)
        self.assertEqual(future.result(PATIENCE).scalar(), 9)

    def test_a_nonsensical_result_ends_only_its_request(self) -> None:
        schema, layout, values = bigint_bodies(1)
        for bodies in (
            (),
            (b"",),
            (schema, b"\xc1"),
            (schema, layout),
            (schema, layout, b"short"),
            (schema, layout, values, b"spare"),
            (values,),
        ):
            future = self.client.submit("q")
            request = self.next_request()
            self.server.say(int(Kind.REPLY), request, 0, 0, 1, True, *FACTS, bodies=bodies)
            with self.assertRaises(shortq.InternalError):
                future.result(PATIENCE)
            self.assertEqual(self.server.hear(Kind.CANCEL)[0][2], request)

    def test_a_failing_callback_harms_nobody(self) -> None:
        def fail(_progress: shortq.Progress) -> None:
            raise RuntimeError("as planned")

        future = self.client.submit("q", progress=fail)
        with self.assertLogs("shortq", "ERROR"):
            self.server.reply(self.next_request(), 9)
            self.assertEqual(future.result(PATIENCE).scalar(), 9)
            self.server.reply(self.submit_and_hear(), 1)  # After which the log is there.
            self.last.result(PATIENCE)

    def test_a_callback_cannot_wait_for_its_own_client(self) -> None:
        raised: list[Exception] = []

        def ask(_future: object) -> None:
            for wait in (lambda: self.client.deferred("r"), lambda: self.client.wait()):
                try:
                    wait()
                except shortq.BadRequestError as error:
                    raised.append(error)

        future = self.client.submit("q")
        future.add_done_callback(ask)
        self.server.reply(self.next_request(), 1)
        wait_until(lambda: len(raised) == 2)

    def test_an_open_request_keeps_its_client(self) -> None:
        accepting = Accepting(port=self.server.port)
        self.server.welcome()
        other = accepting.done()
        watch = weakref.ref(other)
        future = other.submit("q")
        del other, accepting
        gc.collect()
        self.server.reply(self.next_request(), 4)
        self.assertEqual(future.result(PATIENCE).scalar(), 4)
        wait_until(lambda: watch() is None)
        self.server.hear(Kind.GOODBYE)  # And without one it leaves.

    def test_a_forked_child_is_told_to_connect_for_itself(self) -> None:
        context = multiprocessing.get_context("fork")
        results = context.SimpleQueue()

        def child() -> None:
            try:
                self.client.deferred("q")
            except shortq.Error as error:
                results.put(error.code)
            self.client.close()

        process = context.Process(target=child)
        process.start()
        process.join(PATIENCE)
        self.assertEqual(results.get(), shortq.ErrorCode.CONNECTION)
        self.server.reply(self.submit_and_hear(), 1)  # The parent's still works.
        self.last.result(PATIENCE)


class StreamTest(ClientCase):
    def test_pieces_are_read_as_they_come(self) -> None:
        stream = self.client.stream("q")
        header = self.server.hear(Kind.REQUEST)[0]
        self.assertTrue(header[6])
        schema, layout, values = bigint_bodies(1)
        self.server.say(5, header[2], 0, 0, 1, False, *FACTS, bodies=(schema, layout, values))
        self.assertEqual(next(stream).rows(), [(1,)])
        self.server.say(5, header[2], 0, 1, 0, False, *FACTS)
        self.server.say(5, header[2], 0, 2, 1, True, *FACTS, bodies=(layout, values))
        self.assertEqual([table.rows() for table in stream], [[(1,)]])
        self.assertEqual(stream.facts.worker, 2)
        self.assertEqual(list(stream), [])

    def test_an_error_comes_after_the_rows_before_it(self) -> None:
        stream = self.client.stream("q")
        request = self.next_request()
        self.server.say(5, request, 0, 0, 1, False, *FACTS, bodies=bigint_bodies(1))
        self.server.error(request, 8)
        self.assertEqual(len(next(stream)), 1)
        with self.assertRaises(shortq.WorkerLostError):
            next(stream)

    def test_what_was_used_is_credited(self) -> None:
        size = 600_000
        schema = msgpack.packb([["b", "w:1", "BLOB", False, [], [], []]])
        layout = msgpack.packb([size, [size, 0, 2], [0, size]])
        with self.client.stream("q") as stream:
            request = self.next_request()
            for sequence in range(3):
                bodies = (schema, layout, bytes(size))[0 if sequence == 0 else 1 :]
                self.server.say(5, request, 0, sequence, 1, False, *FACTS, bodies=bodies)
            for _ in range(3):  # Having got the third, it has used two.
                next(stream)
            credits = [self.server.hear(Kind.CREDIT)[0][2:] for _ in range(2)]
        used = 2 * (size + len(layout)) + len(schema)
        self.assertEqual(
            credits, [[0, self.server.session, 0, used], [request, self.server.session, 0, used]]
        )

    def test_leaving_early_stops_the_query(self) -> None:
        with self.client.stream("q") as stream:
            request = self.next_request()
            self.server.say(5, request, 0, 0, 1, False, *FACTS, bodies=bigint_bodies(1))
            next(stream)
        self.assertEqual(self.server.hear(Kind.CANCEL)[0][2], request)


class ConnectTest(unittest.TestCase):
    def test_nobody_there_is_said_in_time(self) -> None:
        with FakeServer() as server:  # That never answers.
            with self.assertRaises(shortq.ConnectionLostError) as caught:
                shortq.connect(server.endpoint, connect_timeout=0.05)
        self.assertIn("is it running?", str(caught.exception))

    def test_malformed_endpoints_are_refused(self) -> None:
        for where in (
            ("nonsense://x",),
            ("tcp://",),
            ("tcp://host",),
            ("host", 0),
            ("host", 70000),
            ("",),
            (0,),
            ("a:1", 5, 6),
        ):
            with self.subTest(where), self.assertRaises(shortq.BadRequestError):
                shortq.connect(*where, connect_timeout=0.05)  # type: ignore[arg-type]
        with self.assertRaises(shortq.BadRequestError):
            shortq.connect("tcp://127.0.0.1:1", port=5)

    def test_ways_to_say_where(self) -> None:
        from shortq.options import endpoints_from

        for where, host, port, expected in (
            ((), None, None, ("tcp://127.0.0.1:5001",)),
            ((), None, 7, ("tcp://127.0.0.1:7",)),
            ((), "h", None, ("tcp://h:5001",)),
            ((7,), None, None, ("tcp://127.0.0.1:7",)),
            (("h", 7), None, None, ("tcp://h:7",)),
            (("h",), None, None, ("tcp://h:5001",)),
            (("h:7", "tcp://g:8"), None, None, ("tcp://h:7", "tcp://g:8")),
            (("[::1]:7",), None, None, ("tcp://[::1]:7",)),
            (("::1", 7), None, None, ("tcp://[::1]:7",)),
        ):
            with self.subTest(where=where, host=host, port=port):
                self.assertEqual(endpoints_from(where, host, port), expected)

    def test_a_refusal_is_passed_on(self) -> None:
        with FakeServer() as server:
            with concurrent.futures.ThreadPoolExecutor() as pool:
                connecting = pool.submit(shortq.connect, server.endpoint)
                server.hear(Kind.HELLO)
                server.error(0, 10, "who are you?")
                with self.assertRaises(shortq.DeniedError):
                    connecting.result(PATIENCE)

    def test_the_next_endpoint_is_tried_in_order(self) -> None:
        with FakeServer() as gone:
            pass
        with FakeServer() as server:
            accepting = Accepting(gone.endpoint, server.endpoint)
            server.welcome()
            with accepting.done() as client:
                self.assertEqual(client.server.endpoint, server.endpoint)

    def test_a_silent_server_is_left_for_the_next(self) -> None:
        with FakeServer() as first, FakeServer() as second:
            accepting = Accepting(first.endpoint, second.endpoint)
            first.welcome()
            with accepting.done() as client:
                future = client.submit("q")
                first.hear(Kind.REQUEST)  # And then not a word.
                second.welcome()
                second.reply(second.hear(Kind.REQUEST)[0][2], 8)
                self.assertEqual(future.result(PATIENCE).scalar(), 8)

    def test_a_program_that_ends_says_goodbye(self) -> None:
        with FakeServer() as server:
            program = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    f"import shortq; client = shortq.connect(port={server.port})",
                ],
                env={
                    "PYTHONPATH": str(_ROOT / "client" / "python"),
                    "PYTHONDONTWRITEBYTECODE": "1",
                },
            )
            server.welcome()
            server.hear(Kind.GOODBYE)
            self.assertEqual(program.wait(PATIENCE), 0)


class PackageTest(unittest.TestCase):
    def test_sources_keep_to_100_columns_and_say_what_they_are(self) -> None:
        sources = [
            *(_ROOT / "client/python").rglob("*.py"),
            *pathlib.Path(__file__).parent.glob("*.py"),
        ]
        self.assertGreater(len(sources), 25)
        for path in sources:
            lines = path.read_text(encoding="utf-8").splitlines()
            with self.subTest(path.name):
                self.assertEqual([line for line in lines if len(line) > 100], [])
                self.assertTrue(lines[0].startswith('"""'))

    def test_only_the_transport_knows_zeromq(self) -> None:
        importing = re.compile(r"^\s*(?:import|from) zmq\b", re.MULTILINE)
        knowing = [
            path.name
            for path in (_ROOT / "client/python/shortq").glob("*.py")
            if importing.search(path.read_text(encoding="utf-8"))
        ]
        self.assertEqual(knowing, ["_transport.py"])


if __name__ == "__main__":
    unittest.main()
