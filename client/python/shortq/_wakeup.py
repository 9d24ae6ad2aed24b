"""Wakes the connection's thread out of poll(), from any thread."""

from __future__ import annotations

import socket


class Wakeup:
    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def ring(self) -> None:
        try:
            self._writer.send(b"\0")
        except OSError:
            pass  # Full: a wake-up is due already. Closed: nobody is left to wake.

    def clear(self) -> None:
        try:
            self._reader.recv(4096)
        except BlockingIOError:
            pass

    def descriptor(self) -> int:
        return self._reader.fileno()

    def close(self) -> None:
        self._reader.close()
        self._writer.close()
