"""Recorded files of the real hosts that no hook told of: found, read in their order, and not doubled when the host moves, compresses or migrates them."""

from __future__ import annotations

import json
import os
import pathlib

import capture_world as worlds
import plain_host
import pytest
import zstandard

from afl_core.plugins.discovery import Found
from afl_core.plugins.registry import Registry
from afl_core.testing import recorded_gemini
from afl_core.testing.recorded_codex import OLDER, RecordedCodex, place_rollout
from afl_core.worker import reconcile

HOSTS = tuple(Found(name, f"afl_providers_{name}.plugin", f"afl-providers-{name}", "0") for name in ("codex", "gemini"))


@pytest.fixture
def world(home):
    made = worlds.World(home)
    made.home.__dict__["registry"] = Registry((*worlds.PLUGINS, *(one for one in HOSTS if one not in worlds.PLUGINS)), made.home.guard)
    plain_host.install(made)
    hosts = {name: {"config_dir": str(home / f".{name}"), "settings_path": "x"} for name in ("claude", "codex", "gemini")}
    pathlib.Path(made.home.paths.current).write_text(json.dumps({"hosts": hosts}), "utf-8")
    yield made
    made.close()


def catch_up(world):
    body = reconcile.run(world.home, review=False, since_ms=0)
    assert body["errors"] == []
    return body


def everything(world):
    """What was said and done, and what points where: the same whatever the files are called."""
    texts = [tuple(row) for row in world.db.execute("SELECT kind, role, text FROM events ORDER BY session_id, generation, offset, part")]
    return sorted(texts), world.signals(), world.db.execute("SELECT count(*) FROM queue").fetchone()[0]


def codex(world, name, release="", **more):
    home = pathlib.Path(world.root)
    return place_rollout(name, home / ".codex", home / "project", release=release, **more)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_segments_of_a_session_are_read_in_their_order_whichever_is_found(world, order):
    for number in order:
        codex(world, f"reverted_turn.segment{number}")
    catch_up(world)
    assert world.signals() == [("rewind", "edited request", "message", "a2")]
    [session] = [row[0] for row in world.db.execute("SELECT session_id FROM sessions")]
    assert [text for _role, text in world.messages(session)] == ["keep this", "a1", "wrong request", "a2", "edited request", "a3"]
    assert catch_up(world)["filesScanned"] == 0


@pytest.mark.parametrize(
    ("release", "name"),
    [(release, name) for release in ("", OLDER) for name in RecordedCodex.names("rollouts", release) if "migrated" not in name],
)
def test_a_rollout_that_is_archived_and_then_compressed_adds_nothing(world, release, name):
    path = codex(world, name, release)
    catch_up(world)
    before = everything(world)
    archived = pathlib.Path(world.root) / ".codex" / "archived_sessions" / path.name
    archived.parent.mkdir()
    os.rename(path, archived)
    catch_up(world)
    assert everything(world) == before
    path.with_name(f"{path.name}.zst").write_bytes(zstandard.ZstdCompressor().compress(archived.read_bytes()))
    archived.unlink()
    body = catch_up(world)
    assert (body["eventsCaptured"], body["duplicateEvents"]) == (0, 0)
    assert everything(world) == before


@pytest.mark.parametrize("version", [None, OLDER])
def test_a_rollout_that_was_read_whole_and_is_cut_as_it_is_compressed_adds_and_loses_no_words(world, version):
    path = codex(world, "plain") if version is None else codex(world, "plain", version)
    catch_up(world)
    before = everything(world)
    data = zstandard.ZstdCompressor().compress(path.read_bytes())
    path.unlink()
    for part in (len(data) // 2, len(data)):
        path.with_name(f"{path.name}.zst").write_bytes(data[:part])
        gaps = catch_up(world)["coverageGaps"]
        assert [gap["kind"] for gap in gaps] == (["cut"] if part < len(data) else [])
        assert everything(world) == before


@pytest.mark.parametrize("name", [name for name in RecordedCodex.names("rollouts") if name.startswith("migrated.")])
def test_a_rollout_that_the_host_migrates_in_its_place_adds_no_words_twice(world, name):
    path = codex(world, name.removeprefix("migrated."), OLDER)
    catch_up(world)
    said = [text for _kind, role, text in everything(world)[0] if role == "user"]
    path.unlink()
    moved = codex(world, name)
    os.rename(moved, path)
    catch_up(world)
    assert [text for _kind, role, text in everything(world)[0] if role == "user"] == said


def test_subagents_rollouts_are_not_read(world):
    codex(world, "subagent_child")
    assert catch_up(world)["filesScanned"] == 0
    assert world.db.execute("SELECT count(*) FROM sessions").fetchone()[0] == 0


@pytest.mark.parametrize("name", ["plain", "interrupted", "rejected", "resumed", "tools"])
def test_a_chat_log_is_found_and_read_as_when_a_hook_told_of_it(world, name):
    home = pathlib.Path(world.root)
    recorded_gemini.install(name, home, home / "project")
    body = catch_up(world)
    assert body["filesScanned"] == 1
    assert body["eventsCaptured"] > 0
    assert [row[0] for row in world.db.execute("SELECT cwd FROM sessions")] == [str(home / "project")]
    assert catch_up(world)["filesScanned"] == 0
