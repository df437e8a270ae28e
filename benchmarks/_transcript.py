"""A long Claude Code transcript made of recorded records: their shapes are the host's own, their words and sizes are drawn from a fixed seed.

A third of the bytes are records that are never evidence (the requests the host keeps a copy of). What tools print are lines of the standard
library's source; a tool's result stands twice in its record, as the host writes it.
"""

from __future__ import annotations

import copy
import json
import pathlib
from collections.abc import Iterator

from _words import Words

from afl_core.testing.recorded import Recorded

STEPS_A_TURN = (2, 12)
RESULT_CHARS = (7.6, 1.3, 48_000)
"""Of a tool's output: mean and deviation of the logarithm, and the most."""

CHAT_STEPS_A_TURN = (0, 1)
CHAT_SENTENCES = (60, 110)
"""Of an answer in a session that is mostly talk."""

FAILS = 0.1
SHOWS_SECRET = 0.01
"""How often a tool prints a credential; from then on the session's words are compared with it."""

INTERRUPTED = 0.04


def write(path: pathlib.Path, session: str, cwd: str, size: int, *, chat: bool = False) -> int:
    """Write about `size` bytes of transcript, whole turns; gives the number of records. `chat`: mostly talk, few tools."""
    records = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for record in _Session(session, cwd, size, chat=chat).records():
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            records += 1
            if record["type"] == "last-prompt" and file.tell() >= size:
                break
    return records


class _Session(Words):
    def __init__(self, session: str, cwd: str, size: int, *, chat: bool) -> None:
        self._steps, self._answer = (CHAT_STEPS_A_TURN, CHAT_SENTENCES) if chat else (STEPS_A_TURN, (2, 14))
        super().__init__(size)
        self._session, self._cwd = session, cwd
        self._parent: str | None = None
        self._prompts = 0
        self._shapes = _shapes()

    def records(self) -> Iterator[dict]:
        """Turn after turn, without end."""
        while True:
            yield from self._turn()

    def _turn(self) -> Iterator[dict]:
        prompt, turn = self.sentences(1, 5), self.id()
        self._prompts += 1  # a number that comes again tells of a person who went back
        position = {**self._shapes["prompt"]["turnPosition"], "promptIndex": self._prompts}
        yield self._record("prompt", promptId=turn, turnPosition=position, message={"role": "user", "content": prompt})
        yield from self._request(prompt)
        for _step in range(self.random.randint(*self._steps)):
            yield from self._step(turn)
        if self.random.random() < INTERRUPTED:
            yield self._record("interrupted", promptId=turn)
        else:
            yield self._said(self.sentences(*self._answer))
        yield self._record("last-prompt", lastPrompt=prompt, leafUuid=self._parent)

    def _step(self, turn: str) -> Iterator[dict]:
        if self.random.random() < 0.6:
            yield self._said(self.sentences(1, 4))
        call, name, given = "toolu_" + self.id()[:24], *self._input()
        use = {"type": "tool_use", "id": call, "name": name, "input": given}
        yield self._answered([use])
        told = self.output(RESULT_CHARS, SHOWS_SECRET)
        is_error = self.random.random() < FAILS
        result = {"tool_use_id": call, "type": "tool_result", "content": f"Exit code 1\n{told}" if is_error else told, "is_error": is_error}
        raw = f"Error: Exit code 1\n{told}" if is_error else {"stdout": told, "stderr": "", "interrupted": False, "isImage": False}
        yield self._record("result", promptId=turn, message={"role": "user", "content": [result]}, toolUseResult=raw)
        yield from self._request(json.dumps(given) + told)

    def _input(self) -> tuple[str, dict[str, str]]:
        kind = self.random.random()
        if kind < 0.5:
            return "Bash", {
                "command": f"python -m pytest -q tests/test_{self.word()}.py -k {self.word()}",
                "description": self.sentences(1, 1),
            }
        path = f"{self._cwd}/src/{self.word()}/{self.word()}.py"
        if kind < 0.75:
            return "Read", {"file_path": path}
        old, new = self.source(self.random.randint(80, 1_500)), self.source(self.random.randint(80, 2_500))
        return "Edit", {"file_path": path, "old_string": old, "new_string": new}

    def _said(self, text: str) -> dict:
        return self._answered([{"type": "text", "text": text}])

    def _answered(self, content: list[dict]) -> dict:
        message = {**self._shapes["assistant"]["message"], "id": "msg_" + self.id()[:20], "content": content}
        return self._record("assistant", message=message)

    def _request(self, text: str) -> Iterator[dict]:
        yield self._record("api-request", id=self.id())
        yield self._record("api-request-blob", hash=self.id() * 2, message={"role": "user", "content": [{"type": "text", "text": text}]})

    def _record(self, shape: str, **fields: object) -> dict:
        record = copy.copy(self._shapes[shape])
        record.update(fields)
        record["sessionId"] = self._session
        if "cwd" in record:
            record["cwd"] = self._cwd
        if "uuid" in record:
            record["parentUuid"], record["uuid"] = self._parent, self.id()
            self._parent = record["uuid"]
        if "timestamp" in record:
            record["timestamp"] = self.moment()
        self.written += len(json.dumps(fields)) + 600
        return record


def _shapes() -> dict[str, dict]:
    """One recorded record of every kind that is drawn."""
    records = [json.loads(line) for name in ("tools", "interrupted_tool") for line in Recorded.transcript(name).splitlines()]

    def first(kind: str, **having: object) -> dict:
        return next(one for one in records if one["type"] == kind and all(one.get(key) == value for key, value in having.items()))

    def is_result(one: dict) -> bool:
        return one["type"] == "user" and "toolUseResult" in one and "toolDenialKind" not in one

    return {
        "prompt": first("user", promptSource="typed"),
        "interrupted": first("user", rowSource="harness"),
        "result": next(one for one in records if is_result(one)),
        "assistant": first("assistant"),
        "api-request": first("api-request"),
        "api-request-blob": first("api-request-blob"),
        "last-prompt": first("last-prompt"),
    }
