"""Where reading goes on: several files of one session, and files that were moved, copied, linked, compressed or written anew."""

from __future__ import annotations

import os
import random
import shutil

import plain_host
import pytest
import zstandard

from afl_core.capture import compressed
from afl_core.store import transcripts
from afl_core.worker import reconcile

DAY = 86_400_000


@pytest.fixture
def root(world):
    world.now = 10 * DAY
    return plain_host.install(world)


def catch_up(world):
    return reconcile.run(world.home, review=False, since_ms=0)


def said(world):
    return [text for _, text in world.messages("plain:s")]


def generations(world):
    return [row[0] for row in world.db.execute("SELECT DISTINCT generation FROM events WHERE session_id = 'plain:s' ORDER BY 1")]


def live(root, name="a.jsonl", **more):
    return plain_host.Log(root / "live" / "p" / name, at=9 * DAY, **more)


def test_what_stands_in_the_second_file_of_a_session_comes_after_the_first(world, root):
    later = live(root, "a.jsonl", start=2).person("three")
    earlier = live(root, "b.jsonl", start=1).person("one").agent("two")
    catch_up(world)
    assert said(world) == ["one", "two", "three"]
    later.agent("four")
    catch_up(world)
    assert said(world) == ["one", "two", "three", "four"]
    earlier.agent("late")  # the first file grows behind the second's back
    catch_up(world)
    assert said(world) == ["one", "two", "late", "three", "four"]


def test_files_whose_start_nobody_tells_are_read_in_the_order_of_their_names(world, root):
    live(root, "rollout-2.jsonl", start=None).person("second")
    live(root, "rollout-1.jsonl", start=None).person("first")
    catch_up(world)
    assert said(world) == ["first", "second"]


def test_a_rewind_at_the_start_of_a_file_points_at_the_agents_last_words_in_the_one_before(world, root):
    live(root, "a.jsonl", start=1).person("do it").agent("done wrongly")
    live(root, "b.jsonl", start=2).add("back").person("no, do it otherwise")
    catch_up(world)
    assert world.signals() == [("rewind", "no, do it otherwise", "message", "done wrongly")]


def test_a_secret_shown_in_the_first_file_is_hidden_in_the_second(world, root):
    live(root, "a.jsonl", start=1).person("the password is hunter2-Wq81z")
    live(root, "b.jsonl", start=2).agent("I use hunter2-Wq81z now")
    catch_up(world)
    assert "hunter2" not in "".join(said(world))


def test_an_earlier_file_that_is_found_late_stands_before_all(world, root):
    live(root, "c.jsonl", start=3).person("three")
    catch_up(world)
    live(root, "a.jsonl", start=1).person("one")
    live(root, "b.jsonl", start=2).person("two")
    catch_up(world)
    assert said(world) == ["one", "two", "three"]
    assert generations(world) == [-1, 0, 1]


def test_a_moved_file_goes_on_where_it_was(world, root):
    log = live(root).person("one").agent("two")
    catch_up(world)
    (root / "old").mkdir()
    os.rename(log.path, root / "old" / "a.jsonl")
    log.path = root / "old" / "a.jsonl"
    log.person("three")
    body = catch_up(world)
    assert (body["eventsCaptured"], body["duplicateEvents"]) == (1, 0)
    assert said(world) == ["one", "two", "three"]
    assert generations(world) == [1]
    assert [row[0] for row in world.db.execute("SELECT path FROM cursors")] == [str(log.path)]


def test_a_copied_file_adds_only_what_is_new_in_it(world, root):
    log = live(root).person("one").agent("two")
    catch_up(world)
    (root / "old").mkdir()
    shutil.copy(log.path, root / "old" / "a.jsonl")
    log.path = root / "old" / "a.jsonl"
    log.person("three")
    body = catch_up(world)
    assert (body["eventsCaptured"], body["duplicateEvents"]) == (1, 0)
    assert said(world) == ["one", "two", "three"]


def test_a_second_link_to_a_file_is_not_read(world, root):
    log = live(root).person("one")
    catch_up(world)
    (root / "old").mkdir()
    os.link(log.path, root / "old" / "a.jsonl")
    log.person("two")
    catch_up(world)
    catch_up(world)
    assert said(world) == ["one", "two"]
    log.person("three")
    catch_up(world)
    assert said(world) == ["one", "two", "three"]


def test_a_file_written_anew_with_other_bytes_and_without_ids_doubles_nothing(world, root):
    log = live(root).person("one").agent("two").person("same").person("same")
    catch_up(world)
    body = log.path.read_bytes()
    again = live(root, "new")
    again.path.write_bytes(body.replace(b'{"at"', b'{"ordinal": 1, "at"'))
    os.replace(again.path, log.path)
    log.agent("three")
    done = catch_up(world)
    assert (done["eventsCaptured"], done["duplicateEvents"]) == (1, 4)
    assert said(world) == ["one", "two", "same", "same", "three"]


def test_calls_results_and_interruptions_of_a_file_written_anew_are_not_doubled(world, root):
    log = live(root).person("one").add("cut").person("no").add("call", "ls", call="c1").add("result", "", call="c1")
    catch_up(world)
    kinds = world.events("kind", session_id="plain:s")
    log.path.write_bytes(log.path.read_bytes().replace(b'{"at"', b'{"ordinal": 1, "at"'))
    catch_up(world)
    assert world.events("kind", session_id="plain:s") == kinds
    assert sorted(kinds) == ["message", "message", "tool_call", "tool_result", "turn_cut"]


def test_the_cursor_holds_no_words(world, root):
    live(root).person("something private").agent("more of it")
    catch_up(world)
    row = tuple(world.db.execute("SELECT * FROM cursors").fetchone())
    assert "private" not in repr(row)
    assert len(row[-1]) == 32


def test_an_anchor_cannot_be_made_without_the_key(world, root):
    import hashlib

    log = live(root).person("one")
    catch_up(world)
    anchor = world.db.execute("SELECT anchor FROM cursors").fetchone()[0]
    assert anchor not in hashlib.sha256(log.path.read_bytes()[-1024:]).hexdigest()


def test_a_cursor_of_before_there_were_anchors_goes_on(world, root):
    log = live(root).person("one")
    catch_up(world)
    world.db.execute("UPDATE cursors SET anchor = NULL")
    log.person("two")
    body = catch_up(world)
    assert (body["eventsCaptured"], body["duplicateEvents"]) == (1, 0)


# ------------------------------------------------------------------------------------------------------------------------- compressed


def packed(data):
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def test_a_compressed_file_goes_on_where_it_was(world, root):
    log = live(root).person("one").agent("two")
    catch_up(world)
    (root / "old").mkdir()
    body = log.path.read_bytes()
    log.person("three")
    (root / "old" / "a.jsonl.zst").write_bytes(packed(log.path.read_bytes()))
    log.path.unlink()
    done = catch_up(world)
    assert (done["eventsCaptured"], done["duplicateEvents"]) == (1, 0)
    assert said(world) == ["one", "two", "three"]
    assert not log.path.exists()  # an empty file beside the compressed one would break the host
    assert len(body) < world.db.execute("SELECT offset FROM cursors").fetchone()[0]
    assert os.listdir(world.home.paths.run) == [name for name in os.listdir(world.home.paths.run) if "tmp" not in name]


def test_a_file_that_was_compressed_from_the_beginning_is_found_and_read(world, root):
    log = live(root).person("one").agent("two")
    (root / "old").mkdir()
    (root / "old" / "a.jsonl.zst").write_bytes(packed(log.path.read_bytes()))
    log.path.unlink()
    assert catch_up(world)["eventsCaptured"] == 2
    assert catch_up(world)["filesScanned"] == 0


def test_a_compressed_file_without_a_library_is_a_gap_that_says_what_to_install(world, root, monkeypatch):
    log = live(root).person("one")
    (root / "old").mkdir()
    (root / "old" / "a.jsonl.zst").write_bytes(packed(log.path.read_bytes()))
    log.path.unlink()
    whole = compressed._library
    monkeypatch.setattr(compressed, "_library", lambda: None)
    for _ in range(2):
        body = catch_up(world)
        assert [(gap["path"], gap["kind"], gap["count"]) for gap in body["coverageGaps"]] == [
            (str(root / "old" / "a.jsonl.zst"), "compressed", 1)
        ]
        assert "pip install zstandard" in body["coverageGaps"][0]["message"]
        assert body["status"] == "completed"
    monkeypatch.setattr(compressed, "_library", whole)
    assert catch_up(world)["eventsCaptured"] == 1


@pytest.mark.parametrize("when", ["before its head", "after its head"])
def test_a_compressed_file_that_is_damaged_is_a_gap_and_is_not_tried_again(world, root, when):
    log, drawn = live(root), random.Random(1)
    for number in range(3000):
        log.person(f"{number}: " + drawn.randbytes(40).hex())
    (root / "old").mkdir()
    path = root / "old" / "a.jsonl.zst"
    data = bytearray(packed(log.path.read_bytes()))
    spot = 0 if when == "before its head" else len(data) - 40_000
    data[spot : spot + 64] = bytes(64)
    path.write_bytes(data)
    log.path.unlink()
    body = catch_up(world)
    assert [(gap["path"], gap["kind"]) for gap in body["coverageGaps"]] == [(str(path), "damaged")]
    assert body["errors"] == []


def test_a_file_that_unpacks_without_end_is_a_gap_and_is_not_unpacked_again(world, root, monkeypatch):
    monkeypatch.setattr(compressed, "UNPACKED_LIMIT_BYTES", 3_000_000)
    (root / "old").mkdir(parents=True)
    path = root / "old" / "a.jsonl.zst"
    path.write_bytes(packed(b'{"session": "s", "cwd": "/x", "start": 1}\n' + bytes(50_000_000)))
    live(root, "b.jsonl", session="t").person("beside it")
    kinds = [catch_up(world)["coverageGaps"] for _ in range(2)]
    assert [[(gap["path"], gap["kind"]) for gap in gaps] for gaps in kinds] == [[(str(path), "unpacks_too_large")]] * 2
    assert transcripts.get(world.db, str(path)).problem == "AFL-CAPTURE-009"
    monkeypatch.setattr(compressed, "unpack", lambda *_: pytest.fail("it was unpacked again"))
    catch_up(world)
    assert [text for _, text in world.messages("plain:t")] == ["beside it"]


def test_pythons_own_library_is_taken_before_its_backport_and_that_before_another(monkeypatch):
    import types

    class Fake:
        ZstdError = ValueError
        DecompressionParameter = types.SimpleNamespace(window_log_max=1)

        def __init__(self, name):
            self.name = name

        def ZstdFile(self, packed, mode, options):  # noqa: N802 - the library's own name
            return self.name, packed, mode, options

    there = {"compression.zstd": Fake("own"), "backports.zstd": Fake("backport")}

    def imported(name):
        try:
            return there[name]
        except KeyError:
            raise ImportError(name) from None

    monkeypatch.setattr(compressed.importlib, "import_module", imported)
    for name in ("own", "backport"):
        failure, stream = compressed._library()
        assert failure is ValueError
        assert stream("packed") == (name, "packed", "rb", {1: compressed.WINDOW_LIMIT_LOG})
        there.pop(next(iter(there)))
    assert compressed._library() is None
