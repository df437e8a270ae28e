"""A long Codex rollout: the records of a turn with the keys the host writes, words and sizes drawn from a fixed seed.

What a command printed stands twice, as the host's own item and as what the model gets; an answer three times. Thinking is sealed by the vendor.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from _words import Words

TOOL_STEPS = (2, 5)
TOOL_ANSWER = (1, 6)
CHAT_STEPS = (0, 1)
CHAT_ANSWER = (40, 80)
OUTPUT_CHARS = (8.9, 0.9, 48_000)
CHAT_OUTPUT_CHARS = (7.6, 1.0, 48_000)
"""Where people mostly talk, commands look something up. What a build prints would outweigh the talk, since it stands there twice."""

FAILS = 0.1
SHOWS_SECRET = 0.01
INTERRUPTED = 0.03


def write(path: pathlib.Path, session: str, cwd: str, size: int, *, chat: bool = False) -> int:
    """Write about `size` bytes, whole turns; gives the number of records. `chat`: mostly talk, few commands."""
    made = _Rollout(session, cwd, size, chat=chat)
    path.parent.mkdir(parents=True, exist_ok=True)
    records = 0
    with path.open("wb") as file:
        for record in made.records():
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            records += 1
            if record["payload"].get("type") in ("task_complete", "turn_aborted") and file.tell() >= size:
                break
    return records


class _Rollout(Words):
    def __init__(self, session: str, cwd: str, size: int, *, chat: bool) -> None:
        super().__init__(size)
        self._session, self._cwd, self._ordinal = session, cwd, -1
        self._steps, self._answer = (CHAT_STEPS, CHAT_ANSWER) if chat else (TOOL_STEPS, TOOL_ANSWER)
        self._output = CHAT_OUTPUT_CHARS if chat else OUTPUT_CHARS
        self._turn = ""

    def records(self) -> Iterator[dict[str, Any]]:
        """The header, then turn after turn without end."""
        meta = {"session_id": self._session, "id": self._session, "timestamp": self.moment(), "cwd": self._cwd, "originator": "codex_tui"}
        meta |= {"cli_version": "0.171.0", "source": "cli", "thread_source": "user", "history_mode": "paginated"}
        yield self._record("session_meta", {**meta, "base_instructions": {"text": self.sentences(150, 150)}})
        while True:
            yield from self._one_turn()

    def _one_turn(self) -> Iterator[dict[str, Any]]:
        self._turn = self.id()
        ident = {"turn_id": self._turn, "root_turn_id": self._turn}
        yield self._event("task_started", **ident, started_at=int(self.began), model_context_window=258_400)
        yield self._record("turn_context", {**ident, "cwd": self._cwd, "approval_policy": "never", "model": "gpt-5.5", "summary": "none"})
        prompt = self.sentences(1, 5)
        yield self._message("user", [{"type": "input_text", "text": prompt}], ["user.text"], [{"provenance": {"type": "user"}}])
        yield self._item({"type": "UserMessage", "id": self.id(), "content": [{"type": "text", "text": prompt, "text_elements": []}]})
        for _ in range(self.random.randint(*self._steps)):
            yield from self._step()
        if self.random.random() < INTERRUPTED:
            text = "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>"
            kinds = [{"provenance": {"type": "harness", "hook": False}}]
            yield self._message("user", [{"type": "input_text", "text": text}], ["generic.turn_aborted"], kinds)
            yield self._event("turn_aborted", turn_id=self._turn, reason="interrupted")
            return
        answer = self.sentences(*self._answer)
        yield self._item({"type": "AgentMessage", "id": self.id(), "content": [{"type": "Text", "text": answer}]})
        yield self._message("assistant", [{"type": "output_text", "text": answer, "annotations": []}], ["unknown"], [])
        yield self._event("task_complete", **ident, last_agent_message=answer, duration_ms=4996)

    def _step(self) -> Iterator[dict[str, Any]]:
        sealed = f"{self.random.getrandbits(12_000):0{3000}x}"
        yield self._record(
            "response_item", {"type": "reasoning", "id": self.id(), "summary": [], "content": None, "encrypted_content": sealed}
        )
        call, command = "call_" + self.id()[:24], f"python -m pytest -q tests/test_{self.word()}.py -k {self.word()}"
        arguments = json.dumps({"cmd": command, "workdir": self._cwd})
        given = {"type": "function_call", "status": "completed", "id": self.id(), "name": "exec_command"}
        yield self._record("response_item", {**given, "arguments": arguments, "call_id": call, **self._passed()})
        told, failed = self.output(self._output, SHOWS_SECRET), self.random.random() < FAILS
        ran = {"type": "CommandExecution", "id": call, "command": ["/bin/bash", "-lc", command], "cwd": f"file://{self._cwd}"}
        ran |= {"status": "failed" if failed else "completed", "aggregated_output": told, "exit_code": int(failed)}
        yield self._item({**ran, "duration": {"secs": 0, "nanos": 35_416}})
        shown = f"Chunk ID: 81898d\nWall time: 0.0000 seconds\nProcess exited with code {int(failed)}\nOutput:\n{told}"
        returned = {"type": "function_call_output", "id": self.id(), "call_id": call, "output": shown}
        yield self._record("response_item", {**returned, **self._passed()})
        used = {"input_tokens": 100_000, "cached_input_tokens": 90_000, "output_tokens": 400, "total_tokens": 100_400}
        yield self._record("token_usage_record", {"thread_id": self._session, "turn_id": self._turn, "usage": used, "model": "gpt-5.5"})
        yield self._event("token_count", info={"total_token_usage": used, "last_token_usage": used})

    def _message(self, role: str, content: list[dict], kinds: list[str], metadata: list[dict]) -> dict[str, Any]:
        body = {"type": "message", "id": "msg_" + self.id(), "role": role, "content": content}
        passed = {"turn_id": self._turn, "content_item_kinds": kinds, "content_item_metadata": metadata}
        return self._record("response_item", {**body, "internal_chat_message_metadata_passthrough": passed})

    def _passed(self) -> dict[str, Any]:
        return {"internal_chat_message_metadata_passthrough": {"turn_id": self._turn}}

    def _item(self, item: dict[str, Any]) -> dict[str, Any]:
        return self._event("item_completed", thread_id=self._session, turn_id=self._turn, item=item)

    def _event(self, kind: str, **payload: object) -> dict[str, Any]:
        return self._record("event_msg", {"type": kind, **payload})

    def _record(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        self._ordinal += 1
        self.written += sum(len(str(value)) for value in payload.values()) + 200
        return {"timestamp": self.moment(), "ordinal": self._ordinal, "type": kind, "payload": payload}


def name(session: str, began: float) -> str:
    """Where the host keeps it, below its own directory."""
    at = datetime.fromtimestamp(began)  # noqa: DTZ006 - the host names it by the local time
    return f"sessions/{at:%Y/%m/%d}/rollout-{at:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"
