"""A child's environment is an allowlist."""

from __future__ import annotations

from afl_core.processes.environment import DEFAULT_PATH, allowlisted, child_environment


def test_logins_and_everything_unnamed_stay_out():
    known = {"PATH": "/bin", "HOME": "/h", "ANTHROPIC_API_KEY": "k", "LD_PRELOAD": "x", "AFL_REVIEW_JOB_ID": "old", "HTTPS_PROXY": "p"}
    assert child_environment(known) == {"PATH": "/bin", "HOME": "/h"}


def test_named_variables_pass_when_they_are_set_and_given_values_win():
    known = {"PATH": "/bin", "TOKEN": "t", "LANG": "C"}
    made = child_environment(known, ("TOKEN", "ABSENT"), {"LANG": "de_DE.UTF-8", "NEW": "1"})
    assert made == {"PATH": "/bin", "TOKEN": "t", "LANG": "de_DE.UTF-8", "NEW": "1"}


def test_without_a_path_there_is_still_one():
    assert child_environment({})["PATH"] == DEFAULT_PATH


def test_an_allowlist_may_have_blanks_and_empty_places():
    assert allowlisted(" A, ,B ,,C") == ("A", "B", "C")
    assert allowlisted("") == ()
