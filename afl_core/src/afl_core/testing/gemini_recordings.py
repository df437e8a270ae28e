"""The recorded sessions of Gemini CLI as recordings of the scenario suite."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from afl_core.testing.conformance.recording import Hook, Recording, Texts, Thread
from afl_core.testing.recorded import RECORDED_HOME
from afl_core.testing.recorded_gemini import RecordedGemini, lines_until, seconds


def gemini_recording(name: str, *, only: str = "", **words: Texts) -> Recording:
    """The sequence `name` and its chat logs. KitError for an unknown name. `only`: the chat log whose session alone is told of."""
    steps = RecordedGemini.sequence(name)
    logs = {chat: RecordedGemini.chat(chat) for chat in RecordedGemini.names("chats")}
    sessions = {chat: json.loads(data.splitlines()[0])["sessionId"] for chat, data in logs.items()}
    steps = [step for step in steps if not only or step["session_id"] == sessions[only]]
    paths = {step["session_id"]: str(PurePosixPath(step["transcript_path"]).relative_to(RECORDED_HOME.as_posix())) for step in steps}
    files = {paths[session]: logs[chat] for chat, session in sessions.items() if session in paths}
    hooks: list[Hook] = []
    sizes: dict[str, int] = {}
    threads: dict[Thread, None] = {}
    for step in steps:
        path, at = paths[step["session_id"]], seconds(step["timestamp"])
        if path in files:
            threads[Thread(step["session_id"], path)] = None
            lines = files[path].splitlines(keepends=True)
            sizes[path] = max(sizes.get(path, 0), len(b"".join(lines[: lines_until(lines, at)])))
        hooks.append(Hook(step["hook_event_name"], step, int(at * 1000), dict(sizes)))
    return Recording(str(RECORDED_HOME), files, tuple(threads), tuple(hooks), words)
