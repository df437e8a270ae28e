"""Reading a transcript file as it really is: growing, cut, broken, replaced, enormous, somebody else's."""

from __future__ import annotations

import os
import tracemalloc

import pytest

from afl_core.capture import read
from afl_core.model.errors import CaptureError
from afl_core.spec.host import Line

MEGABYTE = 1024 * 1024


def every(_head):
    return True


def everything(path, **more):
    with read.Transcript(str(path)) as transcript:
        chunks = list(transcript.chunks(0, False, every, limit=10**9, **more))
    return (
        [line for chunk in chunks for line in chunk.lines],
        chunks[-1].end if chunks else 0,
        [gap for chunk in chunks for gap in chunk.gaps],
    )


def test_a_last_line_is_not_read_until_it_is_complete(world, tape):
    tape.person("one").agent("two")
    whole = tape.path.read_bytes()
    tape.path.write_bytes(whole[:-1])
    world.absorb()
    assert world.messages() == [("user", "one")]
    tape.path.write_bytes(whole)
    world.absorb()
    assert world.messages() == [("user", "one"), ("assistant", "two")]


def test_the_cursor_stands_behind_the_last_complete_line(world, tape):
    tape.person("one")
    size = tape.path.stat().st_size
    with tape.path.open("ab") as file:
        file.write(b'{"type":"user"')
    report = world.sync(tape.path)
    assert report.caught_up
    assert world.db.execute("SELECT offset FROM cursors").fetchone()[0] == size


def test_an_empty_file_and_a_missing_one_are_nothing_to_read(world, home):
    assert world.absorb().problem == ""
    (home / "t.jsonl").write_bytes(b"")
    done = world.absorb()
    assert (done.born, done.problem, done.caught_up) == (0, "", True)


def test_a_missing_file_is_named_by_the_reader(home):
    with pytest.raises(CaptureError) as caught:
        read.Transcript(str(home / "none.jsonl"))
    assert caught.value.code == "AFL-CAPTURE-002"


def test_a_symbolic_link_is_refused(world, tape, home):
    tape.person("one")
    os.rename(tape.path, home / "real.jsonl")
    os.symlink(home / "real.jsonl", tape.path)
    done = world.absorb()
    assert done.code == "AFL-CAPTURE-003"
    assert "symbolic link" in done.problem
    assert world.events() == []


def test_a_directory_and_a_pipe_are_refused(home):
    (home / "folder").mkdir()
    os.mkfifo(home / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(CaptureError) as caught:
            read.Transcript(str(home / name))
        assert caught.value.code == "AFL-CAPTURE-004"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(world, tape):
    tape.person("one")
    os.chown(tape.path, 12345, -1)
    done = world.absorb()
    assert done.code == "AFL-CAPTURE-004"
    assert "12345" in done.problem


def test_lines_that_end_with_a_carriage_return_are_read_alike(world, worlds, tape):
    tape.person("one").agent("two")
    tape.path.write_bytes(tape.path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\r\n")
    world.absorb()
    assert world.messages() == [("user", "one"), ("assistant", "two")]


def test_broken_lines_cost_only_themselves(world, tape):
    tape.person("one")
    with tape.path.open("ab") as file:
        file.write(b'{"type":"user","message":"\xff\xfe\x80"}\n\x00\x00\x00\n[]\n"text"\n{"type":\n\n   \n')
    tape.agent("two")
    done = world.absorb()
    assert (done.problem, done.gaps) == ("", [])
    assert world.messages() == [("user", "one"), ("assistant", "two")]


def test_nul_characters_in_words_are_replaced(world, tape):
    tape.person("one\0two").agent("ok")
    world.absorb()
    assert world.messages()[0] == ("user", "one\ufffdtwo")


def test_a_record_of_fifty_megabytes_is_a_gap_and_the_rest_is_read_with_little_memory(world, tape):
    tape.person("before")
    start = tape.path.stat().st_size
    with tape.path.open("ab") as file:
        file.write(b'{"type":"assistant","message":{"content":"')
        for _ in range(50):
            file.write(b"x" * MEGABYTE)
        file.write(b'"}}\n')
    tape.agent("after")
    tracemalloc.start()
    try:
        done = world.absorb()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert world.messages() == [("user", "before"), ("assistant", "after")]
    assert done.gaps == [
        {"path": str(tape.path), "count": 1, "kind": "oversized_record", "offset": start, "limit": read.RECORD_LIMIT_BYTES}
    ]
    assert peak < 64 * MEGABYTE
    assert world.absorb().gaps == []


def test_an_oversized_record_that_is_still_being_written_does_not_pin_the_cursor(world, tape):
    tape.person("before")
    with tape.path.open("ab") as file:
        file.write(b'{"type":"assistant","x":"' + b"x" * (read.RECORD_LIMIT_BYTES + 10))
    assert len(world.absorb().gaps) == 1
    offset, skipping = world.db.execute("SELECT offset, skipping FROM cursors").fetchone()
    assert (offset, skipping) == (tape.path.stat().st_size, 1)
    with tape.path.open("ab") as file:
        file.write(b"x" * 1000)
    assert world.absorb().gaps == []
    with tape.path.open("ab") as file:
        file.write(b'"}\n')
    tape.agent("after")
    assert world.absorb().gaps == []
    assert world.messages() == [("user", "before"), ("assistant", "after")]


def test_oversized_bulk_is_no_gap(world, tape):
    with tape.path.open("ab") as file:
        file.write(b'{"type":"api-request-blob","x":"' + b"x" * (read.RECORD_LIMIT_BYTES + 10) + b'"}\n')
    tape.person("after")
    assert world.absorb().gaps == []
    assert world.messages() == [("user", "after")]


def test_a_record_just_as_long_as_the_limit_is_read(home):
    (home / "t").write_bytes(b"a" * 100 + b"\n" + b"b" * 101 + b"\n" + b"c\n")
    lines, end, gaps = everything(home / "t", chunk_bytes=7, record_limit=100)
    assert lines == [Line(0, b"a" * 100), Line(203, b"c")]
    assert end == 205
    assert gaps == [{"kind": "oversized_record", "offset": 101, "limit": 100}]


def test_a_file_that_is_cut_while_it_is_read_does_not_hang_the_reader(home):
    path = home / "t"
    path.write_bytes(b"x" * 5000)
    with read.Transcript(str(path)) as transcript:
        path.write_bytes(b"")
        assert list(transcript.chunks(0, False, every, limit=10**9, chunk_bytes=100)) == []


def test_a_file_replaced_by_its_copy_goes_on_where_it_was(world, tape, home):
    tape.person("one").agent("two")
    world.absorb()
    copy = home / "copy"
    copy.write_bytes(tape.path.read_bytes())
    os.replace(copy, tape.path)
    tape.person("three")
    done = world.absorb()
    assert (done.born, done.known) == (1, 0)
    assert world.events("generation", "text") == [(1, "one"), (1, "two"), (1, "three")]


def test_a_file_replaced_by_another_is_a_new_generation_without_doubled_records(world, tape, home):
    tape.person("one").agent("two")
    world.absorb()
    copy = home / "copy"
    copy.write_bytes(b'{"type":"summary"}\n' + tape.path.read_bytes())
    os.replace(copy, tape.path)
    tape.person("three")
    done = world.absorb()
    assert (done.born, done.known) == (1, 2)
    assert world.events("generation", "text") == [(1, "one"), (1, "two"), (2, "three")]


def test_a_truncated_file_is_a_new_generation(world, tape):
    tape.person("one").agent("two")
    first = tape.path.read_bytes().splitlines(keepends=True)[0]
    world.absorb()
    tape.path.write_bytes(first)
    world.absorb()
    tape.person("three")
    world.absorb()
    assert world.messages() == [("user", "one"), ("assistant", "two"), ("user", "three")]


def test_a_file_that_was_cut_and_grew_beyond_the_cursor_is_read_from_its_start(world, tape, worlds):
    tape.person("one")
    world.absorb()
    tape.path.write_bytes(b"")
    worlds.Tape(tape.path, prefix="other").person("a different and much longer beginning " * 9).agent("and its answer")
    world.absorb()
    assert [text for _, text in world.messages()][-1] == "and its answer"
    assert len(world.messages()) == 3


def test_records_without_ids_are_told_apart_by_their_place(world, tape):
    tape.person("same", uuid=...).person("same", uuid=...)
    world.absorb()
    world.absorb()
    assert world.messages() == [("user", "same"), ("user", "same")]


def test_a_record_that_the_host_wrote_twice_is_one_event(world, tape):
    tape.person("one")
    tape.path.write_bytes(tape.path.read_bytes() * 2)
    world.absorb()
    assert world.messages() == [("user", "one")]


def test_the_tail_of_a_file_is_whole_records_only(home):
    path = home / "t"
    path.write_bytes(b"first\nsecond\nthird\nunfinished")
    with read.Transcript(str(path)) as transcript:
        assert [line.data for line in transcript.tail(every, size=20)] == [b"third"]
        assert [line.data for line in transcript.tail(every, size=100)] == [b"first", b"second", b"third"]
        assert transcript.tail(every, size=5) == ()


def test_words_from_before_the_retention_are_not_kept(world, tape):
    world.now = tape.start + 20 * 86_400_000
    tape.person("twenty days old").call("c1").result("c1", "x").compacted()
    tape.at = 19 * 86_400_000
    tape.person("a day old")
    world.absorb()
    assert world.events("text", "epoch") == [("a day old", 2)]


def test_nothing_is_read_while_capture_is_off_and_what_was_said_then_is_not_kept_later(world, tape):
    from afl_core.api.capture import switch

    world.now = tape.start + 1500
    tape.person("before")
    world.absorb()
    switch(world.home, enabled=False)
    tape.person("private")
    assert world.absorb().born == 0
    world.now = tape.start + 2500
    switch(world.home, enabled=True)
    tape.person("after")
    world.now = tape.start + 9000
    world.absorb()
    assert world.messages() == [("user", "before"), ("user", "after")]


def test_a_switch_that_was_dated_in_the_future_does_not_hide_what_is_said_now(world, tape):
    from afl_core.api.capture import switch

    now, world.now = world.now, world.now + 10**10
    switch(world.home, enabled=True)
    world.now = now
    tape.person("now")
    world.absorb()
    assert world.messages() == [("user", "now")]
