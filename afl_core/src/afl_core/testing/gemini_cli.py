"""Run the real Gemini CLI in a scratch home against a mock API, headless or in a pseudo-terminal.

It finds an installed binary and never installs one.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from afl_core.testing.claude_cli import json_object
from afl_core.testing.failure import KitError
from afl_core.testing.terminal import Terminal

VERSION = "0.61.0"
"""The version whose behaviour the recordings and tests describe."""

API_KEY = "mock-key-that-opens-nothing-0000"
MODEL = "gemini-2.5-flash"
"""Named on every command line: without a model, a second one is asked first which model shall answer."""

PROMPT = r"Type your message"
"""What the interactive CLI shows in its empty input line."""


def find_gemini() -> Path | None:
    """The CLI named by AFL_GEMINI_BIN, else the one in the cache of tested hosts, else None."""
    named = os.environ.get("AFL_GEMINI_BIN")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = Path(named) if named else cache / "agent-feedback-loop" / "hosts" / f"gemini-{VERSION}" / "node_modules" / ".bin" / "gemini"
    return path if os.access(path, os.X_OK) and path.is_file() else None


TAKEN = rf"{PROMPT}|Do you want to|suggest changes|Ready to start"
"""What it shows once a line was sent: an empty input line, or a question of the agent's in its place."""

AGAIN_S = 8.0
"""A key without any effect for this long was lost."""

PAUSE_S = 0.2
"""A person's pause before Enter: one that comes within 30 ms of the last key is taken for a pasted line end, and sends nothing."""


@attrs.frozen
class HeadlessRun:
    """One finished `gemini -p` run; `envelope` is its JSON result, None when stdout was no JSON object (after an error it is empty)."""

    arguments: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    envelope: Mapping[str, Any] | None

    @property
    def response(self) -> str:
        """What the model answered; KitError when the run has no envelope."""
        if self.envelope is None:
            raise KitError(f"gemini ended with {self.returncode} and no JSON result: {self.stdout}{self.stderr[-2000:]}")
        return str(self.envelope.get("response"))


class GeminiSandbox:
    """A scratch home in which key, trust and consent are settled, and the environment that keeps the CLI on this machine.

    `environment` adds to it, for what a hook under test needs. `project` is created when missing. The settings file is written when there is
    none; a test may write its own afterwards (`base` holds what it needs).
    """

    def __init__(self, home: Path, project: Path, api_url: str, binary: Path, *, environment: Mapping[str, str] | None = None) -> None:
        project.mkdir(parents=True, exist_ok=True)
        self.home, self.project, self.binary = home.resolve(), project.resolve(), binary
        self.config = self.home / ".gemini"
        self.config.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/sh",
            "GOOGLE_GEMINI_BASE_URL": api_url,
            "GEMINI_API_KEY": API_KEY,
            "GEMINI_CLI_NO_RELAUNCH": "1",
            "NO_PROXY": "127.0.0.1",
            **(environment or {}),
        }
        if not self.settings_path.exists():
            self.settings_path.write_text(json.dumps(base(), indent=2), encoding="utf-8")
        trusted = {str(self.project): "TRUST_FOLDER"}
        (self.config / "trustedFolders.json").write_text(json.dumps(trusted), encoding="utf-8")

    @property
    def settings_path(self) -> Path:
        """The user settings file."""
        return self.config / "settings.json"

    def headless(
        self, prompt: str, *arguments: str, stdin: str | None = None, folder: Path | None = None, timeout: float = 120.0
    ) -> HeadlessRun:
        """Run `gemini -p` to its end with a JSON result; KitError when that takes longer than `timeout` seconds."""
        command = (str(self.binary), "-p", prompt, "-m", MODEL, "-o", "json", *arguments)
        with subprocess.Popen(
            command, cwd=folder or self.project, env=self.environment, start_new_session=True, text=True, encoding="utf-8",
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            try:
                stdout, stderr = process.communicate(stdin, timeout)
            except BaseException as late:
                os.killpg(process.pid, signal.SIGKILL)
                stdout, stderr = process.communicate()
                if isinstance(late, subprocess.TimeoutExpired):
                    raise KitError(f"gemini -p did not end within {timeout:g} s: {stdout}{stderr}") from late
                raise
        return HeadlessRun(command[1:], process.returncode, stdout, stderr, json_object(stdout))

    def interactive(self, *arguments: str, timeout: float = 120.0) -> Terminal:
        """Start the interactive CLI and return it once it waits for a prompt."""
        terminal = Terminal([self.binary, "-m", MODEL, *arguments], environment=self.environment, folder=self.project)
        try:
            terminal.wait_for(PROMPT, timeout=timeout)
        except BaseException:
            terminal.close()
            raise
        return terminal

    @classmethod
    def say(cls, terminal: Terminal, words: str, *, shown: str | None = None, taken: str = TAKEN, timeout: float = 120.0) -> None:
        """Type one line, wait until `shown` (a regular expression; without it the words themselves) is on the screen, send it.

        `taken` (a regular expression): what is on the screen once the line was sent. Of a command of the CLI its menu is waited for: before the
        CLI knows its commands, which it learns a moment after its prompt is there, it takes the line for words to the model.
        """
        command, blank, rest = words.partition(" ")
        if command.startswith("/"):
            terminal.type(command)
            terminal.wait_for(rf"{re.escape(command)} {re.escape(command[1:])} \S", timeout=timeout)
            terminal.type(blank + rest)
        else:
            terminal.type(words)
        terminal.wait_for(shown or re.escape(" ".join(words.split())), timeout=timeout)
        cls.press(terminal, "enter", taken, timeout=timeout)

    @staticmethod
    def press(terminal: Terminal, key: str, until: str, *, timeout: float = 120.0) -> None:
        """Press a key until the screen shows `until`: a busy machine hands over keys in heaps, and then the CLI takes Enter for pasted."""
        time.sleep(PAUSE_S)
        terminal.press(key, until, again=AGAIN_S, timeout=timeout)

    def transcripts(self) -> list[Path]:
        """The sessions' transcripts, the least recently written first; those of sub-agents are not among them."""
        return sorted(self.config.glob("tmp/*/chats/*.jsonl"), key=lambda path: (path.stat().st_mtime_ns, path))


def base() -> dict[str, Any]:
    """The settings a sandbox needs: a key from the environment, nothing sent home, nothing looked up."""
    return {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": 1},
    }
