"""The Claude plug-in as core meets it: found by its module, shaped as the contracts say, and renderable into a home."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import attrs
import pluggy
import pytest

from afl_core.spec import hooks, marker
from afl_core.spec.host import HostAdapter
from afl_core.spec.reviewer import Reviewer
from afl_providers_claude import plugin

KINDS = {"prompt", "stop", "session_start", "session_end"}
NAMES = {"session", "turn", "cwd", "transcript", "prompt", "answer", "source", "reason", "agent"}


@pytest.fixture
def registered():
    manager = pluggy.PluginManager(marker.PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(plugin)
    manager.check_pending()
    return manager


def test_the_module_states_the_version_of_the_contracts_it_was_written_for():
    assert plugin.AFL_API_VERSION == marker.API_VERSION


def test_it_registers_one_host_and_one_reviewer_that_satisfy_the_contracts(registered):
    (hosts,), (reviewers,) = registered.hook.afl_hosts(), registered.hook.afl_reviewers()

    assert [(type(one).__name__, isinstance(one, HostAdapter), one.name) for one in hosts] == [("ClaudeHost", True, "claude")]
    assert [(type(one).__name__, isinstance(one, Reviewer), one.name) for one in reviewers] == [("ClaudeReviewer", True, "claude")]
    assert reviewers[0].host == hosts[0].name == hosts[0].manifest().name


def test_the_manifest_goes_through_json_unchanged(registered):
    manifest = registered.hook.afl_hosts()[0][0].manifest()
    rendered = json.loads(json.dumps(attrs.asdict(manifest), allow_nan=False))

    assert rendered["envelope"] == manifest.envelope
    assert rendered["fields"] == manifest.fields
    assert [event["name"] for event in rendered["events"]] == [event.name for event in manifest.events]


def test_the_manifest_uses_only_words_of_the_contract(registered):
    manifest = registered.hook.afl_hosts()[0][0].manifest()

    assert {event.kind for event in manifest.events} == KINDS
    assert set(manifest.fields) == NAMES
    assert set(manifest.envelope) == {event.name for event in manifest.events if event.injects}
    assert json.loads(manifest.noop) == {}


def test_the_distribution_names_this_module_as_its_plug_in():
    found = [entry for entry in importlib.metadata.entry_points(group=marker.ENTRY_POINT_GROUP) if entry.name == "claude"]
    if not found:
        pytest.skip("afl-providers-claude is not installed here")

    assert found[0].value == plugin.__name__


def test_of_core_it_loads_the_contracts_and_the_model_alone():
    code = "import sys, afl_providers_claude.plugin; print(*sorted(name for name in sys.modules if name.startswith('afl_core.')))"
    path = {"PYTHONPATH": ":".join(entry for entry in sys.path if entry)}
    loaded = subprocess.run(
        [sys.executable, "-c", code], env=path, capture_output=True, text=True, encoding="utf-8", check=True
    ).stdout.split()

    assert {name.split(".")[1] for name in loaded} == {"spec", "model"}


def test_no_file_of_the_distribution_is_longer_than_a_room_may_be():
    files = list(Path(plugin.__file__).parent.glob("*.py"))

    assert len(files) > 10
    assert not [path.name for path in files if len(path.read_text(encoding="utf-8").splitlines()) > 200]
