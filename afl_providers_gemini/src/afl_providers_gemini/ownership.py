"""Which hook commands in a settings file are ours: the guarded command, of any home, any interpreter and any event."""

from __future__ import annotations

import shlex

from afl_providers_gemini.manifest import NAME

HOOK_ENDING = "/feedback-loop/hook/hook.py"
SHELLS = ("sh", "/bin/sh", "/usr/bin/sh")
TAIL = ["2>/dev/null", "||", ":"]
SHORTEST = 10
"""Words of the shortest form: test -r HOOK && PYTHON HOOK gemini EVENT and the tail of three make eleven; without an interpreter ten."""


def owns_command(command: str) -> bool:
    """Whether the command tests for our hook, runs that same hook for this host, and ends in the guard that keeps it from ever failing.

    `test -r HOOK && PYTHON [flags] HOOK gemini EVENT 2>/dev/null || :`, bare or as the one argument of `/bin/sh -c`.
    """
    words = _words(command)
    if len(words) == 3 and words[0] in SHELLS and words[1] == "-c":
        words = _words(words[2])
    if len(words) < SHORTEST or words[:2] != ["test", "-r"] or words[3] != "&&" or words[-3:] != TAIL:
        return False
    hook, (*_, run, host, event) = words[2], words[4:-3]
    return hook.endswith(HOOK_ENDING) and run == hook and host == NAME and event.isalpha()


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        # An unclosed quote: somebody else's command, or a damaged one that is not ours to touch.
        return []
