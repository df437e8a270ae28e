"""The recorded sessions of Codex CLI as recordings of the scenario suite."""

from __future__ import annotations

from pathlib import PurePosixPath

from afl_core.testing.conformance.recording import Hook, Recording, Texts, Thread
from afl_core.testing.recorded import RECORDED_HOME
from afl_core.testing.recorded_codex import RecordedCodex


def codex_recording(name: str, **words: Texts) -> Recording:
    """The scene `name`: its hooks and all of its rollouts; `words` as the scenario's rule asks. KitError for an unknown name.

    A rollout that only a subagent's hooks name is nobody's session.
    """
    places, steps = RecordedCodex.scene(name)
    rollouts = {path: RecordedCodex.scene_rollout(file) for file, path in places.items()}
    hooks: list[Hook] = []
    threads: dict[Thread, None] = {}
    for step in steps:
        payload = step["stdin"]
        path = str(PurePosixPath(payload["transcript_path"]).relative_to(RECORDED_HOME.as_posix()))
        if path in rollouts and "agent_id" not in payload:
            threads[Thread(payload["session_id"], path)] = None
        sizes = {each: _bytes_of(rollouts[each], lines) for each, lines in step["lines"].items()}
        hooks.append(Hook(payload["hook_event_name"], payload, int(step["t"] * 1000), sizes))
    return Recording(str(RECORDED_HOME), rollouts, tuple(threads), tuple(hooks), words)


def _bytes_of(data: bytes, lines: int) -> int:
    return len(b"".join(data.splitlines(keepends=True)[:lines]))
