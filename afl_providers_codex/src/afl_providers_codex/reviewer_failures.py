"""Every way a review by Codex CLI can fail, as data: code, whether it is an attempt, and what it means. The documentation is checked against it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs


@attrs.frozen
class Failure:
    """One reason. `counts` False: nothing was wrong with the review, so it is postponed and not used up. `advice` is the person's next step."""

    code: str
    counts: bool
    meaning: str
    advice: str = ""


TABLE = (
    Failure(
        "reviewer_login_missing",
        counts=False,
        meaning="Codex is not logged in here, or the variable that holds its key is not passed",
        advice="run `codex login`, or name the variable in AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST",
    ),
    Failure(
        "reviewer_network",
        counts=False,
        meaning="the service could not be reached, or the connection broke",
        advice="check the connection and the proxy variables",
    ),
    Failure(
        "reviewer_unauthorized", counts=False, meaning="the service refused the login (401, 403)", advice="log in again, or check the key"
    ),
    Failure(
        "reviewer_overloaded", counts=False, meaning="the service is busy or a limit is used up (429, 503, high demand)", advice="wait"
    ),
    Failure(
        "reviewer_settings",
        counts=False,
        meaning="the configured model provider cannot be passed on safely",
        advice="see the detail; `env_key` keeps a key out of config.toml",
    ),
    Failure("reviewer_api_error", counts=True, meaning="the service answered with another error"),
    Failure("reviewer_refused", counts=True, meaning="the service filtered the answer out"),
    Failure("reviewer_output_cut", counts=True, meaning="the answer was longer than the model may write"),
    Failure("reviewer_context_too_large", counts=True, meaning="the evidence does not fit into the model's context"),
    Failure("reviewer_no_structured_output", counts=True, meaning="the model answered with something else than the required JSON object"),
    Failure("reviewer_timeout", counts=True, meaning="there was no answer in time"),
    Failure("reviewer_output_too_large", counts=True, meaning="the command printed more than is read"),
    Failure(
        "reviewer_command_rejected",
        counts=True,
        meaning="the command did not accept its arguments",
        advice="`codex --version`: 0.171.0 is known to work",
    ),
    Failure("reviewer_output_unreadable", counts=True, meaning="what the command printed is no stream of JSON events"),
    Failure("reviewer_killed", counts=True, meaning="the command was ended from outside"),
)

FAILURES: Mapping[str, Failure] = {failure.code: failure for failure in TABLE}
