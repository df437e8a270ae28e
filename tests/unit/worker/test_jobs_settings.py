"""The jobs process goes by the variables of the session that spoke last, and a bad one changes nothing."""

from __future__ import annotations

import pytest

from afl_core.api.home import Home
from afl_core.model.errors import SettingsError
from afl_core.settings.paths import Paths

NAME = "AGENT_FEEDBACK_LOOP_REVIEW_MIN_ENTRIES"


def test_a_sessions_variable_holds_until_another_session_speaks(home):
    opened = Home(str(home), {})
    opened.listen({NAME: "1", "PATH": "/nowhere"})
    assert opened.settings.review_min_entries == 1
    assert "PATH" not in opened.environ
    opened.listen({})
    assert opened.settings.review_min_entries == 3


def test_a_bad_variable_is_refused_and_changes_nothing(home):
    opened = Home(str(home), {})
    opened.listen({NAME: "7"})
    with pytest.raises(SettingsError, match=NAME):
        opened.listen({NAME: "soon"})
    assert opened.settings.review_min_entries == 7


def test_a_changed_settings_file_is_read_at_the_next_word(home):
    file = home / "settings.toml"
    opened = Home(str(home), {})
    opened.paths = Paths(home, str(home))
    assert opened.settings.review_min_entries == 3
    file.write_text("review_min_entries = 9\n", "utf-8")
    opened.listen({})
    assert opened.settings.review_min_entries == 9
