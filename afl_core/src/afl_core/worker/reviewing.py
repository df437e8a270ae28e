"""Running one review with everything it needs from a home, and the thread in which the jobs process does so."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

from afl_core.api.home import Home
from afl_core.model.errors import SettingsError
from afl_core.worker.journal import describe

REST_S = 20.0
"""How long a review that could not be begun is left alone."""

log = logging.getLogger("afl.jobs")


def review(home: Home, review_id: str) -> str:
    """Run it and tell observers; returns the outcome's word."""
    from afl_core.review.run import postpone_unready, run_review

    try:
        settings = home.settings
    except SettingsError as bad:  # a session's own variable may be wrong: its review waits, the others do not
        unready = postpone_unready(home.db, review_id, "reviewer_settings", home.redact(bad.sentence), home.clock)
        return f"{unready.result.value} ({unready.reason})"
    outcome = run_review(
        home.db,
        home.paths,
        settings,
        list(home.registry.reviewers().values()),
        home.reviewer_environ,
        review_id,
        home.clock,
        home.redact,
    )
    if outcome.committed is not None:
        home.registry.tell(
            "afl_review_committed",
            review={"review_id": review_id, "lessons": [decision.lesson_id for decision in outcome.committed.decisions]},
        )
        for lesson_id in [decision.lesson_id for decision in outcome.committed.decisions]:
            home.registry.tell("afl_lesson_changed", lesson={"lesson_id": lesson_id})
    return outcome.result.value + (f" ({outcome.reason})" if outcome.reason else "")


class Reviews:
    """Runs one review at a time in a thread with a store connection of its own: most of a review is waiting for a child process."""

    def __init__(self, home: str, environ: Mapping[str, str]) -> None:
        self._home = home
        self._environ = dict(environ)
        self._known: dict[str, dict[str, str]] = {}
        self._rests: dict[str, float] = {}
        self._thread: threading.Thread | None = None

    def rests(self, review_id: str) -> bool:
        """Whether a review could not even be begun a moment ago: others go first."""
        return time.monotonic() < self._rests.get(review_id, 0.0)

    @property
    def busy(self) -> bool:
        """Whether a review runs."""
        return self._thread is not None and self._thread.is_alive()

    def learn(self, session_id: str, environ: Mapping[str, str]) -> None:
        """Remember what a session's frames said about where its host is."""
        self._known.pop(session_id, None)
        self._known[session_id] = dict(environ)

    def environment(self, session_id: str | None, host: str) -> dict[str, str] | None:
        """What is known for a review: its session's own environment, else the latest of the same host; None when there is none.

        A front that was started anew has not heard of older sessions, and a reviewer that is run without the person's routing would go
        to another server than the one they use.
        """
        if session_id in self._known:
            return self._known[session_id]
        return next((self._known[other] for other in reversed(self._known) if other.startswith(f"{host}:")), None)

    def start(self, review_id: str, environ: Mapping[str, str]) -> None:
        """Start a review with what is known of the session's environment."""
        together = {**self._environ, **environ}
        self._thread = threading.Thread(target=self._run, args=(review_id, together), name=f"review-{review_id[:8]}")
        self._thread.start()

    def join(self) -> None:
        """Wait for the running review."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, review_id: str, environ: dict[str, str]) -> None:
        try:
            with Home(self._home, environ) as home:
                log.info("review %s: %s", review_id, review(home, review_id))
        except Exception as bad:  # noqa: BLE001 - nobody waits for this thread; the review is tried again after a rest
            self._rests[review_id] = time.monotonic() + REST_S
            log.warning("review %s: %s", review_id, describe(bad))
