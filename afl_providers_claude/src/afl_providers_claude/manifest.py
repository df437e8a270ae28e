"""What the hook and the front must know of Claude Code, as data: events, payload fields, reply envelope, limits, names it is routed by."""

from __future__ import annotations

from typing import Any

from afl_core.spec.host import CONTEXT_SLOT, NETWORK_ENV, HookEvent, HostManifest

NAME = "claude"
LABEL = "Claude Code"

EVENTS = (
    HookEvent("UserPromptSubmit", kind="prompt", timeout_s=5, injects=True),
    HookEvent("Stop", kind="stop", timeout_s=5),
    # No matcher: a start, a resume, /clear and a compaction all lose or lack the context, so all of them ask for it.
    HookEvent("SessionStart", kind="session_start", timeout_s=5, injects=True),
    # The host kills this one about 1.5 s after the session's end, whatever it is told.
    HookEvent("SessionEnd", kind="session_end", timeout_s=2),
)

FIELDS = {
    "session": "session_id",
    "turn": "prompt_id",
    "cwd": "cwd",
    "transcript": "transcript_path",
    "prompt": "prompt",
    "answer": "last_assistant_message",
    "source": "source",
    "reason": "reason",
    "agent": "agent_id",
}

NOOP = "{}"

LIMIT_CHARS = 9_900
"""The host takes 10,000 characters whole and replaces anything longer by a pointer to a file; the rest is a margin."""

MACHINE_PREFIXES = (
    "<task-notification>",
    "<local-command-caveat>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<user-prompt-submit-hook>",
    "<teammate-message",
    "<ide_opened_file>",
    "<ide_selection>",
)
"""The host marks only some of its own texts by their origin; the others can be told by their first tag alone."""

COMPACTION_SOURCES = ("compact",)

ROUTING_ENV = (
    # where the host keeps its login and settings
    "CLAUDE_CONFIG_DIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    # which service answers
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
    "ANTHROPIC_BEDROCK_BASE_URL",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_SKIP_VERTEX_AUTH",
    "ANTHROPIC_VERTEX_BASE_URL",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "CLOUD_ML_REGION",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "CLAUDE_CODE_USE_FOUNDRY",
    "ANTHROPIC_FOUNDRY_BASE_URL",
    "ANTHROPIC_FOUNDRY_RESOURCE",
    # how it is reached
    *NETWORK_ENV,
    # where commands are and how text is written
    "PATH",
    "LANG",
)
"""Directories, addresses, regions, proxies and certificates. A key, token or secret is none of these: it passes only when the person's own allowlist names it."""


def envelope(event: str) -> dict[str, Any]:
    """The reply that puts text into the model's context. The host rejects it when `hookEventName` is missing or is not the running event."""
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
    compaction_sources=COMPACTION_SOURCES,
    routing_env=ROUTING_ENV,
    switches={"disableAllHooks": True},
)
