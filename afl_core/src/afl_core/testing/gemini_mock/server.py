"""What the mock of the Gemini API answers: routes and streams. Reading, waiting and closing are those of every mock."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

from afl_core.testing.gemini_mock import wire
from afl_core.testing.gemini_mock.replies import Content, Failure, Hang, Reply
from afl_core.testing.gemini_mock.requests import Request, path_without_key
from afl_core.testing.gemini_mock.script import Script
from afl_core.testing.mocking.loopback import LoopbackHandler, LoopbackServer


class ContentServer(LoopbackServer[Script, Reply, Request]):
    """A server on a free loopback port."""

    def handler_kind(self) -> type[BaseHTTPRequestHandler]:
        """What answers a connection."""
        return ContentHandler


class ContentHandler(LoopbackHandler):
    """One connection, one request."""

    server_version = "mock-content"
    request_kind = Request
    server: ContentServer

    def _kept_path(self) -> str:
        return path_without_key(self.path)

    def _route(self, request: Request) -> None:
        if request.method == "countTokens":
            self._send_json(request, 200, {"totalTokens": max(1, len(request.raw) // 4)})
            return
        if not request.is_message:
            self._send_json(request, 404, Failure(404, "the mock has no such route").body())
            return
        reply = self._choose(request)
        if isinstance(reply, Hang):
            self._wait(None)
        elif isinstance(reply, Failure):
            self._send_json(request, reply.status, reply.body())
        else:
            self._wait(reply.delay)
            self._say(request, reply)

    def _choose(self, request: Request) -> Reply:
        taken = self._chosen(request)
        if taken is None:
            return self.server.default
        index, step = taken
        try:
            reply: Reply = step.answer(request)
        except Exception as broken:  # noqa: BLE001 - whatever a test's own callable raises is shown when the mock closes
            self.server.script_errors.append(broken)
            return Failure(400, f"the script's step {index} raised {broken!r}")
        return reply

    def _say(self, request: Request, content: Content) -> None:
        if request.method == "generateContent":
            self._send_json(request, 200, wire.whole(content, request.model, request.number))
            return
        self._head(request, 200, {"content-type": "text/event-stream"})
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
