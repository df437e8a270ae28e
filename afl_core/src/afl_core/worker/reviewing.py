"""Running one review with everything it needs from a home."""

from __future__ import annotations

from afl_core.api.home import Home


def review(home: Home, review_id: str) -> str:
    """Run it and tell observers; returns the outcome's word."""
    from afl_core.review.run import run_review

    outcome = run_review(
        home.db,
        home.paths,
        home.settings,
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
