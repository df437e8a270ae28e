"""Run the real Claude Code CLI in a scratch home against a mock API, headless or in a pseudo-terminal.

It finds an installed binary and never installs one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from afl_core.testing.failure import KitError
from afl_core.testing.terminal import Terminal

VERSION = "2.1.332"
"""The version whose behaviour the recordings and tests describe."""

API_KEY = "mock-key-that-opens-nothing-0000"
PROMPT = "❯"
"""The sign before the input line of the interactive CLI."""


def find_claude() -> Path | None:
    """The CLI named by AFL_CLAUDE_BIN, else the one in the cache of tested hosts, else None."""
    named = os.environ.get("AFL_CLAUDE_BIN")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = Path(named) if named else cache / "agent-feedback-loop" / "hosts" / f"claude-{VERSION}" / "node_modules" / ".bin" / "claude"
    return path if os.access(path, os.X_OK) and path.is_file() else None


@attrs.frozen
class HeadlessRun:
    """One finished `claude -p` run; `envelope` is its JSON result, None when stdout was no JSON object."""

    arguments: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    envelope: Mapping[str, Any] | None

    @property
    def session_id(self) -> str:
        """The session the run belonged to; KitError when the run has no envelope."""
        if self.envelope is None:
            raise KitError(f"claude ended with {self.returncode} and no JSON result: {self.stdout}{self.stderr}")
        return str(self.envelope["session_id"])


class ClaudeSandbox:
    """A scratch home in which onboarding, trust and the key are settled, and the environment that keeps the CLI offline.

    `environment` adds to it, for what a hook under test needs. `project` is created when missing.
    """

    def __init__(self, home: Path, project: Path, api_url: str, binary: Path, *, environment: Mapping[str, str] | None = None) -> None:
        project.mkdir(parents=True, exist_ok=True)
        self.home, self.project, self.binary = home.resolve(), project.resolve(), binary
        self.config = self.home / ".claude"
        self.config.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/sh",
            "ANTHROPIC_BASE_URL": api_url,
            "ANTHROPIC_API_KEY": API_KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            **(environment or {}),
        }
        state = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [API_KEY[-20:]], "rejected": []},
            "projects": {str(self.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
        }
        (self.home / ".claude.json").write_text(json.dumps(state), encoding="utf-8")

    @property
    def settings_path(self) -> Path:
        """The user settings file; not written here."""
        return self.config / "settings.json"

    def headless(
        self,
        prompt: str,
        *arguments: str,
        resume: str | None = None,
        stdin: str | None = None,
        folder: Path | None = None,
        timeout: float = 120.0,
    ) -> HeadlessRun:
        """Run `claude -p` to its end with a JSON result; KitError when that takes longer than `timeout` seconds."""
        resumed = ("--resume", resume) if resume else ()
        command = (str(self.binary), "-p", prompt, "--output-format", "json", *resumed, *arguments)
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
                    raise KitError(f"claude -p did not end within {timeout:g} s: {stdout}{stderr}") from late
                raise
        return HeadlessRun(command[1:], process.returncode, stdout, stderr, json_object(stdout))

    def interactive(self, *arguments: str, timeout: float = 60.0) -> Terminal:
        """Start the interactive CLI and return it once it waits at its prompt."""
        terminal = Terminal([self.binary, *arguments], environment=self.environment, folder=self.project)
        try:
            terminal.wait_for(PROMPT, timeout=timeout)
        except BaseException:
            terminal.close()
            raise
        return terminal

    def transcripts(self) -> list[Path]:
        """The sessions' transcripts, the least recently written first; those of subagents are not among them."""
        return sorted(self.config.glob("projects/*/*.jsonl"), key=lambda path: (path.stat().st_mtime_ns, path))

    def records(self, transcript: Path | None = None) -> list[dict[str, Any]]:
        """The records of a transcript; without one, of the only transcript there is."""
        if transcript is None:
            found = self.transcripts()
            if len(found) != 1:
                raise KitError(f"there are {len(found)} transcripts, not one: {[path.name for path in found]}")
            transcript = found[0]
        return [json.loads(line) for line in transcript.read_bytes().splitlines()]


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object in `text`, or None."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
