"""Settings come from defaults, then the file, then the environment; what is unknown or out of range is refused, never ignored."""

from __future__ import annotations

import pathlib

import attrs
import pytest

from afl_core.model.errors import SettingsError
from afl_core.settings.load import load_policy, load_settings
from afl_core.settings.schema import Policy, Settings


def test_a_missing_file_means_the_defaults(tmp_path: pathlib.Path) -> None:
    assert load_settings(tmp_path / "none.toml", {}) == Settings()
    assert load_policy(tmp_path / "none.toml") == Policy()


def test_the_environment_wins_over_the_file_and_the_file_over_the_defaults(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("review_min_entries = 5\nreview_usd_per_day = 1\nmemory_enabled = false\nreport_language = 'de'\n")
    loaded = load_settings(file, {"AGENT_FEEDBACK_LOOP_REVIEW_MIN_ENTRIES": "7", "AGENT_FEEDBACK_LOOP_DEBUG": "yes"})
    assert (loaded.review_min_entries, loaded.review_usd_per_day, loaded.memory_enabled, loaded.report_language, loaded.debug) == (
        7,
        1.0,
        False,
        "de",
        True,
    )


def test_an_empty_variable_counts_as_not_set(tmp_path: pathlib.Path) -> None:
    assert load_settings(tmp_path / "none", {"AGENT_FEEDBACK_LOOP_REVIEW_MAX_AGE": ""}) == Settings()


@pytest.mark.parametrize(
    ("content", "words", "code"),
    [
        ("review_min_entry = 3", "unknown name 'review_min_entry'", "AFL-SETTINGS-003"),
        ("review_min_entries = '3'", "is not a value of type int", "AFL-SETTINGS-004"),
        ("review_min_entries = true", "is not a value of type int", "AFL-SETTINGS-004"),
        ("review_min_entries = 0", "out of range", "AFL-SETTINGS-005"),
        ("review_usd_per_day = nan", "out of range", "AFL-SETTINGS-005"),
        ("review_min_entries = ", "is not valid TOML", "AFL-SETTINGS-002"),
        ("[review]\nmin = 1", "unknown name 'review'", "AFL-SETTINGS-003"),
    ],
)
def test_a_bad_file_is_refused_with_its_path_and_the_reason(tmp_path: pathlib.Path, content: str, words: str, code: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(content)
    with pytest.raises(SettingsError) as refused:
        load_settings(file, {})
    assert words in refused.value.sentence
    assert str(file) in refused.value.sentence
    assert refused.value.code == code


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(b"report_language = '\xff'")
    with pytest.raises(SettingsError, match="is not valid TOML"):
        load_settings(file, {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AGENT_FEEDBACK_LOOP_REVIEW_MAX_AGE", "soon"),
        ("AGENT_FEEDBACK_LOOP_MEMORY_ENABLED", "maybe"),
        ("AGENT_FEEDBACK_LOOP_REVIEWER_TIMEOUT_MS", "5"),
    ],
)
def test_a_bad_variable_is_refused_by_name(tmp_path: pathlib.Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        load_settings(tmp_path / "none", {name: value})


def test_an_unknown_policy_is_refused(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "changes.toml"
    file.write_text("lessons = 'never'")
    with pytest.raises(SettingsError, match="is not one of auto"):
        load_policy(file)


def test_every_setting_has_a_variable_of_its_own_and_says_what_it_does() -> None:
    fields = attrs.fields(Settings)
    names = [field.metadata["env"] for field in fields]
    assert len(set(names)) == len(names)
    assert all(field.metadata["doc"] for field in fields)
    assert all(field.default == attrs.evolve(Settings()).__getattribute__(field.name) for field in fields)
