"""What a person does at Claude Code's screen, as key presses that wait for the screen to follow instead of sleeping."""

from __future__ import annotations

import re
import time

from afl_core.testing.failure import KitError
from afl_core.testing.terminal import Terminal

PERMISSION = r"Do you want to proceed\?"
CHOSEN = r"❯ (\d)\. (\w+)"
WORKING = "esc to interrupt"
PATIENCE_S = 120.0
ENTER_S = 30.0
REWIND_MENU = "Rewind"
REWIND_TRIES = 20
BETWEEN_S = 0.4
"""Between two presses of Escape that shall count as one gesture."""

MENU_LIMIT = 10
"""More entries than any permission menu has."""


def interrupt(terminal: Terminal) -> None:
    """Press Escape while the model or a tool works; returns when the screen says that it was interrupted."""
    terminal.key("escape")
    terminal.wait_for("Interrupted")


def wait_idle(terminal: Terminal) -> None:
    """Return when the screen no longer says that the agent works."""
    terminal.wait_gone(WORKING, timeout=PATIENCE_S)


def deny(terminal: Terminal) -> None:
    """Leave a permission menu with Escape; returns when the menu is gone."""
    terminal.wait_for(PERMISSION)
    terminal.press("escape", PERMISSION, gone=True)


def deny_with_words(terminal: Terminal, words: str) -> None:
    """In a permission menu choose No, say what to do instead, and confirm; returns when the menu is gone."""
    terminal.wait_for(PERMISSION)
    for _ in range(MENU_LIMIT):
        number, answer = chosen(terminal)
        if answer == "No":
            break
        terminal.press("down", rf"❯ {number}\. ", gone=True)
    else:
        raise KitError(f"the permission menu has no entry 'No'; the screen:\n{terminal.screen()}")
    terminal.wait_for("Tab to amend")
    terminal.press("tab", "No, and tell Claude")
    deadline = time.monotonic() + ENTER_S
    while time.monotonic() < deadline:  # the menu takes no Enter in its first moments: it empties the field and stays
        terminal.submit(words)
        shown = terminal.wait_until(lambda screen: words not in screen or not re.search(PERMISSION, screen), "Enter to be taken")
        if not re.search(PERMISSION, shown):
            return
    raise KitError(f"the permission menu did not take Enter; the screen:\n{terminal.screen()}")


def chosen(terminal: Terminal) -> tuple[str, str]:
    """The number and the first word of the chosen entry of the menu on the screen."""
    found = re.search(CHOSEN, terminal.wait_for(CHOSEN))
    if found is None:
        raise KitError(f"the menu changed while it was read; the screen:\n{terminal.screen()}")
    return found[1], found[2]


def steer(terminal: Terminal, words: str) -> None:
    """Send a message while a tool runs; returns when the screen says that it is queued."""
    terminal.submit(words)
    terminal.wait_for("Queued")


def rewind(terminal: Terminal, prompt: str) -> None:
    """Go back to before `prompt`, which is the newest one, with Escape twice; returns when the input line is empty."""
    for _ in range(REWIND_TRIES):
        terminal.key("escape")
        try:
            terminal.wait_for(REWIND_MENU, timeout=BETWEEN_S)
        except KitError:  # one Escape alone opens nothing, and two that are too far apart are two alone
            continue
        break
    else:
        raise KitError(f"the menu of earlier prompts did not open; the screen:\n{terminal.screen()}")
    terminal.key("up")
    terminal.wait_for(rf"❯ {prompt}")
    terminal.key("enter")
    terminal.wait_for("Restore conversation")
    terminal.key("enter")
    terminal.wait_gone("Restore conversation")
    terminal.wait_for(rf"❯ {prompt}")  # what it took back is in the input line
    terminal.key("ctrl-u")
    terminal.wait_gone(rf"❯ {prompt}")


def leave(terminal: Terminal) -> int:
    """Leave with ctrl-c twice; gives the exit status. A ctrl-c that still ended a turn is pressed again."""
    for _ in range(LEAVE_TRIES):
        terminal.key("ctrl-c")
        try:
            terminal.wait_for("again to exit", timeout=LEAVE_S)
        except KitError:
            continue
        break
    terminal.key("ctrl-c")
    return terminal.wait_exit()


LEAVE_TRIES = 5
LEAVE_S = 3.0
