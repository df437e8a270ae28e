"""Builds of the product as people have them: packages in an environment of their own, which the next release replaces in place."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import time
import tomllib
from typing import Any

from afl_core.settings.paths import Paths
from afl_core.worker.client import ask

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = ("afl_core", "afl_redactors", "afl_providers_claude")
OURS = ("afl", "editable__", "pip")
PATIENCE_S = 90.0


class Machine:
    """A home, and a Python into which packages of ours are put; nothing of the checkout can be imported there."""

    def __init__(self, home: pathlib.Path, name: str = "venv") -> None:
        self.home = home
        self.paths = Paths(home)
        self.folder = home / name
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", self.folder], check=True, timeout=PATIENCE_S)
        self.python = str(self.folder / "bin/python")
        [self.site] = (self.folder / "lib").glob("python3*/site-packages")
        others = self.folder / "others"
        others.mkdir()
        for entry in pathlib.Path(sysconfig.get_path("purelib")).iterdir():
            if not entry.name.lstrip("_").lower().startswith(OURS):
                (others / entry.name).symlink_to(entry)
        (self.site / "others.pth").write_text(f"{others}\n", "utf-8")
        (home / ".claude").mkdir(exist_ok=True)
        claude = home / "claude"
        claude.write_text("#!/bin/sh\n")
        claude.chmod(0o700)
        self.environ = {"HOME": str(home), "PATH": os.defpath, "AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND": str(claude)}

    # packages

    def put(self, version: str, **edits: tuple[str, str]) -> None:
        """Install this version of all packages over what is there, as a package manager does. `edits`: module path with __ for / -> (old, new)."""
        for entry in self.site.iterdir():
            if entry.name.startswith("afl"):  # aside first: a worker of the old build may be writing what it compiles
                shutil.rmtree(entry.rename(self.folder / f"{entry.name}.old"), ignore_errors=True)
        for name in FOLDERS:
            left_out = shutil.ignore_patterns("testing", "demo", "__pycache__")
            shutil.copytree(ROOT / name / "src" / name, self.site / name, ignore=left_out, dirs_exist_ok=True)  # it makes them anew
            points = tomllib.loads((ROOT / name / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["afl.plugins"]
            facts = self.site / f"{name}-{version}.dist-info"
            facts.mkdir()
            (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n", "utf-8")
            lines = [f"{key} = {value}" for key, value in points.items()]
            (facts / "entry_points.txt").write_text("\n".join(["[afl.plugins]", *lines, ""]), "utf-8")
        init = self.site / "afl_core/__init__.py"
        init.write_text(init.read_text("utf-8").replace('__version__ = "0.1.0"', f'__version__ = "{version}"'), "utf-8")
        client = self.site / "afl_core/hook/client.py"
        client.write_text(client.read_text("utf-8") + f"\n# as {version} ships it\n", "utf-8")
        for name, (old, new) in edits.items():
            path = self.site / "afl_core" / (name.replace("__", "/") + ".py")
            text = path.read_text("utf-8")
            assert old in text, name
            path.write_text(text.replace(old, new), "utf-8")

    # commands

    def afl(self, *arguments: str, status: int = 0) -> str:
        """Run the command line of what is installed; gives what it printed."""
        done = subprocess.run(
            [self.python, "-m", "afl_core.cli.main", *arguments],
            env=self.environ,
            cwd=self.home,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def json(self, *arguments: str, status: int = 0) -> dict[str, Any]:
        """The same, as a document."""
        body: dict[str, Any] = json.loads(self.afl(*arguments, "--json", status=status))
        return body

    def killed_at(self, step: str) -> None:
        """An install that is killed at this step."""
        script = (
            "import os, signal, sys\nfrom afl_core.api.home import Home\nfrom afl_core.setup.install import apply_install, plan_install\n"
            "def at(step):\n    if step == sys.argv[1]: os.kill(os.getpid(), signal.SIGKILL)\n"
            "with Home(sys.argv[2]) as home: apply_install(plan_install(home), at)\n"
        )
        done = subprocess.run([self.python, "-c", script, step, str(self.home)], env=self.environ, capture_output=True, timeout=PATIENCE_S)
        assert done.returncode == -9, (step, done.stderr.decode())

    # hooks

    def command(self, event: str = "UserPromptSubmit") -> str:
        """The command as it stands in the host's settings."""
        [group] = json.loads((self.home / ".claude/settings.json").read_text("utf-8"))["hooks"][event]
        return str(group["hooks"][0]["command"])

    def prompt(self, session: str, command: str = "") -> bytes:
        """A person types; the hook must succeed and say nothing on standard error. Gives what it printed."""
        body = {"session_id": session, "cwd": str(self.home), "hook_event_name": "UserPromptSubmit", "prompt": f"words of {session}"}
        done = subprocess.run(
            ["/bin/sh", "-c", command or self.command()],
            input=json.dumps(body).encode(),
            env=self.environ,
            cwd=self.home,
            capture_output=True,
            timeout=PATIENCE_S,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    # what can be seen

    def front(self) -> dict[str, Any]:
        """What the running front says of itself; {} without one."""
        reply = ask(self.paths, "claude", "health", b"", 2.0)
        return json.loads(reply) if reply else {}

    def arrived(self, *names: str) -> None:
        """Wait until these sessions are in the store."""
        self.wait(lambda: set(names) <= self._sessions())

    def spooled(self) -> int:
        """How many records wait in the spool."""
        return sum(name.endswith(".rec") for name in os.listdir(self.paths.spool))

    def _sessions(self) -> set[str]:
        db = sqlite3.connect(f"file:{self.paths.database}?mode=ro", uri=True, timeout=10)
        with contextlib.closing(db):
            return {
                row[0].partition(":")[2] for row in db.execute("SELECT session_id FROM intake WHERE sealed IS NOT NULL OR state != 'new'")
            }

    def wait(self, condition: Any) -> None:
        """Until something holds."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, "what was waited for did not happen"
            time.sleep(0.05)
