"""A secret of any rule that is shipped goes the whole way of the product and comes out nowhere: no file of the data directory, no reply, no context, no screen."""

from __future__ import annotations

import pathlib
import shutil
import tempfile

import pytest
import secret_walk as walking
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afl_redactors.packs import PACKS

RULES = [one for one in PACKS if one.positive]
LINES = (
    "please look at this",
    "def total(items):",
    "    return sum(item.price for item in items)  # in cents",
    '{"name": "shop", "version": "1.4.2"}',
    "2026-01-05 10:00:01 INFO worker started in 12 ms",
    "diff --git a/src/app.py b/src/app.py",
    "the build was green before this",
    "请看一下这里",
    "https://example.org/docs?page=2",
    "",
)
PER_RUN = 12


def walked(planted, before, after):
    root = pathlib.Path(tempfile.mkdtemp(prefix="afl-walk-", dir="/tmp"))
    try:
        return walking.survivors(root, planted, walking.walk(root, planted, before, after))
    finally:
        shutil.rmtree(root)


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.sampled_from(RULES), min_size=PER_RUN, max_size=PER_RUN, unique_by=lambda one: one.id),
    st.integers(0, 2**32),
    st.lists(st.sampled_from(LINES), max_size=4),
    st.lists(st.sampled_from(LINES), max_size=4),
)
def test_a_secret_of_any_rule_in_any_surroundings_comes_out_nowhere(rules, seed, before, after):
    planted = [walking.plant(one, one.positive[(seed + number) % len(one.positive)], seed + number) for number, one in enumerate(rules)]
    assert walked(planted, "\n".join(before), "\n".join(after)) == []


@pytest.mark.parametrize("part", range(0, len(RULES), 24))
def test_the_first_example_of_every_rule_comes_out_nowhere(part):
    planted = [walking.plant(one, one.positive[0], number) for number, one in enumerate(RULES[part : part + 24])]
    assert walked(planted, "please look at this", "thanks") == []


def test_a_walk_that_hides_nothing_would_be_seen(home):
    """What is looked for is really there: with a redactor that finds nothing it comes out in every way."""
    from afl_core.spec.redactor import Redaction
    from afl_redactors.redactor import CredentialRedactor

    one = next(one for one in RULES if one.id == "github-token")
    planted = [walking.plant(one, one.positive[0], 1)]
    with pytest.MonkeyPatch.context() as patched:
        outside = walking.plant(one, one.positive[0], 1)
        patched.setattr(CredentialRedactor, "redact", lambda _self, text: Redaction(text))
        found = walking.survivors(home, planted, walking.walk(home, planted, "", ""))
    assert outside == planted[0]
    assert {where for _, where, _ in found} >= {"context", "replies"}
    assert any("feedback-loop.sqlite3" in where for _, where, _ in found)
