"""The HTTP side of the Responses mock: routes and streams; reading, waiting and closing are those of the Messages mock."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

from afl_core.testing.anthropic_mock.replies import Failure, Hang, Message, Reply
from afl_core.testing.anthropic_mock.requests import Request
from afl_core.testing.anthropic_mock.server import MessagesHandler, MessagesServer
from afl_core.testing.anthropic_mock.sse import framed
from afl_core.testing.openai_mock import sse
from afl_core.testing.openai_mock.requests import ResponsesRequest


class ResponsesServer(MessagesServer):
    """A server on a free loopback port."""

    def handler_kind(self) -> type[BaseHTTPRequestHandler]:
        """What answers a connection."""
        return ResponsesHandler


class ResponsesHandler(MessagesHandler):
    """One connection, one request."""

    server_version = "mock-responses"
    request_kind = ResponsesRequest

    def _route(self, request: Request) -> None:
        path = request.path.split("?")[0]
        if path.endswith("/models"):
            self._send_json(request, 200, {"object": "list", "data": [], "models": []})
        elif request.is_message:
            self._answer(request, self._choose(request))
        else:
            self._send_json(request, 404, error_body(Failure(404, "the mock has no such route")))

    def _answer(self, request: Request, reply: Reply) -> None:
        if isinstance(reply, Hang):
            self._wait(None)
        elif isinstance(reply, Failure):
            self._send_json(request, reply.status, error_body(reply), reply.headers)
        else:
            self._wait(reply.delay)
            self._stream(request, reply)

    def _stream(self, request: Request, reply: Message) -> None:
        model = str(request.body.get("model", "mock"))
        self._head(request, 200, {"content-type": "text/event-stream", "cache-control": "no-cache"})
        for event in sse.opening(request.number, model):
            self.wfile.write(framed(event))
        for index, item in enumerate(sse.items(reply, request.number)):
            for event in sse.item_deltas(item, index, reply.chunk):
                self.wfile.write(framed(event))
                self.wfile.flush()
                self._wait(reply.pause if item["type"] == "message" else 0)
            if reply.drop:
                return
            if reply.hold:
                self._wait(None)
            self.wfile.write(framed(sse.item_done(item, index)))
        if not reply.drop:
            self.wfile.write(framed(sse.closing(reply, request.number, model)))
            self.wfile.flush()


def error_body(failure: Failure) -> dict[str, object]:
    """The vendor's error object."""
    return {"error": {"message": failure.message, "type": failure.kind, "code": failure.kind}}
