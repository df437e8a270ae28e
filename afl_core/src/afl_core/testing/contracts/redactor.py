"""The contract of a redactor as tests: subclass `RedactorContract`, return your redactor from `make`."""

from __future__ import annotations

import abc
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afl_core.spec.redactor import Redaction, Redactor

ORDINARY = (
    "",
    " ",
    "please refactor src/app/main.py and run pytest -q",
    "the release of 2026-07-14 uses gpt-4o-mini and python 3.11.7",
    'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: 12 is not 13',
    "请把 src/模块.py 改成新的接口",
)
"""Texts without a secret: what a redactor changes here is lost to the reviewer for nothing."""

LONG_CHARS = 500_000
FILLERS = ("a", "a1", "key ", "token: ", '"', "\\", "=", "://a:", "-----BEGIN ", "eyJ", "密码", " \t", "(", "x_")
"""What patterns begin with, again and again."""


class RedactorContract(abc.ABC):
    """Every redactor is deterministic, idempotent, consistent about its findings, and leaves ordinary text alone."""

    ordinary: tuple[str, ...] = ORDINARY
    secrets: tuple[tuple[str, str], ...] = ()
    """(text, the secret in it) pairs that this redactor must know; give at least one."""

    @abc.abstractmethod
    def make(self) -> Redactor:
        """Return a new redactor."""

    def test_it_has_a_name_and_a_version(self) -> None:
        """Both are shown, stored and compared."""
        redactor = self.make()
        assert isinstance(redactor, Redactor)
        assert redactor.name
        assert redactor.version

    def test_it_replaces_the_secrets_it_is_for(self) -> None:
        """The whole secret goes, and the finding says where it was."""
        assert self.secrets, "give the contract at least one text with a secret"
        for text, secret in self.secrets:
            done = self.make().redact(text)
            assert secret not in done.text, f"{secret!r} is still in {done.text!r}"
            assert any(secret in text[found.start : found.end] or text[found.start : found.end] in secret for found in done.findings)

    def test_it_leaves_ordinary_text_alone(self) -> None:
        """Code, dates, versions, paths and model names stay readable."""
        for text in self.ordinary:
            assert self.make().redact(text) == Redaction(text)

    @settings(suppress_health_check=[HealthCheck.differing_executors])  # inherited by every suite of a run
    @given(text=st.text(max_size=400))
    def test_findings_rebuild_the_result(self, text: str) -> None:
        """In order, inside the text, not overlapping; replacing them gives the text that was returned."""
        done = self.make().redact(text)
        rebuilt, at = [], 0
        for found in done.findings:
            assert at <= found.start < found.end <= len(text)
            rebuilt += [text[at : found.start], f"[REDACTED:{found.rule}]"]
            at = found.end
        assert "".join([*rebuilt, text[at:]]) == done.text

    @settings(suppress_health_check=[HealthCheck.differing_executors])  # inherited by every suite of a run
    @given(text=st.text(max_size=400))
    def test_it_is_deterministic_and_idempotent(self, text: str) -> None:
        """The same text gives the same result, and a redacted text is stable: quotes made from it still match later."""
        once = self.make().redact(text)
        assert self.make().redact(text) == once
        assert self.make().redact(once.text).text == once.text

    def test_idempotence_holds_for_its_own_secrets(self) -> None:
        """Also where something was replaced."""
        for text, _secret in self.secrets:
            once = self.make().redact(text).text
            assert self.make().redact(once).text == once

    def test_what_another_redactor_replaced_is_left(self) -> None:
        """Redactors run one after the other: the mark of one is no secret to the next, with its rule's name."""
        marked = "Authorization: Bearer [REDACTED:some-other-rule], password=[REDACTED:x-1] and [REDACTED:a]"
        assert self.make().redact(marked) == Redaction(marked)

    def test_rules_can_stand_in_a_mark(self) -> None:
        """1 to 64 of a-z, 0-9 and `-`: manifests, reports and searches rely on it."""
        rules = {found.rule for text, _secret in self.secrets for found in self.make().redact(text).findings}
        assert all(re.fullmatch(r"[a-z0-9-]{1,64}", rule) for rule in rules), f"{sorted(rules)} cannot stand in [REDACTED:...]"

    def test_a_long_line_is_read_and_its_secret_found(self) -> None:
        """A million characters without a line break before and behind: what takes more than linear time does not come back."""
        for filler in FILLERS:
            around = (filler * LONG_CHARS)[:LONG_CHARS]
            for text, secret in self.secrets[:1]:
                done = self.make().redact(f"{around}\n{text}\n{around}")
                assert secret not in done.text

    def test_half_a_character_is_no_error(self) -> None:
        """A lone surrogate comes from hosts that cut texts by UTF-16 units."""
        for text, secret in self.secrets:
            assert secret not in self.make().redact(f"\ud83d {text} \ude00").text
