"""The work grows with the text and not faster: counted in steps, and held by the form of every pattern."""

from __future__ import annotations

import importlib
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_redactors import echoes, guesses, keys, lookalikes, markers, placeholders, values, windows
from afl_redactors.families import (
    assignments,
    backward,
    calls,
    codes,
    commands,
    context,
    english,
    files,
    headers,
    judging,
    names,
    pairs,
    pem,
    phrases,
    redirects,
    salts,
    structures,
    tables,
    told,
    told_values,
    urls,
)
from afl_redactors.redactor import MAX_ROUNDS, RULES, redact_counting
from afl_redactors.windows import Clip, View

SIZE = 6000
PER_CHARACTER = 60
"""Steps a character and round that any text may cost: every rule may see every character once, and values are read a few times."""

UNITS = [
    "token ", "token=", "password: ", 'password="', 'password=\\"', "a", "://a:", "://a:b@", "eyJ", "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n", "密码是", "密码是a", "密码是a1", "password is ", "password='''", "password=(", "password=)", "token a1b2c3! ",
    "--token ", "sk-a", "Authorization: ", "authorization: bearer ", "cookie: a=", "<password>", "${password:-", "name: password value: ", "mysql -p", "curl -u a:",
    "[REDACTED:a]", "[REDACTED:", "password=[REDACTED:x] ", 'passwords=["a1",', "password = a.b.c", "secret: |\n a\n", "password=''", "token=>", "pass :", '"token", "', "token==", "password.", 'password="a\\\n', "token=a1b2c3d4\\\n", 'password="abcdefgh\n', "password\nTeich3!x\n", "|password|", "password,a\n1,2\n", "kind: Secret\ndata:\n a: b\n", '"kty": {"d":"abcdefghijklmnop"},',
    "insert into a (password) values ('a1!bcd'),", "echo a | chpasswd ", "chpasswd <<< a:b1!c\n", "login(a,", 'x_key = "a1b2c3d4e5f6g7h8" ', "set password ", "password='a1b2c3!' + ", "key=", "PuTTY-User-Key-File-2: a\n",
    ":5432:a:b:c ", "h:5432:a:b:c\n", "pgpass\n", "machine a.b password c ", "seed: a, ", "mnemonic walnut ", "1. walnut\n", "passphrase is walnut ", "passphrase: a b c ", "otp ", "otp: 1234 ", "backup codes: a1b2-c3d4, ",
    "2fa code ", "creds a:b1!cd ", "login: a / ", "user a, pass b1!cd ", "use a/b1!cd to log in ", "?code=a1B2c3D4e5&state=", "authorization_code code=a1B2c3D4", "salt = 'a1!B2?c3' ", "auth='", "_shop_session=", "'value': 'a1!b', 'name': 'password', ", "value: a\nname: password\n", "$2b$", ":::", "creds:a:", "login:a/", "'*",
    'setApiKey("abcdef12$mollie->', 'setApiKey("live_abc$m->', "setToken(abcdefg)x", 'setApiKey(""a', 'token ""a', '"token","ab"x',
]  # fmt: skip
PATTERN_MODULES = (
    echoes, guesses, keys, lookalikes, markers, placeholders, values, windows,
    assignments, backward, calls, codes, commands, context, english, files, headers, judging, names, pairs, pem, phrases, redirects, salts,
    structures, tables, told, told_values, urls,
)  # fmt: skip
UNBOUNDED_BY_DESIGN = {
    "_SEGMENT",
    "_TAIL",
    "_TOKEN",
    "_PLACEHOLDER",
    "_TEMPLATE",
    "_URL",
    "_NUMBERISH",
    "_FILE",
    "_ROOTED_PATH",
    "_RELATIVE_PATH",
    "_SCHEME",
}


def steps(text: str) -> int:
    """Return how many steps a redaction of `text` takes."""
    return redact_counting(text)[1]


@pytest.mark.parametrize("unit", UNITS)
def test_a_repeated_unit_costs_a_bounded_number_of_steps_a_character(unit: str) -> None:
    text = (unit * (SIZE // len(unit) + 1))[:SIZE]
    assert steps(text) <= PER_CHARACTER * MAX_ROUNDS * len(text)


@pytest.mark.parametrize("unit", UNITS)
def test_doubling_a_text_at_most_doubles_the_steps(unit: str) -> None:
    single = unit * (SIZE // len(unit))
    assert steps(single + single) <= 2.2 * steps(single) + 1000


@given(st.lists(st.sampled_from(UNITS), min_size=1, max_size=4), st.sampled_from(["", " ", "=", '"', "\n", "@"]))
def test_repeated_mixtures_cost_a_bounded_number_of_steps(units: list[str], tail: str) -> None:
    unit = "".join(units) + tail
    text = (unit * (SIZE // len(unit) + 1))[:SIZE]
    assert steps(text) <= PER_CHARACTER * MAX_ROUNDS * len(text)


def test_a_text_without_any_word_is_never_handed_to_a_rule() -> None:
    assert steps("the quick brown fox jumps over the lazy dog\n" * 200) == 0


def test_a_line_of_a_million_characters_is_read_in_windows() -> None:
    text = "x" * 1_000_000 + ' "password": "hunter2" ' + "y" * 1_000_000
    result, taken = redact_counting(text)
    assert result.text.count("[REDACTED:assignment]") == 1
    assert "hunter2" not in result.text
    assert taken < 20_000


@given(st.text(alphabet="tok en.\n。!", max_size=200), st.integers(0, 40), st.integers(1, 40), st.sampled_from(list(Clip)))
def test_windows_are_disjoint_in_order_and_hold_every_word(text: str, before: int, after: int, clip: Clip) -> None:
    view = View(text)
    found = list(view.windows(("tok", "en"), before, after, clip))
    assert all(start < end for start, end in found)
    assert all(left[1] <= right[0] for left, right in pairwise(found))
    for hit in (*view.hits("tok"), *view.hits("en")):
        assert any(start <= hit < end for start, end in found)
    if clip is Clip.LINE:
        assert not any("\n" in text[start:end] for start, end in found)


def test_folding_never_moves_a_character() -> None:
    text = "İİİ PASSWORD=hunter2"
    view = View(text)
    assert len(view.folded) == len(text)
    assert view.hits("password") == (4,)


def test_the_patterns_that_search_text_have_no_unbounded_repeat() -> None:
    unbounded = [
        f"{module.__name__}.{name}"
        for module in PATTERN_MODULES
        for name, pattern in vars(module).items()
        if isinstance(pattern, re.Pattern) and name not in UNBOUNDED_BY_DESIGN and _has_unbounded(pattern)
    ]
    assert [name for name in unbounded if not name.startswith("afl_redactors.lookalikes.")] == []


@pytest.mark.parametrize(
    "unit", ["x", "aA", "a1", "1A", "your-", "a_", "xxx-", "__A__", "a.", "gpt-", "a/", "1:", "${a}", "a->", "a@1", "token"]
)
def test_a_long_value_of_one_repeated_unit_is_answered_by_every_question(unit: str) -> None:
    """A pattern that tries every way to split such a value would never come back; the suite's time limit is what would catch it."""
    value = (unit * lookalikes.LONG)[: lookalikes.LONG - 3] + "!\x00a"
    questions = [lookalikes.is_placeholder, lookalikes.is_code, lookalikes.is_label, lookalikes.is_known_shape, lookalikes.is_path]
    questions += [lookalikes.names_itself, lookalikes.is_of_signs, guesses.is_measure, guesses.is_random]
    questions += [lookalikes.is_name_shape, lookalikes.is_file_of_a_secret, lookalikes.is_plain, lookalikes.names_a_class]
    assert not any(question(value) for question in questions if question is not lookalikes.is_code)
    assert lookalikes.is_code(value) in {True, False}


def test_rule_names_can_stand_in_a_marker() -> None:
    assert all(re.fullmatch(r"[a-z0-9-]{1,64}", rule.name) for rule in RULES)
    assert all(word == word.lower() and word for rule in RULES for word in rule.words)


def _has_unbounded(pattern: re.Pattern[str]) -> bool:
    parser: Any = importlib.import_module("re._parser")
    constants: Any = importlib.import_module("re._constants")

    def walk(node: Any) -> bool:
        if isinstance(node, parser.SubPattern):
            return any(walk(item) for item in node)
        if isinstance(node, (list, tuple)):
            if len(node) == 2 and node[0] in (constants.MAX_REPEAT, constants.MIN_REPEAT) and node[1][1] == constants.MAXREPEAT:
                return True
            return any(walk(item) for item in node)
        return False

    return walk(parser.parse(pattern.pattern, pattern.flags))
