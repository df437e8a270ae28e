"""What the Messages mock answers: routes and streams. Reading, waiting and closing are those of every mock."""

from __future__ import annotations

from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

from afl_core.testing.anthropic_mock import sse
from afl_core.testing.anthropic_mock.replies import Failure, Hang, Message, Reply
from afl_core.testing.anthropic_mock.requests import Request
from afl_core.testing.anthropic_mock.script import Script, answered
from afl_core.testing.mocking.loopback import LoopbackHandler, LoopbackServer


class MessagesServer(LoopbackServer[Script, Reply, Request]):
    """A server on a free loopback port."""

    def handler_kind(self) -> type[BaseHTTPRequestHandler]:
        """What answers a connection."""
        return MessagesHandler


class MessagesHandler(LoopbackHandler):
    """One connection, one request."""

    server_version = "mock-messages"
    request_kind = Request
    server: MessagesServer

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
        taken = self._chosen(request)
        if taken is None:
            return self.server.default
        index, step = taken
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
        super()._head(request, status, {**headers, "request-id": f"req_mock_{request.number}"})


def error_body(failure: Failure) -> dict[str, Any]:
    """The vendor's error object."""
    return {"type": "error", "error": {"type": failure.kind, "message": failure.message}}
