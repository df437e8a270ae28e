"""A sandbox for the real CLI, hooks that leave a mark, and asking its server about them as install does."""

from __future__ import annotations

import pathlib
import sys

import attrs
import pytest

from afl_core.api.home import Home
from afl_core.setup.selection import Selected
from afl_core.setup.trust import approving, ask_host, distrusting, looking
from afl_core.spec.trust import WantedHook
from afl_core.testing.codex_cli import CodexSandbox
from afl_providers_codex import place
from afl_providers_codex.host import CodexHost
from afl_providers_codex.manifest import MANIFEST


@attrs.frozen
class Hooked:
    """A sandbox with two hooks of ours; `mark` is a file each run of one of them adds a line to."""

    sandbox: CodexSandbox
    mark: pathlib.Path
    commands: dict[str, str]

    def wanted(self):
        return tuple(WantedHook(event, command, self.sandbox.hooks_path) for event, command in self.commands.items())

    def ask(self, speak):
        sandbox = self.sandbox
        environ = {**sandbox.environment, place.COMMAND_VARIABLE: str(sandbox.binary)}
        found = place.locate(sandbox.home, environ)
        one = Selected(CodexHost(), MANIFEST, found.config_dir, found.settings_path, found.binary, found.present)
        with Home(str(sandbox.home), environ) as home:
            return ask_host(home, one, self.wanted(), speak)

    def look(self):
        return {finding.event: finding.state.value for finding in self.ask(looking).report.findings}

    def approve(self):
        return self.ask(approving).report

    def distrust(self):
        return self.ask(distrusting).report

    def ran(self):
        """The events whose hook ran since this was asked last."""
        said = self.mark.read_text().split() if self.mark.exists() else []
        self.mark.unlink(missing_ok=True)
        return said


@pytest.fixture
def codex_host():
    return CodexHost()


@pytest.fixture
def codex(codex_bin, home):
    """Make a sandbox that talks to an API: `codex(api)`; within one test it is always the same home and project."""
    return lambda api, **more: CodexSandbox(home, home / "project", api.url, pathlib.Path(codex_bin), **more)


@pytest.fixture
def hooked(codex, home):
    """Make a sandbox whose prompt hook gives context and whose stop hook only leaves a mark."""

    def make(api):
        sandbox, mark = codex(api), home / "mark"
        script = home / "hook.py"
        script.write_text(
            "import json, sys\n"
            f"open({str(mark)!r}, 'a').write(sys.argv[1] + chr(10))\n"
            "if sys.argv[1] == 'UserPromptSubmit':\n"
            "    print(json.dumps({'hookSpecificOutput': {'hookEventName': sys.argv[1], 'additionalContext': 'CARD-7'}}))\n"
        )
        commands = {event: f"{sys.executable} -I -S {script} {event}" for event in ("UserPromptSubmit", "Stop")}
        sandbox.write_hooks(commands)
        return Hooked(sandbox, mark, commands)

    return make
