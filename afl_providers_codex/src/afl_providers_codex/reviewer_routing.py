"""Which service and model the person configured: the isolated run ignores their configuration, so these few values are passed to it again."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs

from afl_core.model.errors import ReviewError

CONFIG_LIMIT = 1024 * 1024
"""Bytes of a configuration file that is read."""

TEXT_LIMIT = 2_000
"""Characters of one value."""

_WORD = re.compile(r"[A-Za-z0-9_-]{1,100}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


@attrs.frozen
class Routing:
    """The configured model ('' for none) and the overrides, ready for `-c`."""

    model: str = ""
    overrides: tuple[str, ...] = ()


def routing(config_dir: Path) -> Routing:
    """Read `config.toml`; nothing configured is an empty routing.

    ReviewError (reviewer_settings) for a file that cannot be read, a value of a wrong shape, or a provider whose secret stands in the file:
    every user of the machine could read it in the command line.
    """
    config = _config(config_dir / "config.toml")
    profile = config.get("profile")
    chosen = {**config, **_table(_table(config.get("profiles")).get(profile) if isinstance(profile, str) else None)}
    overrides = [f"{key}={check(f'{key}', chosen[key])}" for key, check in TOP.items() if key in chosen]
    if (name := chosen.get("model_provider")) is not None:
        provider = _word("model_provider", name)
        overrides += _provider(provider, _table(_table(config.get("model_providers")).get(provider)))
    model = chosen.get("model", "")
    if not isinstance(model, str):
        raise _unusable("model", "is not text")
    return Routing(model, tuple(overrides))


def text(key: str, value: object) -> str:
    """A TOML string."""
    if not isinstance(value, str) or not value or len(value) > TEXT_LIMIT or not value.isprintable():
        raise _unusable(key, "is not a short printable text")
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _address(key: str, value: object) -> str:
    written = text(key, value)
    try:
        parts = urlsplit(str(value))
    except ValueError as bad:
        raise _unusable(key, "is no address") from bad
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise _unusable(key, "is no http address")
    if "@" in parts.netloc:
        raise _secret(key)
    return written


def _variable(key: str, value: object) -> str:
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
        raise _unusable(key, "is not the name of a variable")
    return f'"{value}"'


def _flag(key: str, value: object) -> str:
    if not isinstance(value, bool):
        raise _unusable(key, "is neither true nor false")
    return "true" if value else "false"


def _number(key: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _unusable(key, "is no whole number")
    return str(value)


def _words(key: str, value: object, check: Callable[[str, object], str]) -> str:
    """An inline table of texts."""
    if not isinstance(value, dict):
        raise _unusable(key, "is no table")
    return "{" + ", ".join(f"{text(key, name)} = {check(key, item)}" for name, item in value.items()) + "}"


TOP: Mapping[str, Callable[[str, object], str]] = {
    "model_provider": text,
    "openai_base_url": _address,
    "chatgpt_base_url": _address,
    "cli_auth_credentials_store": text,
    "forced_login_method": text,
    "forced_chatgpt_workspace_id": text,
}
"""Where the answer comes from and where the login is kept; everything else of the person's configuration stays out."""

PROVIDER: Mapping[str, Callable[[str, object], str]] = {
    "name": text,
    "base_url": _address,
    "wire_api": text,
    "env_key": _variable,
    "requires_openai_auth": _flag,
    "supports_websockets": _flag,
    "stream_idle_timeout_ms": _number,
    "query_params": lambda key, value: _words(key, value, text),
    "env_http_headers": lambda key, value: _words(key, value, _variable),
    "aws": lambda key, value: _words(key, value, text),
}

SECRETS = ("experimental_bearer_token", "http_headers", "auth")
"""Keys of a provider that hold a secret, or a command that prints one."""

RETRIES = ("request_max_retries=1", "stream_max_retries=1")
"""The host's own patience is longer than a review's deadline; a review is tried again later anyway."""


def _provider(name: str, table: Mapping[str, Any]) -> list[str]:
    """Nothing for a provider that is built in."""
    if not table:
        return []
    if held := next((key for key in SECRETS if table.get(key)), None):
        raise _secret(f"model_providers.{name}.{held}")
    where = f"model_providers.{name}"
    made = [f"{where}.{key}={check(f'{where}.{key}', table[key])}" for key, check in PROVIDER.items() if key in table]
    return [*made, *(f"{where}.{retries}" for retries in RETRIES)]


def _config(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            raw = file.read(CONFIG_LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as bad:
        raise _unusable(str(path), f"cannot be read: {bad.strerror}") from bad
    if len(raw) > CONFIG_LIMIT:
        raise _unusable(str(path), f"has more than {CONFIG_LIMIT} bytes")
    try:
        return tomllib.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as bad:  # what it says may quote the file
        raise _unusable(str(path), "is not valid TOML") from bad


def _word(key: str, value: object) -> str:
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise _unusable(key, "is not a name of letters, digits, - and _")
    return value


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _unusable(key: str, problem: str) -> ReviewError:
    return ReviewError(f"Codex's configuration: {key} {problem}", reason="reviewer_settings", hint="correct Codex's config.toml")


def _secret(key: str) -> ReviewError:
    return ReviewError(
        f"Codex's configuration: {key} holds a secret, which would be readable in a command line",
        reason="reviewer_settings",
        hint="keep it in a variable (env_key) and name that in AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST",
    )
