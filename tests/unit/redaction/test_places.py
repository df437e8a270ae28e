"""A quote of a text can be found again in the text with its values replaced, wherever it was cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from afl_core.redaction.places import Places, merged, replaced
from afl_core.spec.redactor import Finding


@st.composite
def found_in(draw: st.DrawFn) -> tuple[str, list[Finding]]:
    """A text and findings in it, in order and apart."""
    text = draw(st.text("abc \n", min_size=1, max_size=40))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return text, [Finding(draw(st.sampled_from(["one", "two"])), start, end) for start, end in pairs]


@given(found_in())
def test_the_text_is_the_given_one_with_the_findings_replaced(made: tuple[str, list[Finding]]) -> None:
    text, findings = made
    assert Places(text, findings).text == replaced(text, findings)


@given(found_in(), st.data())
def test_a_part_of_the_text_stands_whole_in_the_replaced_one(made: tuple[str, list[Finding]], data: st.DataObject) -> None:
    text, findings = made
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    places = Places(text, findings)
    first, last = places.after(start, end)
    quote = places.text[first:last]
    touched = [found for found in findings if found.start < end and start < found.end]
    if start < end:
        outside = replaced(text[: max([end, *(found.end for found in touched)])], [f for f in findings if f.start < end])
        assert outside.endswith(quote) or quote in places.text
        assert quote.count("[REDACTED:") == len(touched)
        assert quote.count("]") == len(touched)


@given(found_in(), st.data())
def test_findings_of_the_replaced_text_lead_to_the_same_text_from_the_original(
    made: tuple[str, list[Finding]], data: st.DataObject
) -> None:
    text, findings = made
    places = Places(text, findings)
    if not places.text:
        return
    start = data.draw(st.integers(0, len(places.text) - 1))
    end = data.draw(st.integers(start + 1, len(places.text)))
    places.add([Finding("more", start, end)])
    assert replaced(text, places.findings) == places.text
    assert all(one.end <= other.start for one, other in zip(places.findings, places.findings[1:], strict=False))


def test_findings_that_overlap_are_one() -> None:
    assert merged([Finding("b", 3, 9), Finding("a", 0, 4), Finding("c", 9, 10)]) == [Finding("a", 0, 9), Finding("c", 9, 10)]
