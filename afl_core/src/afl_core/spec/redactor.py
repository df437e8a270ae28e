"""The contract of a redactor: text in, redacted text and a count by rule out. Pure; never reads files, never keeps the text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol, runtime_checkable

import attrs


@attrs.frozen
class Finding:
    """One replacement. `start` and `end` are character offsets in the text that was given; the value itself is never kept."""

    rule: str
    start: int
    end: int


@attrs.frozen
class Redaction:
    """The result: `text` with every finding replaced by `[REDACTED:<rule>]`, and the findings in order of `start`, not overlapping."""

    text: str
    findings: tuple[Finding, ...] = ()


@runtime_checkable
class Redactor(Protocol):
    """What `afl_redactors` implementations are. `name` is unique; `version` changes whenever a rule changes.

    `redact` must be deterministic, idempotent (`redact(redact(t).text).text == redact(t).text`) and linear in the length of the text.
    """

    name: str
    version: str

    def redact(self, text: str) -> Redaction:
        """Replace what must not be stored or sent."""
        ...


@runtime_checkable
class HasOptions(Protocol):
    """What a redactor may be besides: one that finds more kinds of data where a person wants them gone.

    `options`: what may be switched on, by name, each with one line of what it adds; nothing of it is looked for by the redactor as registered.
    """

    options: Mapping[str, str]

    def with_options(self, names: Collection[str]) -> Redactor:
        """Return the redactor with these options on and all others off; its `version` tells which. Raise ValueError that names unknown ones."""
        ...
