"""Which words of a text count, in scripts with and without spaces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from afl_core.model.words import MAX_TEXT, fold, sequence, terms


def test_stop_words_numbers_and_letters_are_no_terms():
    assert terms("Please run the tests again, it's 42 x").words == ("run", "test")


def test_case_width_and_plural_do_not_matter():
    assert terms("DEPLOYS Ｄｅｐｌｏｙ deploy's").words == ("deploy",)


def test_words_that_only_look_like_a_plural_stay():
    assert terms("status class analysis bus").words == ("status", "class", "analysis", "bus")


def test_chinese_gives_runs_and_grams_of_four():
    found = terms("发布前要验证，再deploy")
    assert found.cjk == ("发布前要验证", "再")
    assert found.grams == ("发布前要", "布前要验", "前要验证")
    assert found.words == ("deploy",)


def test_a_long_text_is_read_at_both_ends():
    text = "alpha " + "x" * (MAX_TEXT * 2) + " omega"
    assert "alpha" in terms(text).words
    assert "omega" in terms(text).words


@given(st.text(max_size=200))
def test_terms_are_found_again_in_their_own_text(text):
    found = terms(text)
    assert len(set(found.words)) == len(found.words)
    assert all(gram in fold(text) for gram in found.grams)
    assert set(found.cjk) <= set(sequence(text))
