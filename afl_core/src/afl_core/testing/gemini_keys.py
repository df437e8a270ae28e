"""What a person does at Gemini CLI's screen, as key presses that wait for the screen to follow instead of sleeping."""

from __future__ import annotations

from afl_core.testing.claude_keys import LEAVE_S, LEAVE_TRIES
from afl_core.testing.failure import KitError
from afl_core.testing.gemini_cli import GeminiSandbox
from afl_core.testing.terminal import Terminal

CANCELLED = r"Request cancelled\."
AGAIN = r"Press Ctrl\+C again to exit"
WORKING = "[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] "
"""The sign that turns while the agent or a hook works."""

PATIENCE_S = 120.0


def interrupt(terminal: Terminal) -> None:
    """Press Escape while the model or a tool works; returns when the screen says that it was cancelled."""
    GeminiSandbox.press(terminal, "escape", CANCELLED, timeout=PATIENCE_S)
    wait_idle(terminal)


def wait_idle(terminal: Terminal) -> None:
    """Return when the screen no longer says that the agent works."""
    terminal.wait_gone(WORKING, timeout=PATIENCE_S)


def leave(terminal: Terminal) -> int:
    """Leave with ctrl-c twice; gives the exit status. A ctrl-c that only ended a turn is pressed again."""
    wait_idle(terminal)
    for _ in range(LEAVE_TRIES):
        terminal.key("ctrl-c")
        try:
            terminal.wait_for(AGAIN, timeout=LEAVE_S)
        except KitError:
            if terminal.returncode is not None:
                break
            continue
        terminal.key("ctrl-c")
        break
    return terminal.wait_exit(timeout=PATIENCE_S)
