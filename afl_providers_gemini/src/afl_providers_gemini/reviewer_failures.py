"""Every way a review by Gemini CLI can fail, as data: code, whether it is an attempt, and what it means. The documentation is checked against it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from afl_providers_gemini.reviewer_kept import HINT


@attrs.frozen
class Failure:
    """One reason. `counts` False: nothing was wrong with the review, so it is postponed and not used up. `advice` is the person's next step."""

    code: str
    counts: bool
    meaning: str
    advice: str = ""


TABLE = (
    Failure("reviewer_login_missing", counts=False, meaning="Gemini CLI is not logged in here", advice=HINT),
    Failure(
        "reviewer_network", counts=False, meaning="the service could not be reached", advice="check the connection and the proxy variables"
    ),
    Failure(
        "reviewer_unauthorized", counts=False, meaning="the service refused the login (401, 403)", advice="log in again, or check the key"
    ),
    Failure("reviewer_overloaded", counts=False, meaning="the service is busy or a limit is used up (429, 503)", advice="wait"),
    Failure(
        "reviewer_settings",
        counts=False,
        meaning="the model is unknown to the service (404), or the settings of Gemini CLI cannot be used",
        advice="check `reviewer_model_gemini` and start `gemini` once",
    ),
    Failure("reviewer_api_error", counts=True, meaning="the service answered with another error"),
    Failure("reviewer_refused", counts=True, meaning="the service stopped the answer for what it is about (SAFETY)"),
    Failure("reviewer_output_cut", counts=True, meaning="the answer was longer, or took more turns, than the run may have"),
    Failure("reviewer_no_structured_output", counts=True, meaning="the model ended without giving the result in the required shape"),
    Failure("reviewer_timeout", counts=True, meaning="there was no answer in time"),
    Failure("reviewer_output_too_large", counts=True, meaning="the command printed more than is read"),
    Failure(
        "reviewer_command_rejected",
        counts=True,
        meaning="the command did not accept its arguments",
        advice="`gemini --version`: 0.61.0 is known to work",
    ),
    Failure("reviewer_output_unreadable", counts=True, meaning="what the command printed is not one JSON result"),
    Failure("reviewer_killed", counts=True, meaning="the command was ended from outside"),
)

FAILURES: Mapping[str, Failure] = {failure.code: failure for failure in TABLE}
