"""The place for one selector plug-in on the prompt path. A stuck one cannot be interrupted from inside Python, so a kernel timer ends the
whole process, and the mark it leaves makes the next front start without it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from afl_core.model.clock import now_ms
from afl_core.store import intake, projection, status
from afl_core.store.connection import writing

CALL_S = 0.1
"""A selector that takes longer for one prompt is stuck: the person waits for it."""

LOAD_S = 5.0
MAX_FAILURES = 3
STUCK = "selector_stuck"
"""Name of the status row that says which selector was killed: `{"name", "target", "at_ms"}`. It is not loaded again while the row names it."""

MARK = "selector.mark"


class SelectorSlot:
    """Empty until `settle` was called with a plug-in's target."""

    def __init__(self, run: str, say: Callable[[str], None]) -> None:
        self._mark = os.path.join(run, MARK)
        self._say = say
        self._name = ""
        self._target: str | None = None
        self._plugin: Any = None
        self._failures = 0

    def recover(self, db: sqlite3.Connection, now: int) -> None:
        """Name the selector whose mark the last front left behind when it was killed."""
        try:
            with open(self._mark, encoding="utf-8") as handle:
                name, _, target = handle.read(1000).partition("\n")
        except FileNotFoundError:
            return
        with writing(db):
            status.put(db, STUCK, {"name": name, "target": target, "at_ms": now}, now)
        os.unlink(self._mark)
        self._say(f"selector {name} was stuck and ended the front; it is not used")

    def settle(self, db: sqlite3.Connection, name: str, target: str | None) -> None:
        """Load the plug-in the settings name, when it is another one than before; called when no prompt waits."""
        if target == self._target:
            return
        self._name, self._target, self._plugin, self._failures = name, target, None, 0
        stuck = status.get(db, STUCK)
        if target is None or (stuck is not None and stuck.get("target") == target):
            return
        module, _, attribute = target.partition(":")
        try:
            with self._guarded(LOAD_S):
                found = getattr(__import__(module, fromlist=[attribute]), attribute)
                self._plugin = found() if isinstance(found, type) else found
        except Exception as bad:  # noqa: BLE001 - somebody else's code
            self._fail(db, bad)

    def candidates(self, db: sqlite3.Connection, project_id: str, prompt: str) -> tuple[str, ...]:
        """Lesson ids the plug-in adds for a prompt; none when there is no plug-in or it fails."""
        if self._plugin is None:
            return ()
        cards = [(row.lesson_id, row.card_text) for row in projection.for_project(db, project_id)]
        if not cards:
            return ()
        try:
            with self._guarded(CALL_S):
                found = [str(lesson_id) for lesson_id in self._plugin.candidates(prompt, cards)]
        except Exception as bad:  # noqa: BLE001 - somebody else's code
            self._fail(db, bad)
            return ()
        known = {lesson_id for lesson_id, _ in cards}
        return tuple(lesson_id for lesson_id in found if lesson_id in known)

    def _fail(self, db: sqlite3.Connection, bad: Exception) -> None:
        self._failures += 1
        self._say(f"selector {self._name} failed: {type(bad).__name__}")
        if self._failures >= MAX_FAILURES:
            self._plugin = None
            self._say(f"selector {self._name} is not used any more until the worker starts anew")
        with writing(db):
            intake.count(db, "selector_failed", now_ms())

    @contextlib.contextmanager
    def _guarded(self, seconds: float) -> Iterator[None]:
        with open(self._mark, "w", encoding="utf-8") as handle:
            handle.write(f"{self._name}\n{self._target}")
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            os.unlink(self._mark)
