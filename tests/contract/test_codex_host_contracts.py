"""The Codex host as core meets it: found by its module, shaped as the contracts say, renderable into a home, and light."""

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
from afl_core.spec.transcripts import FindsTranscripts
from afl_providers_codex import plugin

KINDS = {"prompt", "stop", "session_start", "session_end"}
NAMES = {"session", "turn", "cwd", "transcript", "prompt", "answer", "source", "reason", "agent"}


@pytest.fixture
def host():
    manager = pluggy.PluginManager(marker.PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(plugin)
    manager.check_pending()
    [[only]] = manager.hook.afl_hosts()
    return only


def test_the_module_states_the_version_of_the_contracts_it_was_written_for():
    assert plugin.AFL_API_VERSION == marker.API_VERSION


def test_it_registers_one_host_that_also_finds_transcripts(host):
    assert (isinstance(host, HostAdapter), isinstance(host, FindsTranscripts), host.name) == (True, True, "codex")


def test_the_manifest_goes_through_json_unchanged_and_uses_only_words_of_the_contract(host):
    manifest = host.manifest()
    rendered = json.loads(json.dumps(attrs.asdict(manifest), allow_nan=False))

    assert (rendered["envelope"], rendered["fields"]) == (manifest.envelope, manifest.fields)
    assert {event.kind for event in manifest.events} == KINDS
    assert set(manifest.fields) == NAMES
    assert set(manifest.envelope) == {event.name for event in manifest.events if event.injects}


def test_the_distribution_names_this_module_as_its_plug_in():
    [found] = [entry for entry in importlib.metadata.entry_points(group=marker.ENTRY_POINT_GROUP) if entry.name == "codex"]

    assert found.value == plugin.__name__


def test_of_core_the_host_loads_the_contracts_and_the_model_alone():
    code = "import sys, afl_providers_codex.host; print(*sorted(name for name in sys.modules if name.startswith('afl_core.')))"
    path = {"PYTHONPATH": ":".join(entry for entry in sys.path if entry)}
    loaded = subprocess.run(
        [sys.executable, "-c", code], env=path, capture_output=True, text=True, encoding="utf-8", check=True
    ).stdout.split()

    assert {name.split(".")[1] for name in loaded} == {"spec", "model"}


def test_no_file_of_the_distribution_is_longer_than_a_room_may_be():
    files = list(Path(plugin.__file__).parent.glob("*.py"))

    assert len(files) > 10
    assert not [path.name for path in files if len(path.read_text(encoding="utf-8").splitlines()) > 200]
