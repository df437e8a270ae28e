"""What the hook and the front must know of Pebble, as data."""

from __future__ import annotations

from afl_core.spec.host import CONTEXT_SLOT, HookEvent, HostManifest

NAME = "pebble"

MACHINE_PREFIX = "[pebble] "
"""Pebble's own notes, which it files as if the person had written them, begin with this."""

EVENTS = (
    HookEvent("BeforeTurn", kind="prompt", timeout_s=5, injects=True),
    HookEvent("AfterTurn", kind="stop", timeout_s=5),
    HookEvent("TalkStart", kind="session_start", timeout_s=5, injects=True),
    HookEvent("TalkEnd", kind="session_end", timeout_s=5),
)

MANIFEST = HostManifest(
    name=NAME,
    label="Pebble",
    events=EVENTS,
    fields={
        "session": "talk",
        "turn": "turn",
        "cwd": "folder",
        "transcript": "file",
        "prompt": "words",
        "answer": "answer",
        "source": "because",
        "reason": "because",
    },
    envelope={event.name: {"add": {"text": CONTEXT_SLOT}} for event in EVENTS if event.injects},
    noop="{}",
    limit_chars=8_000,
    limit_bytes=None,
    machine_prefixes=(MACHINE_PREFIX,),
    compaction_sources=("shortened",),
    routing_env=("PEBBLE_HOME", "PATH", "LANG"),
)
