"""The chain over all redactors. It fails closed: text that a redactor could not judge is neither stored in the index nor sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import attrs

from afl_core.model.errors import AflError, PluginError, RedactionError
from afl_core.plugins.isolation import Guard
from afl_core.redaction.escapes import MAX_DEPTH, Reading, Readings
from afl_core.redaction.places import Places, replaced
from afl_core.redaction.repeats import Blocked, name_of, repeated, spans_of, words
from afl_core.spec.redactor import Finding, Redaction, Redactor

SECONDS_PER_TEXT = 20.0
"""After this long inside one redactor the process is ended and the redactor named (jobs only)."""

REPEATED = "repeated-secret"
"""The rule of a secret that was recognised earlier in the session and said again where no rule sees it."""

WORDS_HASHED = 16_384
"""Words whose hashes are kept in memory."""

MAX_GROWTH = 16
"""How many times its length a text may have when it is redacted, and `GROWTH_CHARS` more; markers are longer than short secrets."""

GROWTH_CHARS = 65_536

_RULE = re.compile(r"[a-z0-9-]{1,64}")


@attrs.frozen
class Redacted:
    """Safe text, how often each rule replaced something, the keyed hashes of what was replaced (for blocking repeats), and where it stood.

    `findings` have offsets in the text that was given, in order and not overlapping; replacing them gives `text`.
    """

    text: str
    manifest: dict[str, int]
    secrets: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class ContractError(RedactionError):
    """What a redactor returned is no result of it; the sentence is ours and quotes nothing."""

    code = "AFL-REDACT-006"


def _asked(redactor: Redactor, text: str) -> object:
    """The result. An error of our own family is as foreign as any other here: its sentence may quote the text."""
    try:
        return redactor.redact(text)
    except AflError as bad:
        raise RuntimeError(type(bad).__name__) from None


class Chain:
    """All redactors in order. `hasher` names a secret without keeping it; `missing` names plug-ins that should be among them and are not.

    `options`: what was asked of the redactors, which have been given it already; part of `versions`.
    """

    def __init__(
        self,
        redactors: Sequence[tuple[str, Redactor]],
        guard: Guard,
        hasher: Callable[[str], str],
        missing: Sequence[str] = (),
        options: Sequence[str] = (),
    ) -> None:
        self._redactors = list(redactors)
        self.missing = tuple(missing)
        self.options = tuple(options)
        self._guard = guard
        self._hasher = hasher
        self._hashed: dict[str, str] = {}
        self._blocked: tuple[tuple[str, ...], Blocked] = (), Blocked()

    @property
    def versions(self) -> str:
        """Names and versions of the redactors and what was asked of them: changes when a rule or an option changes."""
        return versions_of(self._redactors, self.options)

    def redact(self, text: str, blocked: Iterable[str] = ()) -> Redacted:
        """Run every redactor; raise `RedactionError` when there is none or one fails or breaks its contract."""
        if not self._redactors:
            raise RedactionError(
                "no redactor is installed, so nothing can be kept or sent",
                code="AFL-REDACT-002",
                hint="pip install ./afl_redactors, then run: afl doctor",
            )
        if self.missing:
            raise RedactionError(
                f"redactor plug-in {self.missing[0]!r} cannot be used, so nothing can be kept or sent",
                code="AFL-REDACT-005",
                hint="run: afl plugins list; when it was removed on purpose, run: afl install",
            )
        counts: dict[str, int] = {}
        secrets: list[str] = []
        places: Places | None = None
        seen: Reading | None = None
        now, readings = text, Readings(text)
        for depth in range(MAX_DEPTH + 1):  # as it is first: a value may hold an escape
            for plugin, redactor in self._redactors:
                seen = readings.at(depth)
                if seen is None:
                    break
                found = [Finding(one.rule, *seen.origin(one.start, one.end)) for one in self._one(plugin, redactor, seen.text)]
                for one in found:
                    counts[one.rule] = counts.get(one.rule, 0) + 1
                    secrets.extend(self._names(now[one.start : one.end]))
                if found:
                    places, now = _with(places, text, found, now)
                    readings = Readings(now)
            if seen is None:
                break
        secret = repeated(now, self._blocked_of(blocked), self._hash)
        if secret:
            repeats = [Finding(REPEATED, start, end) for start, end in spans_of(now, secret)]
            counts[REPEATED] = counts.get(REPEATED, 0) + len(repeats)
            places, now = _with(places, text, repeats, now)
        return Redacted(text=now, manifest=counts, secrets=tuple(dict.fromkeys(secrets)), findings=places.findings if places else ())

    def _one(self, plugin: str, redactor: Redactor, text: str) -> tuple[Finding, ...]:
        """What one redactor found; what it did is held against the contract before anything is kept of it."""

        def ask() -> tuple[Finding, ...]:
            result: object = _asked(redactor, text)
            if not isinstance(result, Redaction) or not isinstance(result.text, str):
                raise ContractError(
                    f"redactor {redactor.name!r} returned {type(result).__name__} instead of a Redaction",
                    code="AFL-REDACT-004",
                    hint="run: afl plugins list",
                )
            fault = fault_of(text, result)
            if fault:
                raise ContractError(f"redactor {redactor.name!r} broke its contract: {fault}", hint="run: afl plugins list")
            return tuple(result.findings)

        try:
            return self._guard.call(plugin, "redact", ask, seconds=SECONDS_PER_TEXT)
        except PluginError as bad:
            if isinstance(bad.__cause__, ContractError):
                raise bad.__cause__ from None
            raise RedactionError(
                f"redactor {redactor.name!r} failed, so the text was not kept: {bad.sentence}",
                code="AFL-REDACT-003",
                hint="run: afl plugins list",
            ) from bad

    def _blocked_of(self, names: Iterable[str]) -> Blocked:
        """The names as they are looked up; a session is given the same ones for text after text."""
        if not isinstance(names, tuple) or not names:
            return Blocked(names)
        known = self._blocked
        if names is not known[0]:
            known = self._blocked = names, Blocked(names)
        return known[1]

    def _names(self, value: str) -> list[str]:
        return [name_of(word, self._hash) for word in words(value)]

    def _hash(self, word: str) -> str:
        """The keyed hash of a word; in a session the same ones come again and again."""
        known = self._hashed.get(word)
        if known is None:
            if len(self._hashed) >= WORDS_HASHED:
                self._hashed.clear()
            known = self._hashed[word] = self._hasher(word)
        return known


def versions_of(redactors: Sequence[tuple[str, Redactor]], options: Sequence[str]) -> str:
    """Names and versions of redactors, and what was asked of them, in one line."""
    return ",".join((*(f"{redactor.name}/{redactor.version}" for _, redactor in redactors), *(f"+{name}" for name in options)))


def _with(places: Places | None, text: str, found: Sequence[Finding], now: str) -> tuple[Places | None, str]:
    """The places with more found in the text as it is now. Nearly all texts hold nothing."""
    if not found:
        return places, now
    places = places or Places(text)
    places.add(found)
    return places, places.text


def fault_of(text: str, result: Redaction) -> str:
    """How a result breaks the contract of redactors, without a word of the text; '' when it holds. Pure."""
    at = 0
    findings: object = result.findings
    if findings == () and result.text == text:
        return ""
    if not isinstance(findings, tuple | list):
        return "its findings are no list"
    for found in findings:
        if not isinstance(found, Finding) or type(found.start) is not int or type(found.end) is not int or type(found.rule) is not str:
            return "a finding is none"
        if not at <= found.start < found.end <= len(text):
            return "a finding lies outside of the text, is empty, or overlaps the one before it"
        if not _RULE.fullmatch(found.rule):
            return "the name of a rule is not one"
        at = found.end
    if len(result.text) > len(text) * MAX_GROWTH + GROWTH_CHARS:
        return "the text it returned is many times as long"
    return "" if result.text == replaced(text, findings) else "the text it returned is not the given one with its findings replaced"
