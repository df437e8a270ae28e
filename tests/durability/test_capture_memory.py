"""A large transcript is read with bounded memory and short transactions, and a full disk loses nothing."""

from __future__ import annotations

import json
import pathlib
import tracemalloc

import capture_world as worlds
import pytest

from afl_core.capture import sync as syncing
from afl_core.model.errors import StoreError

MEGABYTE = 1024 * 1024


@pytest.mark.slow
def test_twenty_megabytes_are_read_in_short_transactions_and_little_memory(home):
    world = worlds.World(home)
    path = pathlib.Path(home) / "t.jsonl"
    with path.open("wb") as file:
        for number in range(20 * MEGABYTE // 9_000):
            text = f"record {number}: " + "words of an ordinary answer, not short " * 225
            message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
            record = {"type": "assistant", "uuid": f"u{number}", "timestamp": "2026-11-30T07:00:00.000Z", "message": message}
            file.write(json.dumps(record).encode() + b"\n")
    assert path.stat().st_size > 19 * MEGABYTE
    world.session(path)
    sizes = []
    tracemalloc.start()
    try:
        report = world.sync(path, consume=lambda _db, batch: sizes.append(len(batch.newborn)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert report.caught_up
    assert report.born == sum(sizes) == 20 * MEGABYTE // 9_000
    assert max(sizes) <= syncing.DRAFTS_PER_TRANSACTION
    assert peak < 64 * MEGABYTE
    world.close()


def test_a_full_database_loses_nothing(home):
    world = worlds.World(home)
    path = pathlib.Path(home) / "t.jsonl"
    tape = worlds.Tape(path)
    for number in range(40):
        tape.person(f"words {number} password: Uhu_Nest_8q " + "and more " * 500)
    world.session(path)
    pages = world.db.execute("PRAGMA page_count").fetchone()[0]
    world.db.execute(f"PRAGMA max_page_count = {pages + 12}")
    with pytest.raises(StoreError) as caught:
        world.sync(path, chunk_bytes=8192)
    assert caught.value.code == "AFL-STORE-006"
    world.db.execute("PRAGMA max_page_count = 1000000")
    world.sync(path, chunk_bytes=8192)
    assert [text.split()[1] for _, text in world.messages()] == [str(number) for number in range(40)]
    assert all(len(set(world.raw(text).splitlines())) > 1 for _, text in world.messages())
    world.close()
