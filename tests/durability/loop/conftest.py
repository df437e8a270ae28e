"""The installed product in a scratch home, whose front and jobs processes can be killed at a named point, and what is compared afterwards."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import pathlib
import re
import runpy
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from afl_core.api.home import Home
from afl_core.changes.audit import verify_chain
from afl_core.demo.host import ReplayedHost
from afl_core.model.clock import now_ms
from afl_core.setup.install import apply_install, plan_install
from afl_core.testing.recorded import Moment, Recorded
from afl_core.worker.client import ask

FOLDER = pathlib.Path(__file__).parent
picture = runpy.run_path(str(FOLDER / "picture.py"))["picture"]
PATIENCE_S = 60.0
LATER = "5e551011-0000-4000-8000-000000000002"
LATER_PROMPT = "please rewrite the client module so that it calls the new API everywhere"
LATER_ANSWER = "I will call the new API everywhere."

STAND_IN = """#!/bin/sh
case "$*" in
  *afl_core.worker.jobs*) exec {python} -I {script} {home} jobs "$@";;
  *worker.py*) exec {python} -I -S {script} {home} front "$@";;
  *) exec {python} "$@";;
esac
"""

CONSTANTS = {
    "afl_core.worker.serve:TICK_S": 0.25,
    "afl_core.worker.launch:BACKOFF_S": [0.05, 0.1, 0.2, 0.2],
    "afl_core.review.run:LEASE_MS": 1_500,
    "afl_core.review.run:RENEW_MS": 400,
    "afl_core.worker.jobs:POLL_MS": 200,
    "afl_core.worker.jobs:ENVIRONMENT_MS": 1_000,
    "afl_core.capture.adopt:GRACE_MS": 2_000,
    "afl_core.capture.adopt:ENDED_GRACE_MS": 1_000,
}
"""Waits that would make the tests slow, shortened in the processes under test."""


class Product:
    """One home. `direct`: without the stand-in, exactly as installed."""

    def __init__(self, home: pathlib.Path, *, direct: bool = False, projects: int = 1) -> None:
        self.home = home
        self.faults = home / "faults"
        self.faults.mkdir()
        self.write("constants.json", json.dumps(CONSTANTS))
        self.environment = {
            **{name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR") if name in os.environ},
            "HOME": str(home),
            "AFL_REPORT_LANGUAGE": "en",
        }
        (home / ".claude").mkdir(mode=0o700)
        self.hosts = []
        for number in range(projects):
            project = home / f"project{number or ''}"
            (project / ".git").mkdir(parents=True)
            (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
            self.hosts.append(ReplayedHost(home, project, self.environment))
        self.host = self.hosts[0]
        self.install()
        reviewer = json.dumps(["-I", str(FOLDER / "scripted_reviewer.py"), str(home)])
        self.wishes = {"reviewer_command": sys.executable, "reviewer_args_json": reviewer, "review_wake_cooldown": 1}
        self.settings(**self.wishes)
        self.python = home / "python"
        if not direct:
            filled = STAND_IN.format(
                python=shlex.quote(sys.executable), script=shlex.quote(str(FOLDER / "stand_in.py")), home=shlex.quote(str(home))
            )
            self.python.write_text(filled, "utf-8")
            self.python.chmod(0o700)
            self.put_stand_in()

    # installing and wishing

    def install(self) -> None:
        """`afl install`."""
        with self.open() as home:
            self.paths = home.paths
            apply_install(plan_install(home))

    def settings(self, **values: Any) -> None:
        """What the person wrote into the settings file."""
        self.replace(pathlib.Path(self.paths.settings_file), "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))

    def put_stand_in(self, build: str = "") -> None:
        """Let hook and front start the stand-in instead of Python; `build`: and call themselves another build."""
        constants = pathlib.Path(self.paths.hook_dir, "constants.py")
        text = re.sub(r"^PYTHON = .*$", f"PYTHON = {str(self.python)!r}", constants.read_text("ascii"), flags=re.MULTILINE)
        if build:
            text = re.sub(r"^BUILD = .*$", f"BUILD = {build!r}", text, flags=re.MULTILINE)
        self.replace(constants, text)

    def replace(self, path: pathlib.Path, text: str) -> None:
        """Put a file in place in one step."""
        new = path.with_name(path.name + ".new")
        new.write_text(text, "utf-8")
        new.chmod(0o600)
        new.rename(path)

    def write(self, name: str, text: str) -> None:
        """A wish for the processes under test."""
        self.replace(self.faults / name, text)

    def set(self, **more: Any) -> None:
        """Other constants from the next start on; dots and the colon are written as `__` and `___`."""
        named = {name.replace("___", ":").replace("__", "."): value for name, value in more.items()}
        self.write("constants.json", json.dumps({**json.loads((self.faults / "constants.json").read_text("utf-8")), **named}))

    def crash_at(self, point: str, nth: int = 1, *, then: str = "") -> None:
        """The process that reaches this point for the nth time from now on is killed there with its group, once; after it the one at `then`."""
        self.write("crash", f"{point} {nth}" + (f"\n{then} 1" if then else ""))

    def crashed(self, count: int = 1) -> bool:
        """Whether so many were."""
        path = self.faults / "crashed"
        return path.exists() and len(path.read_text("utf-8").splitlines()) == count

    # what a host does

    def now(self) -> int:
        """The time by the clock that the test moved, in ms."""
        moved = self.faults / "clock"
        return now_ms() + (int(moved.read_text("ascii")) if moved.exists() else 0)

    def host_writes(self, *records: dict[str, Any]) -> None:
        """The host appends to the transcript of the later session."""
        stamp = dt.datetime.fromtimestamp(self.now() / 1000, tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        self.host.write(LATER, *({**record, "timestamp": stamp} for record in records))

    def moments(self, name: str, host: ReplayedHost) -> Iterator[Moment]:
        """The moments of a recorded session as if its last hook ran now; afterwards the transcript is whole."""
        now = self.now()
        for moment in host.replayed(name, now):
            yield moment
        # What the host wrote after its last hook was appended when the iteration ended.
        last = max(step["t"] for step in Recorded.sequence(name))
        host.shift(moment.transcript, dt.timedelta(milliseconds=now - last * 1000))

    def replay(self, name: str, host: ReplayedHost | None = None) -> list[str]:
        """The same, hook by hook through the installed command; what they printed."""
        host = host or self.host
        return [printed for moment in self.moments(name, host) for printed in host.run_hooks(moment.payload)]

    def common(self, session: str = LATER) -> dict[str, str]:
        """What every payload of the later session has."""
        return {"session_id": session, "transcript_path": str(self.host.transcript_of(session)), "cwd": str(self.host.project)}

    def warm(self) -> None:
        """Another session starts and ends, so that a front runs and hooks have a spool key: a home that is not new any more."""
        other = self.common("5e551011-0000-4000-8000-00000000000a")
        self.host.run_hooks({**other, "hook_event_name": "SessionStart", "source": "startup"})
        self.until(lambda: os.path.exists(self.paths.spool_key) and self.health(), "the front")

    def begin_later(self) -> None:
        """The later session starts."""
        self.host.run_hooks({**self.common(), "hook_event_name": "SessionStart", "source": "startup"})

    def ask_later(self, turn: int = 1) -> str:
        """A prompt of the later session; what the host was given to inject. The transcript shows what the host would have written."""
        prompt = {**self.common(), "hook_event_name": "UserPromptSubmit", "prompt": LATER_PROMPT, "prompt_id": f"turn-{turn}"}
        [printed] = self.host.run_hooks(prompt)
        injected = str(json.loads(printed or "{}").get("hookSpecificOutput", {}).get("additionalContext", ""))
        said = {"type": "user", "promptId": f"turn-{turn}", "message": {"role": "user", "content": LATER_PROMPT}}
        records: list[dict[str, Any]] = [{**said, "origin": {"kind": "human"}, "promptSource": "typed"}]
        if injected:
            shown = {
                "type": "hook_additional_context",
                "content": [injected],
                "hookName": "UserPromptSubmit",
                "hookEvent": "UserPromptSubmit",
            }
            records.append({"type": "attachment", "attachment": shown})
        self.host_writes(*records)
        return injected

    def answer_later(self, turn: int = 1) -> None:
        """The agent's answer and its stop."""
        time.sleep(0.005)
        text = [{"type": "text", "text": LATER_ANSWER}]
        self.host_writes({"type": "assistant", "message": {"id": f"msg_{turn}", "role": "assistant", "content": text}})
        stop = {"prompt_id": f"turn-{turn}", "stop_hook_active": False, "last_assistant_message": LATER_ANSWER}
        self.host.run_hooks({**self.common(), "hook_event_name": "Stop", **stop})

    def story(self) -> None:
        """The whole: a correction becomes a card, and the card reaches the model in a later session."""
        self.replay("interrupted_text")
        self.until_reviewed()
        self.begin_later()
        assert self.ask_later()
        self.answer_later()
        self.until_calm()

    def reconcile(self) -> dict[str, Any]:
        """`afl reconcile --json` from the person's own shell."""
        done = subprocess.run(
            [sys.executable, "-I", "-m", "afl_core.cli.main", "reconcile", "--json"], env=self.environment, capture_output=True, check=False
        )
        assert done.stdout, done.stderr.decode("utf-8", "replace")
        return json.loads(done.stdout)

    def reconciles_cleanly(self) -> bool:
        """Whether a pass had its turn (a killed process holds its lease until that ends) and met no error."""
        return self.reconcile().get("errors") == []

    # what can be seen

    def open(self) -> Home:
        """The home, for looking into it."""
        return Home(str(self.home), self.environment)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of the database."""
        with contextlib.closing(sqlite3.connect(f"file:{self.paths.database}?mode=ro", uri=True, timeout=20)) as db:
            return [tuple(row) for row in db.execute(sql, values)]

    def one(self, sql: str, *values: object) -> Any:
        """The only value of the only row."""
        [[value]] = self.rows(sql, *values)
        return value

    def log(self) -> str:
        """The runtime log."""
        path = pathlib.Path(self.paths.runtime_log)
        return path.read_text("utf-8") if path.exists() else ""

    def pids(self, role: str) -> list[int]:
        """Processes of this home that run: `front`, `jobs`, or `child` for reviewers."""
        found = []
        word = {
            "front": os.fsencode(self.paths.hook_dir) + b"/worker.py",
            "jobs": b"afl_core.worker.jobs",
            "child": b"scripted_reviewer.py",
        }[role]
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                line = (folder / "cmdline").read_bytes()
                if (
                    word in line
                    and os.fsencode(self.home) in line
                    and (folder / "stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
                ):
                    found.append(int(folder.name))
        return sorted(found)

    def health(self) -> dict[str, Any] | None:
        """What a running front says."""
        reply = ask(self.paths, "claude", "health", b"", 2.0)
        return json.loads(reply) if reply else None

    def kill(self, role: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to every process of a role, of jobs to their whole groups; returns how many there were when they are gone."""
        pids = self.pids(role)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, number) if role == "jobs" and os.getpgid(pid) == pid else os.kill(pid, number)
        if number == signal.SIGKILL:
            self.until(lambda: not set(pids) & set(self.pids(role)), f"the end of {role}")
        return len(pids)

    def stop(self) -> None:
        """End everything of this home."""
        with contextlib.suppress(FileNotFoundError):
            (self.faults / "hold").unlink()
        for role in ("front", "jobs", "child"):
            self.kill(role)

    def until(self, found: Callable[[], Any], what: str) -> Any:
        """Wait until something comes true, and give it."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            with contextlib.suppress(sqlite3.OperationalError):
                if got := found():
                    return got
            time.sleep(0.03)
        reviews = self.rows("SELECT status, attempt, reason, detail FROM reviews")
        intake = self.rows("SELECT kind, state, count(*) FROM intake GROUP BY 1, 2")
        raise AssertionError(f"{what} did not come true\nreviews {reviews}\nintake {intake}\nspool {self.spooled()}\n{self.log()}")

    def spooled(self) -> list[str]:
        """Names of files in the spool."""
        return sorted(os.listdir(self.paths.spool)) if os.path.isdir(self.paths.spool) else []

    def until_reviewed(self, count: int = 1) -> None:
        """Wait for completed reviews."""
        self.until(lambda: self.one("SELECT count(*) FROM reviews WHERE status = 'completed'") == count, f"{count} completed reviews")

    def is_calm(self) -> bool:
        """Whether nothing waits any more: no hook row, no words, no review, no delivery, no spooled record."""
        return not (
            self.one("SELECT count(*) FROM intake WHERE state = 'new'")
            or self.one("SELECT count(*) FROM queue JOIN events USING (event_id) WHERE status = 'pending' AND immediate = 1")
            or self.one("SELECT count(*) FROM reviews WHERE status IN ('pending', 'running')")
            or self.one("SELECT count(*) FROM deliveries WHERE state = 'emitted'")
            or self.spooled()
        )

    def until_calm(self) -> None:
        """Wait for it."""
        self.until(self.is_calm, "calm")

    def picture(self) -> dict[str, Any]:
        """Everything the store holds that must not depend on how often processes died: without ids and times."""
        db = sqlite3.connect(f"file:{self.paths.database}?mode=ro", uri=True, timeout=20)
        db.row_factory = sqlite3.Row
        with contextlib.closing(db):
            return picture(db, self.home)

    def check_leftovers(self) -> None:
        """Nothing lies around, nothing is there twice, the audit chain is whole."""
        with self.open() as home:
            assert verify_chain(home.db) is None
            assert home.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert self.spooled() == []
        contexts = pathlib.Path(self.paths.contexts)
        assert not contexts.exists() or list(contexts.iterdir()) == []
        assert self.pids("child") == []
        for role in ("front", "jobs"):  # one that is too many leaves at once
            self.until(lambda role=role: len(self.pids(role)) <= 1, f"a single {role}")
        twice = "SELECT session_id, generation, offset, part, count(*) FROM events GROUP BY 1, 2, 3, 4 HAVING count(*) > 1"
        assert self.rows(twice) == []


@pytest.fixture
def make(home: pathlib.Path) -> Iterator[Callable[..., Product]]:
    """Install into the scratch home."""
    made: list[Product] = []

    def product(**wishes: Any) -> Product:
        made.append(Product(home, **wishes))
        return made[-1]

    yield product
    for one in made:
        one.stop()


@pytest.fixture
def product(make: Callable[..., Product]) -> Product:
    """The installed product."""
    return make()


@pytest.fixture(scope="session")
def undisturbed() -> Callable[..., dict[str, Any]]:
    """What the store holds after a story in which nothing was killed, told once for each story."""
    told: dict[str, dict[str, Any]] = {}

    def picture_of(story: str, tell: Callable[[Product], None] = Product.story, **wishes: Any) -> dict[str, Any]:
        if story not in told:
            home = pathlib.Path(tempfile.mkdtemp(prefix="afl-", dir=os.path.realpath("/tmp")))
            one = Product(home, **wishes)
            try:
                tell(one)
                told[story] = one.picture()
            finally:
                one.stop()
                shutil.rmtree(home, ignore_errors=True)
        return told[story]

    return picture_of
