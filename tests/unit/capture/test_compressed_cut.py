"""A compressed transcript that ends in the middle gives all that it holds, is named with the place and what to do, and is read on when it is whole."""

from __future__ import annotations

import os
import tempfile

import plain_host
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from afl_core.capture import compressed
from afl_core.model.errors import CaptureError
from afl_core.store import cursors, transcripts
from afl_core.worker import reconcile
from afl_core.worker.by_hand import Stop, capture_stop

DAY = 86_400_000
RECORDS = 1500


@pytest.fixture
def root(world):
    world.now = 10 * DAY
    return plain_host.install(world)


@pytest.fixture
def packed(root):
    """(where the compressed file belongs, its bytes): a session with many records whose plain file is gone."""
    log = plain_host.Log(root / "live" / "p" / "a.jsonl", at=9 * DAY)
    for number in range(RECORDS):
        log.person(f"{number}: " + os.urandom(400).hex())
    data = zstandard.ZstdCompressor(write_checksum=True).compress(log.path.read_bytes())
    log.path.unlink()
    (root / "old").mkdir()
    return root / "old" / "a.jsonl.zst", data


def catch_up(world):
    return reconcile.run(world.home, review=False, since_ms=0)


def numbers(world):
    return [int(text.split(":")[0]) for _, text in world.messages("plain:s")]


def test_what_stands_before_the_cut_is_kept_and_the_file_is_named_each_time_with_place_and_next_step(world, packed):
    path, data = packed
    path.write_bytes(data[: len(data) * 2 // 3])
    for body in (catch_up(world), catch_up(world)):
        [gap] = body["coverageGaps"]
        at = cursors.get(world.db, str(path)).offset
        assert (gap["path"], gap["kind"], gap["count"]) == (str(path), "cut", 1)
        assert f"{path} ends in the middle; of its content the first {at} bytes could be read" in gap["message"]
        assert "put a whole copy there" in gap["message"]
        assert (body["errors"], body["status"]) == ([], "completed")
    found = numbers(world)
    assert found == list(range(len(found)))
    assert 0 < len(found) < RECORDS


def test_a_file_that_stays_cut_is_not_unpacked_again(world, packed, monkeypatch):
    path, data = packed
    path.write_bytes(data[: len(data) // 2])
    catch_up(world)
    assert transcripts.get(world.db, str(path)).problem == "AFL-CAPTURE-012"
    monkeypatch.setattr(compressed, "_library", lambda: pytest.fail("it was unpacked again"))
    assert catch_up(world)["filesScanned"] == 0


def test_every_longer_piece_is_read_on_from_where_the_last_one_ended_and_the_whole_file_is_no_gap(world, packed):
    path, data = packed
    had = 0
    for part in (len(data) // 3, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:part])
        body = catch_up(world)
        assert body["duplicateEvents"] == 0
        assert [gap["kind"] for gap in body["coverageGaps"]] == ["cut"]
        found = numbers(world)
        assert had < len(found)
        had = len(found)
    path.write_bytes(data)
    assert catch_up(world)["coverageGaps"] == []
    assert numbers(world) == list(range(RECORDS))
    assert transcripts.get(world.db, str(path)).problem is None


def test_a_file_that_is_cut_before_it_tells_whose_it_is_is_named_until_it_is_whole(world, packed):
    path, data = packed
    path.write_bytes(data[:1000])
    for body in (catch_up(world), catch_up(world)):
        assert [(gap["path"], gap["kind"]) for gap in body["coverageGaps"]] == [(str(path), "cut")]
        assert "the first 0 bytes could be read" in body["coverageGaps"][0]["message"]
        assert body["errors"] == []
    path.write_bytes(data)
    assert catch_up(world)["coverageGaps"] == []
    assert numbers(world) == list(range(RECORDS))


def test_a_file_given_by_hand_that_is_cut_before_it_tells_whose_it_is_is_an_error_that_says_so(world, packed):
    path, data = packed
    path.write_bytes(data[:1000])
    with pytest.raises(CaptureError) as bad:
        capture_stop(world.home, Stop("s", str(path), ""))
    assert bad.value.code == "AFL-CAPTURE-012"


def test_a_file_that_was_whole_and_is_cut_then_loses_and_doubles_nothing(world, packed):
    path, data = packed
    path.write_bytes(data)
    catch_up(world)
    for part in (len(data) // 2, len(data)):
        path.write_bytes(data[:part])
        assert catch_up(world)["eventsCaptured"] == 0
    assert numbers(world) == list(range(RECORDS))


@given(content=st.binary(max_size=5000), keep=st.floats(0, 1, exclude_max=True), frames=st.integers(1, 3))
def test_wherever_it_is_cut_what_comes_out_is_how_the_content_begins(content, keep, frames):
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(content)
    whole = packed * frames
    part = whole[: int(len(whole) * keep)]
    with tempfile.TemporaryFile() as file:
        for given_, is_cut in ((whole, False), (part, not part or len(part) % len(packed) != 0)):
            file.seek(0)
            file.truncate()
            file.write(given_)
            file.flush()
            out, is_whole = compressed.unpack(file.fileno(), "x.zst", None)
            try:
                size = os.fstat(out).st_size
                assert os.pread(out, size + 1, 0) == (content * frames)[:size]
                assert is_whole is not is_cut
                assert is_cut or size == len(content) * (len(given_) // len(packed))
            finally:
                os.close(out)
