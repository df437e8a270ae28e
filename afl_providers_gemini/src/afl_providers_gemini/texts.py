"""What in a text filed as the user's is a person's: elements the host puts around the words are taken off, and its own texts are told by how they open."""

from __future__ import annotations

import re

from afl_providers_gemini.manifest import APPENDED, HOOK_CONTEXT, MACHINE_PREFIXES, SESSION_CONTEXT, STATE_SNAPSHOT

FILED_PREFIXES = (
    "I ran the following shell command:\n```sh\n",
    "User has manually exited Plan Mode. Switching to ",
    "Here is the user's editor context as a JSON object.",
    "Here is a summary of changes in the user's editor context, in JSON format.",
    "- **Workspace Directories:**\n",
)
"""How texts open that the host files as the user's without asking a hook: a command the person ran with `!`, the editor's state, and the like."""

GO_ON = "Please continue."
"""The host sends this when it finds that the model should speak on. A person who types the same says nothing that could be learnt from."""

ACKNOWLEDGED = "Got it. Thanks for the additional context!"
"""What the host puts into the agent's mouth behind the summary that replaces a history."""

_STEERING = re.compile(r"User steering update:\n<user_input>\n(.*)\n</user_input>\nInternal instruction: ", re.DOTALL)


def contexts(text: str) -> tuple[list[str], str]:
    """Hook contexts at the beginning of a text, as the hook wrote them, and the text behind them."""
    found: list[str] = []
    start, end = HOOK_CONTEXT
    while text.startswith(start) and (at := text.find(end, len(start))) >= 0:
        found.append(unescaped(text[len(start) : at]))
        text = text[at + len(end) :].lstrip()
    return found, text


def unescaped(text: str) -> str:
    """The host escapes only the two brackets."""
    return text.replace("&lt;", "<").replace("&gt;", ">")


def own_words(text: str) -> str:
    """The text without what the host wrote behind it: referenced files, notes about chosen agents."""
    starts = [at for start, end in APPENDED if (at := text.find(start)) >= 0 and text.find(end, at + len(start)) >= 0]
    return text[: min(starts, default=len(text))]


def is_machine_text(text: str) -> bool:
    """Whether the text opens as one of the host's own."""
    return text.lstrip().startswith((*MACHINE_PREFIXES, *FILED_PREFIXES)) or text.strip() == GO_ON


def is_session_context(text: str) -> bool:
    """Whether the text is what the host says at the beginning of every history."""
    return text.lstrip().startswith(SESSION_CONTEXT)


def is_snapshot(text: str) -> bool:
    """Whether the text is a summary in the form the host asks the model for. The host takes whatever the model writes; see `marks`."""
    return text.lstrip().startswith(STATE_SNAPSHOT)


def steering_of(text: str) -> str | None:
    """What a person typed into a running turn (an experimental setting of the host), out of the host's wrapping."""
    found = _STEERING.match(text)
    return found[1] if found else None
