"""The HTTP side of the mock: reads a request, lets the script choose, sends the reply. Loopback only; no decisions here."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from afl_core.testing.gemini_mock import wire
from afl_core.testing.gemini_mock.journal import Journal
from afl_core.testing.gemini_mock.replies import Content, Failure, Hang, Reply
from afl_core.testing.gemini_mock.requests import Request, path_without_key, without_credentials
from afl_core.testing.gemini_mock.script import Script

WATCH_S = 0.02
"""How often a reply that waits looks whether its client is still there."""


class ClientGoneError(Exception):
    """The client, or the mock, closed before the reply ended."""


class ContentServer(ThreadingHTTPServer):
    """A server on a free loopback port; `close` ends every reply that is still waiting."""

    daemon_threads = False

    def __init__(self, script: Script, default: Reply, journal: Journal) -> None:
        self.script = script
        self.default = default
        self.journal = journal
        self.closing = threading.Event()
        self.broken: list[Exception] = []
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", 0), ContentHandler)

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


class ContentHandler(BaseHTTPRequestHandler):
    """One connection, one request: every reply closes the connection, so that no thread outlives its client."""

    protocol_version = "HTTP/1.1"
    server_version = "mock-content"
    server: ContentServer

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing on stderr; the journal has it all."""

    def do_GET(self) -> None:
        """Answer what is no question to a model."""
        self._serve(b"")

    def do_POST(self) -> None:
        """Answer a question to a model."""
        self._serve(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def _serve(self, received: bytes) -> None:
        self.close_connection = True
        raw = received.decode("utf-8", "replace")
        journal = self.server.journal
        request = journal.arrived(Request(0, path_without_key(self.path), without_credentials(self.headers.items()), raw, parsed(raw)))
        try:
            self._answer(request)
        except (ClientGoneError, ConnectionError):
            journal.note(request, aborted=True, done=True)
        except Exception as broken:  # noqa: BLE001 - the script's fault, whatever it raised; shown when the mock closes
            self.server.broken.append(broken)
            journal.note(request, done=True)
        else:
            journal.note(request, done=True)

    def _answer(self, request: Request) -> None:
        if request.method == "countTokens":
            self._send(request, 200, {"totalTokens": max(1, len(request.raw) // 4)})
            return
        if not request.asks_for_content:
            self._send(request, 404, Failure(404, "the mock has no such route").body())
            return
        reply = self._choose(request)
        if isinstance(reply, Hang):
            self._wait(None)
        elif isinstance(reply, Failure):
            self._send(request, reply.status, reply.body())
        else:
            self._wait(reply.delay)
            self._say(request, reply)

    def _choose(self, request: Request) -> Reply:
        taken = self.server.script.take(request)
        if taken is None:
            return self.server.default
        index, step = taken
        self.server.journal.note(request, step=index)
        try:
            return step.answer(request)
        except Exception as broken:  # noqa: BLE001 - whatever a test's own callable raises is shown when the mock closes
            self.server.broken.append(broken)
            return Failure(400, f"the script's step {index} raised {broken!r}")

    def _say(self, request: Request, content: Content) -> None:
        if request.method == "generateContent":
            self._send(request, 200, wire.whole(content, request.model, request.number))
            return
        self._head(request, 200, "text/event-stream")
        objects = list(wire.stream(content, request.model, request.number))
        ends_early = content.hold or content.drop
        for index, body in enumerate(objects):
            if ends_early and index == len(objects) - 1:
                body = wire.envelope(body["candidates"][0]["content"]["parts"], request.model, request.number)  # noqa: PLW2901
            self.wfile.write(wire.framed(body))
            self.wfile.flush()
            self._wait(content.pause if index < len(objects) - 1 else 0)
        if content.hold:
            self._wait(None)

    def _head(self, request: Request, status: int, kind: str, length: int | None = None) -> None:
        self.server.journal.note(request, status=status)
        self.send_response(status)
        self.send_header("content-type", kind)
        if length is not None:
            self.send_header("content-length", str(length))
        self.send_header("connection", "close")
        self.end_headers()

    def _send(self, request: Request, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self._head(request, status, "application/json; charset=UTF-8", len(data))
        self.wfile.write(data)

    def _wait(self, seconds: float | None) -> None:
        """Wait (None: for ever), but not longer than the client and the mock stay."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while deadline is None or time.monotonic() < deadline:
            if self.server.closing.is_set() or client_gone(self.connection):
                raise ClientGoneError
            self.server.closing.wait(WATCH_S if deadline is None else min(WATCH_S, max(0.0, deadline - time.monotonic())))


def client_gone(connection: socket.socket) -> bool:
    """Whether the other side has closed; a client that waits has nothing to say, so readable means gone."""
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


def parsed(raw: str) -> dict[str, Any]:
    """The body as an object; empty when it is none (a script can still match the raw text)."""
    try:
        body = json.loads(raw)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
