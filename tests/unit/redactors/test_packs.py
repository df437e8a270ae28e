"""Rule packs: what they may hold, what is refused, and that every rule of the shipped ones is bounded and has examples."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from afl_redactors import packs
from afl_redactors.checks import entropy, luhn, mod97
from afl_redactors.packs import PACKS, Spec, read_pack
from afl_redactors.packs.linear import problem
from afl_redactors.packs.links import LINKS, joined
from afl_redactors.packs.load import PackError
from afl_redactors.redactor import CredentialRedactor

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
        (RULE.replace('abc_"', 'ABC_"'), "lower-case"),
        (RULE.replace('pattern = "abc_[a-z]{8}"', ""), "either a pattern or a reader"),
        (RULE + "reach = 0\n", "reach is between"),
        (RULE + "begins = [999]\n", "within the reach"),
        (RULE + 'ends = "line"\n', "ends is one of token, match"),
        (RULE + 'lines = "all"\n', "lines is one of one, many"),
        (RULE + 'link = "far"\n', "link is one of told, near"),
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


@pytest.mark.parametrize("link", [link for link in LINKS if link])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("acme key is a1b2c3d4", "a1b2c3d4"),
        ("acme login --token a1b2c3d4", "a1b2c3d4"),
        ('{"acme_token": "a1b2c3d4"}', "a1b2c3d4"),
        ("the key of acme commit a1b2c3d4", ""),
        ("acme key id a1b2c3d4", ""),
        ("acme key a1b2c3d4e", ""),
        ("acme key\na1b2c3d4", ""),
        ("acme key is told" + " far away" * 8 + " a1b2c3d4", ""),
    ],
)
def test_a_linked_value_stands_behind_its_vendor_and_is_no_id(link: str, text: str, value: str) -> None:
    found = re.search(joined(["acme"], "[a-f0-9]{8}", link), text)
    assert (found["value"] if found else "") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("AcmeClient('a1b2c3d4')", "a1b2c3d4"),
        ("ACME=a1b2c3d4", "a1b2c3d4"),
        ("acme: a1b2c3d4", "a1b2c3d4"),
        ("| acme | a1b2c3d4 |", "a1b2c3d4"),
        ("acme made a1b2c3d4", ""),
    ],
)
def test_a_told_value_is_given_to_its_vendor_or_called_a_secret(text: str, value: str) -> None:
    found = re.search(joined(["acme"], "[a-f0-9]{8}", "told"), text)
    assert (found["value"] if found else "") == value


@pytest.mark.parametrize("stub", ["ghp_" + "x" * 36, "ghp_" + "." * 20, "sk-ant-api03-your-key-0123456789"])
def test_what_stands_for_a_key_in_documentation_is_none(stub: str) -> None:
    assert not CredentialRedactor().redact(f"it is {stub} there").findings


def test_entropy_and_checksums_give_the_published_values() -> None:
    assert entropy("") == 0
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2
    assert luhn("79927398713")
    assert not luhn("79927398710")
    assert not luhn("0000000000000000")
    assert mod97("GB82 WEST 1234 5698 7654 32")
    assert not mod97("GB82 WEST 1234 5698 7654 33")


MARKED = re.compile("⟦([^⟧]*)⟧")
ALONE = [
    (one.id, value)
    for one in PACKS
    if one.pattern and not one.link and not one.option
    for text in one.positive
    for value in MARKED.findall(text.replace("¦", ""))
    if (found := re.search(one.whole, value))
    and found.group("value" if "value" in found.re.groupindex else 0) == found.group()
    and not found.start()
]


@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "{}\n",
        "see:\n{}",
        '{{"input": "first\\n{}\\nlast"}}',
        "({})",
        "a,{},b",
        "| {} |",
        "<b>{}</b>",
        "`{}`",
        "https://x.test/?k={}&a=1",
    ],
)
@pytest.mark.parametrize(("rule", "value"), ALONE)
def test_a_key_that_its_form_gives_away_goes_wherever_it_stands(rule: str, value: str, frame: str) -> None:
    assert value not in CredentialRedactor().redact(frame.format(value)).text
