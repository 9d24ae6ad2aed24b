"""Goal: the client gets in where it is meant to, and says why where not. Method: real servers with
a users file, without encryption and with it.
"""

import os
import pathlib
import subprocess
import tempfile
import time
import unittest

import shortq
from servers import PATIENCE, Server


def _program(name: str) -> pathlib.Path:
    return pathlib.Path(os.environ["SHORTQ_PROGRAMS"]) / name


class AuthTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory(prefix="shortq-python-"))
        )
        self.users = folder / "users"
        line = subprocess.run(
            [_program("shortq-cli"), "--hash-password", "--user", "alice"],
            input="wonderland\n", stdout=subprocess.PIPE, text=True, check=True,
        ).stdout
        self.users.write_text(line, encoding="utf-8")
        self.users.chmod(0o600)
        for name in ("server", "other"):
            subprocess.run(
                [_program("shortq"), "--make-keys", folder / name],
                stdout=subprocess.DEVNULL, check=True,
            )
        self.folder = folder

    def serve(self, encrypted: bool) -> Server:
        keys = ["--curve-keys", str(self.folder / "server.secret")] if encrypted else []
        return self.enterContext(
            Server("--users", str(self.users), *keys, engine="test", workers=1)
        )

    def test_the_right_password_opens_and_no_other(self) -> None:
        for encrypted in (False, True):
            server = self.serve(encrypted)
            key = str(self.folder / "server.public") if encrypted else ""
            with server.connect(user="alice", password="wonderland", server_key=key) as client:
                self.assertEqual(client.deferred("echo hello").scalar(), "hello")
            for user, password in (("alice", "guess"), ("bob", "wonderland")):
                with self.assertRaisesRegex(shortq.DeniedError, "wrong user name or password"):
                    server.connect(user=user, password=password, server_key=key)
            with self.assertRaisesRegex(shortq.DeniedError, "wants a user's name and a password"):
                server.connect(user="alice", server_key=key)

    def test_who_does_not_encrypt_alike_is_told_so_soon(self) -> None:
        server = self.serve(True)
        begun = time.monotonic()
        # At once, or after a few tries: which of two events comes first is the network's.
        with self.assertRaisesRegex(shortq.Error, "wants encryption"):
            server.connect(user="alice", password="wonderland", connect_timeout=PATIENCE)
        with self.assertRaisesRegex(shortq.DeniedError, "is the server key its own"):
            server.connect(
                user="alice",
                password="wonderland",
                server_key=str(self.folder / "other.public"),
                connect_timeout=PATIENCE,
            )
        self.assertLess(time.monotonic() - begun, PATIENCE / 2)
        with self.assertRaisesRegex(shortq.BadRequestError, "no server key"):
            server.connect(server_key="nonsense")

    def test_a_path_that_looks_like_a_key_is_a_path(self) -> None:
        server = self.serve(True)
        link = self.folder / ("x" * (39 - len(str(self.folder))))
        link.symlink_to(self.folder / "server.public")
        self.assertEqual(len(str(link)), 40)
        key = str(link)
        with server.connect(user="alice", password="wonderland", server_key=key) as client:
            self.assertEqual(client.deferred("echo hello").scalar(), "hello")
        link.unlink()
        # A key by its letters, or no key at all where one of them (an underscore) is none.
        with self.assertRaises((shortq.BadRequestError, shortq.DeniedError)):
            server.connect(server_key=key)

    def test_a_key_is_forty_letters_that_make_thirty_two_bytes(self) -> None:
        for text in ("x" * 39 + "_", "#" * 40, "é" * 40, "x" * 41):
            with self.assertRaisesRegex(shortq.BadRequestError, "no server key"):
                shortq.connect(port=1, server_key=text)

    def test_the_servers_secret_key_is_not_taken(self) -> None:
        with self.assertRaisesRegex(
            shortq.BadRequestError, "it belongs to the server alone; clients take .*server.public"
        ):
            shortq.connect(port=1, server_key=self.folder / "server.secret")

    def test_credentials_are_text(self) -> None:
        for name in ("user", "password", "server_key"):
            with self.assertRaisesRegex(TypeError, f"^{name} must be a str, not bytes$"):
                shortq.connect(port=1, **{name: b"wonderland"})

    def test_options_show_no_password(self) -> None:
        self.assertNotIn("secret", repr(shortq.options.ConnectOptions(password="secret")))


if __name__ == "__main__":
    unittest.main()
