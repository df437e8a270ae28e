"""The product installed into a home with real CLIs in it, and looking into what it did there."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import stat
from collections.abc import Callable
from typing import Any

from loop_sides import SIDES, wait

from afl_core.api import lessons
from afl_core.api.home import Home
from afl_core.capture.projects import locate
from afl_core.changes.gates import decide_lesson
from afl_core.changes.operations import LessonProposal
from afl_core.lessons.families import family_id
from afl_core.model.lesson import Card, EvidenceRef, Scope, Severity
from afl_core.settings.paths import Paths
from afl_core.settings.schema import Policy
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import stop_front
from afl_core.store.connection import writing
from afl_core.testing.failure import KitError
from afl_core.worker import reconcile

NONCE = re.compile(r"nonce=([0-9a-f]{16})")
LATER = "please rewrite the client module so that it calls the new API everywhere"
SECRET = "ghp_" + "k3Zr9QpLx2Vt7Bn5Ws8Yd4Fg6Hj1Mc0Ra3Te"
UNNAMED = "a-token-that-no-list-names-7731"


class Installed:
    """One home with the CLIs named, and the product installed for exactly these by `afl install`."""

    def __init__(self, home: pathlib.Path, binaries: dict[str, str]) -> None:
        self.home, self.project = home, home / "project"
        self.sides = {name: SIDES[name](home, self.project, binary) for name, binary in binaries.items()}
        self.environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            **{f"AGENT_FEEDBACK_LOOP_{name.upper()}_COMMAND": self._noting(name, binary) for name, binary in binaries.items()},
            "AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST": ",".join(side.key_variable for side in self.sides.values()),
            "AFL_REPORT_LANGUAGE": "en",
            "SERVICE_TOKEN": UNNAMED,
        }
        for side in self.sides.values():
            side.sandbox.environment.update(self.environment)
        (self.project / ".git").mkdir()
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        with self.open() as opened:
            self.result = apply_install(plan_install(opened, hosts=list(binaries)))

    def _noting(self, name: str, binary: str) -> str:
        """A command that notes the environment it is given, then is the CLI: what the product starts, not what the person does."""
        script = self.home / f"{name}-of-the-product"
        script.write_text(f"#!/bin/sh\nenv >> '{self.home}/{name}.environment'\nexec '{binary}' \"$@\"\n")
        script.chmod(stat.S_IRWXU)
        return str(script)

    def environment_of_what_was_started(self, name: str) -> str:
        """All variables of everything that the product started of a CLI."""
        return (self.home / f"{name}.environment").read_text("utf-8")

    def __getattr__(self, name: str) -> Any:
        """A side by its host's name."""
        try:
            return self.__dict__["sides"][name]
        except KeyError:
            raise AttributeError(name) from None

    def open(self) -> Home:
        """The home, for looking into it."""
        return Home(str(self.home), self.environment)

    def until(self, found: Callable[[Home], Any], what: str) -> Any:
        """Wait until something is true of the home, and give it."""
        with self.open() as opened:
            try:
                return wait(lambda: found(opened), what)
            except KitError as late:
                log = pathlib.Path(opened.paths.runtime_log)
                rows = [tuple(row) for row in opened.db.execute("SELECT status, reason, detail FROM reviews")]
                raise KitError(f"{late.sentence}\nreviews: {rows}\n{log.read_text('utf-8') if log.exists() else 'no log'}") from late

    def lesson(self) -> dict[str, Any]:
        """The one lesson, once a review has made it."""
        [one] = self.until(lambda home: lessons.listed(home, None, every=True), "the lesson")
        return dict(one)

    def corrected(self, name: str) -> dict[str, Any]:
        """Correct the agent at one CLI; give the lesson that its own reviewer made, once what it was sent and given was checked."""
        side = self.sides[name]
        side.review()
        side.interrupted_and_corrected(f"refactor the module, the token is {SECRET}")
        lesson = self.lesson()
        assert lesson["severity"] == "Major"
        assert self.runs() == [(name, "completed")]
        [review] = side.reviews()
        assert SECRET not in review.raw
        assert f"{side.key_variable}=mock-key" in self.environment_of_what_was_started(name)
        return lesson

    def given_later(self, name: str, lesson: dict[str, Any]) -> None:
        """Ask something the lesson fits in a new session of a CLI: the model is told the card, and the transcript proves it."""
        side = self.sides[name]
        side.expect("rewrite the client module", "All calls use the new API.")
        asked = side.ask(LATER)
        assert (asked.returncode, asked.answer) == (0, "All calls use the new API.")
        told = side.told(side.asking(LATER))
        assert "[agent-feedback-loop memory]" in told
        assert lesson["card"]["must_do"] in told
        assert [one["lesson_id"] for one in self.proof(asked.session_id)] == [lesson["lesson_id"]]
        with self.open() as home:
            nonces = home.db.execute("SELECT nonce FROM deliveries WHERE session_id LIKE '%' || ?", (asked.session_id,)).fetchall()
        assert [row[0] for row in nonces] == NONCE.findall(told)

    def leaked(self) -> list[str]:
        """Where a secret went that may not go anywhere: files of the data directory, and whatever the product started."""
        with self.open() as opened:
            files = [path for path in pathlib.Path(opened.paths.data).rglob("*") if path.is_file()]
        held = [str(path) for path in files if SECRET.encode() in path.read_bytes() or UNNAMED.encode() in path.read_bytes()]
        return held + [path.name for path in self.home.glob("*.environment") if UNNAMED in path.read_text("utf-8")]

    def reconciled_sessions(self) -> list[str]:
        """The hosts of all sessions, in order of their start, after a pass over everything that lies in the hosts' directories."""
        with self.open() as opened:
            body = reconcile.run(opened, review=False)
            assert body["errors"] == []
            return [row[0] for row in opened.db.execute("SELECT host FROM sessions ORDER BY started_ms")]

    def teach(self, must_do: str) -> None:
        """A critical lesson of the project, decided through the gates: it is given with every prompt that names no other place."""
        card = Card(
            "Deploying", must_do, "Do not guess the target", "The cluster's name is in the reply", "A wrong one was hit", "none", ("e",)
        )
        proposal = LessonProposal(
            lesson_id="lesson-deploy",
            project_id=locate(str(self.project)).project_id,
            base_revision=0,
            severity=Severity.CRITICAL,
            family_id=family_id("safety-irreversible", "deploy-target-unnamed"),
            method_class="safety-irreversible",
            class_id="deploy-target-unnamed",
            scope=Scope(),
            card=card,
            generalizable=False,
            responsibility="agent_fault",
            confidence="high",
            causal_chain=("a", "b", "c", "d", "e"),
            extra={},
            evidence=(EvidenceRef("e", "wrong cluster", ("d",)),),
            report_id="r",
            review_id="v",
            origin_session="claude:elsewhere",
            lineage=None,
            incident_id="i",
            rule_action="none",
            global_promotion_evidence=(),
        )
        with self.open() as home, writing(home.db, durable=True):
            decide_lesson(home.db, proposal=proposal, actor="test", policy=Policy(), now=home.clock())

    def proof(self, session_id: str) -> list[dict[str, Any]]:
        """What a session was given, once its transcript has proved all of it."""
        return list(self.until(lambda home: proved(lessons.explained(home, session_id)["given"]), "the proof of delivery"))

    def signals(self) -> list[tuple[str, str]]:
        """Each signal: its kind, and the kind of the event it points at."""
        query = "SELECT s.kind, e.kind FROM signals s JOIN events e ON e.event_id = s.referent_id ORDER BY s.at_ms"
        with self.open() as opened:
            return [tuple(row) for row in opened.db.execute(query)]

    def runs(self) -> list[tuple[str, str]]:
        """Each run of a reviewer: which, and how it ended."""
        with self.open() as opened:
            return [tuple(row) for row in opened.db.execute("SELECT reviewer, outcome FROM review_runs ORDER BY run_id")]

    def close(self) -> None:
        """End the worker, then the mocks."""
        with contextlib.ExitStack() as stack:
            for side in self.sides.values():
                stack.enter_context(side.api)
            stop_front(Paths(self.home))


def proved(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was given, when all of it reached the model."""
    return given if all(one["state"] == "reached" for one in given) else []
