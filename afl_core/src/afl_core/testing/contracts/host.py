"""The contract of a host adapter as tests: subclass `HostContract`, return your adapter from `make` and recorded records from `records`."""

from __future__ import annotations

import json
import pathlib

from hypothesis import given
from hypothesis import strategies as st

from afl_core.setup.render import command_for
from afl_core.spec.host import CONTEXT_SLOT
from afl_core.spec.transcripts import HEAD_LIMIT_BYTES, FindsTranscripts
from afl_core.testing.conformance.parsing import ANYWHERE, ParsingContract

KINDS = {"prompt", "stop", "session_start", "session_end"}


class HostContract(ParsingContract):
    """An adapter is data and pure functions: it never raises on what a file holds, and reading in pieces is reading the whole."""

    def test_its_manifest_can_be_rendered(self) -> None:
        """What the hook and the front know of the host is JSON."""
        manifest = self.make().manifest()
        assert manifest.name == self.make().name
        assert {event.kind for event in manifest.events} <= KINDS
        assert "prompt" in {event.kind for event in manifest.events}
        assert len({event.name for event in manifest.events}) == len(manifest.events)
        assert all(event.timeout_s > 0 for event in manifest.events)
        json.loads(manifest.noop)
        json.dumps(dict(manifest.envelope))
        assert "session" in manifest.fields
        assert "prompt" in manifest.fields

    def test_every_event_that_injects_has_an_envelope_with_one_slot(self) -> None:
        """The front fills it without importing the plug-in."""
        manifest = self.make().manifest()
        for event in manifest.events:
            if event.injects:
                assert json.dumps(manifest.envelope[event.name]).count(json.dumps(CONTEXT_SLOT)) == 1

    def test_it_finds_its_place_without_touching_anything(self, tmp_path: pathlib.Path) -> None:
        """An empty home has no host, and stays empty."""
        place = self.make().locate(tmp_path, {"HOME": str(tmp_path), "PATH": ""})
        assert not place.present
        assert list(tmp_path.iterdir()) == []

    def test_its_transcripts_are_looked_for_below_its_own_place_by_bounded_patterns(self, tmp_path: pathlib.Path) -> None:
        """One component a level; an adapter that finds nothing has nothing to keep here."""
        adapter = self.make()
        if not isinstance(adapter, FindsTranscripts):
            return
        roots = adapter.transcript_roots(adapter.locate(tmp_path, {"HOME": str(tmp_path), "PATH": ""}))
        assert roots
        for root in roots:
            assert root.folder.is_relative_to(tmp_path)
            parts = root.pattern.split("/")
            assert all(part and part not in (".", "..") and "**" not in part for part in parts)
        assert list(tmp_path.iterdir()) == []

    @ANYWHERE
    @given(start=st.binary(max_size=300), cut=st.integers(0, HEAD_LIMIT_BYTES))
    def test_it_says_whose_any_file_is_without_an_error(self, start: bytes, cut: int) -> None:
        """Whatever a head holds, and wherever it ends: an identity, or not yet a transcript."""
        adapter = self.make()
        if not isinstance(adapter, FindsTranscripts):
            return
        recorded = b"\n".join(self.records())[:HEAD_LIMIT_BYTES]
        for head in (start, recorded[:cut], start + recorded[:cut]):
            for beside in (None, start):
                found = adapter.identify(pathlib.Path("/nowhere/s.jsonl"), head, lambda _name, said=beside: said)  # type: ignore[misc]
                assert found is None or found.native_id

    def test_it_knows_no_foreign_command_as_its_own(self) -> None:
        """Other people's hooks are never touched."""
        for command in ("", "echo hello", "python3 hook.py claude Stop", "/bin/true # agent-feedback-loop"):
            assert not self.make().owns_command(command)

    def test_it_knows_the_command_that_install_writes_for_it_and_no_other_hosts(self) -> None:
        """For every event, from any home, in the host's own shell or not; what another host is given stays that host's."""
        adapter = self.make()
        for event in adapter.manifest().events:
            for home in ("/home/dev/.agent", "/a b/it's/$(home)"):
                for own_shell in (False, True):
                    hook = f"{home}/feedback-loop/hook/hook.py"
                    assert adapter.owns_command(command_for(hook, "/usr/bin/python3", adapter.name, event.name, own_shell=own_shell))
                    another = command_for(hook, "/usr/bin/python3", f"{adapter.name}-2", event.name, own_shell=own_shell)
                    assert not adapter.owns_command(another)
