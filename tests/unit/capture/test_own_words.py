"""A prompt without the elements the host put before it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from afl_core.capture.payload import own_words

KINDS = (("<ctx>", "</ctx>"),)


def test_every_element_in_front_is_taken_off():
    assert own_words("<ctx>a</ctx>\n\n<ctx>b</ctx>\nfix it", KINDS) == "fix it"


def test_one_that_does_not_end_or_does_not_stand_in_front_stays():
    assert own_words("<ctx>a fix it", KINDS) == "<ctx>a fix it"
    assert own_words("see <ctx>a</ctx>", KINDS) == "see <ctx>a</ctx>"


@given(st.text())
def test_without_kinds_nothing_changes(text):
    assert own_words(text, ()) == text


@given(st.lists(st.text(alphabet="ab <>"), max_size=4), st.text(alphabet="xyz", min_size=1))
def test_what_remains_is_the_words(inside, words):
    assert own_words("".join(f"<ctx>{one}</ctx>\n" for one in inside) + words, KINDS) == words


BEHIND = (("\n--- files ---", "--- end ---"),)


def test_what_the_host_put_behind_the_words_is_taken_off_when_it_is_whole():
    assert own_words("look\n--- files ---\nx = 1\n--- end ---", (), BEHIND) == "look"
    assert own_words("<ctx>a</ctx>look\n--- files ---\n--- end ---", KINDS, BEHIND) == "look"
    assert own_words("look\n--- files ---\nx = 1", (), BEHIND) == "look\n--- files ---\nx = 1"


def test_of_several_kinds_behind_the_words_the_first_that_stands_there_ends_them():
    kinds = (*BEHIND, ("\n<note>", "</note>"))
    assert own_words("look\n<note>n</note>\n--- files ---\n--- end ---", (), kinds) == "look"
