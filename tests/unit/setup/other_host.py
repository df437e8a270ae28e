"""A second host of another make: it runs commands in the person's own shell, its payloads have other names, its stop hands over no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from afl_core.plugins.registry import Registry
from afl_core.spec.host import HookEvent, HostManifest, HostPlace
from afl_core.spec.reviewer import Viability

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


class OtherHost:
    """Its settings file is of the same kind as Claude Code's."""

    name = "other"

    def manifest(self):
        return MANIFEST

    def locate(self, home, environ):
        folder = Path(home) / ".other"
        return HostPlace(folder, folder / "settings.json", None, present=folder.is_dir())

    def owns_command(self, command):
        return "/feedback-loop/hook/hook.py" in command and " other " in command


class OtherReviewer:
    """Can be used where its login lies."""

    name = "other-reviewer"
    host = "other"
    label = "Other, isolated"

    def viable(self, environ):
        there = (Path(environ["HOME"]) / ".other/login").exists()
        return Viability(there, "/bin/other" if there else "nobody is logged in")


def add_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a plug-in provide both, beside the real ones."""
    hosts, reviewers = Registry.hosts, Registry.reviewers
    monkeypatch.setattr(Registry, "hosts", lambda self: {**hosts(self), "other": OtherHost()})
    monkeypatch.setattr(Registry, "reviewers", lambda self: {**reviewers(self), "other-reviewer": OtherReviewer()})
