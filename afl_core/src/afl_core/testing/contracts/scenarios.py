"""What people do to agents, as a suite over the whole of capture: subclass `HostScenarios`, return your recordings from `recording`.

Every scenario is played into a real home (store, vault, redaction, front, jobs) in every way it can be seen: with hooks, without, with the
transcript late, and with the file cut in two at every place. What is stored must be the same each time, and what the scenario's rule says
(`conformance/rules.py`).
"""

from __future__ import annotations

import abc
import atexit
import functools
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest

from afl_core.plugins.discovery import Found, discover
from afl_core.spec.transcripts import FindsTranscripts
from afl_core.testing.conformance import ways
from afl_core.testing.conformance.outcome import Outcome, judge
from afl_core.testing.conformance.recording import CannotTell, Hook, Recording, Thread
from afl_core.testing.conformance.rules import RULES
from afl_core.testing.world import World

__all__ = ["RULES", "CannotTell", "Hook", "HostScenarios", "Recording", "Thread"]

MIN_REASON_CHARS = 15
"""A shorter reason explains nothing."""

WAYS: dict[str, Callable[[ways.Play], Outcome]] = {
    "hooks and transcript, read at every hook": functools.partial(ways.together, reads=True),
    "hooks and transcript, read at the end": functools.partial(ways.together, reads=False),
    "hooks first, the transcript long after": ways.hooks_first,
}
"""Beside the transcript alone, which is what these are compared with."""


class HostScenarios(abc.ABC):
    """The suite. A class that takes time to make its recordings keeps them itself: `recording` is asked once for each test."""

    host: ClassVar[str]
    """The name the adapter registers."""

    @abc.abstractmethod
    def recording(self, scenario: str) -> Recording | CannotTell:
        """What the host left of a scenario, or why it has no such thing."""

    def plugins(self) -> Sequence[Found]:
        """The plug-ins of the world: your adapter, and at least one redactor. By default those that are installed."""
        return discover(None)

    # the suite

    @pytest.mark.parametrize("scenario", RULES)
    def test_the_transcript_alone_tells_what_the_rule_says(self, scenario: str) -> None:
        """A hook that was missed costs no evidence."""
        if (recording := self._told(scenario)) is not None:
            judge(RULES[scenario], recording, self._played(recording, ways.alone))

    @pytest.mark.parametrize("way", WAYS)
    @pytest.mark.parametrize("scenario", RULES)
    def test_hooks_tell_the_same_as_the_transcript_alone(self, scenario: str, way: str) -> None:
        """The same events, signals, queue, epochs and proofs, whoever saw it first."""
        if (recording := self._told(scenario)) is not None:
            found = self._played(recording, WAYS[way])
            judge(RULES[scenario], recording, found)
            assert attrs.asdict(found) == attrs.asdict(self._played(recording, ways.alone))

    @pytest.mark.parametrize("scenario", RULES)
    def test_the_transcript_in_two_pieces_tells_the_same_as_in_one(self, scenario: str) -> None:
        """Wherever the first reading ends."""
        if (recording := self._told(scenario)) is not None:
            whole = self._played(recording, ways.alone)
            for first in self._splits(recording):
                found = self._played(recording, functools.partial(ways.alone, first=first))
                assert attrs.asdict(found) == attrs.asdict(whole), f"cut behind byte {first}"

    @pytest.mark.parametrize("scenario", RULES)
    def test_every_hook_is_an_event_of_the_manifest_or_one_the_host_was_not_asked_for(self, scenario: str) -> None:
        """At least one prompt of every recording is one the adapter registers."""
        if (recording := self._told(scenario)) is not None:
            with self._world() as world:
                prompts = {event.name for event in world.adapter.manifest().events if event.kind == "prompt"}
            assert [hook for hook in recording.hooks if hook.event in prompts]

    @pytest.mark.parametrize("scenario", RULES)
    def test_an_adapter_that_finds_transcripts_knows_whose_they_are(self, scenario: str, tmp_path: Path) -> None:
        """Each file that is to be read by its session's id, every other as no person's."""
        if (recording := self._told(scenario)) is None:
            return
        with self._world() as world:
            adapter = world.adapter
        if isinstance(adapter, FindsTranscripts):
            play = ways.Play(world, recording)
            read = {thread.path: thread.native_id for thread in recording.threads}
            for name, data in recording.transcripts.items():
                found = adapter.identify(play.path(name), data[: 64 * 1024], lambda _name: None)
                assert (found.native_id if found and found.by_person else None) == read.get(name), name

    # how it is run

    def _told(self, scenario: str) -> Recording | None:
        told = self.recording(scenario)
        if isinstance(told, CannotTell):
            assert RULES[scenario].optional, f"every host has this: {RULES[scenario].story}"
            assert len(told.reason) >= MIN_REASON_CHARS, f"{scenario}: say why the host cannot tell"
            return None
        missing = [name for name in RULES[scenario].words if name not in told.words]
        assert not missing, f"the recording of {scenario} does not name: {', '.join(missing)}"
        assert told.hooks, "a recording has the hooks, of a host that has any"
        return told

    def _played(self, recording: Recording, way: Callable[[ways.Play], Outcome]) -> Outcome:
        with self._world(recording.hooks[0].at_ms) as world:
            return way(ways.Play(world, recording))

    def _splits(self, recording: Recording) -> list[int]:
        with self._world() as world:
            return list(ways.splits(ways.Play(world, recording)))

    @contextmanager
    def _world(self, now: int = 0) -> Iterator[World]:
        """A fresh home; made by copying an empty one, for making the first takes longer than all the rest."""
        empty = _empty_home(type(self), tuple(self.plugins()), self.host)
        root = Path(tempfile.mkdtemp(prefix="afl-kit-"))
        try:
            shutil.copytree(empty, root, dirs_exist_ok=True)
            world = World(root, self.plugins(), host=self.host, now=now)
            try:
                yield world
            finally:
                world.close()
        finally:
            shutil.rmtree(root)


@functools.cache
def _empty_home(_suite: type[Any], plugins: tuple[Found, ...], host: str) -> Path:
    root = Path(tempfile.mkdtemp(prefix="afl-kit-empty-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    World(root, plugins, host=host, now=0).close()
    return root
