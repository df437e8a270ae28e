"""Install tells the daemon where the selected hosts keep transcripts, as far as their adapters say it."""

from __future__ import annotations

import json
from pathlib import Path

from afl_core.settings.paths import Paths
from afl_core.setup.pack import Watch, rendered_watch
from afl_core.setup.selection import Selected
from afl_core.spec.host import HostManifest, HostPlace
from afl_core.spec.transcripts import TranscriptRoot

MANIFEST = HostManifest("fake", "Fake", (), {}, {}, "{}", None, None)


class Silent:
    """An adapter that does not find transcripts."""

    name = "fake"


class Telling(Silent):
    """One that does."""

    def transcript_roots(self, place: HostPlace) -> tuple[TranscriptRoot, ...]:
        return (TranscriptRoot(place.config_dir / "projects", "*/*.jsonl"),)

    def identify(self, path, head, beside):
        return None


def selected(adapter):
    return Selected(adapter, MANIFEST, Path("/c"), Path("/c/settings.json"), None, present=True)


def test_an_adapter_that_says_where_transcripts_are_is_asked_with_the_place_that_was_chosen():
    assert selected(Silent()).roots() == ()
    assert selected(Telling()).roots() == (TranscriptRoot(Path("/c/projects"), "*/*.jsonl"),)


def test_what_the_pack_says_is_read_back_and_a_damaged_pack_says_nothing(home):
    paths = Paths(home)
    Path(paths.pack).mkdir(parents=True)
    assert rendered_watch(paths) == Watch()
    body = {"hosts": {"fake": {"roots": [{"folder": "/c/projects", "pattern": "*/*.jsonl"}]}}, "schedule": {"installed": True}}
    Path(paths.front_file).write_text(json.dumps(body), "utf-8")
    assert rendered_watch(paths) == Watch({"fake": selected(Telling()).roots()}, scheduled=True)
    for damaged in ("", "[]", '{"hosts": 3}', '{"hosts": {"fake": {"roots": [{}]}}}'):
        Path(paths.front_file).write_text(damaged, "utf-8")
        assert rendered_watch(paths) == Watch()
