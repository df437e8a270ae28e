"""The redaction chain fails closed, counts by rule, and blocks a secret that is said again."""

from __future__ import annotations

import hashlib

import attrs
import pytest

from afl_core.model.errors import RedactionError
from afl_core.plugins.isolation import Guard, MemoryLedger
from afl_core.redaction.chain import REPEATED, Chain
from afl_core.redaction.repeats import name_of
from afl_core.spec.redactor import Finding, Redaction


@attrs.frozen
class Word:
    """Replaces one word."""

    word: str
    name: str = "word"
    version: str = "1"

    def redact(self, text: str) -> Redaction:
        start = text.find(self.word)
        if start < 0:
            return Redaction(text)
        marked = text[:start] + f"[REDACTED:{self.name}]" + text[start + len(self.word) :]
        return Redaction(marked, (Finding(self.name, start, start + len(self.word)),))


@attrs.frozen
class Broken:
    """Always fails."""

    name: str = "broken"
    version: str = "1"

    def redact(self, text: str) -> Redaction:
        raise ValueError("cannot")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _chain(*redactors: object) -> Chain:
    return Chain([("plugin", redactor) for redactor in redactors], Guard(MemoryLedger()), _hash)  # type: ignore[misc]


def test_every_redactor_runs_and_counts_by_rule() -> None:
    done = _chain(Word("alpha1", "a"), Word("beta2", "b")).redact("alpha1 and beta2")
    assert done.text == "[REDACTED:a] and [REDACTED:b]"
    assert done.manifest == {"a": 1, "b": 1}


def test_a_redactor_that_fails_means_no_text_at_all() -> None:
    with pytest.raises(RedactionError, match="'broken' failed, so the text was not kept"):
        _chain(Word("a"), Broken()).redact("a b")


def test_no_redactor_means_no_text_at_all() -> None:
    with pytest.raises(RedactionError, match="no redactor is installed") as refused:
        _chain().redact("anything")
    assert "afl_redactors" in refused.value.hint


def test_a_redactor_that_breaks_its_contract_is_refused() -> None:
    class Wrong:
        name, version = "wrong", "1"

        def redact(self, text: str) -> str:
            return text

    with pytest.raises(RedactionError, match="returned str instead of a Redaction"):
        _chain(Wrong()).redact("x")


def test_a_secret_that_was_recognised_once_is_blocked_where_no_rule_sees_it() -> None:
    chain = _chain(Word("hunter-42x"))
    first = chain.redact("the password is hunter-42x")
    assert first.secrets == (name_of("hunter-42x", _hash),)
    again = _chain(Word("nothing")).redact("I will use hunter-42x now, not hunter-42", first.secrets)
    assert again.text == f"I will use [REDACTED:{REPEATED}] now, not hunter-42"
    assert again.manifest == {REPEATED: 1}


def test_the_versions_name_every_redactor() -> None:
    assert _chain(Word("a", "x"), Word("b", "y")).versions == "x/1,y/1"


def test_a_redactor_that_should_be_there_and_is_not_means_no_text_at_all() -> None:
    chain = Chain([("plugin", Word("a"))], Guard(MemoryLedger()), _hash, missing=["other"])  # type: ignore[list-item]
    with pytest.raises(RedactionError, match="redactor plug-in 'other' cannot be used") as refused:
        chain.redact("text without any secret")
    assert refused.value.code == "AFL-REDACT-005"
