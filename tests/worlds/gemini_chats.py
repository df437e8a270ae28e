"""A chat log as the host writes it: messages, their newer versions, cuts, and the ways in which it repeats itself. Loaded by path."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import attrs

from afl_core.model.observation import Compacted, ContextShown, Cut, Rewound, Said, Speaker, ToolCalled, ToolReturned
from afl_core.spec.host import Line
from afl_providers_gemini.host import GeminiHost

OPENING = "<session_context>\nThis is the Gemini CLI.\n</session_context>"
START_MS = 1_796_023_000_000


def lines_of(log):
    lines, offset = [], 0
    for data in log.splitlines(keepends=True):
        lines.append(Line(offset, data.removesuffix(b"\n")))
        offset += len(data)
    return lines


def tell(observation):
    """An observation as a line: who said what, or what happened."""
    match observation:
        case Said(speaker=Speaker.PERSON):
            mark = "steering " if observation.steering else "rejecting " if observation.rejects else ""
            return f"person {mark}{observation.text}"
        case Said():
            return f"{observation.speaker.value} {observation.text}"
        case ToolCalled():
            return f"calls {observation.name}"
        case ToolReturned():
            told = [
                "error" if observation.is_error else "ok",
                observation.exit_code,
                observation.denial.value if observation.denial.value != "none" else None,
            ]
            return " ".join(["returns", *(str(one) for one in told if one is not None)])
        case Cut():
            return "cut"
        case Rewound():
            return "goes back"
        case Compacted():
            return "compacted"
        case ContextShown():
            return f"shown {observation.text}"


def persons(observations):
    return [one.text for one in observations if isinstance(one, Said) and one.speaker is Speaker.PERSON]


@attrs.define
class Chat:
    """A log under construction: what was written, the history the host would send, and a clock in ms."""

    log: bytes = b""
    history: list = attrs.field(factory=list)
    now: int = START_MS
    count: int = 0

    def write(self, record):
        self.log += json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        return self

    def stamp(self):
        return datetime.fromtimestamp(self.now / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def touch(self):
        return self.write({"$set": {"lastUpdated": self.stamp()}})

    def message(self, kind, content, *, after=5_000, **fields):
        self.now += after
        self.count += 1
        record = {"id": f"id-{self.count}", "timestamp": self.stamp(), "type": kind, "content": content, **fields}
        self.write(record)
        return record

    def header(self, session="s-1", kind="main"):
        self.write({"sessionId": session, "projectHash": "h", "startTime": self.stamp(), "lastUpdated": self.stamp(), "kind": kind})
        self.history = self.history or [{"role": "user", "parts": [{"text": OPENING}]}]
        return self.resync()

    def person(self, *texts, after=5_000, kept=True, **fields):
        parts = [{"text": text} for text in texts]
        self.message("user", parts, after=after, **fields)
        if kept:
            self.history.append({"role": "user", "parts": parts})
        return self.touch()

    def agent(self, text, *calls, kept=True):
        record = self.message("gemini", text, thoughts=[{"subject": "never", "description": "read this"}], model="m")
        self.touch()
        if calls:
            self.write({**record, "toolCalls": [{**call, "timestamp": self.stamp()} for call in calls]})
        if kept:
            self.history.append({"role": "model", "parts": [{"text": text}]})
        return self

    def cancelled(self):
        self.message("info", "Request cancelled.", after=700)
        return self.touch()

    def resync(self):
        messages = []
        for turn in self.history:
            self.count += 1
            messages.append(
                {
                    "id": f"id-{self.count}",
                    "timestamp": self.stamp(),
                    "type": "user" if turn["role"] == "user" else "gemini",
                    "content": turn["parts"],
                }
            )
        return self.write({"$set": {"messages": messages, "lastUpdated": self.stamp()}})

    def cut(self):
        """Escape while the agent writes: its prompt leaves the history."""
        self.cancelled()
        return self.resync()

    def rejected(self, *, opening=True):
        """The only call of a reply is refused: the history is written as records, user turns that meet becoming one, then set."""
        self.cancelled()
        if not opening:
            self.history = [turn for turn in self.history if turn["parts"][0].get("text") != OPENING]
        joined = []
        for turn in self.history:
            if joined and joined[-1]["role"] == turn["role"]:
                joined[-1] = {"role": turn["role"], "parts": [*joined[-1]["parts"], *turn["parts"]]}
            else:
                joined.append(turn)
        for turn in joined:
            kind = {} if turn["role"] == "user" else {"thoughts": [], "tokens": None}
            self.message("user" if turn["role"] == "user" else "gemini", turn["parts"], after=1, **kind)
            self.touch()
        self.history = joined
        return self.resync()

    def resumed(self):
        self.now += 60_000
        self.write({"sessionId": "s-1", "projectHash": "h", "startTime": self.stamp(), "lastUpdated": self.stamp(), "kind": "main"})
        self.write({"$set": {"messages": [{"id": "d", "timestamp": self.stamp(), "type": "user", "content": [{"text": OPENING}]}]}})
        self.write({"$set": {"sessionId": "s-1"}})
        return self.resync()

    def compressed(self, summary="<state_snapshot>all of it</state_snapshot>", kept=2):
        thanks = {"role": "model", "parts": [{"text": "Got it. Thanks for the additional context!"}]}
        self.history = [self.history[0], {"role": "user", "parts": [{"text": summary}]}, thanks, *self.history[len(self.history) - kept :]]
        return self.resync()

    def observations(self, state=None):
        return GeminiHost().parse(lines_of(self.log), state or {})[0]

    def told(self):
        return [tell(one) for one in self.observations()]


def call(call_id, name="read_file", output="ok", status="success", args=None, error=None, **fields):
    response = {"error": error} if error is not None else {"output": output}
    result = [{"functionResponse": {"id": call_id, "name": name, "response": response}}]
    return {"id": call_id, "name": name, "args": args or {}, "result": result, "status": status, **fields}
