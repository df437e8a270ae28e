"""Personal data: card numbers always, other kinds where they are switched on, and none of what only looks like them."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.spec.redactor import HasOptions, Redactor
from afl_redactors import identities
from afl_redactors.digits import near_long_numbers
from afl_redactors.packs import PACKS, Spec
from afl_redactors.packs.load import PackError, read_pack
from afl_redactors.personal import OPTIONS
from afl_redactors.redactor import CredentialRedactor, redact_counting

MARKED = re.compile("⟦([^⟧]*)⟧")
PERSONAL = [one for one in PACKS if one.anchor]
CARD = "4024007123456781"
GROUPED = (
    "4024 0071 2345 6781",
    "5412-7512-3456-7898",
    "3714 418290 12340",
    "3714-418290-12340",
    "3530 1299 4508 3723",
)


def switched(*names: str) -> CredentialRedactor:
    """The redactor with these options on."""
    return CredentialRedactor().with_options(names)


@pytest.mark.parametrize(("one", "text"), [(one, text.replace("¦", "")) for one in PERSONAL for text in one.positive])
def test_what_is_switched_on_goes_and_its_surroundings_stay(one: Spec, text: str) -> None:
    given, options = MARKED.sub(r"\1", text), [one.option] if one.option else []
    result = switched(*options).redact(given)
    assert result.text == MARKED.sub(f"[REDACTED:{one.id}]", text)
    assert switched(*options).redact(result.text).text == result.text
    assert redact_counting(given, everywhere=True, options=options)[0] == result


@pytest.mark.parametrize(("one", "text"), [(one, text) for one in PERSONAL for text in one.negative])
def test_what_only_looks_like_it_stays(one: Spec, text: str) -> None:
    assert switched(*([one.option] if one.option else [])).redact(text).text == text


@pytest.mark.parametrize("text", [MARKED.sub(r"\1", text) for one in PERSONAL if one.option for text in one.positive])
def test_what_is_not_switched_on_stays(text: str) -> None:
    assert CredentialRedactor().redact(text).text == text


def test_each_option_says_what_it_adds_and_has_rules() -> None:
    assert {one.option for one in PERSONAL} == {"", *OPTIONS}
    assert all(said and "\n" not in said for said in OPTIONS.values())


def test_the_redactor_has_options_and_its_version_tells_which_are_on() -> None:
    assert isinstance(CredentialRedactor(), HasOptions)
    assert isinstance(switched("email"), Redactor)
    assert switched("phone", "email").version == switched("email", "phone", "email").version == f"{CredentialRedactor.version}+email+phone"
    assert switched().version == CredentialRedactor().version == CredentialRedactor.version
    assert switched("email").with_options(["iban"]).version == switched("iban").version


def test_unknown_options_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"credentials.*colour, smell; there are: email"):
        switched("email", "smell", "colour")


@pytest.mark.parametrize("card", [CARD, *GROUPED])
@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "card {}, exp 09/27",
        '{{"number":"{}"}}',
        "pan={}&exp=0828",
        "\n{}\n",
        "卡号是{}。",
        "pay {} 123 now",
        "a,{},b",
        "**{}**",
        "'{}'",
        "<pan>{}</pan>",
    ],
)
def test_a_card_goes_in_every_grouping_and_frame(card: str, frame: str) -> None:
    assert redact_counting(frame.format(card))[0].text == frame.format("[REDACTED:payment-card]")


@pytest.mark.parametrize(
    "frame",
    ["{}7", "1{}", "{}.5", "0.{}", "x{}", "{}a", "a-{}", "{}-1", '"user_id": {}', "timestamp={}", "id: '{}'", "/orders/{}", "#{}", "trace.{}", "{}@host", "v{}", "{}_1"],
)  # fmt: skip
def test_a_number_inside_of_something_else_is_no_card(frame: str) -> None:
    assert redact_counting(frame.format(CARD))[0].text == frame.format(CARD)


@given(st.lists(st.sampled_from([*GROUPED, CARD, "2026-07-14 12:30:45", "0", " ", "-", "12 34", "ü", "密", "x\n", "1234567", "id "]) | st.text(max_size=4), max_size=30).map("".join), st.sampled_from([0, 1, 2, 3, 700]))  # fmt: skip
def test_every_long_number_stands_whole_in_a_part_that_is_read(text: str, shift: int) -> None:
    text = "." * shift + text
    parts = near_long_numbers(text)
    assert all(left[1] < right[0] for left, right in pairwise(parts))
    for number in re.finditer(r"[0-9]{13,19}|[0-9]{4}(?:[ -][0-9]{4}){3}|[0-9]{4}[ -][0-9]{6}[ -][0-9]{5}", text):
        assert any(start <= max(0, number.start() - 1) and min(len(text), number.end() + 1) <= end for start, end in parts)


@given(st.lists(st.sampled_from([*GROUPED, "jo@acme.io", "+49 151 2345 6789", "93.184.216.34", "IBAN DE89 3704 0044 0532 0130 00", " ", "\n", "-", ".", "password: "]) | st.text(max_size=3), max_size=8).map("".join))  # fmt: skip
def test_with_everything_on_redacting_again_changes_nothing(text: str) -> None:
    redactor = switched(*OPTIONS)
    once = redactor.redact(text)
    assert redactor.redact(once.text).text == once.text
    assert redact_counting(text, everywhere=True, options=OPTIONS)[0] == once


@pytest.mark.parametrize("unit", ["4024 ", "0", "4024-0071-", "a@", "+4", "1.", "a:", "AB12 ", "3-"])
def test_a_repeated_unit_costs_steps_in_proportion(unit: str) -> None:
    single = unit * (6000 // len(unit))
    assert redact_counting(single + single, options=OPTIONS)[1] <= 2.2 * redact_counting(single, options=OPTIONS)[1] + 1000


def test_check_digits_give_the_published_values() -> None:
    published = {
        "card": "5555 5555 5555 4444", "iban": "GB82 WEST 1234 5698 7654 32", "chinese": "11010519491231002X", "german": "86095742719", "spanish": "12345678Z",
        "french": "255081416802538", "brazilian": "529.982.247-25", "indian": "234123412346", "snils": "112-233-445 95", "inn": "7707083893", "japanese": "123456789018",
    }  # fmt: skip
    for name, value in published.items():
        assert identities.CHECKSUMS[name](value), name
        digits = [place for place, letter in enumerate(value) if letter.isdecimal()]
        place = digits[len(digits) // 2]
        changed = value[:place] + str((int(value[place]) + 1) % 10) + value[place + 1 :]
        assert not identities.CHECKSUMS[name](changed), name


@pytest.mark.parametrize(
    ("anchor", "says"),
    [('anchor = "words"', "an anchor is"), ('anchor = "text"', "an anchor is"), ('option = "x"', "an option has an anchor")],
)
def test_rules_without_keywords_say_how_they_are_found(anchor: str, says: str) -> None:
    with pytest.raises(PackError, match=says):
        read_pack("x", f'[[rule]]\nid = "x"\nkeywords = ["a"]\npattern = "a"\n{anchor}\n')
