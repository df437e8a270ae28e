"""A long Claude Code transcript made of recorded records: their shapes are the host's own, their words and sizes are drawn from a fixed seed.

A third of the bytes are records that are never evidence (the requests the host keeps a copy of). What tools print are lines of the standard
library's source; a tool's result stands twice in its record, as the host writes it.
"""

from __future__ import annotations

import copy
import json
import pathlib
import random
import sysconfig
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

from afl_core.testing.recorded import Recorded

SEED = 20_240_229
LASTED_S = 7_200
"""The session ends now and began this long ago."""

STEPS_A_TURN = (2, 12)
RESULT_CHARS = (7.6, 1.3, 48_000)
"""Of a tool's output: mean and deviation of the logarithm, and the most."""

FAILS = 0.1
SHOWS_SECRET = 0.01
"""How often a tool prints a credential; from then on the session's words are compared with it."""

INTERRUPTED = 0.04
MODULES = ("argparse", "ast", "asyncio/base_events", "configparser", "dataclasses", "difflib", "email/message", "inspect", "json/decoder", "locale", "shutil", "tarfile", "typing")  # fmt: skip
WORDS = """
    the a this that we it tests test function module file class value error result call request response handler parser config
    build cache reads writes returns raises fails passes now before after because when while only first last new old same other
    should must can will rename remove add change move check run look fix keep use instead in on of to from with without for and
    but so then also still
    """.split()  # noqa: SIM905 - a list literal of a hundred words is not readable


def write(path: pathlib.Path, session: str, cwd: str, size: int) -> int:
    """Write about `size` bytes of transcript, whole turns; gives the number of records."""
    records = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for record in _Session(session, cwd, size).records():
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            records += 1
            if record["type"] == "last-prompt" and file.tell() >= size:
                break
    return records


class _Session:
    def __init__(self, session: str, cwd: str, size: int) -> None:
        self._random = random.Random(SEED)
        self._session, self._cwd, self._size = session, cwd, size
        self._written = 0
        self._began = time.time() - LASTED_S
        self._parent: str | None = None
        self._lines = _source_lines()
        self._shapes = _shapes()

    def records(self) -> Iterator[dict]:
        """Turn after turn, without end."""
        while True:
            yield from self._turn()

    def _turn(self) -> Iterator[dict]:
        prompt, turn = self._sentences(1, 5), self._id()
        yield self._record("prompt", promptId=turn, message={"role": "user", "content": prompt})
        yield from self._request(prompt)
        for _step in range(self._random.randint(*STEPS_A_TURN)):
            yield from self._step(turn)
        if self._random.random() < INTERRUPTED:
            yield self._record("interrupted", promptId=turn)
        else:
            yield self._said(self._sentences(2, 14))
        yield self._record("last-prompt", lastPrompt=prompt, leafUuid=self._parent)

    def _step(self, turn: str) -> Iterator[dict]:
        if self._random.random() < 0.6:
            yield self._said(self._sentences(1, 4))
        call, name, given = "toolu_" + self._id()[:24], *self._input()
        use = {"type": "tool_use", "id": call, "name": name, "input": given}
        yield self._answered([use])
        told = self._output()
        is_error = self._random.random() < FAILS
        result = {"tool_use_id": call, "type": "tool_result", "content": f"Exit code 1\n{told}" if is_error else told, "is_error": is_error}
        raw = f"Error: Exit code 1\n{told}" if is_error else {"stdout": told, "stderr": "", "interrupted": False, "isImage": False}
        yield self._record("result", promptId=turn, message={"role": "user", "content": [result]}, toolUseResult=raw)
        yield from self._request(json.dumps(given) + told)

    def _input(self) -> tuple[str, dict[str, str]]:
        kind = self._random.random()
        if kind < 0.5:
            return "Bash", {
                "command": f"python -m pytest -q tests/test_{self._word()}.py -k {self._word()}",
                "description": self._sentences(1, 1),
            }
        path = f"{self._cwd}/src/{self._word()}/{self._word()}.py"
        if kind < 0.75:
            return "Read", {"file_path": path}
        old, new = self._source(self._random.randint(80, 1_500)), self._source(self._random.randint(80, 2_500))
        return "Edit", {"file_path": path, "old_string": old, "new_string": new}

    def _output(self) -> str:
        mean, deviation, most = RESULT_CHARS
        text = self._source(min(most, int(self._random.lognormvariate(mean, deviation))))
        return f"API_TOKEN={self._random.getrandbits(160):040x}\n{text}" if self._random.random() < SHOWS_SECRET else text

    def _said(self, text: str) -> dict:
        return self._answered([{"type": "text", "text": text}])

    def _answered(self, content: list[dict]) -> dict:
        message = {**self._shapes["assistant"]["message"], "id": "msg_" + self._id()[:20], "content": content}
        return self._record("assistant", message=message)

    def _request(self, text: str) -> Iterator[dict]:
        yield self._record("api-request", id=self._id())
        yield self._record("api-request-blob", hash=self._id() * 2, message={"role": "user", "content": [{"type": "text", "text": text}]})

    def _record(self, shape: str, **fields: object) -> dict:
        record = copy.copy(self._shapes[shape])
        record.update(fields)
        record["sessionId"] = self._session
        if "cwd" in record:
            record["cwd"] = self._cwd
        if "uuid" in record:
            record["parentUuid"], record["uuid"] = self._parent, self._id()
            self._parent = record["uuid"]
        if "timestamp" in record:
            record["timestamp"] = self._moment()
        self._written += len(json.dumps(fields)) + 600
        return record

    def _moment(self) -> str:
        """Time goes on evenly with what is written."""
        at = self._began + LASTED_S * min(1.0, self._written / (1.15 * self._size))
        return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _id(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def _word(self) -> str:
        return self._random.choice(WORDS)

    def _sentences(self, least: int, most: int) -> str:
        made = (" ".join(self._random.choices(WORDS, k=self._random.randint(5, 22))) for _ in range(self._random.randint(least, most)))
        return " ".join(one[0].upper() + one[1:] + "." for one in made)

    def _source(self, size: int) -> str:
        start = self._random.randrange(len(self._lines))
        found: list[str] = []
        length = 0
        for line in [*self._lines[start:], *self._lines]:
            found.append(line)
            length += len(line) + 1
            if length >= size:
                break
        return "\n".join(found)[:size]


def _source_lines() -> list[str]:
    library = pathlib.Path(sysconfig.get_paths()["stdlib"])
    return [line for name in MODULES for line in (library / f"{name}.py").read_text("utf-8").splitlines()]


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
