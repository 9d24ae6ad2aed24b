"""Goal: the rules of the client's end of a connection: hello, limits, deadlines, cancel, credit,
loss and failover. Method: facts and a made-up clock go into the pure machine, its actions are read.
"""

import unittest
from typing import Any, Optional

import msgpack
import shortq
from servers import FACTS, bigint_bodies
from shortq._session import Answer, Open, Phase, Piece, Send, Session, Tell
from shortq._wire import Kind, Mode, Priority
from shortq.errors import ErrorCode
from shortq.options import ConnectOptions, Progress, QueryOptions

MIB = 1 << 20


class SessionCase(unittest.TestCase):
    def begin(self, *endpoints: str, **options: Any) -> None:
        self.now = 1000.0
        self.opened: list[str] = []
        self.sent: list[list[Any]] = []  # Header fields, then bodies.
        self.answers: dict[int, Any] = {}
        self.pieces: list[Piece] = []
        self.told: list[Progress] = []
        self.session = Session(ConnectOptions(endpoints or ("tcp://a:1",), **options), pid=5)
        self.session.start(self.now)
        self.collect()

    def setUp(self) -> None:
        self.begin()

    def collect(self) -> None:
        for action in self.session.take_actions():
            if isinstance(action, Open):
                self.opened.append(action.endpoint)
            elif isinstance(action, Send):
                header = msgpack.unpackb(action.frames[0])
                self.sent.append([header, *action.frames[1:]])
            elif isinstance(action, Tell):
                action.callback(action.progress)
            elif isinstance(action, Piece):
                self.pieces.append(action)
            elif isinstance(action, Answer):
                self.assertNotIn(action.number, self.answers)
                self.answers[action.number] = action.reply

    def hear(self, *fields: Any, bodies: tuple[bytes, ...] = ()) -> None:
        frames = [msgpack.packb([1, *fields], use_bin_type=True), *bodies]
        self.session.receive(self.now, [memoryview(frame) for frame in frames])
        self.collect()

    def welcome(self, session: int = 11, workers: int = 2, pending_max: int = 3) -> None:
        self.hear(2, 1, session, workers, 1, 100, 0, pending_max, 1000, "server/1")

    def reply(
        self, number: int, value: int = 5, attempt: int = 0, sequence: int = 0, last: bool = True
    ) -> None:
        bodies = bigint_bodies(value)[0 if sequence == 0 else 1 :]
        self.hear(5, number, attempt, sequence, 1, last, *FACTS, bodies=bodies)

    def error(self, number: int, code: ErrorCode, retryable: bool = False) -> None:
        self.hear(6, number, int(code), retryable, False, *FACTS, bodies=(b"why", b"worker 2"))

    def pass_time(self, seconds: float) -> None:
        """In steps, as a shell would tick."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + 0.05)
            self.session.tick(self.now)
            self.collect()

    def submit(
        self,
        text: str = "select 1",
        mode: Mode = Mode.DEFERRED,
        parameters: bytes = b"",
        streaming: bool = False,
        **options: Any,
    ) -> int:
        number = self.session.submit(
            self.now, mode, text, parameters, QueryOptions(**options), streaming
        )
        self.collect()
        return number

    def sent_of(self, kind: Kind) -> list[list[Any]]:
        return [header[2:] for header, *_ in self.sent if header[1] == kind]

    def code_of(self, number: int) -> Optional[ErrorCode]:
        found = self.answers.get(number)
        return found.code if isinstance(found, shortq.Error) else None


class SessionTest(SessionCase):
    def test_hello_is_said_first(self) -> None:
        self.begin(agent="me/1", user="ann")
        self.assertEqual(self.opened, ["tcp://a:1"])
        self.assertEqual(self.sent_of(Kind.HELLO), [[0, 1, 1, 5, "me/1", "ann", b""]])

    def test_requests_wait_for_the_welcome(self) -> None:
        number = self.submit()
        self.assertEqual(self.sent_of(Kind.REQUEST), [])
        self.welcome()
        self.assertEqual(self.sent_of(Kind.REQUEST), [[number, 11, 0, 1, False, 0, 0, ""]])

    def test_a_request_carries_its_options(self) -> None:
        self.welcome()
        number = self.submit(
            "q",
            Mode.SYNC,
            b"params",
            timeout=1.5,
            priority=Priority.LOW,
            min_generation=4,
            service="s",
        )
        self.assertEqual(
            self.sent[-1], [[1, 3, number, 11, 1, 2, False, 1500, 4, "s"], b"q", b"params"]
        )

    def test_a_reply_answers_its_request_once(self) -> None:
        self.welcome()
        number = self.submit()
        self.reply(number, 77)
        self.reply(number, 78)
        self.assertEqual(self.answers[number].scalar(), 77)

    def test_errors_are_passed_on_whole(self) -> None:
        self.welcome()
        number = self.submit()
        self.error(number, ErrorCode.WORKER_LOST, retryable=True)
        error = self.answers[number]
        self.assertIsInstance(error, shortq.WorkerLostError)
        self.assertEqual((error.message, error.where, error.retryable), ("why", "worker 2", True))

    def test_a_later_attempt_starts_anew(self) -> None:
        self.welcome()
        number = self.submit()
        self.reply(number, 1, attempt=0, last=False)
        self.reply(number, 2, attempt=1, last=False)
        self.reply(number, 1, attempt=0, sequence=1)  # Of the one that was lost.
        self.reply(number, 3, attempt=1, sequence=1)
        self.assertEqual(self.answers[number].to_pydict(), {"n": [2, 3]})

    def test_a_gap_is_an_error_and_cancels_the_rest(self) -> None:
        self.welcome()
        number = self.submit()
        self.reply(number, last=False)
        self.reply(number, sequence=2)
        self.assertEqual(self.code_of(number), ErrorCode.INTERNAL)
        self.assertEqual(self.sent_of(Kind.CANCEL), [[number, 11]])
        self.assertEqual(self.session.malformed, 1)

    def test_limits_of_the_welcome_are_checked_before_sending(self) -> None:
        self.welcome()
        with self.assertRaises(shortq.TooLargeError):
            self.submit("x" * 101)
        with self.assertRaises(shortq.TooLargeError):
            self.submit("x" * 60, parameters=b"y" * 60)
        with self.assertRaises(shortq.TooLargeError):
            self.submit(service="s" * 256)
        for _ in range(3):
            self.submit()
        with self.assertRaises(shortq.OverloadedError):
            self.submit()

    def test_text_that_is_not_unicode_is_refused(self) -> None:
        with self.assertRaises(shortq.BadRequestError):
            self.submit("\ud800")
        with self.assertRaises(shortq.BadRequestError):
            self.submit(service="\ud800")

    def test_heartbeats_go_out_every_second(self) -> None:
        self.welcome()
        for _ in range(10):
            self.pass_time(1)
            self.hear(8, 0, 0, -1, 0)
        self.assertEqual(self.sent_of(Kind.HEARTBEAT), [[11, 0, -1, 0]] * 10)

    def test_unknown_session_means_hello_again(self) -> None:
        self.welcome()
        deferred, sync = self.submit("d"), self.submit("s", Mode.SYNC)
        self.reply(deferred, last=False)
        self.error(deferred, ErrorCode.UNKNOWN_SESSION)
        self.assertEqual(self.code_of(sync), ErrorCode.CONNECTION)
        self.assertNotIn(deferred, self.answers)
        self.pass_time(0.2)
        self.assertEqual(self.opened, ["tcp://a:1"] * 2)
        self.welcome(session=12)
        self.assertEqual(self.sent_of(Kind.REQUEST)[-1][:2], [deferred, 12])
        self.reply(deferred, 6)  # From attempt 0 again.
        self.assertEqual(self.answers[deferred].scalar(), 6)

    def test_a_sync_request_that_was_not_sent_is_sent_later(self) -> None:
        self.welcome()
        self.session.disconnected(self.now)
        number = self.submit(mode=Mode.SYNC)
        self.pass_time(0.2)
        self.welcome(session=12)
        self.assertEqual(self.sent_of(Kind.REQUEST), [[number, 12, 1, 1, False, 0, 0, ""]])

    def test_a_request_that_is_sent_again_carries_what_is_left_of_its_time(self) -> None:
        self.welcome()
        self.submit(timeout=10)
        self.session.disconnected(self.now)
        self.pass_time(0.5)
        self.now += 3.5
        self.welcome(session=12)
        self.assertEqual([fields[5] for fields in self.sent_of(Kind.REQUEST)], [10000, 6000])

    def test_a_paused_server_keeps_its_only_client(self) -> None:
        self.welcome()
        self.pass_time(14)
        self.assertIs(self.session.phase, Phase.OPEN)
        self.pass_time(2)
        self.assertIs(self.session.phase, Phase.GREETING)
        self.assertEqual(self.sent_of(Kind.GOODBYE), [[11]])

    def test_a_silent_server_is_left_for_the_next(self) -> None:
        self.begin("tcp://a:1", "tcp://b:2")
        self.welcome()
        number = self.submit()
        self.pass_time(2.9)
        self.assertEqual(self.opened, ["tcp://a:1"])
        self.pass_time(1.5)
        self.assertEqual(self.opened, ["tcp://a:1", "tcp://a:1", "tcp://b:2"])
        self.welcome(session=12)
        self.assertEqual(self.session.server.endpoint, "tcp://b:2")
        self.reply(number)
        self.assertIn(number, self.answers)

    def test_a_refused_connection_moves_on_at_once(self) -> None:
        self.begin("tcp://a:1", "tcp://b:2")
        self.session.refused(self.now)
        self.pass_time(0.15)
        self.assertEqual(self.opened, ["tcp://a:1", "tcp://b:2"])

    def test_hanging_up_again_and_again_is_the_end(self) -> None:
        for endpoints in (("tcp://a:1",), ("tcp://a:1", "tcp://b:2")):
            self.begin(*endpoints)
            for _ in range(3 * len(endpoints)):
                self.assertIs(self.session.phase, Phase.GREETING)
                self.session.handshake_failed(self.now, False)
            self.assertIs(self.session.phase, Phase.FAILED)
            error = self.session.connect_error()
            self.assertEqual(error.code, ErrorCode.CONNECTION)
            self.assertIn("hangs up at once", str(error))

    def test_lost_for_long_ends_the_requests(self) -> None:
        self.welcome()
        self.session.disconnected(self.now)
        number = self.submit()
        self.pass_time(29)
        self.assertEqual(self.answers, {})
        self.pass_time(2)
        self.assertEqual(self.code_of(number), ErrorCode.CONNECTION)

    def test_cancel_goes_to_the_server_and_the_reply_still_counts(self) -> None:
        self.welcome()
        number = self.submit()
        self.session.cancel(number)
        self.session.cancel(12345)
        self.collect()
        self.assertEqual(self.sent_of(Kind.CANCEL), [[number, 11]])
        self.assertEqual(self.answers, {})
        self.reply(number)
        self.assertEqual(self.answers[number].scalar(), 5)

    def test_cancel_without_a_connection_answers_itself(self) -> None:
        number = self.submit()
        self.session.cancel(number)
        self.collect()
        self.assertEqual(self.code_of(number), ErrorCode.CANCELLED)
        self.welcome()
        self.assertEqual(self.sent_of(Kind.REQUEST), [])

    def test_a_deadline_ends_a_request_that_nobody_answers(self) -> None:
        self.welcome()
        number = self.submit(timeout=1)
        self.pass_time(2.9)  # The server has a little more time to say so itself.
        self.assertEqual(self.answers, {})
        self.pass_time(0.2)
        self.assertEqual(self.code_of(number), ErrorCode.TIMEOUT)
        self.assertEqual(self.sent_of(Kind.CANCEL), [[number, 11]])

    def test_deadlines_of_answered_requests_are_forgotten(self) -> None:
        self.welcome()
        for _ in range(1000):
            self.reply(self.submit(timeout=3600))
        self.assertLess(len(self.session._deadlines), 100)
        number = self.submit(timeout=1)
        self.pass_time(3.1)
        self.assertEqual(self.code_of(number), ErrorCode.TIMEOUT)

    def test_a_refusal_is_for_good(self) -> None:
        number = self.submit()
        self.error(0, ErrorCode.DENIED)
        self.assertIs(self.session.phase, Phase.FAILED)
        self.assertEqual(self.code_of(number), ErrorCode.DENIED)
        with self.assertRaises(shortq.DeniedError):
            self.submit()

    def test_a_server_that_drains_is_tried_again(self) -> None:
        self.error(0, ErrorCode.UNAVAILABLE)
        self.pass_time(0.2)
        self.assertEqual(len(self.opened), 2)
        self.assertEqual(self.session.connect_error().code, ErrorCode.UNAVAILABLE)

    def test_another_version_is_for_good(self) -> None:
        self.hear(2, 2, 11, 2, 1, 100, 0, 3, 1000, "server/9")
        self.assertIs(self.session.phase, Phase.FAILED)
        self.assertEqual(self.session.connect_error().code, ErrorCode.BAD_REQUEST)

    def test_names_that_cannot_be_sent(self) -> None:
        self.begin(user="u" * 129)
        self.assertEqual(self.session.connect_error().code, ErrorCode.BAD_REQUEST)
        self.begin(agent="ä" * 100)
        self.assertEqual(self.sent_of(Kind.HELLO)[0][4], "ä" * 64)

    def test_waits_until_there_are_workers(self) -> None:
        self.begin(wait_until_ready=True)
        self.welcome(workers=0)
        self.assertIs(self.session.phase, Phase.GREETING)
        self.assertIn("no worker was ready", str(self.session.connect_error()))
        self.pass_time(0.2)
        self.welcome(session=12)
        self.assertIs(self.session.phase, Phase.OPEN)

    def test_silence_says_how_to_start_a_server(self) -> None:
        self.assertIn("shortq -p 1 2 startup.sql", str(self.session.connect_error()))

    def test_garbage_is_counted_and_dropped(self) -> None:
        self.welcome()
        number = self.submit()
        for frames in ([b""], [b"\xff" * 10], [msgpack.packb([1, 3])], [msgpack.packb("x")]):
            self.session.receive(self.now, [memoryview(frame) for frame in frames])
        self.session.receive(self.now, [])
        self.reply(999)
        self.assertEqual(self.session.malformed, 4)
        self.reply(number)
        self.assertIn(number, self.answers)

    def test_stop_says_goodbye_and_answers_everything(self) -> None:
        self.welcome()
        number = self.submit()
        self.session.stop()
        self.collect()
        self.assertEqual(self.sent_of(Kind.GOODBYE), [[11]])
        self.assertEqual(self.code_of(number), ErrorCode.CANCELLED)

    def test_progress_is_told(self) -> None:
        self.welcome()
        number = self.submit(progress=self.told.append)
        self.hear(17, number, 250_000)
        self.hear(17, number, -1)
        self.hear(17, number, 2_000_000)
        self.hear(17, 999, 5)
        self.reply(number)
        self.hear(17, number, 999_999)
        self.assertEqual(
            [(each.fraction, each.rows) for each in self.told],
            [(0.25, 0), (None, 0), (1.0, 0), (1.0, 1)],
        )


class CreditTest(SessionCase):
    """PROTOCOL.md#flow-control."""

    def big_piece(
        self, number: int, sequence: int, size: int = MIB // 2, last: bool = False, attempt: int = 0
    ) -> None:
        schema = msgpack.packb([["b", "w:1", "BLOB", False, [], [], []]])
        layout = msgpack.packb([size, [size, 0, 2], [0, size]])
        bodies = (layout, bytes(size)) if sequence else (schema, layout, bytes(size))
        self.hear(5, number, attempt, sequence, 1, last, *FACTS, bodies=bodies)

    def credits(self, number: int) -> list[list[Any]]:
        return [fields for fields in self.sent_of(Kind.CREDIT) if fields[0] == number]

    def test_whole_results_are_credited_as_they_arrive(self) -> None:
        self.welcome()
        number = self.submit()
        for sequence in range(8):
            self.big_piece(number, sequence)
            self.assertEqual(len(self.credits(number)), (sequence + 1) // 2)
        for _, session, attempt, count in self.credits(number):
            self.assertEqual((session, attempt), (11, 0))
            self.assertGreaterEqual(count, MIB)
        totals = [fields[3] for fields in self.credits(number)]
        self.assertEqual(totals, sorted(totals))
        self.assertEqual([fields[3] for fields in self.credits(0)], totals)

    def test_a_new_attempt_starts_from_nothing(self) -> None:
        self.welcome()
        number = self.submit()
        for sequence in range(4):
            self.big_piece(number, sequence)
        for sequence in range(2):
            self.big_piece(number, sequence, attempt=3)
        last = self.credits(number)[-1]
        self.assertEqual(last[2], 3)
        self.assertLess(last[3], 2 * MIB)

    def test_a_small_result_needs_no_credit(self) -> None:
        self.welcome()
        self.reply(self.submit())
        self.assertEqual(self.sent_of(Kind.CREDIT), [])

    def test_a_streaming_reader_credits_what_it_has_used(self) -> None:
        self.welcome()
        number = self.submit(streaming=True)
        self.assertTrue(self.sent_of(Kind.REQUEST)[0][4])
        for sequence in range(4):
            self.big_piece(number, sequence)
        self.assertEqual(self.credits(number), [])
        self.assertEqual(len(self.credits(0)), 2)  # Of the connection, though.
        self.assertEqual(len(self.pieces), 4)
        for piece in self.pieces:
            self.session.take(number, piece.bytes)
        self.collect()
        self.assertEqual(len(self.credits(number)), 2)

    def test_a_session_counts_from_nothing(self) -> None:
        self.welcome()
        number = self.submit()
        for sequence in range(3):
            self.big_piece(number, sequence)
        self.session.disconnected(self.now)
        self.pass_time(0.2)
        self.welcome(session=12)
        self.big_piece(number, 0)
        self.big_piece(number, 1)
        session, total = self.credits(0)[-1][1], self.credits(0)[-1][3]
        self.assertEqual(session, 12)
        self.assertLess(total, 2 * MIB)


class StreamingTest(SessionCase):
    def setUp(self) -> None:
        self.begin()
        self.welcome()
        self.number = self.submit(streaming=True)

    def test_pieces_come_before_the_answer(self) -> None:
        self.reply(self.number, 1, last=False)
        self.reply(self.number, 2, sequence=1)
        self.assertEqual(
            [piece.table.to_pydict() for piece in self.pieces], [{"n": [1]}, {"n": [2]}]
        )
        answer = self.answers[self.number]
        self.assertEqual((len(answer), answer.names, answer.facts.worker), (0, ["n"], 2))

    def test_a_reader_that_has_nothing_yet_is_served_again(self) -> None:
        self.session.disconnected(self.now)
        self.pass_time(0.2)
        self.welcome(session=12)
        self.assertEqual(len(self.sent_of(Kind.REQUEST)), 2)
        self.assertEqual(self.answers, {})

    def test_a_reader_in_the_middle_is_told(self) -> None:
        self.reply(self.number, 1, last=False)
        self.session.disconnected(self.now)
        self.collect()
        self.assertEqual(self.code_of(self.number), ErrorCode.CONNECTION)
        self.assertTrue(self.answers[self.number].retryable)
        self.pass_time(0.2)
        self.welcome(session=12)
        self.assertEqual(len(self.sent_of(Kind.REQUEST)), 1)

    def test_a_new_attempt_in_the_middle_is_malformed(self) -> None:
        self.reply(self.number, 1, last=False)
        self.reply(self.number, 1, attempt=1)
        self.assertEqual(self.code_of(self.number), ErrorCode.INTERNAL)


if __name__ == "__main__":
    unittest.main()
