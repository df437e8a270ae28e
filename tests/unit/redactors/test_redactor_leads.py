"""Leads only save work: what they keep rules from reading holds nothing, whichever way literals are searched."""

from __future__ import annotations

import json
import re
import sys
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_redactors import matcher, redactor, wordlists
from afl_redactors.families import context, english
from afl_redactors.keys import CREDENTIAL_NAME, FRENCH, NAME_LITERALS
from afl_redactors.packs import PACKS, Spec
from afl_redactors.redactor import FORMATS, LITERALS, RULES, WORDS, redact_counting
from afl_redactors.windows import ODD, Clip, View

CASES = Path(__file__).parent / "cases"
TEXTS = [
    re.sub("[⟦⟧¦]", "", text)
    for text in [
        *(text for one in PACKS if not one.anchor for text in one.positive),
        *json.loads((CASES / "lookalikes.json").read_text(encoding="utf-8")),
    ]
]
NAMES = st.sampled_from(
    ["password", "Passwort", "pass", "PASS", "userPass", "bypass", "passed", "pwd", "secret", "token", "TOKENS", "max_token", "credential", "kennwort", "CONTRASEÑA", "mot de passe", "пароль", "パスワード", "_auth", "X-Amz-Signature", "api_key", "API KEY", "accessKey", "licence.key", "key", "密码", "令牌", "curl", "mysql", "://", "cookie", "basic", "bearer", "Authorization", "sk-", "xoxb.", "AKIA", "eyJ", "pat"]
)  # fmt: skip
BETWEEN = st.sampled_from(
    ["", " ", "  ", "\n", "\t", "s", "_", "-", "--", ".", ". ", "! ", "。", ",", ", ", "=", " = ", "=~", "==", "!=", ":", ": ", "::", "://", "：", "=>", '": "', '", "', "', value='", ' value="', ">", "<", "</", "${", ":-", "}", "]", "`", "**", " is ", " was the ", " for it is ", "是", "?", "&sig=", "@", "name: ", "key=", " -p", " -u a:", " login ", "[REDACTED:a]"]
)  # fmt: skip
VALUES = st.sampled_from(["hunter2", "a1b2c3!x", "Foo-731+", "0123456789abcdef" * 3, "gpt-4o-mini", "2026-07-14", "string", "x", "abcdefgh", "dXNlcjpwYXNz", "u:p@h", "a"])  # fmt: skip
RUNS = st.builds(lambda unit, times: unit * times, st.sampled_from(["a", "x ", "-", "1", ". a"]), st.sampled_from([14, 16, 60, 64, 80, 96, 158, 160, 254, 256, 320, 512]))  # fmt: skip
MIXED = st.lists(NAMES | BETWEEN | BETWEEN | VALUES | st.sampled_from(TEXTS) | st.text(max_size=3), min_size=1, max_size=24).map("".join)
STRETCHED = st.lists(NAMES | BETWEEN | VALUES | RUNS, min_size=3, max_size=10).map("".join)


@given(MIXED | STRETCHED)
def test_rules_that_run_where_leads_point_find_what_they_find_everywhere(text: str) -> None:
    assert redact_counting(text)[0] == redact_counting(text, everywhere=True)[0]


@pytest.mark.parametrize("frame", ["{0}", "a1 {0}\n{0}", "{0}. {0}", "x" * 150 + "{0}"])
def test_every_case_of_the_table_is_found_where_leads_point(frame: str) -> None:
    for text in TEXTS:
        framed = frame.replace("{0}", text)
        assert redact_counting(framed)[0] == redact_counting(framed, everywhere=True)[0]


@given(st.sampled_from(TEXTS), st.data())
def test_odd_letters_hide_and_add_nothing(text: str, data: st.DataObject) -> None:
    for odd, letter in ODD.items():
        if data.draw(st.booleans()):
            text = text.replace(data.draw(st.sampled_from([letter, letter.upper()])), odd)
    text = data.draw(st.sampled_from(["", "token ", "password='a1b2c3' "])) + text
    assert redact_counting(text)[0] == redact_counting(text, everywhere=True)[0]


def test_only_odd_letters_are_seen_by_patterns_and_not_by_lower_case() -> None:
    letters = {letter for word in (*WORDS, *LITERALS) for letter in word if letter.isalnum()} | set("abcdefghijklmnopqrstuvwxyz")
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1))))
    beyond = "".join(sorted(letter for letter in letters if not letter.isascii()))
    taken = re.findall(rf"[a-z0-9{beyond}]", every, re.IGNORECASE)
    assert {letter for letter in taken if not letter.isascii() and letter.lower() not in beyond} == set(ODD)
    assert all(re.fullmatch(letter, odd, re.IGNORECASE) for odd, letter in ODD.items())


@given(MIXED | st.text(alphabet="apsk-e:/ tokn", max_size=60))
def test_both_ways_of_searching_literals_find_the_same(text: str) -> None:
    at_once, one_by_one = matcher.at_once(LITERALS)(text.lower()), matcher.one_by_one(LITERALS)(text.lower())
    assert sorted(at_once) == sorted(one_by_one)
    assert [end for _, _, end in at_once] == [end for _, _, end in one_by_one]


@given(MIXED)
def test_half_of_a_surrogate_pair_does_not_stop_the_search(text: str) -> None:
    assert redact_counting(f"\ud83d{text}")[0] == redact_counting(f"\ud83d{text}", everywhere=True)[0]


def test_the_plain_way_is_taken_where_the_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    find = matcher.matcher(LITERALS)
    monkeypatch.setattr(redactor, "_find_literals", find)
    assert "hunter2" not in redact_counting("password = 'hunter2'")[0].text
    assert find("a token")[0][1:] == (2, 7)


@given(
    st.text(alphabet="tok en.\n。!", max_size=160),
    st.integers(0, 30),
    st.integers(1, 30),
    st.sampled_from(list(Clip)),
    st.lists(st.integers(0, 160), max_size=6).map(sorted),
)
def test_wanted_windows_are_those_of_all_that_hold_a_wanted_place(
    text: str, before: int, after: int, clip: Clip, wanted: list[int]
) -> None:
    every = list(View(text).windows(("tok", "en"), before, after, clip))
    some = list(View(text).windows(("tok", "en"), before, after, clip, wanted))
    assert some == [(start, end) for start, end in every if any(start <= spot < end for spot in wanted)]


def test_a_literal_stands_wherever_the_name_of_a_credential_may_begin() -> None:
    kinds = re.search(r"\(\?:(api\|[^)]*)\)\[_", CREDENTIAL_NAME)
    assert kinds is not None
    told = {kind for part in kinds[1].split("|") for kind in ([part.replace("[cs]", "c"), part.replace("[cs]", "s")])}
    assert told == wordlists.KINDS_OF_KEY
    name = re.compile(CREDENTIAL_NAME, re.VERBOSE | re.IGNORECASE)
    for kind, joint in product(told, ("", "_", "-", ".", " ")):
        found = name.match(f"{kind}{joint}key")
        assert found
        assert found.group() in NAME_LITERALS
    for word in ("password", "passwort", "pass", "pwd", "secret", "token", "credential", "kennwort", "contraseña", "senha", "пароль", "パスワード", "비밀번호", "x-amz-signature", "x-goog-signature"):  # fmt: skip
        assert name.match(word)
        assert any(word.startswith(literal) for literal in NAME_LITERALS)
    assert name.match(f"{FRENCH}passe")
    for pattern in (english._SAID, context._WORD):
        kinds = re.search(r"\(\?:(api\|[^)]*)\)\[", pattern.pattern)
        assert kinds is not None
        assert set(kinds[1].split("|")) - {"secret"} <= wordlists.KINDS_OF_KEY


@pytest.mark.parametrize("one", [one for one in PACKS if one.pattern and not one.anchor], ids=lambda one: one.id)
def test_a_lead_points_at_every_example_of_a_format(one: Spec) -> None:
    for text in one.positive:
        bare = text.replace("¦", "").replace("⟦", "").replace("⟧", "")
        assert re.search(one.whole, bare)
        assert one.id in {rule.name for rule, _ in redactor._worth_running(View(bare))}
        assert redact_counting(bare)[0] == redact_counting(bare, everywhere=True)[0]


def test_every_other_rule_is_led_to_by_a_text_of_the_table() -> None:
    putty = "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 1\nAAAA\n"
    led = {rule for text in [*TEXTS, putty] for rule, _ in redactor._worth_running(View(text))}
    assert led | {rule for rule, _ in FORMATS} == set(RULES)


def test_words_that_lead_nowhere_hand_nothing_to_a_rule() -> None:
    text = "the tests passed, a token of the keyring, no secretary's task, and its path: https://example.com/disk\n" * 50
    assert redact_counting(text)[1] <= 10 * 50
    assert redact_counting(text, everywhere=True)[1] > 100 * 50
