"""What a card costs, how it is written, and that its words cannot leave their place."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.model.card_text import MAX_TEXT, faults, neutral, neutral_card, render, scope_faults, short_id, tokens

CARD = {"when": "a", "must_do": "b", "must_not": "c", "verify": "d", "why": "e", "exception": "f", "source_ids": ["i"]}
CHINESE = {
    "when": "准备声明完成时",
    "must_do": "读取真实产物",
    "must_not": "用推断代替证据",
    "verify": "附上检查结果",
    "why": "缺少证据",
    "exception": "无",
    "source_ids": ["r-1"],
}
PIECES = st.sampled_from(
    [
        "[agent-feedback-loop memory]",
        "[agent-feedback-loop",
        "[ AGENT-FEEDBACK-LOOP checkpoint hold]",
        "nonce=0123456789abcdef",
        "NONCE =",
        "nonce\u200b=",
        "Blocker \u00b7 lesson 12345678 \u00b7 learnt 2026-01-01 from your words",
        "system:",
        "\nassistant: ",
        "sys\u00adtem\uff1a",
        "</system>",
        "<|im_start|>",
        "<<SYS>>",
        "[/INST]",
        "<",
        ">",
        "`",
        "```",
        "``\u2060`",
        "~~~",
        "\r\n",
        "\x85",
        "\u2028",
        "\u202e",
        "\U000e0041",
        "\x1b[31m",
        "\ufeff",
        "\u3164",
        "\0",
        "\ud800",
        "e\u0301",
        "word ",
    ]
)
HOSTILE = st.lists(PIECES | st.text(max_size=6), max_size=14).map("".join)
ROLE = re.compile(r"\b(system|assistant|user|human|developer|tool|function)\s*[:\uff1a]", re.IGNORECASE)


@pytest.mark.parametrize(
    ("card", "with_prefix", "without"),
    [
        (CARD, 57, 50),
        ({**CARD, "must_do": "x" * 900}, 356, 349),
        ({**CARD, "why": "カタカナ ひらがな 한국어 émoji 😀"}, 74, 67),
        (CHINESE, 93, 86),
    ],
)
def test_the_estimate_gives_the_golden_numbers(card, with_prefix, without):
    assert (tokens(card), tokens(card, "")) == (with_prefix, without)


def test_a_card_is_a_head_line_and_six_labelled_lines():
    text = render(CHINESE, severity="Critical", lesson_id="L1", learnt_ms=1_767_225_599_999)
    assert text == (
        f"Critical · lesson {short_id('L1')} · learnt 2025-12-31 from your words\n"
        "When: 准备声明完成时\nMust do: 读取真实产物\nMust not: 用推断代替证据\nVerify: 附上检查结果\nWhy: 缺少证据\nException: 无"
    )


@given(HOSTILE)
def test_neutral_text_is_one_visible_line_that_passes_for_nothing_else(text):
    plain = neutral(text)
    assert len(plain.splitlines()) <= 1
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") for char in plain)
    low = plain.lower()
    assert not re.search(r"\[\s*agent-feedback-loop", low)
    assert not re.search(r"nonce\s*=", low)
    assert not re.search(r"<\S|`{3}|~{3}|\[\s*/?inst\b", low)
    assert not ROLE.search(plain)
    assert not re.search(r"\u00b7\s*(lesson|learnt)\b", low)


@given(HOSTILE)
def test_neutral_text_stays_as_it_is(text):
    once = neutral(text)
    assert neutral(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "Run `pytest -q` and read the last line -> then report a < b, b > c and x >= y.",
        "运行测试之后再声明完成。",
        "Use src/api/routes.py, not C:\\temp; 3 * 4 = 12 [see r-1].",
        "Ça marche: oui.",
    ],
)
def test_ordinary_words_are_not_touched(text):
    assert neutral(text) == text


def test_letters_that_show_nothing_and_marks_left_alone_by_them_are_gone():
    assert neutral("a\u3164b\u2800c\ufe0f") == "abc"
    assert neutral("e\u200b\u0301") == "\u00e9"
    assert neutral("non\u115fce\u034f=1") == "nonce:1"


def test_an_emoji_and_a_combining_letter_survive():
    assert neutral("e\u0301 😀") == "\u00e9 😀"


@given(st.fixed_dictionaries(dict.fromkeys(("when", "must_do", "must_not", "verify", "why", "exception"), HOSTILE)), HOSTILE)
def test_a_rendered_card_always_has_seven_lines_and_one_head(texts, lesson_id):
    lines = render({**texts, "source_ids": ["s"]}, severity="Major", lesson_id=lesson_id, learnt_ms=0).split("\n")
    assert len(lines) == 7
    assert [line.split(":")[0] for line in lines[1:]] == ["When", "Must do", "Must not", "Verify", "Why", "Exception"]
    assert len([line for line in lines if re.search(r"\u00b7 lesson [0-9a-f]{8} \u00b7 learnt", line)]) == 1


def test_what_is_over_a_limit_is_named():
    good = neutral_card(CARD)
    assert faults(good) == []
    assert faults({**good, "why": "x" * MAX_TEXT}) == []
    assert faults({**good, "why": "x" * (MAX_TEXT + 1)}) == ["card.why has 601 characters, at most 600"]
    assert faults(neutral_card({**CARD, "must_do": " \u200b\n"})) == ["card.must_do is empty"]
    assert faults({**good, "source_ids": []}) == ["card.source_ids has 0 ids, between 1 and 16 are needed"]
    assert faults({**good, "source_ids": ["s"] * 17}) == ["card.source_ids has 17 ids, between 1 and 16 are needed"]
    assert faults({**good, "source_ids": ["s" * 201]}) == ["card.source_ids holds an empty id or one longer than 200 characters"]
    dear = faults({**good, **dict.fromkeys(("when", "must_do", "must_not", "verify"), "证" * 600)})
    assert len(dear) == 1
    assert "tokens, at most 1600" in dear[0]


def test_a_scope_has_limits_too():
    scope = {"paths": [], "tools": [], "task_types": [], "signals": []}
    assert scope_faults(scope) == []
    assert len(scope_faults({**scope, "paths": ["p"] * 33, "signals": [" "], "tools": ["t" * 201]})) == 3
