"""Rule packs: what they may hold, what is refused, and that every rule of the shipped ones is bounded and has examples."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from afl_redactors import packs
from afl_redactors.checks import entropy, luhn, mod97
from afl_redactors.packs import PACKS, Spec, read_pack
from afl_redactors.packs.linear import problem
from afl_redactors.packs.load import PackError

RULE = '[[rule]]\nid = "a-key"\nkeywords = ["abc_"]\npattern = "abc_[a-z]{8}"\n'


def test_every_shipped_pack_passes_all_checks() -> None:
    shipped = [found for found in files(packs).iterdir() if found.name.endswith(".toml")]
    read = [one for found in shipped for one in read_pack(found.name.removesuffix(".toml"), found.read_text("utf-8"))]
    assert sorted(read, key=lambda one: (one.family, one.id)) == sorted(PACKS, key=lambda one: (one.family, one.id))


def test_ids_are_unique() -> None:
    assert len({one.id for one in PACKS}) == len(PACKS)


@pytest.mark.parametrize("one", PACKS, ids=lambda one: one.id)
def test_every_rule_has_examples_of_both_kinds(one: Spec) -> None:
    assert one.positive
    assert one.negative


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[rule]", "x.toml is no TOML"),
        ("", "holds no [[rule]]"),
        ("[other]\n" + RULE, "unknown table 'other'"),
        (RULE + "colour = 1\n", "rule 'a-key': unknown field 'colour'"),
        (RULE + 'reach = "far"\n', "reach is str"),
        (RULE.replace("a-key", "A key"), "an id has"),
        (RULE.replace("abc_\"", "ABC_\""), "lower-case"),
        (RULE.replace("pattern = \"abc_[a-z]{8}\"", ""), "either a pattern or a reader"),
        (RULE + "reach = 0\n", "reach is between"),
        (RULE + "begins = [999]\n", "within the reach"),
        (RULE + 'ends = "line"\n', "ends is one of token, match"),
        (RULE + 'checksum = "crc"\n', "checksum is one of"),
        (RULE.replace("{8}", "*"), "without a bound"),
        (RULE.replace("[a-z]{8}", "(?:a{1,9}b){2,9}"), "inside a repeat"),
        (RULE.replace("[a-z]{8}", "("), "no regular expression"),
        (RULE + 'positive = ["nothing marked"]\n', "encloses what must go"),
    ],
)
def test_a_pack_that_cannot_be_used_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(PackError, match=re.escape(says)):
        read_pack("x", text)


@pytest.mark.parametrize("pattern", ["a{1,9}", "(?:ab?){3}", "(?:a|b{2}){1,5}", "x(?=a{0,9}b)", "(?<![a-z])q~[a-z]{30,40}"])
def test_bounded_patterns_are_taken(pattern: str) -> None:
    assert problem(pattern) == ""


def test_entropy_and_checksums_give_the_published_values() -> None:
    assert entropy("") == 0
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2
    assert luhn("79927398713")
    assert not luhn("79927398710")
    assert not luhn("0000000000000000")
    assert mod97("GB82 WEST 1234 5698 7654 32")
    assert not mod97("GB82 WEST 1234 5698 7654 33")
