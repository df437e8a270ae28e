"""What a person does at Codex CLI's screen, as key presses that wait for the screen to follow instead of sleeping."""

from __future__ import annotations

import re

from afl_core.testing.failure import KitError
from afl_core.testing.terminal import Terminal

APPROVAL = "Would you like to run the following command"
REFUSING = r"› 3\. No, and tell Codex"
AWAKE_S = 0.6
"""An approval takes no keys in its first moments; longer than this it never was asleep."""

EDIT_HINT, BROWSING = "esc again to edit previous message", "Browsing transcript"
ANSWER_S = 3.0
"""The screen answers sooner, or it has swallowed the key."""

REWIND_TRIES = 20
DENY_TRIES = 60
LEAVE_TRIES = 40
LEAVE_S = 1.5
PATIENCE_S = 60.0


def submit(terminal: Terminal, words: str) -> None:
    """Type a line and press Enter once it stands in the input line; an Enter that comes sooner becomes a part of it."""
    line = f"› {words}"  # earlier prompts look the same, and the status line may have the words as a title
    before = " ".join(terminal.screen().split()).count(line)
    terminal.type(words)
    terminal.wait_until(lambda shown: shown.count(line) > before, f"{words!r} to appear once more", timeout=PATIENCE_S)
    terminal.key("enter")


def interrupt(terminal: Terminal) -> None:
    """Press Escape while the model or a tool works; returns when the screen says that it was interrupted."""
    terminal.key("escape")
    terminal.wait_for("Conversation interrupted", timeout=PATIENCE_S)


def steer(terminal: Terminal, words: str) -> None:
    """Send a message into the running turn while the model says nothing; returns when the screen says that it waits."""
    terminal.wait_for("esc to interrupt", timeout=PATIENCE_S)
    submit(terminal, words)
    terminal.wait_for("Messages to be submitted after next tool call", timeout=PATIENCE_S)


def deny(terminal: Terminal) -> None:
    """Answer an approval with No; the turn ends with it. Returns when the question is gone."""
    terminal.wait_for(APPROVAL, timeout=PATIENCE_S)
    for _ in range(DENY_TRIES):  # Escape says No as well, but one that is pressed too early is swallowed and takes the later ones with it
        if re.search(REFUSING, terminal.screen()):
            break
        terminal.key("down")
        try:
            terminal.wait_for(REFUSING, timeout=AWAKE_S)
        except KitError:  # it slept, or another answer comes first
            continue
    else:
        raise KitError(f"the approval has no answer No; the screen:\n{terminal.screen()}")
    terminal.key("enter")
    terminal.wait_gone(APPROVAL, timeout=PATIENCE_S)


def rewind(terminal: Terminal, prompt: str) -> None:
    """Go back to before `prompt`, which is the newest one, with Escape twice; returns when the input line is empty. No turn may run."""
    _press_until(terminal, f"{EDIT_HINT}|{BROWSING}")
    if not re.search(BROWSING, terminal.screen()):
        _press_until(terminal, BROWSING)
    terminal.key("enter")
    terminal.wait_for("Conversation reverted to this point", timeout=PATIENCE_S)
    terminal.wait_for(rf"› {re.escape(prompt)}", timeout=PATIENCE_S)  # what it took back is in the input line
    terminal.key("ctrl-u")
    terminal.wait_gone(rf"› {re.escape(prompt)}", timeout=PATIENCE_S)


def _press_until(terminal: Terminal, shown: str) -> None:
    """Press Escape until the screen answers: one that is busy swallows it."""
    for _ in range(REWIND_TRIES):
        terminal.key("escape")
        try:
            terminal.wait_for(shown, timeout=ANSWER_S)
        except KitError:
            continue
        return
    raise KitError(f"Escape did not lead to {shown!r}; the screen:\n{terminal.screen()}")


def leave(terminal: Terminal) -> int:
    """Leave with ctrl-c; gives the exit status. A ctrl-c that still ended a turn is pressed again."""
    for _ in range(LEAVE_TRIES):
        terminal.key("ctrl-c")
        try:
            return terminal.wait_exit(timeout=LEAVE_S)
        except KitError:
            continue
    raise KitError(f"the program did not end; its screen:\n{terminal.screen()}")
