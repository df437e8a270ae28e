"""Pebble, as far as tests need it: it writes talks, calls hooks, and hands over what happened as a recording."""

from __future__ import annotations

import json

from afl_core.testing.contracts.scenarios import Hook, Recording, Thread

HOME = "/home/person"
START_MS = 1_796_000_000_000
STEP_MS = 1_000


class Talk:
    """One talk with the agent. Every record is a second after the one before."""

    def __init__(self, pebble: Pebble, name: str, copied: bytes = b"") -> None:
        self.pebble, self.name, self.path = pebble, name, f".pebble/talks/{name}.jsonl"
        self.turn = ""
        pebble.files[self.path] = copied
        if not copied:
            self.write("talk", folder=f"{HOME}/project")

    @property
    def file(self) -> bytes:
        """What is written so far."""
        return self.pebble.files[self.path]

    def write(self, kind: str, **fields: object) -> None:
        """Add one record."""
        record = {"kind": kind, "id": self.pebble.new_id(), "at": self.pebble.tick(), "turn": self.turn, **fields}
        self.pebble.files[self.path] += json.dumps(record).encode() + b"\n"

    def hook(self, event: str, **fields: object) -> None:
        """Call the hooks of an event."""
        payload = {"talk": self.name, "file": f"{HOME}/{self.path}", "folder": f"{HOME}/project", **fields}
        sizes = {path: len(data) for path, data in self.pebble.files.items()}
        self.pebble.hooks.append(Hook(event, payload, self.pebble.tick(), sizes))

    def asks(self, text: str, *, meanwhile: bool = False, added: str = "") -> Talk:
        """The person writes; Pebble runs the hooks before it files the words."""
        self.turn = self.turn if meanwhile else f"t{self.pebble.new_id()}"
        self.hook("BeforeTurn", words=text, turn=self.turn)
        if added:
            self.write("added", text=added)
        self.write("words", by="person", text=text, **({"meanwhile": True} if meanwhile else {}))
        return self

    def answers(self, text: str, *, ends: bool = True) -> Talk:
        """The agent speaks, and the turn is over unless it goes on working."""
        self.write("words", by="agent", text=text)
        if ends:
            self.hook("AfterTurn", answer=text, turn=self.turn)
        return self

    def calls(self, call: str, command: str) -> Talk:
        """The agent calls the shell."""
        self.write("call", call=call, tool="shell", input={"command": command})
        return self

    def returns(self, call: str, code: int) -> Talk:
        """The shell is done."""
        self.write("result", call=call, code=code, text="it is done" if code == 0 else "it is broken", took=20)
        return self

    def does(self, kind: str, **fields: object) -> Talk:
        """Anything else that Pebble notes."""
        self.write(kind, **fields)
        return self


class Pebble:
    """One home of Pebble's, its clock and its hooks."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.hooks: list[Hook] = []
        self.talks: list[Talk] = []
        self._ids = 0
        self._now = START_MS

    def new_id(self) -> str:
        """A fresh id."""
        self._ids += 1
        return f"r{self._ids}"

    def tick(self) -> int:
        """A moment later."""
        self._now += STEP_MS
        return self._now

    def talk(self, name: str = "one", because: str = "new", copied: bytes = b"") -> Talk:
        """Begin a talk, or one that goes on from copied records."""
        talk = Talk(self, name, copied)
        self.talks.append(talk)
        talk.hook("TalkStart", because=because)
        return talk

    def recording(self, **words: str) -> Recording:
        """Everything it left."""
        threads = tuple(Thread(talk.name, talk.path) for talk in self.talks)
        return Recording(HOME, dict(self.files), threads, tuple(self.hooks), words)
