"""What the hook and the front must know of Codex CLI, as data: events, payload fields, reply envelope, limits, names it is routed by."""

from __future__ import annotations

from typing import Any

from afl_core.spec.host import CONTEXT_SLOT, NETWORK_ENV, HookEvent, HostManifest

NAME = "codex"
LABEL = "Codex CLI"

EVENTS = (
    HookEvent("UserPromptSubmit", kind="prompt", timeout_s=5, injects=True),
    HookEvent("Stop", kind="stop", timeout_s=5),
    # No matcher: a start, a resume, a fork, /clear and a compaction all lose or lack the context, so all of them ask for it.
    HookEvent("SessionStart", kind="session_start", timeout_s=5, injects=True),
    # The host allows this one 3 s and warns the person about anything longer. Under its daemon it comes only when the daemon ends.
    HookEvent("SessionEnd", kind="session_end", timeout_s=3),
)
"""`Interrupt` is left out: it carries no words, so it is no prompt and no stop, and the transcript tells the same with its place."""

FIELDS = {
    "session": "session_id",
    "turn": "turn_id",
    "cwd": "cwd",
    "transcript": "transcript_path",
    "prompt": "prompt",
    "answer": "last_assistant_message",
    "source": "source",
    "reason": "reason",
    "agent": "agent_id",
}

NOOP = '{"continue":true}'

LIMIT_BYTES = 8_000
"""The host keeps about 2,500 tokens and puts the rest into a file. 8,000 bytes stay below that even where every byte is a letter of its own."""

MACHINE_PREFIXES = (
    "<environment_context>",
    "<turn_aborted>",
    "</turn_aborted>",
    "<subagent_notification>",
    "<agent_message_board_notification>",
    "<recommended_plugins>",
    "<hook_prompt",
    "<user_instructions>",
    "<user_shell_command>",
    "<user_action>",
    "<skills_instructions>",
    "<skill>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<plugins_instructions>",
    "<apps_instructions>",
    "<personality_spec>",
    "<model_switch>",
    "<multi_agent_role>",
    "<multi_agent_mode>",
    "<codex_delegation>",
    "<realtime_delegation>",
    "<realtime_conversation>",
    "# AGENTS.md instructions",
    "Another language model started to solve this problem and produced a summary",
)
"""How texts begin that the host itself files as the user's. Newer transcripts say who spoke; older ones and hook payloads do not."""

COMPACTION_SOURCES = ("compact",)

ROUTING_ENV = (
    # where the host keeps its login and settings
    "CODEX_HOME",
    "CODEX_SQLITE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    # which service answers
    "OPENAI_BASE_URL",
    "OPENAI_ORGANIZATION",
    "OPENAI_PROJECT",
    "AZURE_OPENAI_ENDPOINT",
    "CODEX_OSS_BASE_URL",
    "CODEX_OSS_PORT",
    # how it is reached
    *NETWORK_ENV,
    "CODEX_CA_CERTIFICATE",
    # where commands are and how text is written
    "PATH",
    "LANG",
)
"""Directories, addresses, proxies and certificates. A key, token or secret is none of these: it passes only when the person's own allowlist names it."""


def envelope(event: str) -> dict[str, Any]:
    """The reply that puts text into the model's context. The host drops a reply with a key it does not know, or without `hookEventName`."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": CONTEXT_SLOT}}


MANIFEST = HostManifest(
    name=NAME,
    label=LABEL,
    events=EVENTS,
    fields=FIELDS,
    envelope={event.name: envelope(event.name) for event in EVENTS if event.injects},
    noop=NOOP,
    limit_chars=None,
    limit_bytes=LIMIT_BYTES,
    machine_prefixes=MACHINE_PREFIXES,
    compaction_sources=COMPACTION_SOURCES,
    routing_env=ROUTING_ENV,
    own_shell=True,
    switches={},
)
