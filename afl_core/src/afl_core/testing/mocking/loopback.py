"""The HTTP side of every mock: connections that end with the mock, one request each, and replies that wait no longer than their client. Loopback only."""

from __future__ import annotations

import abc
import contextlib
import json
import select
import socket
import sys
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Generic, TypeVar

from afl_core.testing.mocking.journal import Journal, Request
from afl_core.testing.mocking.seen import parsed, without_credentials

WATCH_S = 0.02
"""How often a waiting reply looks whether its client is still there."""

Script = TypeVar("Script")
Reply = TypeVar("Reply")


class ClientLeftError(Exception):
    """The client closed its side, or the server is closing, before the reply ended."""


class LoopbackServer(ThreadingHTTPServer, abc.ABC, Generic[Script, Reply, Request]):
    """A server on a free loopback port; `close` ends every reply that is still waiting."""

    daemon_threads = False

    def __init__(self, script: Script, default: Reply, journal: Journal[Request], port: int = 0) -> None:
        self.script = script
        self.default = default
        self.journal = journal
        self.closing = threading.Event()
        self.script_errors: list[Exception] = []
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", port), self.handler_kind())

    @abc.abstractmethod
    def handler_kind(self) -> type[BaseHTTPRequestHandler]:
        """What answers a connection."""

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, so that `close` can end it."""
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection and close it."""
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that resets its connection is no error of the mock; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def close(self) -> None:
        """Stop serving, end open connections and wait for their threads."""
        self.closing.set()
        self.shutdown()
        with self._guard:
            for connection in self._open:
                with contextlib.suppress(OSError):  # the client may have closed it in this moment
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class LoopbackHandler(BaseHTTPRequestHandler, abc.ABC):
    """One connection, one request: every reply closes the connection, so that no thread outlives its client."""

    protocol_version = "HTTP/1.1"
    request_kind: type[Any]
    server: LoopbackServer[Any, Any, Any]

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing on stderr; the journal has it all."""

    def do_HEAD(self) -> None:
        """Answer a liveness probe."""
        self._serve(b"")

    def do_GET(self) -> None:
        """Answer what is no question to a model."""
        self._serve(b"")

    def do_POST(self) -> None:
        """Answer a question to a model."""
        self._serve(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def _serve(self, received: bytes) -> None:
        self.close_connection = True
        raw = received.decode("utf-8", "replace")
        headers = without_credentials(self.headers.items())
        request = self.server.journal.arrived(self.request_kind(0, self.command, self._kept_path(), headers, raw, parsed(raw)))
        try:
            self._route(request)
        except (ClientLeftError, ConnectionError):
            self.server.journal.note(request, aborted=True, done=True)
        except Exception as broken:  # noqa: BLE001 - a reply that cannot be sent is the script's fault, and shown when the mock closes
            self.server.script_errors.append(broken)
            self.server.journal.note(request, done=True)
        else:
            self.server.journal.note(request, done=True)

    def _kept_path(self) -> str:
        """The path as it may be kept."""
        return self.path

    @abc.abstractmethod
    def _route(self, request: Any) -> None:
        """Answer one request. Whatever it raises is the script's fault."""

    def _chosen(self, request: Any) -> tuple[int, Any] | None:
        """The script's step for a request, with its index, noted; None when none fits."""
        taken: tuple[int, Any] | None = self.server.script.take(request)
        if taken is not None:
            self.server.journal.note(request, step=taken[0])
        return taken

    def _head(self, request: Any, status: int, headers: Mapping[str, str]) -> None:
        self.server.journal.note(request, status=status)
        self.send_response(status)
        for name, value in {**headers, "connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_json(self, request: Any, status: int, value: object, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self._head(request, status, {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})})
        if self.command != "HEAD":
            self.wfile.write(data)

    def _wait(self, seconds: float | None) -> None:
        """Wait (None: for ever), but not longer than the client and the server stay."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while deadline is None or time.monotonic() < deadline:
            if self.server.closing.is_set() or client_left(self.connection):
                raise ClientLeftError
            left = WATCH_S if deadline is None else min(WATCH_S, max(0.0, deadline - time.monotonic()))
            self.server.closing.wait(left)


def client_left(connection: socket.socket) -> bool:
    """Whether the other side has closed; a client that waits for its reply has nothing to say, so readable means gone."""
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True
