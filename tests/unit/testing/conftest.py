"""A client that speaks to the mock the way a host does, without one."""

from __future__ import annotations

import http.client
import json
import urllib.parse

import attrs
import pytest


@attrs.frozen
class Answer:
    """What the client got back."""

    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)

    def events(self):
        """The server-sent events: name and data."""
        frames = [frame.split("\n") for frame in self.body.decode().split("\n\n") if frame]
        return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in frames]

    def text(self):
        """The streamed text, put together."""
        deltas = [data["delta"] for name, data in self.events() if name == "content_block_delta"]
        return "".join(delta.get("text", "") for delta in deltas)


def connect(api):
    return http.client.HTTPConnection(urllib.parse.urlsplit(api.url).netloc, timeout=20)


def body_of(prompt, *, stream=False, **fields):
    return json.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": prompt}], **fields})


@pytest.fixture
def ask():
    """Send one prompt and read the whole answer: `ask(api, "words", stream=True, tools=[..], system="..")`."""

    def send(api, prompt="hello", *, path="/v1/messages?beta=true", method="POST", headers=None, raw=None, **fields):
        connection = connect(api)
        try:
            payload = (raw if raw is not None else body_of(prompt, **fields)) if method == "POST" else None
            connection.request(method, path, payload, headers or {})
            response = connection.getresponse()
            return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
        finally:
            connection.close()

    return send


@pytest.fixture
def start():
    """Send one streaming prompt and give the open connection; the test reads or hangs up."""
    opened = []

    def send(api, prompt="hello", *, stream=True):
        connection = connect(api)
        opened.append(connection)
        connection.request("POST", "/v1/messages", body_of(prompt, stream=stream))
        return connection

    yield send
    for connection in opened:
        connection.close()
