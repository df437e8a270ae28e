"""How a call ended, read from the text the model was given. Only the lines the host puts before a tool's own output are looked at."""

from __future__ import annotations

import re

import attrs

from afl_core.model.observation import Denial


@attrs.frozen
class Outcome:
    """`running`: the command goes on, and its end will be told elsewhere."""

    is_error: bool = False
    exit_code: int | None = None
    denial: Denial = Denial.NONE
    running: bool = False


_HEADER = r"\A(?:Chunk ID: [^\n]{0,80}\n)?(?:Wall time: [^\n]{0,80}\n)?"
_EXIT = re.compile(_HEADER + r"(?:Process exited with code|Exit code:) (-?\d{1,9})(?:\n|\Z)")
_RUNNING = re.compile(_HEADER + r"Process running with session ID")
_ABORTED = re.compile(_HEADER + r"aborted by user\b")
_REJECTED = re.compile(
    r'\A(?:[a-z_]{1,40} failed[^\n]{0,300}?\bRejected\(\\*"([^"\\\n]{0,200})|((?:exec command |patch )?rejected by user)\b)'
)
_FAILED = re.compile(
    r"\A(?:[a-z_]{1,40} (?:verification )?failed\b|unsupported call\b|unsupported custom tool call\b|failed to parse function arguments\b|Script (?:failed|error)\b)"
)
SCRIPT_FAILED = "Script failed\n"
BY_PERSON = "rejected by user"


_SCRIPT_ERROR = re.compile(r"\nScript error:\n")


def outcome_of(text: str) -> Outcome:
    """The outcome of the call whose output begins with `text`."""
    if ended := _EXIT.match(text):
        code = int(ended[1])
        return Outcome(is_error=code != 0, exit_code=code)
    if _ABORTED.match(text):
        return Outcome(is_error=True, denial=Denial.PERSON)
    denial = _denial(text)
    if denial is Denial.NONE and text.startswith(SCRIPT_FAILED):
        # What ended the script is told last, behind whatever it had printed.
        *_printed, thrown = _SCRIPT_ERROR.split(text)
        denial = _denial(thrown)
    is_error = denial is not Denial.NONE or _FAILED.match(text) is not None
    return Outcome(is_error=is_error, denial=denial, running=_RUNNING.match(text) is not None)


def refusal_of(text: str) -> Denial:
    """Who refused what the host calls declined: the person, unless another reason is told."""
    return Denial.PERSON if not text or BY_PERSON in text else Denial.POLICY


def _denial(text: str) -> Denial:
    found = _REJECTED.match(text)
    return refusal_of(found[1] or found[2]) if found else Denial.NONE
