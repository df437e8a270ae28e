"""The recorded server, and one that behaves like it."""

from __future__ import annotations

import json
import pathlib

import pytest

import afl_core.testing
from afl_core.spec.trust import WantedHook

FIXTURES = pathlib.Path(afl_core.testing.__file__).parent / "fixtures/codex"
FILE = pathlib.Path("/home/dev/.codex/hooks.json")
CWD = pathlib.Path("/home/dev/project")
WANTED = tuple(WantedHook(event, f"fbmem-hook {event}", FILE) for event in ("UserPromptSubmit", "Stop"))


@pytest.fixture
def recorded():
    """The lines of a recorded file."""
    return lambda name: [json.loads(line) for line in (FIXTURES / name).read_text(encoding="utf-8").splitlines()]


class Server:
    """Answers as the real one does; `state` is its table of trust, `rows` what it finds in files. `conflicts`: how many writes somebody else gets in before."""

    def __init__(self, rows, state=None, conflicts=0, errors=(), warnings=()):
        self.rows, self.state, self.conflicts, self.errors = rows, dict(state or {}), conflicts, list(errors)
        self.warnings = list(warnings)
        self.asked, self.version = [], 0

    def listed(self):
        out = []
        for row in self.rows:
            held = self.state.get(row["key"], {})
            trust = "untrusted" if "trusted_hash" not in held else "trusted" if held["trusted_hash"] == row["currentHash"] else "modified"
            out.append({**row, "enabled": held.get("enabled", True), "trustStatus": trust})
        return {"data": [{"cwd": str(CWD), "hooks": out, "warnings": self.warnings, "errors": self.errors}]}

    def answer(self, message):
        self.asked.append(message)
        method, params = message["method"], message["params"]
        if method == "hooks/list":
            return {"result": self.listed()}
        if method == "config/read":
            layer = {"name": {"type": "user", "profile": None}, "version": f"v{self.version}", "config": {"hooks": {"state": self.state}}}
            return {"result": {"layers": [layer]}}
        if method == "config/batchWrite":
            if self.conflicts:
                self.conflicts -= 1
                self.version += 1
                return {"error": {"code": -32600, "data": {"config_write_error_code": "configVersionConflict"}, "message": "modified"}}
            assert params["expectedVersion"] == f"v{self.version}"
            for edit in params["edits"]:
                self.write(edit)
            return {"result": {"status": "ok"}}
        return {"result": {}}

    def write(self, edit):
        if edit["keyPath"] == "hooks.state":
            for key, value in edit["value"].items():
                self.state[key] = {**self.state.get(key, {}), **value}
            return
        rest = edit["keyPath"].removeprefix("hooks.state.")
        key = json.loads(rest.removesuffix(".trusted_hash"))
        if rest.endswith(".trusted_hash"):
            self.state.get(key, {}).pop("trusted_hash", None)
        elif edit["value"] is None:
            self.state.pop(key, None)
        else:
            self.state[key] = dict(edit["value"])

    def hold(self, talk):
        """Carry the messages of a dialogue; gives its report."""
        answer = None
        while True:
            try:
                ask = talk.send(answer)
            except StopIteration as end:
                return end.value
            answer = None if ask.answer_id is None else {"id": ask.answer_id, **self.answer(ask.message)}

    def methods(self):
        return [message["method"] for message in self.asked]


def row(event, command=None, **other):
    """A row as the server lists it."""
    made = {
        "key": f"{FILE}:{event.lower()}:0:0", "eventName": event[:1].lower() + event[1:], "handlerType": "command",
        "command": command or f"fbmem-hook {event}", "sourcePath": str(FILE), "source": "user", "isManaged": False, "currentHash": f"sha256:{event}",
    }  # fmt: skip
    return {**made, **other}


@pytest.fixture
def server():
    return Server


@pytest.fixture
def row_of():
    return row
