"""The chain over all redactors. It fails closed: text that a redactor could not judge is neither stored in the index nor sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import attrs

from afl_core.model.errors import PluginError, RedactionError
from afl_core.plugins.isolation import Guard
from afl_core.redaction.repeats import name_of, repeated, without, words
from afl_core.spec.redactor import Redaction, Redactor

SECONDS_PER_TEXT = 20.0
"""After this long inside one redactor the process is ended and the redactor named (jobs only)."""

REPEATED = "repeated-secret"
"""The rule of a secret that was recognised earlier in the session and said again where no rule sees it."""

WORDS_HASHED = 16_384
"""Words whose hashes are kept in memory."""


@attrs.frozen
class Redacted:
    """Safe text, how often each rule replaced something, and the keyed hashes of what was replaced (for blocking repeats)."""

    text: str
    manifest: dict[str, int]
    secrets: tuple[str, ...] = ()


class Chain:
    """All redactors in order. `hasher` names a secret without keeping it; `missing` names plug-ins that should be among them and are not."""

    def __init__(
        self, redactors: Sequence[tuple[str, Redactor]], guard: Guard, hasher: Callable[[str], str], missing: Sequence[str] = ()
    ) -> None:
        self._redactors = list(redactors)
        self.missing = tuple(missing)
        self._guard = guard
        self._hasher = hasher
        self._hashed: dict[str, str] = {}

    @property
    def versions(self) -> str:
        """Names and versions of the redactors: changes when a rule changes."""
        return ",".join(f"{redactor.name}/{redactor.version}" for _, redactor in self._redactors)

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
        for plugin, redactor in self._redactors:
            result = self._one(plugin, redactor, text)
            for finding in result.findings:
                counts[finding.rule] = counts.get(finding.rule, 0) + 1
                secrets.extend(self._names(text[finding.start : finding.end]))
            text = result.text
        secret = repeated(text, frozenset(blocked), self._hash)
        if secret:
            text, repeats = without(text, secret, f"[REDACTED:{REPEATED}]")
            counts[REPEATED] = counts.get(REPEATED, 0) + repeats
        return Redacted(text=text, manifest=counts, secrets=tuple(dict.fromkeys(secrets)))

    def _one(self, plugin: str, redactor: Redactor, text: str) -> Redaction:
        try:
            result: object = self._guard.call(plugin, "redact", lambda: redactor.redact(text), seconds=SECONDS_PER_TEXT)
        except PluginError as bad:
            raise RedactionError(
                f"redactor {redactor.name!r} failed, so the text was not kept: {bad.sentence}",
                code="AFL-REDACT-003",
                hint="run: afl plugins list",
            ) from bad
        if not isinstance(result, Redaction) or not isinstance(result.text, str):
            raise RedactionError(
                f"redactor {redactor.name!r} returned {type(result).__name__} instead of a Redaction",
                code="AFL-REDACT-004",
                hint="run: afl plugins list",
            )
        return result

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
