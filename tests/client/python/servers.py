"""Servers for tests: real primaries as child processes, and a fake one that a test plays."""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
from typing import Any, Callable, Optional

import msgpack
import zmq

import shortq
from shortq._wire import Kind

PATIENCE = 60.0  # Seconds until something that should happen is given up. Never waited in vain.
_PR_SET_PDEATHSIG = 1
_READY = re.compile(r"ready tcp://127\.0\.0\.1:(\d+) workers=\d+ generation=1 load=[\d.]+s\n")


def wait_until(condition: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """The first true value of `condition`; fails if it stays false."""
    deadline = time.monotonic() + patience
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.01)
    return value


def _die_with_parent() -> None:
    """A test that is killed leaves no server behind; workers go with their primary."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Server:
    """A primary with its workers. With `with`: stopped, and checked to leave nothing behind."""

    def __init__(
        self,
        *options: str,
        workers: int = 2,
        engine: str = "duckdb",
        script: str = "",
        port: int = 0,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="shortq-python-")
        folder = pathlib.Path(self._folder.name)
        source = folder / "startup.sql"
        source.write_text(script, encoding="utf-8")
        self._log = folder / "log"
        program = pathlib.Path(os.environ["SHORTQ_PROGRAMS"]) / "shortq"
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen(
                [program, "--port", str(port), "--engine", engine, *options, str(workers), source],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        match = _READY.fullmatch(line)
        if match is None:
            self.stop()
            raise AssertionError(f"no ready line but {line!r}; log:\n{self.log()}")
        self.port = int(match[1])
        self.endpoint = f"tcp://127.0.0.1:{self.port}"

    def log(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def connect(self, **options: Any) -> shortq.Client:
        return shortq.connect(port=self.port, **options)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def stop(self) -> int:
        """The exit status. The second signal ends a drain at once."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGTERM)
            self.process.send_signal(signal.SIGINT)
        status = self.process.wait(PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return status

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, kind: Any, *_rest: Any) -> None:
        killed = self.process.poll() == -signal.SIGKILL
        status = self.stop()
        log = self.log()
        self._folder.cleanup()
        if kind is None:
            assert killed or status == 0, f"ended with {status}; log:\n{log}"
            assert "Sanitizer" not in log, log


def under_way(client: shortq.Client) -> list[tuple[Any, ...]]:
    """(text, state) of all deferred requests, by the primary's own view."""
    table = client.sync(
        "select text, state from shortq.queries where mode = 'deferred' order by id"
    )
    return table.rows()


def wait_until_running(client: shortq.Client, count: int) -> None:
    wait_until(lambda: sum(state == "running" for _, state in under_way(client)) == count)


class EngineCase(unittest.TestCase):
    """Tests with one DuckDB server and client for all of them."""

    client: shortq.Client

    @classmethod
    def setUpClass(cls) -> None:
        server = cls.enterClassContext(Server(workers=1))
        cls.client = cls.enterClassContext(server.connect())

    def query(self, text: str) -> shortq.Table:
        return self.client.deferred(text)


class FakeServer:
    """A ROUTER that the test itself reads and writes: it hears, and says what it wants."""

    def __init__(self, port: int = 0) -> None:
        self._context: Any = zmq.Context()
        self._router = self._context.socket(zmq.ROUTER)
        self._router.linger = 0
        self._router.bind(f"tcp://127.0.0.1:{port or '*'}")
        self.endpoint = self._router.last_endpoint.rstrip(b"\0").decode()
        self.port = int(self.endpoint.rpartition(":")[2])
        self.peer = b""
        self.session = 0

    def __enter__(self) -> "FakeServer":
        return self

    def __exit__(self, *_rest: Any) -> None:
        self.close()

    def close(self) -> None:
        self._context.destroy(linger=0)

    def hear(self, kind: Optional[Kind] = None, patience: float = PATIENCE) -> list[Any]:
        """The next message of that kind, header decoded: [header, body, ...]. Drops others."""
        deadline = time.monotonic() + patience
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not self._router.poll(left * 1000):
                raise AssertionError(f"nobody sent {kind!r}")
            self.peer, header, *bodies = self._router.recv_multipart()
            fields = msgpack.unpackb(header)
            if kind is None or fields[1] == kind:
                return [fields, *bodies]

    def say(self, *fields: Any, bodies: tuple[bytes, ...] = ()) -> None:
        self.say_raw(msgpack.packb([1, *fields], use_bin_type=True), *bodies)

    def say_raw(self, *frames: bytes) -> None:
        self._router.send_multipart([self.peer, *frames])

    def welcome(self, workers: int = 2, query_bytes_max: int = 1000, pending_max: int = 100) -> Any:
        """Waits for a hello, which it returns, and answers it."""
        hello = self.hear(Kind.HELLO)
        self.session += 1
        self.say(
            int(Kind.WELCOME),
            1,
            self.session,
            workers,
            1,
            query_bytes_max,
            0,
            pending_max,
            200,
            "fake/1",
        )
        return hello[0]

    def reply(self, request: int, number: int) -> None:
        """One BIGINT column n with one row."""
        self.say(int(Kind.REPLY), request, 0, 0, 1, True, *FACTS, bodies=bigint_bodies(number))

    def error(self, request: int, code: int, message: str = "no", where: str = "") -> None:
        self.say(
            int(Kind.ERROR),
            request,
            code,
            False,
            False,
            *FACTS,
            bodies=(message.encode(), where.encode()),
        )


FACTS = (2, 1, 5, 200, 1, 34)


def bigint_bodies(number: int) -> tuple[bytes, ...]:
    schema = msgpack.packb([["n", "l", "BIGINT", True, [], [], []]])
    layout = msgpack.packb([1, [1, 0, 2], [0, 8]])
    return schema, layout, number.to_bytes(8, "little", signed=True)
