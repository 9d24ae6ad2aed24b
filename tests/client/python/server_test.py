"""Goal: the client and real servers understand each other, also when something breaks. Method:
real primaries and workers, mostly with the engine that sleeps, fails and crashes on command.
"""

import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import threading
import unittest
from typing import Any

import shortq
from servers import PATIENCE, Server, under_way, wait_until, wait_until_running

_ROOT = pathlib.Path(__file__).parents[3]
_ENDLESS_SYNC = "select count(*) from range(1000000000000) a, range(1000)"


class SharedServer(unittest.TestCase):
    """One server with the test engine for tests that do it no harm."""

    OPTIONS: dict[str, Any] = {"engine": "test"}
    server: Server
    client: shortq.Client

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = cls.enterClassContext(Server(**cls.OPTIONS))
        cls.client = cls.enterClassContext(cls.server.connect())


class RequestsTest(SharedServer):
    def test_replies_tell_who_answered(self) -> None:
        facts = self.client.deferred("rows 3").facts
        self.assertIn(facts.worker, (1, 2))
        self.assertEqual((facts.generation, facts.rows), (1, 3))
        self.assertGreater(facts.bytes, 0)
        self.assertGreater(self.client.deferred("sleep 20").facts.run_ms, 19)
        self.assertEqual(self.client.sync("select 1").facts.worker, 0)

    def test_errors_have_the_engines_whole_text(self) -> None:
        with self.assertRaises(shortq.QueryError) as caught:
            self.client.deferred("fail what a pity")
        self.assertEqual(caught.exception.message, "what a pity")
        self.assertRegex(caught.exception.where, "worker [12]")
        self.assertFalse(caught.exception.retryable)
        with self.assertRaises(shortq.QueryError) as caught:
            self.client.sync("select * from nowhere")
        self.assertIn("Table with name nowhere does not exist", str(caught.exception))
        with self.assertRaises(shortq.UnknownServiceError):
            self.client.deferred("echo x", service="other")

    def test_async_and_wait_is_deferred_sync(self) -> None:
        number = self.client.async_("echo me")
        arrived = self.client.wait()
        self.assertEqual((arrived.number, arrived.table.scalar()), (number, "me"))

    def test_a_deadline_stops_the_query(self) -> None:
        with self.assertRaises(shortq.RequestTimeout) as caught:
            self.client.deferred("sleep 600000", timeout=0.1)
        self.assertTrue(caught.exception.retryable)
        self.assertIsInstance(caught.exception, TimeoutError)
        wait_until(lambda: under_way(self.client) == [])

    def test_cancel_stops_the_query(self) -> None:
        running = self.client.submit("sleep 600000")
        wait_until_running(self.client, 1)
        self.client.cancel(running)
        with self.assertRaises(shortq.RequestCancelled):
            running.result(PATIENCE)
        abandoned = self.client.submit("sleep 600000")
        wait_until_running(self.client, 1)
        abandoned.cancel()
        wait_until(lambda: under_way(self.client) == [])

    def test_cancel_by_number_from_another_client(self) -> None:
        number = self.client.async_("sleep 600000")
        wait_until_running(self.client, 1)
        query = "select id from shortq.queries where mode = 'deferred'"
        with self.server.connect() as operator:
            operator.sync(f"call shortq_cancel({operator.sync(query).scalar()})")
        with self.assertRaises(shortq.RequestCancelled) as caught:
            self.client.wait()
        self.assertEqual(caught.exception.number, number)

    def test_priorities_are_kept(self) -> None:
        blockers = [self.client.submit("sleep 600000") for _ in range(2)]
        wait_until_running(self.client, 2)
        for priority in ("low", "high", shortq.Priority.NORMAL):
            self.client.async_(f"echo {priority}", priority=priority)
        query = "select text, priority from shortq.queries where state = 'queued' order by id"
        wait_until(lambda: len(self.client.sync(query)) == 3)
        told = [priority for _, priority in self.client.sync(query)]
        self.client.cancel(blockers[0])
        order = [self.client.wait().table.scalar() for _ in range(3)]
        self.assertEqual(told, ["low", "high", "normal"])
        self.assertEqual(order[0], "high")
        self.assertEqual(order[2], "low")
        self.client.cancel(blockers[1])
        concurrent.futures.wait(blockers, PATIENCE)

    def test_a_generation_that_is_not_there_is_waited_for(self) -> None:
        with self.assertRaises(shortq.RequestTimeout):
            self.client.deferred("echo x", min_generation=2, timeout=0.1)
        with self.assertRaises(shortq.BadRequestError):
            self.client.deferred("echo x", min_generation=-1)

    def test_arguments_are_checked(self) -> None:
        for options in (
            {"timeout": 0},
            {"timeout": -1},
            {"timeout": float("nan")},
            {"priority": "urgent"},
        ):
            with self.subTest(options), self.assertRaises(shortq.BadRequestError):
                self.client.submit("echo x", **options)  # type: ignore[arg-type]

    def test_a_text_over_the_limit_is_refused_here(self) -> None:
        with self.assertRaises(shortq.TooLargeError):
            self.client.deferred("echo " + "x" * (17 << 20))
        self.assertEqual(self.client.deferred("echo on").scalar(), "on")

    def test_threads_share_one_client(self) -> None:
        failures: list[Any] = []

        def work(thread: int) -> None:
            for i in range(50):
                text = f"{thread}/{i}"
                if self.client.deferred(f"echo {text}").scalar() != text:
                    failures.append(text)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_a_thousand_in_flight(self) -> None:
        futures = [self.client.submit(f"echo {i}") for i in range(1000)]
        found = [future.result(PATIENCE).scalar() for future in futures]
        self.assertEqual(found, list(map(str, range(1000))))
        self.assertEqual(len({future.result().facts.worker for future in futures}), 2)

    def test_large_results_come_whole(self) -> None:
        table = self.client.deferred("rows 1000000")
        self.assertEqual(table.columns[0].to_pylist(), list(range(1_000_000)))
        self.assertEqual(len(self.client.deferred("bytes 30000000").scalar()), 30_000_000)

    def test_progress_is_told(self) -> None:
        told: list[shortq.Progress] = []
        self.client.deferred("rows 1000000", progress=told.append)
        self.assertGreater(len(told), 2)
        self.assertEqual(told[-1].rows, 1_000_000)

    def test_progress_of_the_query_is_told_while_it_runs(self) -> None:
        known = threading.Event()

        def tell(progress: shortq.Progress) -> None:
            if progress.fraction is not None:
                known.set()

        future = self.client.submit("sleep 600000", progress=tell)
        self.assertTrue(known.wait(PATIENCE))
        future.cancel()
        wait_until(lambda: under_way(self.client) == [])

    def test_a_killed_client_leaves_no_query(self) -> None:
        program = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import shortq\n"
                f"client = shortq.connect(port={self.server.port})\n"
                "client.submit('sleep 600000')\nclient.deferred('sleep 600000')",
            ],
            env={"PYTHONPATH": str(_ROOT / "client/python"), "PYTHONDONTWRITEBYTECODE": "1"},
        )
        wait_until_running(self.client, 2)
        program.kill()
        program.wait(PATIENCE)
        wait_until(lambda: under_way(self.client) == [])
        self.assertEqual(self.client.deferred("echo on").scalar(), "on")

    def test_ctrl_c_stops_the_query(self) -> None:
        def interrupt() -> None:
            with self.server.connect() as other:
                wait_until_running(other, 1)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            self.client.deferred("sleep 600000")
        thread.join()
        wait_until(lambda: under_way(self.client) == [])


class StreamingTest(SharedServer):
    def test_every_row_comes_once_and_in_order(self) -> None:
        with self.client.stream("rows 3000000") as pieces:
            found = pieces_of = 0
            for table in pieces:
                values = table.columns[0].to_pylist()
                self.assertEqual(values, list(range(found, found + len(values))))
                found += len(values)
                pieces_of += 1
        self.assertEqual(found, 3_000_000)
        self.assertGreater(pieces_of, 10)
        self.assertEqual(pieces.facts.rows, 3_000_000)

    def test_leaving_early_stops_the_query(self) -> None:
        with self.client.stream("rows 1000000000") as pieces:
            next(pieces)
        wait_until(lambda: under_way(self.client) == [])

    def test_a_stream_that_nobody_has_is_stopped(self) -> None:
        for _ in self.client.stream("rows 1000000000"):
            break
        self.client.stream("rows 1000000000")
        wait_until(lambda: under_way(self.client) == [], 15)  # Well below --stall.

    def test_the_server_waits_for_a_slow_reader(self) -> None:
        with self.client.stream("rows 50000000") as pieces:
            for _ in range(3):
                next(pieces)
                self.client.deferred("echo beside it")
                waiting = sum(size for _, size in list(pieces._queue._pieces))
                self.assertLess(waiting, 6 << 20)  # Of 400 MB.

    def test_a_reader_that_takes_nothing_loses_its_query(self) -> None:
        with Server("--stall", "0.2", engine="test") as server, server.connect() as client:
            pieces = client.stream("rows 50000000")
            first = next(pieces)
            wait_until(lambda: under_way(client) == [])
            with self.assertRaises(shortq.RequestTimeout) as caught:
                list(pieces)
            self.assertIn("--stall", str(caught.exception))
            self.assertEqual(first.columns[0][0], 0)

    def test_an_error_is_raised_by_the_iteration(self) -> None:
        with self.client.stream("fail at once") as pieces, self.assertRaises(shortq.QueryError):
            next(pieces)

    def test_no_rows_are_no_pieces(self) -> None:
        stream = self.client.stream("rows 0")
        self.assertEqual(list(stream), [])
        self.assertEqual(len(stream.names), 1)


class EngineTest(SharedServer):
    OPTIONS: dict[str, Any] = {"script": "create table t as select 1 as a;"}

    def test_parameters_arrive(self) -> None:
        import datetime

        moment = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)
        values = (None, True, -(1 << 63), 0.1, "ä'", b"\0\xff", moment.date(), moment)
        marks = ", ".join("?" * len(values))
        self.assertEqual(self.client.deferred(f"select {marks}", *values).rows(), [values])
        self.assertEqual(self.client.sync(f"select {marks}", *values).rows(), [values])
        named = self.client.deferred("select $a + $b", {"a": 1, "b": 2})
        self.assertEqual(named.scalar(), 3)
        types = self.client.deferred("select typeof(?), typeof(?), typeof(?)", 1, b"", moment)
        self.assertEqual(types.rows(), [("BIGINT", "BLOB", "TIMESTAMP")])

    def test_parameters_of_numpy_arrive(self) -> None:
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed (tools/setup installs it)")
        values = (numpy.int32(5), numpy.float32(0.5), numpy.bool_(True), numpy.float64("inf"))
        found = self.client.deferred("select ?, ?, ?, ?", *values).rows()
        self.assertEqual(found, [(5, 0.5, True, float("inf"))])

    def test_writing_is_refused_at_workers(self) -> None:
        with self.assertRaises(shortq.ReadOnlyError):
            self.client.deferred("delete from t")

    def test_state_at_the_primary_is_kept(self) -> None:
        self.client.sync("set variable xs = range(9)")
        self.assertEqual(self.client.sync("select getvariable('xs')").scalar(), list(range(9)))

    def test_rows_and_names(self) -> None:
        table = self.client.deferred("select 1 as a, 2 as a, 3 as b union all select 4, 5, 6")
        self.assertEqual(sorted(table.rows()), [(1, 2, 3), (4, 5, 6)])
        self.assertEqual(table.names, ["a", "a", "b"])
        self.assertEqual(sorted(table.to_pydict()), ["a", "a_1", "b"])
        self.assertEqual(len(table), 2)
        self.assertEqual(table["b"].type, "INTEGER")
        with self.assertRaises(shortq.NotFoundError) as caught:
            table.column("c")
        self.assertIn("there is: a, a, b", str(caught.exception))
        with self.assertRaises(IndexError):
            table["b"][2]
        with self.assertRaises(ValueError):
            table.scalar()

    def test_a_table_can_be_printed(self) -> None:
        table = self.client.deferred("select i, 'x' || i as s, null as n from range(30) t(i)")
        lines = str(table).splitlines()
        self.assertEqual(lines[0], "i  | s   | n")
        self.assertEqual(lines[2], "0  | x0  | NULL")
        self.assertEqual(lines[-1], "(30 rows, 20 shown)")


class LossTest(unittest.TestCase):
    def test_a_restarted_primary_answers_the_deferred_requests_that_waited(self) -> None:
        """Case 32."""
        with Server(workers=1, engine="test") as first, first.connect() as client:
            blocker = client.submit("sleep 600000", timeout=50)
            deferred = client.submit("echo sent again")
            sync = client.submit_sync(_ENDLESS_SYNC)
            wait_until_running_by(first, 1)
            first.kill()
            with Server(engine="test", port=first.port):
                self.assertEqual(deferred.result(PATIENCE).scalar(), "sent again")
                with self.assertRaises(shortq.ConnectionLostError):
                    sync.result(PATIENCE)
                client.cancel(blocker)
                with self.assertRaises(shortq.RequestCancelled):
                    blocker.result(PATIENCE)

    def test_another_endpoint_takes_over(self) -> None:
        with Server(engine="test") as first, Server(engine="test") as second:
            with shortq.connect(first.endpoint, second.endpoint) as client:
                self.assertEqual(client.server.endpoint, first.endpoint)
                futures = [client.submit("sleep 600000", timeout=50), client.submit("echo a")]
                wait_until_running_by(first, 1)
                first.kill()
                self.assertEqual(futures[1].result(PATIENCE).scalar(), "a")
                self.assertEqual(client.deferred("echo b").scalar(), "b")
                self.assertEqual(client.server.endpoint, second.endpoint)
                futures[0].cancel()

    def test_a_query_that_crashes_workers_is_told_so(self) -> None:
        with Server(workers=3, engine="test") as server, server.connect() as client:
            with self.assertRaises(shortq.WorkerLostError) as caught:
                client.deferred("crash")
            self.assertFalse(caught.exception.retryable)
            self.assertEqual(client.deferred("echo on").scalar(), "on")

    def test_too_many_requests_are_refused(self) -> None:
        with Server("--max-pending-per-client", "3", engine="test") as server:
            with server.connect() as client:
                futures = [client.submit("sleep 600000") for _ in range(3)]
                with self.assertRaises(shortq.OverloadedError) as caught:
                    client.submit("echo x").result(PATIENCE)
                self.assertTrue(caught.exception.retryable)
                for future in futures:
                    future.cancel()

    def test_waiting_until_the_workers_are_ready(self) -> None:
        with Server(engine="test") as server:
            with server.connect(wait_until_ready=True) as client:
                self.assertEqual(client.server.workers, 2)


def wait_until_running_by(server: Server, count: int) -> None:
    """Asks through a client of its own, whose view does not wait behind the tested one's sync."""
    with server.connect() as other:
        wait_until_running(other, count)


if __name__ == "__main__":
    unittest.main()
