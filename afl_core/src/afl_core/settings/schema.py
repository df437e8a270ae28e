"""Every setting: name, default, environment variable, bounds and meaning. Nothing is read here."""

from __future__ import annotations

from typing import Any

import attrs

PREFIX = "AGENT_FEEDBACK_LOOP_"


def _setting(default: Any, env: str, doc: str, low: float | None = None, high: float | None = None, choices: tuple[str, ...] = ()) -> Any:
    return attrs.field(default=default, metadata={"env": env, "doc": doc, "low": low, "high": high, "choices": choices})


@attrs.frozen
class Settings:
    """All settings of one home. Times in the unit their name or text says."""

    review_min_entries: int = _setting(
        3, PREFIX + "REVIEW_MIN_ENTRIES", "pending messages of a project that make a batch review due", 1, 1000
    )
    review_batch_max: int = _setting(24, PREFIX + "REVIEW_BATCH_MAX", "messages one review takes at most", 1, 128)
    review_max_age: int = _setting(3600, PREFIX + "REVIEW_MAX_AGE", "seconds after which a single pending message makes a review due", 1)
    review_cooldown: int = _setting(
        900, PREFIX + "REVIEW_COOLDOWN", "seconds between the end of a project's last review and its next batch review", 0
    )
    review_wake_cooldown: int = _setting(
        300, PREFIX + "REVIEW_WAKE_COOLDOWN", "seconds before a failed or postponed review is tried again", 0
    )
    review_max_attempts: int = _setting(
        3, PREFIX + "REVIEW_MAX_ATTEMPTS", "attempts before a review is given up and its evidence released", 1, 20
    )
    interruption_window: int = _setting(
        900, PREFIX + "INTERRUPTION_WINDOW", "seconds after an interruption in which the next message counts as its correction", 1
    )
    reconcile_interval: int = _setting(
        60, PREFIX + "RECONCILE_INTERVAL", "seconds between two looks of the scheduled reconcile", 30, 86_400
    )
    reconcile_kill_grace_ms: int = _setting(
        2_000, PREFIX + "RECONCILE_KILL_GRACE_MS", "milliseconds between asking a scheduled pass to end and ending it", 100, 60_000
    )
    reconcile_lookback: int = _setting(
        900,
        PREFIX + "RECONCILE_LOOKBACK",
        "seconds back to which a transcript that no hook told of must have changed to be looked at",
        1,
        2_592_000,
    )
    retention_days: int = _setting(10, PREFIX + "RETENTION_DAYS", "days raw evidence is kept; 0 or less keeps it for good", -1)
    tool_retention_days: int = _setting(90, PREFIX + "TOOL_RETENTION_DAYS", "days compact tool grains are kept", 1)
    max_log_bytes: int = _setting(5_242_880, PREFIX + "MAX_LOG_BYTES", "size at which a log is rotated", 65_536)
    memory_budget: int = _setting(0, PREFIX + "MEMORY_BUDGET", "tokens an injection may cost at most; 0 derives it from the cards", 0)
    memory_enabled: bool = _setting(True, PREFIX + "MEMORY_ENABLED", "whether cards are given back to agents")
    reviewer_command: str = _setting("", PREFIX + "REVIEWER_COMMAND", "path of a command that reviews instead of the host's own reviewer")
    reviewer_args_json: str = _setting("[]", PREFIX + "REVIEWER_ARGS_JSON", "JSON list of its arguments")
    reviewer_timeout_ms: int = _setting(180_000, PREFIX + "REVIEWER_TIMEOUT_MS", "milliseconds a review may take", 1_000, 3_600_000)
    reviewer_env_allowlist: str = _setting(
        "",
        PREFIX + "REVIEWER_ENV_ALLOWLIST",
        "comma-separated names of environment variables passed to a reviewer (for logins kept in the environment)",
    )
    reviewer_model_claude: str = _setting("haiku", PREFIX + "REVIEWER_MODEL_CLAUDE", "model the Claude reviewer is asked for")
    reviewer_model_codex: str = _setting(
        "", PREFIX + "REVIEWER_MODEL_CODEX", "model the Codex reviewer is asked for; empty takes the one the person configured"
    )
    reviewer_model_gemini: str = _setting("gemini-2.5-flash", PREFIX + "REVIEWER_MODEL_GEMINI", "model the Gemini reviewer is asked for")
    claude_command: str = _setting("", PREFIX + "CLAUDE_COMMAND", "path or name of the claude command")
    codex_command: str = _setting("", PREFIX + "CODEX_COMMAND", "path or name of the codex command")
    gemini_command: str = _setting("", PREFIX + "GEMINI_COMMAND", "path or name of the gemini command")
    report_language: str = _setting(
        "zh", "AFL_REPORT_LANGUAGE", "language of reports: zh, en, ... or auto for the language of the complaint"
    )
    reviews_per_day: int = _setting(40, PREFIX + "REVIEWS_PER_DAY", "reviews a day; 0 switches reviews off", 0)
    reviews_per_day_and_project: int = _setting(12, PREFIX + "REVIEWS_PER_DAY_AND_PROJECT", "reviews a day for one project", 0)
    review_tokens_per_day: int = _setting(600_000, PREFIX + "REVIEW_TOKENS_PER_DAY", "tokens reviews may use a day", 0)
    review_usd_per_day: float = _setting(
        2.0, PREFIX + "REVIEW_USD_PER_DAY", "money reviews may cost a day, in USD, where the host reports it", 0
    )
    keystore: str = _setting(
        "auto", "AFL_KEYSTORE", "which keystore keeps the vault's private key: auto or a keystore's name (keyring, passphrase, file)"
    )
    redact_options: str = _setting(
        "",
        PREFIX + "REDACT_OPTIONS",
        "comma-separated options of the redactors that are on beside what they hide unasked; `afl redact options` names them",
    )
    selector: str = _setting("default", PREFIX + "SELECTOR", "which selector plug-in may add candidates")
    debug: bool = _setting(False, PREFIX + "DEBUG", "write transition lines to standard error")


REVIEWER_VARIABLES = ("claude_command", "codex_command", "gemini_command", "reviewer_env_allowlist")
"""The settings that reviewers are told by their variables, wherever they were set."""


def for_reviewers(settings: Settings) -> dict[str, str]:
    """Variable -> value of the settings a reviewer must know to find its command and its login; those that are not set are left out."""
    told = {field.metadata["env"]: getattr(settings, field.name) for field in attrs.fields(Settings) if field.name in REVIEWER_VARIABLES}
    return {name: value for name, value in told.items() if value}


VARIABLES = frozenset(field.metadata["env"] for field in attrs.fields(Settings))
"""The environment variables that stand for settings."""


@attrs.frozen
class Policy:
    """The policy of changes: who decides that a proposed lesson is used."""

    lessons: str = attrs.field(
        default="auto", metadata={"doc": "auto: a lesson that passed every check is used at once", "choices": ("auto",)}
    )
