"""Run the real Codex CLI in a scratch home against a mock API, headless or in a pseudo-terminal.

It finds an installed binary and never installs one.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from afl_core.testing.failure import KitError
from afl_core.testing.terminal import Terminal

VERSION = "0.171.0"
"""The version whose behaviour the recordings and tests describe."""

KEY_VARIABLE = "MOCK_PROVIDER_KEY"
MODEL = "gpt-5-mock"
"""A model the CLI has never heard of: it then offers plain tools, not code mode."""

READY = r"›"
"""The sign before the input line of the interactive CLI."""


def find_codex() -> Path | None:
    """The CLI named by AFL_CODEX_BIN, else the one in the cache of tested hosts, else None."""
    named = os.environ.get("AFL_CODEX_BIN")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = Path(named) if named else cache / "agent-feedback-loop" / "hosts" / f"codex-{VERSION}" / "node_modules" / ".bin" / "codex"
    return path if os.access(path, os.X_OK) and path.is_file() else None


@attrs.frozen
class ExecRun:
    """One finished `codex exec --json`; `events` are its JSON lines."""

    arguments: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    events: tuple[Mapping[str, Any], ...]

    @property
    def answer(self) -> str:
        """The last message of the agent, '' when there was none."""
        said = [event["item"]["text"] for event in self.events if event.get("item", {}).get("type") == "agent_message"]
        return str(said[-1]) if said else ""

    @property
    def thread_id(self) -> str:
        """The thread the run belonged to; KitError when it never began."""
        for event in self.events:
            if event.get("type") == "thread.started":
                return str(event["thread_id"])
        raise KitError(f"codex ended with {self.returncode} and began no thread: {self.stdout}{self.stderr}")


class CodexSandbox:
    """A scratch home whose configuration names a mock provider and trusts the project, and the environment that keeps the CLI offline.

    `environment` adds to it, for what a hook under test needs; `config` is appended to config.toml. `project` is created when missing.
    """

    def __init__(
        self,
        home: Path,
        project: Path,
        api_url: str,
        binary: Path,
        *,
        environment: Mapping[str, str] | None = None,
        config: str = "",
    ) -> None:
        project.mkdir(parents=True, exist_ok=True)
        self.home, self.project, self.binary = home.resolve(), project.resolve(), binary
        self.config = self.home / ".codex"
        self.config.mkdir(parents=True, exist_ok=True)
        temporary = self.home / "tmp"  # not above the configuration: the CLI warns about a home in a temporary directory
        temporary.mkdir(exist_ok=True)
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "TMPDIR": str(temporary),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/sh",
            KEY_VARIABLE: "mock-key-that-opens-nothing",
            **(environment or {}),
        }
        if not self.config_path.exists():
            self.config_path.write_text(config_text(api_url, self.project) + config, encoding="utf-8")

    @property
    def config_path(self) -> Path:
        """The person's config.toml."""
        return self.config / "config.toml"

    @property
    def hooks_path(self) -> Path:
        """The person's hooks.json; not written here."""
        return self.config / "hooks.json"

    def write_hooks(self, hooks: Mapping[str, str], *, timeout: int = 5) -> None:
        """Write hooks.json: event name -> command, one group each."""
        groups = {event: [{"hooks": [{"type": "command", "command": command, "timeout": timeout}]}] for event, command in hooks.items()}
        self.hooks_path.write_text(json.dumps({"hooks": groups}), encoding="utf-8")

    def exec(self, prompt: str, *arguments: str, timeout: float = 180.0) -> ExecRun:
        """Run `codex exec --json` to its end; KitError when that takes longer than `timeout` seconds."""
        command = (str(self.binary), "exec", "--json", "--skip-git-repo-check", *arguments, prompt)
        with subprocess.Popen(
            command, cwd=self.project, env=self.environment, start_new_session=True, text=True, encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            try:
                stdout, stderr = process.communicate(None, timeout)
            except BaseException as late:
                os.killpg(process.pid, signal.SIGKILL)
                stdout, stderr = process.communicate()
                if isinstance(late, subprocess.TimeoutExpired):
                    raise KitError(f"codex exec did not end within {timeout:g} s: {stdout}{stderr}") from late
                raise
        events = tuple(json.loads(line) for line in stdout.splitlines() if line.startswith("{"))
        return ExecRun(command[1:], process.returncode, stdout, stderr, events)

    def interactive(self, *arguments: str, ready: str = READY, timeout: float = 120.0) -> Terminal:
        """Start the interactive CLI without its daemon and return it once `ready` is on its screen: as it is, once it waits for words."""
        terminal = Terminal([self.binary, "--no-daemon", *arguments], environment=self.environment, folder=self.project)
        try:
            terminal.wait_for(ready, timeout=timeout)
        except BaseException:
            terminal.close()
            raise
        return terminal

    def rollouts(self) -> list[Path]:
        """The recorded threads, the least recently written first."""
        return sorted(self.config.glob("sessions/*/*/*/rollout-*.jsonl"), key=lambda path: (path.stat().st_mtime_ns, path))

    def completed(self) -> int:
        """How many turns have come to their end, the hooks of that end included; those that were interrupted or failed are not among them."""
        ends = (line for path in self.rollouts() for line in path.read_bytes().splitlines() if b'"task_complete"' in line)
        return sum(json.loads(line)["payload"].get("type") == "task_complete" for line in ends)

    def records(self, rollout: Path | None = None) -> list[dict[str, Any]]:
        """The records of a rollout; without one, of the only one there is."""
        if rollout is None:
            found = self.rollouts()
            if len(found) != 1:
                raise KitError(f"there are {len(found)} rollouts, not one: {[path.name for path in found]}")
            rollout = found[0]
        return [json.loads(line) for line in rollout.read_bytes().splitlines()]


def config_text(api_url: str, project: Path) -> str:
    """A config.toml that talks to the mock only, asks nothing and never waits for a retry."""
    if not re.fullmatch(r"[^\"\\]+", f"{api_url}{project}"):
        raise KitError("the address and the project's path go into TOML as they are, so they hold no quote and no backslash")
    return f"""model = "{MODEL}"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "{api_url}"
wire_api = "responses"
env_key = "{KEY_VARIABLE}"
request_max_retries = 0
stream_max_retries = 0

[projects."{project}"]
trust_level = "trusted"
"""
