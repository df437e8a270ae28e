"""The product installed into the home of a real Claude Code, and looking into what it did there."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from afl_core.api.home import Home
from afl_core.setup.install import apply_install, plan_install
from afl_core.testing.anthropic_api import MockAnthropic
from afl_core.testing.claude_cli import ClaudeSandbox

PATIENCE_S = 60.0


class Installed:
    """A sandboxed CLI with the product installed; `environment` is what the CLI, and so its hooks, get."""

    def __init__(self, home: pathlib.Path, claude_bin: str, api: MockAnthropic) -> None:
        self.home = home
        self.api = api
        self.sandbox = ClaudeSandbox(home, home / "project", api.url, pathlib.Path(claude_bin))
        self.sandbox.environment.update(
            AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND=claude_bin,
            AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST="ANTHROPIC_API_KEY",
            AFL_REPORT_LANGUAGE="en",
        )
        (self.sandbox.project / ".git").mkdir()
        (self.sandbox.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        with Home(str(home), self.sandbox.environment) as opened:
            apply_install(plan_install(opened))

    def open(self) -> Home:
        """The home, for looking into it."""
        return Home(str(self.home), self.sandbox.environment)

    def until(self, found: Callable[[Home], Any], what: str) -> Any:
        """Wait until something is true of the home, and give it."""
        end = time.monotonic() + PATIENCE_S
        with self.open() as opened:
            while time.monotonic() < end:
                if got := found(opened):
                    return got
                time.sleep(0.05)
            log = pathlib.Path(opened.paths.runtime_log)
            rows = [tuple(row) for row in opened.db.execute("SELECT status, reason, detail FROM reviews")]
        raise AssertionError(f"{what} did not come true\nreviews: {rows}\n{log.read_text('utf-8') if log.exists() else 'no log'}")

    def stop_worker(self) -> None:
        """End the front; its jobs end with it."""
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.fsencode(str(self.home)) in (folder / "cmdline").read_bytes() and b"worker" in (folder / "cmdline").read_bytes():
                    os.kill(int(folder.name), signal.SIGTERM)


@pytest.fixture
def installed(home: pathlib.Path, claude_bin: str) -> Iterator[Callable[[MockAnthropic], Installed]]:
    """Install into the home of a sandboxed CLI that talks to this API."""
    made: list[Installed] = []

    def make(api: MockAnthropic) -> Installed:
        made.append(Installed(home, claude_bin, api))
        return made[-1]

    yield make
    for one in made:
        one.stop_worker()
