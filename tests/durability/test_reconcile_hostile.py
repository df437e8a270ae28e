"""Whatever lies in a transcript, or in its place: a pass goes on, names what it could not read, and the next one goes on from there."""

from __future__ import annotations

import json
import os
import time

import capture_world as worlds
import plain_host
import pytest

from afl_core.capture.read import RECORD_LIMIT_BYTES
from afl_core.worker import reconcile

USER = b'{"type":"user","uuid":"%s","sessionId":"%s","cwd":"/x","promptId":"t","promptSource":"typed","message":{"role":"user","content":"%s"}}\n'
HOSTILE = {
    "NUL bytes": b"\0" * 5_000 + b"\n",
    "a NUL in a text": b'{"type":"user","uuid":"n","promptSource":"typed","message":{"role":"user","content":"a\\u0000b"}}\n',
    "deep JSON": b'{"type":"user","message":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
    "deep JSON without an end": b'{"type":"assistant","message":' + b'{"a":' * 100_000 + b"\n",
    "a number of a hundred thousand digits": b'{"type":"user","message":{"content":' + b"9" * 100_000 + b"}}\n",
    "a float without end": b'{"type":"assistant","timestamp":1e999,"message":{"content":[{"type":"text","text":NaN}]}}\n',
    "half of a surrogate pair": b'{"type":"user","uuid":"h","promptSource":"typed","message":{"role":"user","content":"\\ud83d alone"}}\n',
    "invalid UTF-8": b'{"type":"user","uuid":"i","promptSource":"typed","message":{"role":"user","content":"\xff\xfe\xc3"}}\n',
    "no JSON": b"what is this\n\n\n}{\n",
    "JSON that is no record": b'null\n17\n"x"\n[]\n[{"type":"user"}]\n',
    "wrong types everywhere": b'{"type":["user"],"uuid":{},"message":7}\n{"type":"user","message":{"content":{"a":1}},"uuid":3,"timestamp":[]}\n',
    "a record beyond the limit": b'{"type":"assistant","x":"' + b"x" * (RECORD_LIMIT_BYTES + 1_000_000) + b'"}\n',
}


@pytest.fixture
def world(home):
    made = worlds.World(home, now=int(time.time() * 1000))
    made.folder = home / "claude" / "projects" / "-x"
    made.folder.mkdir(parents=True)
    plain_host.install(made, claude=home / "claude")
    yield made
    made.close()


def user(text, session, uuid):
    return USER % (uuid.encode(), session.encode(), text.encode())


def write(world, session, body):
    (world.folder / f"{session}.jsonl").write_bytes(body)


def said(world, session):
    return [text for role, text in world.messages(f"claude:{session}") if role == "user"]


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_stands_before_and_behind_it_is_read_and_so_is_every_other_file(world, kind):
    write(world, "bad", user("before", "bad", "b1") + HOSTILE[kind] + user("behind", "bad", "b2"))
    write(world, "good", user("well", "good", "g1"))
    body = reconcile.run(world.home, review=False)
    assert body["errors"] == []
    texts = said(world, "bad")
    assert [texts[0], texts[-1]] == ["before", "behind"]
    assert said(world, "good") == ["well"]
    gaps = [(gap["path"], gap["kind"], gap["count"]) for gap in body["coverageGaps"]]
    is_oversized = "beyond the limit" in kind
    assert gaps == ([(str(world.folder / "bad.jsonl"), "oversized_record", 1)] if is_oversized else [])
    assert body["oversizedLinesSkipped"] == int(is_oversized)
    again = reconcile.run(world.home, review=False)
    assert (again["filesScanned"], again["eventsCaptured"], again["coverageGaps"]) == (0, 0, [])


def test_all_of_it_at_the_head_of_files_stops_nothing(world):
    for number, body in enumerate(HOSTILE.values()):
        write(world, f"bad{number}", body)
    write(world, "good", user("well", "good", "g1"))
    body = reconcile.run(world.home, review=False)
    assert said(world, "good") == ["well"]
    assert body["status"] == "completed"


def test_a_file_cut_in_the_middle_of_a_record_is_read_as_far_as_it_goes_and_on_when_it_grows(world):
    whole = user("one", "s", "u1") + user("two", "s", "u2")
    for size in range(len(user("one", "s", "u1")), len(whole), 37):
        write(world, "s", whole[:size])
        reconcile.run(world.home, review=False)
    assert said(world, "s") == ["one"]
    write(world, "s", whole)
    reconcile.run(world.home, review=False)
    assert said(world, "s") == ["one", "two"]


def test_a_file_that_is_rotated_again_and_again_doubles_nothing(world):
    for turn in range(5):
        write(world, "s", b"".join(user(f"words {number}", "s", f"u{number}") for number in range(turn, turn + 3)))
        reconcile.run(world.home, review=False)
    assert sorted(said(world, "s")) == [f"words {number}" for number in range(7)]


def test_a_file_that_becomes_a_link_or_a_pipe_between_two_passes_is_named_and_not_read(world, home):
    write(world, "s", user("one", "s", "u1"))
    reconcile.run(world.home, review=False)
    path = world.folder / "s.jsonl"
    (home / "other").write_bytes(user("one", "s", "u1") + user("of somebody else", "s", "u2"))
    path.unlink()
    os.symlink(home / "other", path)
    body = reconcile.run(world.home, review=False)
    assert [(one["path"], one["code"]) for one in body["errors"]] == [(str(path), "AFL-CAPTURE-003")]
    path.unlink()
    os.mkfifo(path)
    body = reconcile.run(world.home, review=False)
    assert [(one["path"], one["code"]) for one in body["errors"]] == [(str(path), "AFL-CAPTURE-004")]
    assert said(world, "s") == ["one"]


def test_files_of_somebody_else_are_named_and_not_opened(world, monkeypatch):
    from afl_core.capture import walk

    write(world, "s", user("one", "s", "u1"))
    monkeypatch.setattr(walk, "_is_ours", lambda found: found.st_uid != os.getuid())
    body = reconcile.run(world.home, review=False)
    monkeypatch.undo()
    assert [(gap["kind"], gap["count"]) for gap in body["coverageGaps"]] == [("foreign_owner", 1)]
    assert said(world, "s") == []


def test_a_file_that_vanishes_between_the_look_and_the_reading_is_nothing(world, monkeypatch):
    write(world, "s", user("one", "s", "u1"))
    write(world, "t", user("two", "t", "t1"))
    whole = reconcile.absorb

    def absorb(home, session_id, **more):
        (world.folder / "s.jsonl").unlink(missing_ok=True)
        return whole(home, session_id, **more)

    monkeypatch.setattr(reconcile, "absorb", absorb)
    body = reconcile.run(world.home, review=False)
    assert body["errors"] == []
    assert said(world, "t") == ["two"]


def test_a_name_that_is_no_text_stops_nothing(world):
    folder = os.fsencode(str(world.folder))
    with open(os.path.join(folder, b"\xff\xfe.jsonl"), "wb") as file:
        file.write(user("strange name", "n", "n1"))
    write(world, "good", user("well", "good", "g1"))
    body = reconcile.run(world.home, review=False)
    assert said(world, "good") == ["well"]
    assert [(gap["kind"], gap["count"]) for gap in body["coverageGaps"]] == [("name_not_text", 1)]
    assert json.dumps(body, ensure_ascii=False).encode("utf-8")
