"""A second host beside the real ones, of another make: for tests of what must hold for every host.

It runs commands in the person's own shell, its payloads have other names, and its stop hands over no answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from afl_core.model.observation import Observation
from afl_core.plugins.registry import Registry
from afl_core.spec.host import HookEvent, HostManifest, HostPlace, Line
from afl_core.spec.reviewer import ProcessResult, ReviewerAnswer, ReviewerCommand, ReviewRequest, Viability

MANIFEST = HostManifest(
    name="other",
    label="Other",
    events=(HookEvent("Ask", "prompt", 5, injects=True), HookEvent("End", "stop", 5)),
    fields={"session": "thread", "prompt": "text", "cwd": "dir"},
    envelope={"Ask": {"extra": "{context}"}},
    noop="{}",
    limit_chars=None,
    limit_bytes=9000,
    timeout_unit_ms=1,
    own_shell=True,
)


class SecondHost:
    """Its settings file is of the kind that Claude Code has; it keeps no transcript."""

    name = "other"

    def manifest(self) -> HostManifest:
        """Two events, three fields."""
        return MANIFEST

    def locate(self, home: Path, environ: Mapping[str, str]) -> HostPlace:
        """Present where `.other` is."""
        folder = Path(home) / ".other"
        return HostPlace(folder, folder / "settings.json", None, present=folder.is_dir())

    def wants(self, head: bytes) -> bool:
        """Nothing."""
        return False

    def parse(self, lines: Sequence[Line], state: Mapping[str, Any]) -> tuple[list[Observation], dict[str, Any]]:
        """Nothing."""
        return [], dict(state)

    def owns_command(self, command: str) -> bool:
        """By the hook's place and the host's name."""
        return "/feedback-loop/hook/hook.py" in command and " other " in command


class SecondReviewer:
    """Can be used while `.other/login` is there."""

    name = "other-reviewer"
    host = "other"
    label = "Other, isolated"

    def viable(self, environ: Mapping[str, str]) -> Viability:
        """By the login."""
        there = (Path(environ["HOME"]) / ".other/login").exists()
        return Viability(there, "/bin/other" if there else "nobody is logged in")

    def command(self, request: ReviewRequest, environ: Mapping[str, str]) -> ReviewerCommand:
        """One that ends at once."""
        return ReviewerCommand(("/bin/true",), request.evidence_json.encode())

    def read(self, result: ProcessResult) -> ReviewerAnswer:
        """It never answers."""
        return ReviewerAnswer(None, reason="reviewer_output_unreadable")


def add_second_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a plug-in provide both, beside the real ones, until the test ends."""
    hosts, reviewers = Registry.hosts, Registry.reviewers
    monkeypatch.setattr(Registry, "hosts", lambda self: {**hosts(self), "other": SecondHost()})
    monkeypatch.setattr(Registry, "reviewers", lambda self: {**reviewers(self), "other-reviewer": SecondReviewer()})
