"""The Gemini host as core meets it: found by its module, shaped as the contracts say, and kept to by the public kit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import attrs
import pluggy
import pytest

from afl_core.spec import hooks, marker
from afl_core.spec.host import HostAdapter
from afl_core.testing.contracts.host import HostContract
from afl_core.testing.recorded_gemini import RecordedGemini
from afl_providers_gemini import plugin


@pytest.mark.parametrize("case", RecordedGemini.names("chats"))
class TestHost(HostContract):
    """On every recorded log."""

    @pytest.fixture(autouse=True)
    def _case(self, case: str) -> None:
        type(self).case = case

    case = "plain"

    def make(self) -> HostAdapter:
        [host] = plugin.afl_hosts()
        return host

    def records(self) -> list[bytes]:
        return RecordedGemini.chat(self.case).splitlines()


@pytest.fixture
def host():
    manager = pluggy.PluginManager(marker.PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(plugin)
    manager.check_pending()
    ((host,),) = manager.hook.afl_hosts()
    return host


def test_it_registers_one_host_for_the_version_of_the_contracts_it_was_written_for(host):
    assert plugin.AFL_API_VERSION == marker.API_VERSION
    assert (type(host).__name__, isinstance(host, HostAdapter), host.name) == ("GeminiHost", True, "gemini")


def test_the_manifest_goes_through_json_unchanged(host):
    manifest = host.manifest()
    told = json.loads(json.dumps(attrs.asdict(manifest), allow_nan=False))

    assert told["envelope"] == manifest.envelope
    assert told["fields"] == manifest.fields
    assert set(manifest.envelope) == {event.name for event in manifest.events if event.injects}


def test_of_core_it_loads_the_contracts_and_the_model_alone():
    code = "import sys, afl_providers_gemini.host; print(*sorted(name for name in sys.modules if name.startswith('afl_core.')))"
    path = {"PYTHONPATH": ":".join(entry for entry in sys.path if entry)}
    loaded = subprocess.run(
        [sys.executable, "-c", code], env=path, capture_output=True, text=True, encoding="utf-8", check=True
    ).stdout.split()

    assert {name.split(".")[1] for name in loaded} == {"spec", "model"}


def test_no_file_of_the_distribution_is_longer_than_a_room_may_be():
    files = list(Path(plugin.__file__).parent.glob("*.py"))

    assert len(files) > 10
    assert not [path.name for path in files if len(path.read_text(encoding="utf-8").splitlines()) > 200]
