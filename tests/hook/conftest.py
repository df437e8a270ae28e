"""A home with hook files rendered as install renders them, keys, an empty database, and a stand-in for the jobs process."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import cryptography
import pytest

import afl_core
from afl_core.settings.paths import Paths
from afl_core.store.migrate import create_or_migrate
from afl_core.vault.seal import public_of
from afl_core.worker.client import ask

PACKAGE = pathlib.Path(afl_core.__file__).parent
SITE = (str(PACKAGE.parent), str(pathlib.Path(cryptography.__file__).parent.parent))
EVENTS = {"UserPromptSubmit": "prompt", "Stop": "stop", "SessionStart": "session_start", "SessionEnd": "session_end"}
PATIENCE_S = 30.0


def _envelope(event: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "{context}"}}


HOST = {
    "events": [{"name": name, "kind": kind, "injects": name in ("UserPromptSubmit", "SessionStart")} for name, kind in EVENTS.items()],
    "fields": {
        "session": "session_id",
        "turn": "prompt_id",
        "cwd": "cwd",
        "transcript": "transcript_path",
        "prompt": "prompt",
        "answer": "last_assistant_message",
        "source": "source",
        "reason": "reason",
        "agent": "agent_id",
    },
    "envelope": {name: _envelope(name) for name in ("UserPromptSubmit", "SessionStart")},
    "noop": "{}",
    "limit_chars": 10_000,
    "limit_bytes": None,
    "machine_prefixes": ["<task-notification>"],
    "compaction_sources": ["compact"],
}

# Started in place of Python: the jobs process is played by this script, which writes down what it is told.
STAND_IN = """#!/bin/sh
case "$*" in
  *afl_core.worker.jobs*) echo start >> {home}/jobs.starts; env >> {home}/jobs.env; cat >> {home}/jobs.told; exit 0;;
  *) exec {python} "$@";;
esac
"""

# A front that is killed at one named step: `crash` holds `module:function:before|after:nth`.
FATAL_WORKER = """
import os, signal, sys
here = __file__.rpartition("/")[0]
sys.path.insert(0, here)
import constants
del sys.path[0]
sys.path.extend(constants.SITE)
place = constants.HOME + "/crash"
if os.path.exists(place):
    module, name, when, nth = open(place).read().split(":")
    os.unlink(place)
    found = owner = __import__(module, fromlist=["x"])
    *parents, last = name.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    original = getattr(owner, last)
    calls = []
    def fatal(*args, **kwargs):
        calls.append(1)
        if when == "before" and len(calls) == int(nth):
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*args, **kwargs)
        if when == "after" and len(calls) == int(nth):
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(owner, last, fatal)
from afl_core.worker.front import main
sys.exit(main(constants))
"""


class Rendered:
    """One home and what can be done with it from outside."""

    def __init__(self, home: pathlib.Path, environment: dict[str, str]) -> None:
        self.home = home
        self.paths = Paths(home)
        self.environment = environment
        self.hook = pathlib.Path(self.paths.hook)
        self.python = str(home / "python")
        self.build = "1-test"
        for directory in (self.paths.run, self.paths.spool, self.paths.keys, self.paths.logs):
            os.makedirs(directory, 0o700)
        os.chmod(self.paths.data, 0o700)
        create_or_migrate(self.paths.database, self.paths.backups, self.paths.data)
        self.private_key = os.urandom(32)
        self._write(self.paths.public_key, public_of(self.private_key))
        self._write(self.paths.name_key, os.urandom(32))
        shutil.copytree(PACKAGE / "hook", self.paths.hook_dir, ignore=shutil.ignore_patterns("__pycache__", "__init__.py"))
        stand_in = pathlib.Path(self.python)
        stand_in.write_text(STAND_IN.format(home=shlex.quote(str(home)), python=shlex.quote(sys.executable)), "utf-8")
        stand_in.chmod(0o700)
        self.render()
        self.write_front_file()
        self.install_build(self.build)

    def _write(self, path: str, data: bytes) -> None:
        pathlib.Path(path).write_bytes(data)
        os.chmod(path, 0o600)

    def render(self, **changes: object) -> None:
        """Write the constants; `changes` replace some of them."""
        values: dict[str, object] = {
            "HOME": str(self.home),
            "DATA": self.paths.data,
            "RUN": self.paths.run,
            "SPOOL": self.paths.spool,
            "SITE": SITE,
            "PYTHON": self.python,
            "BUILD": self.build,
            "NOOPS": {"claude": b"{}"},
            "KINDS": {"claude": EVENTS},
            "FORWARD": {"claude": ("CLAUDE_CONFIG_DIR", "ANTHROPIC_BASE_URL")},
            "ALLOW": (),
            **changes,
        }
        text = "".join(f"{name} = {value!r}\n" for name, value in values.items())
        pathlib.Path(self.paths.hook_dir, "constants.py").write_text(text, "utf-8")
        shutil.rmtree(pathlib.Path(self.paths.hook_dir, "__pycache__"), ignore_errors=True)

    def write_front_file(self, **changes: object) -> None:
        """Write what the front reads of hosts and settings."""
        body = {"hosts": {"claude": HOST}, "memory_enabled": True, "memory_budget": 0, "selector": {"name": "default", "target": None}}
        self._write(self.paths.front_file, json.dumps({**body, **changes}).encode())

    def install_build(self, build: str) -> None:
        """Say which build is installed now; hook and front are not replaced by this."""
        self._write(self.paths.current, json.dumps({"build": build}).encode())

    def crash_at(self, step: str) -> None:
        """The next front is killed at `module:function:before|after:nth`; the ones after it are not."""
        pathlib.Path(self.paths.hook_dir, "worker.py").write_text(FATAL_WORKER, "utf-8")
        (self.home / "crash").write_text(step, "utf-8")

    # what a host does

    def command(self, event: str, *, python: str | None = None, hook: str | None = None) -> str:
        """The configured command, exactly."""
        program, script = shlex.quote(python or sys.executable), shlex.quote(hook or str(self.hook))
        return f"test -r {script} && {program} -I -S {script} claude {event} 2>/dev/null || :"

    def start(self, event: str, payload: bytes, **more: Any) -> subprocess.Popen[bytes]:
        """Begin one hook; its payload is written and its standard input closed."""
        environment = {**self.environment, **more.pop("env", {})}
        prefix: list[str] = more.pop("prefix", [])
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [*prefix, "/bin/sh", "-c", self.command(event, **more)], stdin=pipe, stdout=pipe, stderr=pipe, env=environment, cwd=self.home
        )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(payload)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdin = None
        return process

    def fire(self, event: str, payload: bytes | dict[str, Any], **more: Any) -> bytes:
        """Run one hook to its end; it must exit 0 and say nothing on standard error. Gives what it printed."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        out, err = self.start(event, data, **more).communicate(timeout=PATIENCE_S)
        return self.checked(out, err)

    def checked(self, out: bytes, err: bytes) -> bytes:
        """What a hook printed: nothing, or one JSON object."""
        assert err == b""
        if out:
            assert isinstance(json.loads(out), dict)
        return out

    def finish(self, process: subprocess.Popen[bytes]) -> bytes:
        """Wait for a hook that was started."""
        out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
        return self.checked(out, err)

    def prompt(self, text: str, session: str = "s1", **more: Any) -> bytes:
        """The person sends a prompt."""
        return self.fire("UserPromptSubmit", self.prompt_payload(text, session), **more)

    def prompt_payload(self, text: str, session: str = "s1", **fields: Any) -> dict[str, Any]:
        """The payload of a prompt."""
        return {
            "session_id": session,
            "transcript_path": str(self.home / "t.jsonl"),
            "cwd": str(self.home),
            "prompt_id": "p",
            "prompt": text,
            **fields,
        }

    # what can be seen

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """Rows of the database."""
        db = sqlite3.connect(self.paths.database, isolation_level=None, timeout=10)
        db.row_factory = sqlite3.Row
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.close()

    def intake(self) -> list[sqlite3.Row]:
        """Intake rows, oldest first."""
        return self.rows("SELECT * FROM intake ORDER BY intake_id")

    def counts(self) -> dict[str, int]:
        """The front's counts by reason."""
        found = self.rows("SELECT body_json FROM status WHERE name = 'front_counts'")
        return {reason: entry["count"] for reason, entry in json.loads(found[0][0]).items()} if found else {}

    def hook_counts(self) -> dict[str, int]:
        """The hook's counts by reason."""
        try:
            lines = pathlib.Path(self.paths.counts).read_text("ascii").splitlines()
        except FileNotFoundError:
            return {}
        return {line.split()[0]: int(line.split()[1]) for line in lines}

    def spooled(self) -> list[str]:
        """Names of files in the spool."""
        return sorted(os.listdir(self.paths.spool))

    def add_card(self, lesson_id: str, text: str) -> None:
        """A card of the most severe kind, for every project."""
        self.rows(
            "INSERT INTO projection VALUES (?, '', 0, 'Blocker', 1, ?, 1, 'none', 'conditional', ?, 20,"
            ' \'{"paths":[],"tools":[],"task_types":[],"signals":[],"words":[],"grams":[]}\', \'\')',
            lesson_id, lesson_id, text,
        )  # fmt: skip

    # the front

    def health(self) -> dict[str, Any] | None:
        """What a running front says of itself."""
        reply = ask(self.paths, "claude", "health", b"", 2.0)
        return json.loads(reply) if reply else None

    def start_front(self) -> subprocess.Popen[bytes]:
        """Start a front as a child, and wait until it answers."""
        process = self.spawn_front()
        self.wait(lambda: (self.health() or {}).get("pid") is not None)
        return process

    def spawn_front(self) -> subprocess.Popen[bytes]:
        """Start a front as a child."""
        worker = str(pathlib.Path(self.paths.hook_dir, "worker.py"))
        process = subprocess.Popen([self.python, "-I", "-S", worker], env=self.environment, cwd="/", stdin=subprocess.DEVNULL)
        self._children.append(process)
        return process

    _children: list[subprocess.Popen[bytes]]

    def fronts(self) -> list[int]:
        """Process ids of the fronts of this home."""
        found = []
        name = os.fsencode(pathlib.Path(self.paths.hook_dir, "worker.py"))
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if name in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return found

    def front(self) -> int:
        """The one front. (While it starts a child there are two for a moment: the child is a copy until it runs its own program.)"""
        self.wait(lambda: len(self.fronts()) == 1)
        return self.fronts()[0]

    def kill_fronts(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to every front of this home and wait until they are gone."""
        for pid in self.fronts():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        for process in self._children:
            process.wait(PATIENCE_S)
        self.wait(lambda: not self.fronts())

    def wait(self, condition: Callable[[], object]) -> None:
        """Until something holds; fails when it does not come to hold."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            for process in self._children:
                process.poll()
            assert time.monotonic() < end, "what was waited for did not happen"
            time.sleep(0.02)

    def lift_mark(self) -> None:
        """Forget that a front was just started: the next hook may start one at once."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.paths.run, "woken"))


@pytest.fixture
def rendered(home: pathlib.Path, child_environment: dict[str, str]) -> Iterator[Rendered]:
    """A home that is installed as far as hook and front are concerned."""
    made = Rendered(home, child_environment)
    made._children = []
    yield made
    made.kill_fronts()
