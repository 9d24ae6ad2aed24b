#!/usr/bin/env python3
"""A guest of the soak that uses the Python client: client.py PORT FIRST-NUMBER SECONDS
[--restarts]. Asks for some seconds, several at once, and says how it went in one line; 77: a
package is missing.
"""

import collections
import random
import sys
import time

try:
    import msgpack  # noqa: F401
    import zmq  # noqa: F401
except ImportError:
    sys.exit(77)

import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "client" / "python"))
import shortq  # noqa: E402

PATIENCE = 90
AT_ONCE = 6


def question(number: int) -> tuple[str, str]:
    """A text, and what must come of it."""
    draw = random.random()
    if draw < 0.7:
        return f"select {number}::bigint as n, (select version from about) as v", "ok"
    if draw < 0.8:
        return f"select error('soak {number}')", "query_error"
    if draw < 0.9:
        return f"select {number}::bigint as n, x from t", "rows"
    return f"select {number}::bigint as n, count(*) from range(1000000000000) a, range(1000)", "timeout"


def fault(number: int, expected: str, future: "shortq.Future") -> tuple[bool, str]:
    """Whether there was a result, and what is wrong."""
    try:
        table = future.result(PATIENCE)
    except (shortq.WorkerLostError, shortq.UnavailableError):
        return False, ""
    except shortq.QueryError as error:
        told = str(error)
        right = expected == "query_error" and f"soak {number}" in told
        return False, "" if right else f"{number}: {told}"
    except shortq.RequestTimeout as error:
        return False, "" if expected == "timeout" else f"{number}: {error}"
    numbers = set(table["n"].to_pylist())
    right = expected in ("ok", "rows") and numbers == {number}
    return True, "" if right else f"{number}: {numbers}"


def main() -> int:
    port, first, seconds = (int(text) for text in sys.argv[1:4])
    requests = ok = errors = wrong = lost = 0
    end = time.monotonic() + seconds
    out: collections.deque = collections.deque()
    with shortq.connect(port=port, connect_timeout=60, wait_until_ready=True) as client:
        while out or time.monotonic() < end:
            if time.monotonic() < end and len(out) < AT_ONCE:
                requests += 1
                number = first + requests
                text, expected = question(number)
                timeout = 0.5 if expected == "timeout" else None
                out.append((number, expected, client.submit(text, timeout=timeout)))
                continue
            number, expected, future = out.popleft()
            try:
                good, what = fault(number, expected, future)
            except TimeoutError:
                lost += 1
                print(f"VIOLATION: request {number} has had no reply for {PATIENCE} s", file=sys.stderr)
                continue
            except shortq.Error as error:
                good, what = False, f"{number}: {error}"
            ok, errors = ok + good, errors + (not good)
            if what:
                wrong += 1
                print(f"VIOLATION: {what}", file=sys.stderr)
    print(
        f"guest: requests={requests} ok={ok} errors={errors} left=0 lost={lost} doubled=0 "
        f"wrong_client={wrong}"
    )
    return 0 if wrong + lost == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
