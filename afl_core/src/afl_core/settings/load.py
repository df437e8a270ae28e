"""Defaults < settings file < environment, checked, as one typed object. Unknown names and bad values are refused, never ignored."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs

from afl_core.model.errors import SettingsError
from afl_core.settings.schema import Policy, Settings

T = TypeVar("T", Settings, Policy)


def load_settings(path: str | Path, environ: Mapping[str, str]) -> Settings:
    """The settings of one home. A missing file is an empty one."""
    values = _file_values(Path(path), Settings)
    for field in attrs.fields(Settings):
        name = field.metadata["env"]
        if environ.get(name, "") != "":
            values[field.name] = _from_text(field, environ[name], f"environment variable {name}")
    return Settings(**values)


def load_policy(path: str | Path) -> Policy:
    """The policy of changes. A missing file is the default policy."""
    return Policy(**_file_values(Path(path), Policy))


def _file_values(path: Path, kind: type[T]) -> dict[str, Any]:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as bad:
        raise SettingsError(f"{path} cannot be read: {bad.strerror}", hint=f"fix the permissions of {path}") from bad
    try:
        table = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as bad:
        raise SettingsError(f"{path} is not valid TOML: {bad}", code="AFL-SETTINGS-002", hint=f"correct {path} or move it away") from bad
    known = {field.name: field for field in attrs.fields(kind)}
    for name in table:
        if name not in known:
            raise SettingsError(f"{path}: unknown name {name!r}", code="AFL-SETTINGS-003", hint="known names: " + ", ".join(sorted(known)))
    return {name: _checked(known[name], value, f"{path}: {name}") for name, value in table.items()}


def _kind_of(field: Any) -> type:
    return {"int": int, "float": float, "bool": bool, "str": str}[field.type if isinstance(field.type, str) else field.type.__name__]


def _from_text(field: Any, text: str, where: str) -> Any:
    kind = _kind_of(field)
    try:
        if kind is bool:
            value: Any = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}[
                text.strip().lower()
            ]
        else:
            value = kind(text.strip())
    except (KeyError, ValueError) as bad:
        raise SettingsError(
            f"{where}: {text!r} is not a value of type {kind.__name__}", code="AFL-SETTINGS-004", hint=f"default: {field.default!r}"
        ) from bad
    return _checked(field, value, where)


def _checked(field: Any, value: Any, where: str) -> Any:
    kind = _kind_of(field)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not kind:
        raise SettingsError(
            f"{where}: {value!r} is not a value of type {kind.__name__}", code="AFL-SETTINGS-004", hint=f"default: {field.default!r}"
        )
    low, high, choices = field.metadata.get("low"), field.metadata.get("high"), field.metadata.get("choices")
    if (low is not None and value < low) or (high is not None and value > high) or (isinstance(value, float) and math.isnan(value)):
        raise SettingsError(
            f"{where}: {value!r} is out of range ({low} to {high if high is not None else 'any'})",
            code="AFL-SETTINGS-005",
            hint=f"default: {field.default!r}",
        )
    if choices and value not in choices:
        raise SettingsError(
            f"{where}: {value!r} is not one of {', '.join(choices)}", code="AFL-SETTINGS-005", hint=f"default: {field.default!r}"
        )
    return value
