"""A long Gemini chat log: an append-only log of records with the keys the host writes, words and sizes drawn from a fixed seed.

A tool's result stands in the model's record, twice, and again in a record that looks like a person's.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Iterator
from typing import Any

from _words import Words

STEPS = (1, 4)
ANSWER = (2, 14)
OUTPUT_CHARS = (8.2, 1.0, 48_000)
SHOWS_SECRET = 0.01
MODEL = "gemini-2.5-flash"


def write(path: pathlib.Path, session: str, cwd: str, size: int) -> int:
    """Write about `size` bytes, whole turns, with the file that names the project beside it; gives the number of records."""
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent.parent / ".project_root").write_text(cwd, "utf-8")
    records = 0
    with path.open("wb") as file:
        for record, is_end in _Log(session, cwd, size).records():
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            records += 1
            if is_end and file.tell() >= size:
                break
    return records


class _Log(Words):
    def __init__(self, session: str, cwd: str, size: int) -> None:
        super().__init__(size)
        self._session, self._cwd = session, cwd

    def records(self) -> Iterator[tuple[dict[str, Any], bool]]:
        """(record, whether a turn ends with it) without end."""
        digest = hashlib.sha256(self._cwd.encode()).hexdigest()
        at = self.moment()
        yield {"sessionId": self._session, "projectHash": digest, "startTime": at, "lastUpdated": at, "kind": "main"}, False
        while True:
            for record in self._turn():
                self.written += len(json.dumps(record))
                yield record, False
            yield {"$set": {"lastUpdated": self.moment()}}, True

    def _turn(self) -> Iterator[dict[str, Any]]:
        yield self._message("user", [{"text": self.sentences(1, 5)}])
        for number in range(self.random.randint(*STEPS)):
            call = f"run_shell_command__{self.id()}_{number}"
            told = self.output(OUTPUT_CHARS, SHOWS_SECRET)
            response = {"functionResponse": {"id": call, "name": "run_shell_command", "response": {"output": told}}}
            used = {"id": call, "name": "run_shell_command", "args": {"command": f"pytest -k {self.word()}"}, "result": [response]}
            used |= {"status": "success", "timestamp": self.moment(), "resultDisplay": told, "displayName": "Shell"}
            yield self._message("gemini", self.sentences(1, 2), toolCalls=[used], thoughts=[], model=MODEL)
            yield self._message("user", [response])
        yield self._message("gemini", self.sentences(*ANSWER), thoughts=[], tokens={"input": 12_993, "output": 12}, model=MODEL)

    def _message(self, kind: str, content: object, **more: object) -> dict[str, Any]:
        return {"id": self.id(), "timestamp": self.moment(), "type": kind, "content": content, **more}
