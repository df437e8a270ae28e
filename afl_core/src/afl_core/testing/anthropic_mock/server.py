"""The HTTP side of the mock: reads a request, lets the script choose, sends the reply. Loopback only; no decisions here."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import sys
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from afl_core.testing.anthropic_mock import sse
from afl_core.testing.anthropic_mock.journal import Journal
from afl_core.testing.anthropic_mock.replies import Failure, Hang, Message, Reply
from afl_core.testing.anthropic_mock.requests import Request, without_credentials
from afl_core.testing.anthropic_mock.script import Script, answered

WATCH_S = 0.02
"""How often a waiting reply looks whether its client is still there."""


class ClientLeftError(Exception):
    """The client closed its side, or the server is closing, before the reply ended."""


class MessagesServer(ThreadingHTTPServer):
    """A server on a free loopback port; `close` ends every reply that is still waiting."""

    daemon_threads = False

    def __init__(self, script: Script, default: Reply, journal: Journal, port: int = 0) -> None:
        self.script = script
        self.default = default
        self.journal = journal
        self.closing = threading.Event()
        self.script_errors: list[Exception] = []
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", port), self.handler_kind())

    def handler_kind(self) -> type[BaseHTTPRequestHandler]:
        """What answers a connection."""
        return MessagesHandler

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


class MessagesHandler(BaseHTTPRequestHandler):
    """One connection, one request: every reply closes the connection, so that no thread outlives its client."""

    protocol_version = "HTTP/1.1"
    server_version = "mock-messages"
    request_kind = Request
    server: MessagesServer

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing on stderr; the journal has it all."""

    def do_HEAD(self) -> None:
        """Answer a liveness probe."""
        self._serve(b"")

    def do_GET(self) -> None:
        """Answer anything that is not the Messages API."""
        self._serve(b"")

    def do_POST(self) -> None:
        """Answer a message or token count request."""
        self._serve(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def _serve(self, received: bytes) -> None:
        self.close_connection = True
        raw = received.decode("utf-8", "replace")
        request = self.server.journal.arrived(
            self.request_kind(0, self.command, self.path, without_credentials(self.headers.items()), raw, parsed(raw))
        )
        try:
            self._route(request)
        except (ClientLeftError, ConnectionError):
            self.server.journal.note(request, aborted=True, done=True)
        except Exception as broken:  # noqa: BLE001 - a reply that cannot be sent is the script's fault, and shown when the mock closes
            self.server.script_errors.append(broken)
            self.server.journal.note(request, done=True)
        else:
            self.server.journal.note(request, done=True)

    def _route(self, request: Request) -> None:
        path = request.path.split("?")[0]
        if path.endswith("/count_tokens"):
            self._send_json(request, 200, {"input_tokens": max(1, len(request.raw) // 4)})
        elif request.is_message:
            self._answer(request, self._choose(request))
        else:
            status = 200 if path == "/" else 404
            self._send_json(request, status, error_body(Failure(404, "the mock has no such route")))

    def _choose(self, request: Request) -> Reply:
        taken = self.server.script.take(request)
        if taken is None:
            return self.server.default
        index, step = taken
        self.server.journal.note(request, step=index)
        try:
            return answered(step, request)
        except Exception as broken:  # noqa: BLE001 - whatever a test's own callable raises is shown when the mock closes
            self.server.script_errors.append(broken)
            return Failure(400, f"the script's step {index} raised {broken!r}")

    def _answer(self, request: Request, reply: Reply) -> None:
        if isinstance(reply, Hang):
            self._wait(None)
        elif isinstance(reply, Failure):
            self._send_json(request, reply.status, error_body(reply), reply.headers)
        else:
            self._wait(reply.delay)
            if request.body.get("stream"):
                self._stream(request, reply)
            elif reply.drop or reply.hold:
                self._wait(None if reply.hold else 0)
            else:
                self._send_json(request, 200, sse.envelope(reply, request.number, str(request.body.get("model", "mock"))))

    def _stream(self, request: Request, reply: Message) -> None:
        self._head(request, 200, {"content-type": "text/event-stream", "cache-control": "no-cache"})
        for event in sse.opening(reply, request.number, str(request.body.get("model", "mock"))):
            self._send(event)
        content = sse.blocks(reply, request.number)
        for index, block in enumerate(content):
            for event in sse.block_deltas(block, index, reply.chunk):
                self._send(event)
                self._wait(reply.pause if block["type"] == "text" else 0)
            if reply.drop:
                return
            if reply.hold:
                self._wait(None)
            self._send(sse.block_stop(index))
        if not reply.drop:
            for event in sse.closing(reply):
                self._send(event)

    def _send(self, event: sse.Event) -> None:
        self.wfile.write(sse.framed(event))
        self.wfile.flush()

    def _head(self, request: Request, status: int, headers: Mapping[str, str]) -> None:
        self.server.journal.note(request, status=status)
        self.send_response(status)
        for name, value in {**headers, "request-id": f"req_mock_{request.number}", "connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_json(self, request: Request, status: int, value: object, headers: Mapping[str, str] | None = None) -> None:
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


def parsed(raw: str) -> dict[str, Any]:
    """The body as an object; empty when it is none (a script can still match on the raw text)."""
    try:
        body = json.loads(raw)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def error_body(failure: Failure) -> dict[str, Any]:
    """The vendor's error object."""
    return {"type": "error", "error": {"type": failure.kind, "message": failure.message}}
