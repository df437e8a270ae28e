"""Doctor and install say when the index was filled by other rules than those of now, and what to do; a new home hears nothing of it."""

from __future__ import annotations

import os

import pytest
import review_world

from afl_core.api.home import Home
from afl_core.api.purge import purge
from afl_core.model.errors import SettingsError
from afl_core.settings.paths import Paths
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.spec.health import Health
from afl_core.store import index_state
from afl_core.store.connection import connect, writing
from afl_core.worker.absorb import absorb


@pytest.fixture
def environ(home):
    return {"HOME": str(home), "PATH": os.defpath}


@pytest.fixture
def store(home, environ):
    """The database of a home that was installed."""
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened, hosts=[]))
    db = connect(Paths(home).database)
    yield db
    db.close()


def told(home, environ):
    """What the doctor says of the index, and what install says of it."""
    with Home(str(home), environ) as opened:
        lines = [one for one in doctor(opened).lines if one.name == "index"]
    with Home(str(home), environ) as opened:
        said = [line for line in plan_install(opened, hosts=[]).warnings if "index" in line]
    return lines, said


def test_a_new_home_hears_nothing(home, environ, store):
    assert told(home, environ) == ([], [])


def test_words_that_were_there_before_anybody_noted_the_rules_ask_for_a_purge(home, environ, store):
    review_world.event(store, "e1", "words", offset=1)
    [line], [said] = told(home, environ)
    assert (line.health, line.sentence) == (Health.WARN, "the index was never judged as a whole")
    assert line.hint == "run: afl redact purge"
    assert said == "the index was never judged as a whole; next: afl redact purge"


def test_after_a_purge_nothing_is_said_until_the_rules_are_others(home, environ, store):
    review_world.event(store, "e1", "words", offset=1)
    with Home(str(home), environ) as opened:
        purge(opened)
    assert told(home, environ) == ([], [])
    with writing(store):
        index_state.checked(store, "credentials/0", 1)
    [line], [said] = told(home, environ)
    assert line.sentence.startswith("the index was last judged with other rules, ")
    assert said == "the index was last judged with other rules; next: afl redact purge"


def test_a_purge_that_was_not_finished_is_told(home, environ, store):
    with Home(str(home), environ) as opened:
        purge(opened)
    with writing(store):
        index_state.set_unclean(store)
    [line], _ = told(home, environ)
    assert line.sentence.startswith("a purge of the index was not finished, ")


def test_the_first_words_of_a_store_are_noted_with_the_rules_that_let_them_in(home, environ, store):
    review_world.session(store, "claude:s-9")
    with Home(str(home), environ) as opened:
        absorb(opened, "claude:s-9")
        versions = opened.chain.versions
    last = index_state.last_check(store)
    assert last is not None
    assert last.versions == versions


def test_an_option_that_no_redactor_has_stops_install_before_anything_is_written(home, environ, store):
    with (
        Home(str(home), {**environ, "AGENT_FEEDBACK_LOOP_REDACT_OPTIONS": "no-such"}) as opened,
        pytest.raises(SettingsError, match="no redactor has the option 'no-such'"),
    ):
        plan_install(opened, hosts=[])


def test_an_option_that_no_redactor_has_is_a_failure_for_the_doctor(home, environ, store):
    with Home(str(home), {**environ, "AGENT_FEEDBACK_LOOP_REDACT_OPTIONS": "no-such"}) as opened:
        found = doctor(opened)
    assert not found.healthy
    assert [one.sentence for one in found.lines if one.name == "redaction"] == ["redact_options: no redactor has the option 'no-such'"]
