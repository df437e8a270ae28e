"""A home with the product really installed in it, and what a host does there: hooks, the front and the jobs process they lead to."""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import subprocess
import sys
import time
import uuid
from collections.abc import Callable

from _processes import Cost, children, timed

from afl_core.api.home import Home
from afl_core.model.ids import digest
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import front_pid, stop_front
from afl_core.store.connection import connect, writing
from afl_core.store.projection import Row

PATIENCE_S = 60.0
CARDS = 24
"""Cards of the project: the severe ones are given to every new session, some others fit the prompt, the rest is about other work."""

SEVERE = 3
FITTING = 3
CARD = (
    "When: renaming a function. Do: change every caller in the same commit. Do not: leave an alias behind. Verify: search for the old name."
)
PROMPT = "please rename the function in the parser module and run the tests again " * 6

REVIEWER = """
import json
print(json.dumps({"write_complete": True, "review_receipt_id": "r", "report_content_id": "c", "report_content": "The messages ask for work; none of them criticises what was done before it.",
                  "status": "reviewed_no_lesson", "lessons": [], "minor_findings": []}))
"""
"""A reviewer that costs nothing by itself: what is measured is the product's side of a review."""


class BenchHome:
    """The home. `bare` is the Python of an environment that holds nothing: other packages' `.pth` files cost tens of milliseconds."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.project = root / "project"
        for folder in (self.project, root / ".claude"):
            folder.mkdir()
        reviewer = root / "reviewer.py"
        reviewer.write_text(REVIEWER, "utf-8")
        self.environ = {
            "HOME": str(root),
            "PATH": os.defpath,
            "AGENT_FEEDBACK_LOOP_REVIEWER_COMMAND": sys.executable,
            "AGENT_FEEDBACK_LOOP_REVIEWER_ARGS_JSON": json.dumps(["-I", "-S", str(reviewer)]),
        }
        (root / ".claude" / "settings.json").write_text("{}\n", "utf-8")
        with Home(str(root), self.environ) as home:
            plan = plan_install(home, hosts=["claude"])
            self.paths, self.build = plan.paths, apply_install(plan).build
        self._settings = json.loads((root / ".claude" / "settings.json").read_text("utf-8"))
        self.answered = b""
        self._add_cards()
        subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", str(root / "bare")], check=True)
        self.bare = str(root / "bare" / "bin" / "python")

    def command(self, event: str) -> list[str]:
        """The process that the configured command of an event starts, taken from the host's settings: the shell around it is the host's."""
        line: str = self._settings["hooks"][event][0]["hooks"][0]["command"]
        words = shlex.split(line)
        start = words.index("&&") + 1
        return words[start : words.index(event, start) + 1]

    def payload(self, event: str, session: str, transcript: pathlib.Path | None = None) -> bytes:
        """What the host hands to a hook."""
        body = {
            "session_id": session,
            "transcript_path": str(transcript or self.root / "transcripts" / f"{session}.jsonl"),
            "cwd": str(self.project),
            "hook_event_name": event,
            "prompt_id": str(uuid.uuid4()),
        }
        said = {"prompt": PROMPT} if event == "UserPromptSubmit" else {"last_assistant_message": PROMPT}
        return json.dumps({**body, **said}).encode()

    def fire(self, event: str, session: str | None = None, transcript: pathlib.Path | None = None) -> Cost:
        """Run one hook. Without a session it is a new one's: a card is given to a session once."""
        answer = self.root / "answer"
        session = session or str(uuid.uuid4())
        cost = timed(self.command(event), self.environ, self.payload(event, session, transcript), answer)
        self.answered = answer.read_bytes()
        return cost

    @property
    def gave_cards(self) -> bool:
        """Whether the hook that was fired last put cards into the conversation."""
        return b"nonce=" in self.answered

    def front(self) -> int | None:
        """The front's process id."""
        return front_pid(self.paths)

    def jobs(self) -> int | None:
        """The jobs process, which is the front's only child."""
        front = self.front()
        return next(iter(children(front)), None) if front else None

    def warm_up(self) -> int:
        """Have a front that serves and hooks that can seal; gives its process id."""
        self.fire("UserPromptSubmit")
        self.wait("a front that serves", lambda: self.front() and os.path.exists(self.paths.spool_key))
        return self.front() or 0

    def stop(self) -> None:
        """Send the front home and wait until it and its jobs process are gone."""
        jobs = self.jobs()
        stop_front(self.paths)
        if jobs:
            self.wait("the end of the jobs process", lambda: not os.path.exists(f"/proc/{jobs}"))

    def wait(self, what: str, condition: Callable[[], object], seconds: float = PATIENCE_S) -> None:
        """Until something holds; ends the benchmark when it does not come to hold."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f"waited {seconds:.0f} s in vain for {what}; see {self.paths.runtime_log}")
            time.sleep(0.02)

    def scalar(self, sql: str, *values: object) -> int:
        """One number of the database."""
        db = connect(self.paths.database, readonly=True)
        try:
            found = db.execute(sql, values).fetchone()
            return found[0] or 0 if found else 0
        finally:
            db.close()

    def _add_cards(self) -> None:
        db = connect(self.paths.database)
        try:
            with writing(db):
                for number in range(CARDS):
                    row = _card(number)
                    db.execute(f"INSERT INTO projection VALUES ({', '.join('?' * len(row))})", row)
        finally:
            db.close()


def _card(number: int) -> Row:
    name = f"card-{number:03}"
    fits = number < SEVERE + FITTING
    rule = {"paths": [], "tools": [], "task_types": [], "grams": []}
    rule["signals"] = ["rename", "run the tests"] if fits else [f"deploy stage {number}", "terraform plan"]
    rule["words"] = ["parser", "function"] if fits else ["terraform", "cluster", "schema"]
    rank, severity = (1, "Critical") if number < SEVERE else (2, "Major")
    text = f"[{digest(name)[:8]}] {CARD}"
    return Row(name, "", rank, severity, 1, name, 1, "none", "conditional", text, 60, json.dumps(rule), "")
