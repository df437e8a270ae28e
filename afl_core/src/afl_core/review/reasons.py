"""Every reason a review did not complete, as data: whether it was an attempt, what happened in one sentence, and what to do next.

The codes are stored with reviews and runs. A provider may answer with a code that is not here; it is stored as it is, and its run counts for
the caps.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class Reason:
    """`counts`: it uses up one of the review's attempts; otherwise the review only waits."""

    code: str
    counts: bool
    sentence: str
    next_step: str


_SHOW = "run: afl review show <id>"

REASONS: dict[str, Reason] = {
    reason.code: reason
    for reason in (
        # the receipt
        Reason("receipt_shape", True, "the reviewer's answer does not have the required shape", _SHOW),
        Reason("receipt_evidence", True, "the reviewer cited a quote or an event that the evidence does not hold", _SHOW),
        Reason("receipt_recurrence", True, "an earlier lesson of this family exists and the answer does not account for it", _SHOW),
        Reason("receipt_revision", True, "the lesson was changed by somebody else since the reviewer saw it", "nothing; it is tried again"),
        Reason("receipt_project", True, "the reviewer named another project than the one it reviewed", _SHOW),
        Reason("receipt_change", True, "a gate refused the proposed lesson", _SHOW),
        # the child
        Reason(
            "reviewer_timeout",
            True,
            "there was no answer in time",
            "raise AGENT_FEEDBACK_LOOP_REVIEWER_TIMEOUT_MS if the reviewer is slow here",
        ),
        Reason("reviewer_output_too_large", True, "the reviewer printed more than 512 KiB", _SHOW),
        Reason("reviewer_output_unreadable", True, "what the reviewer printed is not one JSON receipt", _SHOW),
        Reason("reviewer_output_cut", True, "the answer was longer, or took more turns, than it may", _SHOW),
        Reason("reviewer_no_structured_output", True, "the model ended without giving a receipt", _SHOW),
        Reason("reviewer_schema_exhausted", True, "every try of the model at the receipt had a wrong shape", _SHOW),
        Reason("reviewer_api_error", True, "the model service answered with an error", _SHOW),
        Reason("reviewer_refused", True, "the model declined to review this evidence", _SHOW),
        Reason(
            "reviewer_command_rejected",
            True,
            "the reviewer's command did not accept its arguments",
            "upgrade the host's command, or run: afl doctor",
        ),
        Reason("reviewer_exit", True, "the reviewer's command ended with an error", _SHOW),
        Reason("reviewer_killed", True, "the reviewer's command was ended from outside", "nothing; it is tried again"),
        Reason("reviewer_broken", True, "the reviewer's plug-in, or what reads its answer, raised an error", _SHOW),
        Reason("evidence_erased", True, "the words under review were erased", "nothing"),
        Reason(
            "reviewer_context_too_large", True, "the evidence does not fit into a hand-off", "lower AGENT_FEEDBACK_LOOP_REVIEW_BATCH_MAX"
        ),
        Reason("lease_expired", True, "the process that ran the review was lost", "nothing; it is tried again"),
        Reason("retry_exhausted", True, "all attempts were used up; the evidence was released", "run: afl review retry <id>"),
        # not an attempt
        Reason(
            "reviewer_missing",
            False,
            "no reviewer for this host can be used here",
            "install the host's command, or name one with AGENT_FEEDBACK_LOOP_REVIEWER_COMMAND",
        ),
        Reason(
            "reviewer_login_missing",
            False,
            "the reviewer is not logged in",
            "log in to the host, or name its variable in AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST",
        ),
        Reason("reviewer_unauthorized", False, "the model service refused the login", "log in again, or check the key"),
        Reason("reviewer_network", False, "the model service cannot be reached", "check the connection and the proxy variables"),
        Reason("reviewer_overloaded", False, "the model service is busy, or a limit of it is used up", "nothing; it is tried again"),
        Reason("reviewer_settings", False, "the reviewer's settings cannot be used", "run: afl doctor"),
        Reason("redaction_failed", False, "a redactor failed, so nothing was stored or sent", "run: afl doctor"),
        Reason("store_failed", False, "the store, or a file of the home, could not be read or written", "run: afl doctor"),
        Reason("lease_lost", False, "another process took the review over", "nothing"),
        Reason("stopped", False, "the review was stopped before its end", "nothing; it is tried again"),
        # spending
        Reason("reviews_off", False, "reviews are switched off", "set AGENT_FEEDBACK_LOOP_REVIEWS_PER_DAY above 0"),
        Reason("cap_reviews", False, "the day's reviews are used up", "wait, or raise AGENT_FEEDBACK_LOOP_REVIEWS_PER_DAY"),
        Reason(
            "cap_project_reviews",
            False,
            "the day's reviews of this project are used up",
            "wait, or raise AGENT_FEEDBACK_LOOP_REVIEWS_PER_DAY_AND_PROJECT",
        ),
        Reason("cap_tokens", False, "the day's tokens are used up", "wait, or raise AGENT_FEEDBACK_LOOP_REVIEW_TOKENS_PER_DAY"),
        Reason("cap_usd", False, "the day's money is used up", "wait, or raise AGENT_FEEDBACK_LOOP_REVIEW_USD_PER_DAY"),
        Reason("breaker", False, "the reviewer failed five times in a row; it rests for an hour", "nothing; it is tried again"),
    )
}

UNCOUNTED = tuple(reason.code for reason in REASONS.values() if not reason.counts)
"""The codes that are no attempt."""


def explain(code: str) -> Reason:
    """The entry of a code; for a provider's own code, one that says so."""
    return REASONS.get(code) or Reason(code, True, f"the reviewer answered {code}", _SHOW)
