"""The redaction chain fails closed, counts by rule, and blocks a secret that is said again."""

from __future__ import annotations

import hashlib

import attrs
import pytest

from afl_core.model.errors import PluginError, RedactionError
from afl_core.plugins.isolation import Guard, MemoryLedger
from afl_core.redaction import places, repeats
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


@attrs.frozen
class Returns:
    """Gives back the same result whatever it is given."""

    result: object
    name: str = "returns"
    version: str = "1"

    def redact(self, text: str) -> object:
        return self.result


MARK = "[REDACTED:a]"


@pytest.mark.parametrize(
    "result",
    [
        Redaction(f"{MARK} left", (Finding("a", 0, 5),)),  # says more than it replaced
        Redaction(MARK, ()),  # replaced what it does not tell
        Redaction("alpha beta gone", ()),
        Redaction(f"alpha {MARK}", (Finding("a", 6, 99),)),
        Redaction(f"alpha {MARK}", (Finding("a", -4, 10),)),
        Redaction(f"alpha{MARK} beta", (Finding("a", 5, 5),)),
        Redaction(f"{MARK}{MARK}beta", (Finding("a", 0, 4), Finding("a", 3, 6))),
        Redaction("[REDACTED:alpha is 5]ha beta", (Finding("alpha is 5", 0, 3),)),
        Redaction("[REDACTED:ALPHA] beta", (Finding("ALPHA", 0, 5),)),
        Redaction("alpha beta" + "x" * 1_000_000, ()),
        Redaction("alpha beta", ("a",)),  # type: ignore[arg-type]
        Redaction("alpha beta", None),  # type: ignore[arg-type]
        Redaction(None),  # type: ignore[arg-type]
        None,
        "alpha beta",
    ],
)
def test_a_result_that_does_not_fit_its_findings_keeps_nothing_names_the_redactor_and_quotes_nothing(result: object) -> None:
    ledger = MemoryLedger()
    chain = Chain([("sample", Returns(result))], Guard(ledger), _hash)  # type: ignore[list-item]
    with pytest.raises(RedactionError, match="'returns'") as refused:
        chain.redact("alpha beta")
    assert refused.value.code in ("AFL-REDACT-004", "AFL-REDACT-006")
    entry = ledger.read("sample", "redact")
    assert entry is not None
    assert "alpha" not in refused.value.sentence + entry.last_error


def test_a_redactor_that_breaks_its_contract_again_and_again_rests_and_still_nothing_is_kept() -> None:
    chain = Chain([("sample", Returns(Redaction("y")))], Guard(MemoryLedger()), _hash)  # type: ignore[list-item]
    codes = []
    for _ in range(5):
        with pytest.raises(RedactionError) as refused:
            chain.redact("x")
        codes.append(refused.value.code)
    assert codes == ["AFL-REDACT-006"] * 3 + ["AFL-REDACT-003"] * 2


@pytest.mark.parametrize("kind", [ValueError, RedactionError, PluginError, SystemExit])
def test_what_a_failing_redactor_says_of_the_text_is_in_no_error(kind: type[Exception]) -> None:
    class Telling:
        name, version = "telling", "1"

        def redact(self, text: str) -> Redaction:
            raise kind(text)

    ledger = MemoryLedger()
    with pytest.raises(RedactionError) as refused:
        Chain([("sample", Telling())], Guard(ledger), _hash).redact("hunter-42x")
    entry = ledger.read("sample", "redact")
    assert entry is not None
    assert "hunter" not in refused.value.sentence + entry.last_error + str(refused.value.__cause__)


def test_places_are_those_of_the_text_that_was_given_whatever_ran_before() -> None:
    text = "alpha1 and beta2 and again beta2-tail"
    done = _chain(Word("alpha1", "a"), Word("beta2", "b")).redact(text, (repeats.name_of("again-", _hash),))
    assert [(found.rule, text[found.start : found.end]) for found in done.findings] == [("a", "alpha1"), ("b", "beta2")]
    assert places.replaced(text, done.findings) == done.text


def test_one_redactor_may_take_more_than_another_had() -> None:
    class Whole:
        name, version = "whole", "1"

        def redact(self, text: str) -> Redaction:
            start, end = text.index("key="), text.index(" end")
            return Redaction(text[:start] + "[REDACTED:whole]" + text[end:], (Finding("whole", start, end),))

    text = "key=alpha1/rest end"
    done = _chain(Word("alpha1", "a"), Whole()).redact(text)
    assert done.text == "[REDACTED:whole] end"
    assert [(found.rule, text[found.start : found.end]) for found in done.findings] == [("whole", "key=alpha1/rest")]


def test_what_was_asked_of_the_redactors_is_part_of_their_versions() -> None:
    chain = Chain([("plugin", Word("a"))], Guard(MemoryLedger()), _hash, options=("email", "ip"))  # type: ignore[list-item]
    assert chain.versions == "word/1,+email,+ip"
