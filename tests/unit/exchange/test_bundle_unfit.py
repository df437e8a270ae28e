"""A grain that breaks a rule which is newer than it: it stays where it is, leaves with an export, and no import takes it in."""

from __future__ import annotations

import pytest
from exchange_world import NOW, opened

from afl_core.memory import write
from afl_core.model.errors import ModelError
from afl_core.model.grain import GrainType, formed


@pytest.fixture
def old(tmp_path):
    """A memory with an observation that says nothing, a grain that took its place, and a fact."""
    with opened(tmp_path / "old.afl") as memory:
        mute = formed(GrainType.OBSERVATION, {"namespace": "shared", "seen_by": "ci"}, NOW)
        with memory._writing() as db:
            write.insert(db, mute)
        memory.fact = memory.add_fact("acme", "is", "here")
        memory.mute = mute.hash
        yield memory


def test_it_is_still_read_recalled_superseded_and_forgotten(old):
    assert old.get(old.mute)["seen_by"] == "ci"
    assert [one["hash"] for one in old.recall(type="observation")] == [old.mute]
    assert old.search("nothing") == []
    assert old.verify()["ok"]
    with pytest.raises(ModelError, match=r"^observation\.content is missing or blank$"):
        old.supersede(old.mute, seen_by="cd")
    newer = old.supersede(old.mute, content="the build is slow")
    assert old.get(newer)["derived_from"] == old.mute
    assert old.forget(old.mute) == [old.mute]
    assert old.verify()["ok"]


def test_an_import_skips_it_with_the_reason_and_takes_the_rest(old, tmp_path):
    newer = old.supersede(old.mute, content="the build is slow")
    old.export(tmp_path / "bundle")
    with opened(tmp_path / "new.afl", NOW + 9_000) as memory:
        foreseen = memory.import_(tmp_path / "bundle", dry_run=True)
        report = memory.import_(tmp_path / "bundle")
        for one in (foreseen, report):
            assert (one.added, one.skipped_rows) == (2, 1)
            assert [each.reason for each in one.skipped] == ["observation.content is missing or blank"]
        assert {one["hash"] for one in memory.recall(ns="*")} == {old.fact, newer}
        assert memory.verify()["ok"]
        assert memory.import_(tmp_path / "bundle").added == 0


def test_where_it_is_already_an_import_leaves_it(old, tmp_path):
    old.export(tmp_path / "bundle")
    report = old.import_(tmp_path / "bundle")
    assert (report.added, report.already, report.skipped_rows) == (0, 2, 0)
    assert old.get(old.mute)["seen_by"] == "ci"
