"""The client's socket: a DEALER that is replaced whole, never reconnected under a session that it
does not know, and its monitor. The only file that knows ZeroMQ.

Threads: one; the connection's thread makes, uses and closes it.
"""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Callable, Sequence
from typing import Optional

import zmq
import zmq.utils.z85

from shortq._wire import Bytes
from shortq.errors import ErrorCode, make_error

_LINGER_MS = 200  # How long a goodbye may take to leave when a socket closes.
_RECONNECT_MS = 100
_COPIED_BELOW = 4096  # Small frames are copied: they would keep a whole read buffer alive.
_MISMATCHES = (zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL, zmq.EVENT_HANDSHAKE_FAILED_AUTH)
_SECRET_MARK = "# shortq: the server's secret key"  # How the server's own file begins.
_EVENTS = (
    zmq.EVENT_DISCONNECTED
    | zmq.EVENT_CONNECT_RETRIED
    | zmq.EVENT_MONITOR_STOPPED
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
)


def check_endpoint(endpoint: str) -> None:
    """Whether open() can take it. Raises BadRequestError."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    try:
        dealer = context.socket(zmq.DEALER)
        dealer.linger = 0
        _allow_ipv6(dealer, endpoint)
        dealer.connect(endpoint)
    except (zmq.ZMQError, UnicodeEncodeError) as error:
        raise make_error(
            ErrorCode.BAD_REQUEST,
            f'malformed endpoint "{endpoint}" ({error}); it should look like '
            "tcp://127.0.0.1:5001",
        ) from None
    finally:
        context.destroy()


def _allow_ipv6(dealer: "zmq.Socket[bytes]", endpoint: str) -> None:
    """Only for an address like tcp://[::1]:5001: ZeroMQ takes the first address of a name, and
    with this on that is localhost's ::1, where a primary does not listen unless told to."""
    dealer.ipv6 = "[" in endpoint


@dataclasses.dataclass(frozen=True)
class Changes:
    """What has happened to the connection since the last look."""

    disconnected: bool = False
    refused: bool = False
    hung_up: bool = False  # During the handshake; it does not say why.
    mismatch: bool = False  # One end encrypts, the other does not; or it speaks no ZeroMQ.


def find_server_key(key_or_file: str) -> str:
    """The 40 characters (Z85) that a file of this name has as a line, or else that the text is: a
    path may look like a key, the reverse is against all odds. Raises BadRequestError."""
    try:
        with open(key_or_file, encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except (OSError, ValueError):
        lines = []
    if any(line.startswith(_SECRET_MARK) for line in lines):
        is_named_so = key_or_file.endswith(".secret")
        clients = key_or_file[: -len("secret")] + "public" if is_named_so else "NAME.public"
        raise make_error(
            ErrorCode.BAD_REQUEST,
            f'no server key: "{key_or_file}" is the server\'s secret key; it belongs to the '
            f"server alone; clients take {clients}",
        )
    keys = list(filter(_is_key, lines))
    if keys:
        return keys[0]
    if not key_or_file or _is_key(key_or_file):
        return key_or_file
    raise make_error(
        ErrorCode.BAD_REQUEST,
        f'no server key: "{key_or_file}" is neither a key of 40 characters nor a file that has '
        "one (shortq --make-keys makes NAME.public)",
    )


def _is_key(text: str) -> bool:
    decode: Callable[[str], bytes] = zmq.utils.z85.decode
    try:
        return len(text) == 40 and len(decode(text)) == 32
    except (ValueError, KeyError, struct.error):  # Other characters, or too large a number.
        return False


class Transport:
    def __init__(self, server_key: str = "") -> None:
        self._server_key = server_key
        # A pair that lasts as long as this: it identifies nobody.
        self._keys = zmq.curve_keypair() if server_key else None
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._dealer: Optional[zmq.Socket[bytes]] = None
        self._monitor: Optional[zmq.Socket[bytes]] = None
        self._opened = 0

    def open(self, endpoint: str) -> None:
        self._close_sockets()
        dealer = self._context.socket(zmq.DEALER)
        dealer.linger = _LINGER_MS
        dealer.reconnect_ivl = _RECONNECT_MS
        dealer.sndhwm = 0  # Bounded by the server's limit of open requests.
        dealer.tcp_keepalive = 1
        _allow_ipv6(dealer, endpoint)
        if self._keys is not None:
            dealer.curve_serverkey = self._server_key.encode("ascii")
            dealer.curve_publickey, dealer.curve_secretkey = self._keys
        self._opened += 1
        address = f"inproc://monitor{self._opened}"
        dealer.monitor(address, _EVENTS)
        monitor = self._context.socket(zmq.PAIR)
        monitor.linger = 0
        monitor.connect(address)
        dealer.connect(endpoint)
        self._dealer, self._monitor = dealer, monitor

    def close(self) -> None:
        """Gives what was sent a bounded time to leave."""
        self._close_sockets()
        self._context.destroy(linger=0)  # Whatever else is open: one whose opening failed.

    def _close_sockets(self) -> None:
        if self._dealer is not None:
            self._dealer.disable_monitor()
            self._dealer.close()
        if self._monitor is not None:
            self._monitor.close()
        self._dealer = self._monitor = None

    def send(self, frames: Sequence[Bytes]) -> None:
        assert self._dealer is not None
        # Without a high-water mark this cannot block.
        self._dealer.send_multipart(frames, flags=zmq.DONTWAIT)

    def receive(self) -> Optional[list[memoryview]]:
        """The next message, if one is there; its frames own their bytes."""
        if self._dealer is None:
            return None
        try:
            frames = self._dealer.recv_multipart(flags=zmq.DONTWAIT, copy=False)
        except zmq.Again:
            return None
        return [_view(frame.buffer) for frame in frames]

    def changes(self) -> Changes:
        disconnected = refused = hung_up = mismatch = False
        while self._monitor is not None:
            try:
                event = self._monitor.recv_multipart(flags=zmq.DONTWAIT)
            except zmq.Again:
                break
            kind = struct.unpack_from("=H", event[0])[0]
            disconnected |= kind == zmq.EVENT_DISCONNECTED
            refused |= kind == zmq.EVENT_CONNECT_RETRIED
            hung_up |= kind == zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
            mismatch |= kind in _MISMATCHES
        return Changes(disconnected, refused, hung_up, mismatch)

    def wait(self, wake_descriptor: int, longest: float) -> None:
        """Until a message, a change, or the descriptor is readable, or the time (s) is over."""
        poller = zmq.Poller()
        poller.register(wake_descriptor, zmq.POLLIN)
        for socket in (self._dealer, self._monitor):
            if socket is not None:
                poller.register(socket, zmq.POLLIN)
        poller.poll(None if math.isinf(longest) else math.ceil(max(longest, 0) * 1000))


def _view(buffer: memoryview) -> memoryview:
    if len(buffer) < _COPIED_BELOW:
        return memoryview(bytes(buffer))
    return buffer.toreadonly()
