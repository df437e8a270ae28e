"""The guarded command: what install writes into a host's settings, and how it is known again among other people's hooks. For plug-in authors."""

from __future__ import annotations

import re
import shlex

WORD = re.compile(r"[A-Za-z0-9_-]+")
"""What the name of a host or an event must be to stand in a command without quotes."""

HOOK_ENDING = "/feedback-loop/hook/hook.py"
SHELLS = ("sh", "/bin/sh", "/usr/bin/sh")
TAIL = ["2>/dev/null", "||", ":"]
SHORTEST = 10
"""Words of the shortest form: test -r HOOK && PYTHON HOOK HOST EVENT and the tail of three make eleven; without an interpreter ten."""


def owns_guarded_command(command: str, host: str) -> bool:
    """Whether a command is the guarded one of `host`, of any home, interpreter, version and event. Pure; an adapter's `owns_command` is this.

    It tests for our hook, runs that same hook for this host, and ends in the guard that keeps it from ever failing:
    `test -r HOOK && PYTHON [flags] HOOK HOST EVENT 2>/dev/null || :`, bare or as the one argument of `/bin/sh -c`.
    """
    words = _words(command)
    if len(words) == 3 and words[0] in SHELLS and words[1] == "-c":
        words = _words(words[2])
    if len(words) < SHORTEST or words[:2] != ["test", "-r"] or words[3] != "&&" or words[-3:] != TAIL:
        return False
    hook, (*_, run, named, event) = words[2], words[4:-3]
    return hook.endswith(HOOK_ENDING) and run == hook and named == host and WORD.fullmatch(event) is not None


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        # An unclosed quote: somebody else's command, or a damaged one that is not ours to touch.
        return []
