"""The ways in which a scenario can reach capture: hooks and transcript together, each without the other at first, and the file in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from afl_core.store.connection import writing
from afl_core.store.deliveries import Emission, emitted
from afl_core.store.sessions import session_id_of
from afl_core.testing.conformance.outcome import Outcome, outcome
from afl_core.testing.conformance.recording import Hook, Recording
from afl_core.testing.world import World

NONCE = "nonce="
NONCE_CHARS = 16

WAIT_MS = 10 * 60_000
"""Longer than any grace that capture gives a late transcript."""


@attrs.define
class Play:
    """One scenario played into one world."""

    world: World
    recording: Recording

    @property
    def folder(self) -> Path:
        """Where the host's home is in this world."""
        return Path(self.world.root) / "host"

    def path(self, name: str) -> Path:
        """A transcript's place."""
        return self.folder / name

    def ids(self) -> list[str]:
        """Our ids of the sessions, in the order in which they began."""
        return list(dict.fromkeys(session_id_of(self.world.adapter.name, thread.native_id) for thread in self.recording.threads))

    def grow(self, sizes: Mapping[str, int]) -> None:
        """Let the transcripts be as long as they were then."""
        for name, size in sizes.items():
            grow_to(self.path(name), self.recording.transcripts[name][:size])

    def take(self, hook: Hook) -> None:
        """Let the front take one hook at its time."""
        self.world.now = hook.at_ms
        self.world.take(hook.event, _moved(hook.payload, self.recording.home, str(self.folder)))

    def plant(self, at_ms: int) -> None:
        """Record a card as given, under the nonce that the recorded context shows. Nothing when the scenario injects nothing."""
        context = "".join(self.recording.texts("context")) if "context" in self.recording.words else ""
        start = context.find(NONCE) + len(NONCE)
        if start >= len(NONCE):
            nonce = context[start : start + NONCE_CHARS]
            with writing(self.world.db):
                emitted(self.world.db, [Emission("kit", 1, self.ids()[0], 1, nonce, "kit", "{}", at_ms)])

    def read(self) -> None:
        """Read every transcript that is there, each as its session's."""
        for thread in self.recording.threads:
            if self.path(thread.path).exists():
                session_id = session_id_of(self.world.adapter.name, thread.native_id)
                self.world.session(self.path(thread.path), session_id)
                self.world.absorb(session_id)

    def absorb(self) -> None:
        """Bring the sessions that are known up to date, by what hooks said of their transcripts."""
        for session_id in self.ids():
            self.world.absorb(session_id)

    def end(self) -> Outcome:
        """Let all of it lie on disk, read it, wait, read again; what is stored then."""
        self.grow({name: len(data) for name, data in self.recording.transcripts.items()})
        last = self.recording.hooks[-1].at_ms
        for later in (20, WAIT_MS):
            self.world.now = max(self.world.now, last) + later
            self.read()
        return outcome(self.world, self.ids())


def together(play: Play, *, reads: bool) -> Outcome:
    """Every hook comes, the transcripts grow beside them. `reads`: capture looks at each hook, not only at the end."""
    return _hooks(play, reads=reads, grows=True)


def hooks_first(play: Play) -> Outcome:
    """Every hook comes, but no transcript until long after: capture has to make do with what hooks say, and then learns the rest."""
    return _hooks(play, reads=True, grows=False)


def _hooks(play: Play, *, reads: bool, grows: bool) -> Outcome:
    prompts = {event.name for event in play.world.adapter.manifest().events if event.kind == "prompt"}
    planted = False
    for hook in play.recording.hooks:
        if grows:
            play.grow(hook.sizes)
        play.take(hook)
        if hook.event in prompts and not planted:
            play.plant(hook.at_ms)
            planted = True
        if reads:
            play.world.now += 20
            play.absorb()
    if not grows:
        play.world.now += WAIT_MS
        play.absorb()
    return play.end()


def alone(play: Play, *, first: int | None = None) -> Outcome:
    """No hook ever comes. `first`: so many bytes of the transcripts, one after the other, are read before the rest is there."""
    play.world.now = play.recording.hooks[-1].at_ms
    for thread in play.recording.threads:
        play.world.session(play.path(thread.path), session_id_of(play.world.adapter.name, thread.native_id))
    play.plant(play.recording.hooks[0].at_ms)
    left = first or 0
    for thread in play.recording.threads:
        size = min(left, len(play.recording.transcripts[thread.path]))
        play.grow({thread.path: size} if size else {})
        left -= size
    if first:
        play.read()
    return play.end()


def splits(play: Play) -> Iterator[int]:
    """Where the transcripts can be cut in two: behind every record that matters, and once in the middle of it."""
    before = 0
    for thread in play.recording.threads:
        at = before
        for line in play.recording.transcripts[thread.path].splitlines(keepends=True):
            if play.world.adapter.wants(line[:400]):
                yield at + len(line) // 2
                yield at + len(line)
            at += len(line)
        before = at


def grow_to(path: Path, data: bytes) -> None:
    """Append what is missing; a host never shrinks a transcript, and makes none for nothing."""
    size = path.stat().st_size if path.exists() else 0
    if len(data) > size:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as transcript:
            transcript.write(data[size:])


def _moved(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {key: _moved(item, old, new) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_moved(item, old, new) for item in value]
    return value
