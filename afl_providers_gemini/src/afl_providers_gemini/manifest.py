"""What the hook and the front must know of Gemini CLI, as data: events, payload fields, reply envelope, limits, names it is routed by."""

from __future__ import annotations

from typing import Any

from afl_core.spec.host import CONTEXT_SLOT, NETWORK_ENV, HookEvent, HostManifest

NAME = "gemini"
LABEL = "Gemini CLI"

EVENTS = (
    HookEvent("BeforeAgent", kind="prompt", timeout_s=5, injects=True),
    HookEvent("AfterAgent", kind="stop", timeout_s=5),
    # Never injects: the host ignores the text after /clear, and a headless session that got one loses its first prompt when it is resumed.
    HookEvent("SessionStart", kind="session_start", timeout_s=5),
    # Comes twice at an interactive end, and not at all after a kill.
    HookEvent("SessionEnd", kind="session_end", timeout_s=2),
)

FIELDS = {
    "session": "session_id",
    "cwd": "cwd",
    "transcript": "transcript_path",
    "prompt": "prompt",
    "source": "source",
    "reason": "reason",
}
"""No answer: what AfterAgent sends repeats the pieces of a streamed reply, so the reply is read from the chat log alone. No turn: no payload names one."""

NOOP = "{}"

LIMIT_CHARS = 16_000
"""The host has no limit (200,000 characters went through), but what is injected stays in the history and is sent again with every request."""

SESSION_CONTEXT = "<session_context>"
STATE_SNAPSHOT = "<state_snapshot>"
HOOK_CONTEXT = ("<hook_context>", "</hook_context>")

HOOK_NAME = "agent-feedback-loop"
"""What the host shows while our hook runs; without a name it shows the whole command. A person can switch our hooks off by it."""

PREPENDED = (HOOK_CONTEXT,)

APPENDED = (
    ("\n--- Content from referenced files ---", "\n--- End of content ---"),
    ("\n<system_note>\nThe user has explicitly selected the following agent(s): ", "</system_note>\n"),
)
"""What the host writes behind a prompt that names files or agents with `@`."""

MACHINE_PREFIXES = (SESSION_CONTEXT, STATE_SNAPSHOT, HOOK_CONTEXT[0], "System: Potential loop detected")
"""What the host may send as a prompt and nobody typed."""

ROUTING_ENV = (
    # where the host keeps its login and settings
    "GEMINI_CLI_HOME",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    # which service answers
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_VERTEX_BASE_URL",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_PROJECT_ID",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GEMINI_MODEL",
    # how it is reached
    *NETWORK_ENV,
    # where commands are and how text is written
    "PATH",
    "LANG",
)
"""Directories, addresses, projects, regions, proxies and certificates. A key, token or secret is none of these: it passes only when the person's own allowlist names it."""


def envelope(event: str) -> dict[str, Any]:
    """The reply that puts text into the model's context. The host does not ask for the event's name; it is given for whoever reads the log."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": CONTEXT_SLOT}}


MANIFEST = HostManifest(
    name=NAME,
    label=LABEL,
    events=EVENTS,
    fields=FIELDS,
    envelope={event.name: envelope(event.name) for event in EVENTS if event.injects},
    noop=NOOP,
    limit_chars=LIMIT_CHARS,
    limit_bytes=None,
    machine_prefixes=MACHINE_PREFIXES,
    compaction_sources=(),
    routing_env=ROUTING_ENV,
    timeout_unit_ms=1,
    own_shell=False,
    comments=True,
    prepended=PREPENDED,
    appended=APPENDED,
    rewrites_settings=True,
    entry={"name": HOOK_NAME},
    switches={"hooksConfig.enabled": False},
)
