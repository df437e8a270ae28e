"""What a bundle holds, what an import of it takes and refuses, and what becomes of namespaces, forgotten grains and other files."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import sys

import pytest
from exchange_world import NOW, opened

from afl_core.exchange.errors import ExchangeError
from afl_core.model.errors import AflError


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def rewritten(path, change):
    """The bundle with its lines changed and a header that fits them."""
    header, *rest = lines(path)
    rest = [json.dumps(one) for one in change(rest)]
    body = "".join(f"{line}\n" for line in rest)
    header |= {
        "count": len(rest),
        "grains": sum('"op": "add"' in line for line in rest),
        "sha256": hashlib.sha256(body.encode()).hexdigest(),
    }
    path.write_text(json.dumps(header) + "\n" + body, "utf-8")


def test_the_header_promises_the_number_and_the_checksum_of_what_follows(memory, bundle):
    memory.add_fact("acme", "is", "here")
    header = memory.export(bundle)
    first, _, rest = bundle.read_bytes().partition(b"\n")
    assert json.loads(first) == {"format": "afl-bundle/1", **header}
    assert header == {"count": 1, "grains": 1, "ns": None, "sha256": hashlib.sha256(rest).hexdigest()}


def test_operations_stand_in_the_order_in_which_they_happened(memory, bundle):
    old = memory.add_fact("acme", "is", "here")
    memory.add_fact("pat", "is", "there")
    new = memory.supersede(old, object="gone")
    gone = memory.add_fact("acme", "was", "secret")
    memory.forget(gone)
    memory.add_fact("last", "is", "this")
    memory.export(bundle)
    told = [(one["op"], one["hash"], one.get("other")) for one in lines(bundle)[1:]]
    assert [op for op, *_ in told] == ["add", "add", "add", "supersede", "forget", "add"]
    assert told[3] == ("supersede", old, new)
    assert told[4] == ("forget", gone, None)
    assert "secret" not in bundle.read_text("utf-8")


def test_a_bundle_is_private_and_replaces_an_older_one_whole(memory, bundle):
    bundle.write_text("older", "utf-8")
    bundle.chmod(0o644)
    memory.export(bundle)
    assert stat.S_IMODE(bundle.stat().st_mode) == 0o600
    assert os.listdir(bundle.parent) != []
    assert not [name for name in os.listdir(bundle.parent) if name.endswith(".tmp")]


def test_a_folder_that_is_not_there_is_named_and_nothing_is_left(memory, tmp_path):
    with pytest.raises(ExchangeError) as bad:
        memory.export(tmp_path / "no" / "a.jsonl")
    assert bad.value.code == "AFL-EXCHANGE-003"


def test_one_namespace_can_be_exported(memory, empty, bundle):
    memory.add_fact("acme", "is", "here", namespace="work")
    memory.add_fact("pat", "is", "there")
    assert memory.export(bundle, ns="work")["ns"] == "work"
    empty.import_(bundle)
    assert empty.stats()["by_namespace"] == {"work": 1}


def test_an_export_goes_to_standard_output_and_an_import_comes_from_standard_input(memory, empty, bundle, monkeypatch):
    memory.add_fact("acme", "is", "here")
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="utf-8"))
    memory.export("-")
    read, write = os.pipe()
    os.write(write, out.getvalue())
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe, encoding="utf-8"))
        assert empty.import_("-").added == 1


def test_machines_that_went_separate_ways_show_a_fork(memory, empty, bundle, tmp_path):
    old = memory.add_fact("acme", "deploy_target", "us-east-1")
    memory.export(bundle)
    empty.import_(bundle)
    memory.supersede(old, object="eu-west-1")
    empty.supersede(old, object="eu-north-1")
    memory.export(bundle)
    empty.import_(bundle)
    [fork] = empty.forks()
    assert {one["object"] for one in fork["heads"]} == {"eu-west-1", "eu-north-1"}
    assert empty.recall("acme", "deploy_target")
    assert empty.get(old)["superseded_by"] is not None


def test_what_one_machine_knows_to_be_out_of_date_is_no_head_after_the_other_says_it_again(memory, empty, bundle):
    memory.add_fact("acme", "deploy_target", "us-east-1")
    memory.export(bundle)
    empty.import_(bundle)
    empty.add_fact("acme", "deploy_target", "eu-west-1")
    empty.import_(bundle)
    assert empty.forks() == []
    assert empty.latest("acme", "deploy_target")["object"] == "eu-west-1"


def test_undoing_a_supersession_there_undoes_it_here(memory, empty, bundle):
    from afl_core.memory import write

    old = memory.add_fact("acme", "is", "one")
    new = memory.supersede(old, object="two")
    memory.export(bundle)
    empty.import_(bundle)
    with memory._writing() as db:
        write.unsupersede(db, old, new, now=NOW)
    memory.export(bundle)
    empty.import_(bundle)
    assert empty.latest("acme", "is")["object"] == "one"
    assert empty.get(new)["superseded_by"] == "withdrawn"


def test_two_machines_that_put_each_the_other_grain_in_its_place_lose_neither(memory, empty, bundle, tmp_path):
    one = memory.add("event", content="first")
    two = memory.add("event", content="second")
    memory.export(bundle)
    empty.import_(bundle)
    memory.supersede_by(one, two)
    empty.supersede_by(two, one)
    memory.export(bundle)
    empty.export(tmp_path / "b.jsonl")
    empty.import_(bundle)
    memory.import_(tmp_path / "b.jsonl")
    for each in (memory, empty):
        assert [found["content"] for found in each.recall(type="event")] == ["second"]


# -------------------------------------------------------------------------------------------------------------------------------- forgotten


def test_what_was_forgotten_there_is_erased_here_with_its_bytes(memory, empty, bundle, tmp_path):
    gone = memory.add_fact("acme", "password", "xylophone-4711")
    memory.export(bundle)
    empty.import_(bundle)
    empty.search("xylophone")
    memory.forget(gone)
    memory.export(bundle)
    assert empty.import_(bundle, dry_run=True).erased == 1
    assert empty.get(gone)["object"] == "xylophone-4711"
    assert empty.import_(bundle).erased == 1
    empty.close()
    for name in os.listdir(tmp_path):
        assert b"xylophone-4711" not in (tmp_path / name).read_bytes(), name


def test_what_was_forgotten_here_does_not_come_back_with_an_older_bundle(memory, bundle):
    gone = memory.add_fact("acme", "is", "here")
    memory.export(bundle)
    memory.forget(gone)
    report = memory.import_(bundle)
    assert report.added == 0
    assert [(one.line, one.reason) for one in report.skipped] == [(2, "it was forgotten here")]


def test_a_forgetting_that_came_first_keeps_out_what_comes_after_it(memory, empty, bundle, tmp_path):
    gone = memory.add_fact("acme", "is", "here")
    memory.export(bundle)
    memory.forget(gone)
    memory.export(tmp_path / "later.jsonl")
    empty.import_(tmp_path / "later.jsonl")
    assert empty.import_(bundle).added == 0


def test_a_value_that_stays_out_stays_out_of_an_import_too(memory, empty, bundle):
    memory.add_fact("acme", "password", "xylophone")
    empty.forget(empty.add_fact("acme", "password", "xylophone"), keep_out=True)
    memory.export(bundle)
    report = empty.import_(bundle)
    assert report.added == 0
    assert "stays out" in report.skipped[0].reason


def test_a_handle_that_may_not_forget_takes_the_rest(memory, tmp_path, bundle):
    memory.forget(memory.add_fact("acme", "is", "here"))
    memory.add_fact("pat", "is", "there")
    memory.export(bundle)
    with opened(tmp_path / "c.afl", scopes=("read", "write")) as narrow:
        report = narrow.import_(bundle)
    assert (report.added, report.skipped_rows) == (1, 1)
    assert report.skipped[0].reason == "this handle may not forget"


# ------------------------------------------------------------------------------------------------------------------------------- namespaces


@pytest.fixture
def owned(memory):
    """A memory with a grain that only capture may write."""
    from afl_core.memory import write
    from afl_core.model.grain import GrainType, make

    grain = make(GrainType.EVENT, {"content": "seen", "namespace": "project:1"}, NOW)
    with memory._writing() as db:
        write.add(db, grain)
    memory.add_fact("acme", "is", "here")
    return memory


def test_an_empty_memory_takes_every_namespace_because_that_is_a_restore(owned, empty, bundle):
    owned.export(bundle)
    report = empty.import_(bundle)
    assert (report.added, report.skipped_rows) == (2, 0)


def test_a_memory_that_holds_something_refuses_namespaces_that_have_owners(owned, empty, bundle):
    empty.add_fact("pat", "is", "there")
    owned.export(bundle)
    report = empty.import_(bundle)
    assert (report.added, report.skipped_rows) == (1, 1)
    assert (report.skipped[0].line, "project:1" in report.skipped[0].reason) == (2, True)


@pytest.mark.parametrize(
    "line",
    [
        lambda gone: {"op": "forget", "hash": gone, "at": 1},
        lambda gone: {"op": "retract", "hash": gone, "at": 1, "turn": 1, "last": True},
    ],
)
def test_a_bundle_neither_erases_nor_takes_back_what_has_an_owner(owned, empty, bundle, line):
    [address] = [one["hash"] for one in owned.recall(type="event", ns="project:1")]
    empty.export(bundle)
    rewritten(bundle, lambda _: [line(address)])
    for dry_run in (True, False):
        report = owned.import_(bundle, dry_run=dry_run)
        assert [(one.line, "project:1" in one.reason) for one in report.skipped] == [(2, True)]
    assert owned.get(address)["superseded_by"] is None


# --------------------------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda data: data[:-30], "AFL-EXCHANGE-004"),
        (lambda data: data.replace(b"here", b"hare"), "AFL-EXCHANGE-004"),
        (lambda data: data + b"{}\n", "AFL-EXCHANGE-004"),
        (lambda data: data.replace(b"\n", b"\r\n"), "AFL-EXCHANGE-004"),
        (lambda data: data.replace(b"afl-bundle/1", b"afl-bundle/2"), "AFL-EXCHANGE-005"),
        (lambda data: data.replace(b'"count":1', b'"count":2'), "AFL-EXCHANGE-004"),
        (lambda _: b'{"format":"afl-bundle/1"}\n', "AFL-EXCHANGE-004"),
    ],
    ids=["cut short", "changed", "longer", "line ends", "newer", "count", "header"],
)
def test_a_damaged_bundle_is_refused_whole(memory, empty, bundle, damage, code):
    memory.add_fact("acme", "is", "here")
    memory.export(bundle)
    bundle.write_bytes(damage(bundle.read_bytes()))
    with pytest.raises(ExchangeError) as bad:
        empty.import_(bundle)
    assert bad.value.code == code
    assert str(bundle) in bad.value.sentence
    assert bad.value.hint
    assert empty.stats()["grains"] == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one | {"hash": "0" * 64},
        lambda one: one | {"fields": one["fields"] | {"object": "other"}},
        lambda one: one | {"fields": {}},
        lambda one: one | {"type": "song"},
        lambda one: one | {"op": "sing"},
        lambda one: one | {"hash": "../../etc"},
        lambda one: one | {"turns": -1},
        lambda _: {"op": "retract", "hash": "0" * 64, "at": 1, "turn": 2},
        lambda _: {"op": "supersede", "hash": "0" * 64, "at": 1, "turn": 1, "other": 7},
        lambda _: {"op": "forget", "hash": "0" * 64},
        lambda _: [],
    ],
)
def test_a_line_that_is_not_true_refuses_the_bundle_and_is_named(memory, empty, bundle, change):
    memory.add_fact("pat", "is", "there")
    memory.add_fact("acme", "is", "here")
    memory.export(bundle)
    rewritten(bundle, lambda rest: [rest[0], change(rest[1])])
    with pytest.raises(ExchangeError) as bad:
        empty.import_(bundle)
    assert bad.value.code in ("AFL-EXCHANGE-007", "AFL-EXCHANGE-004")
    assert "line 3" in bad.value.sentence or "header" in bad.value.sentence
    assert empty.stats()["grains"] == 0


def test_a_damaged_memory_is_not_exported(memory, bundle):
    memory.add_fact("acme", "is", "here")
    with memory._writing() as db:
        db.execute("UPDATE grains SET fields_json = replace(fields_json, 'here', 'hare')")
    with pytest.raises(ExchangeError) as bad:
        memory.export(bundle)
    assert (bad.value.code, "afl forget ADDRESS" in bad.value.hint) == ("AFL-EXCHANGE-006", True)
    assert not bundle.exists()
    memory.forget_many(row[0] for row in memory._files.reader().execute("SELECT hash FROM grains").fetchall())
    assert memory.export(bundle)["grains"] == 0


def test_a_file_that_is_not_there_and_a_folder_are_named(memory, tmp_path):
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(ExchangeError) as bad:
            memory.import_(path)
        assert bad.value.code == "AFL-EXCHANGE-001"
        assert str(path) in bad.value.sentence


# ------------------------------------------------------------------------------------------------------------------------------------ other


def test_a_dry_run_writes_nothing_and_counts_the_same(memory, empty, bundle):
    old = memory.add_fact("acme", "is", "here")
    memory.supersede(old, object="there")
    memory.export(bundle)
    before = (empty.path, os.path.getsize(empty.path))
    foreseen = empty.import_(bundle, dry_run=True)
    assert (empty.path, os.path.getsize(empty.path)) == before
    assert empty.stats()["grains"] == 0
    done = empty.import_(bundle)
    assert (foreseen.added, foreseen.changed, foreseen.already) == (done.added, done.changed, done.already)


def test_progress_ends_at_the_whole(memory, empty, bundle):
    for number in range(2_500):
        memory.add_fact("acme", f"r{number}", "here")
    told = []
    memory.export(bundle, progress=lambda done, whole: told.append((done, whole)))
    assert told == sorted(told)
    assert len(told) > 2
    assert told[-1][0] == told[-1][1]
    told.clear()
    empty.import_(bundle, progress=lambda done, whole: told.append((done, whole)))
    assert told == sorted(told)
    assert len(told) > 2
    assert told[-1][0] == told[-1][1]


def test_a_sealed_memory_leaves_in_clear_and_can_be_sealed_again(memory, tmp_path, bundle):
    with (
        opened(tmp_path / "s.afl", passphrase="a long passphrase") as sealed,
        opened(tmp_path / "t.afl", passphrase="another one") as other,
    ):
        old = sealed.add_fact("acme", "is", "here")
        sealed.supersede(old, object="there")
        sealed.export(bundle)
        memory.import_(bundle)
        other.import_(bundle)
        for each in (memory, other):
            assert each.latest("acme", "is")["object"] == "there"
            assert each.verify()["ok"]
            assert [found["object"] for found in each.search("there")] == ["there"]


def test_an_import_that_may_not_write_is_refused(memory, tmp_path, bundle):
    memory.export(bundle)
    with opened(tmp_path / "c.afl", scopes=("read",)) as reader:
        assert reader.import_(bundle, dry_run=True).added == 0
        with pytest.raises(AflError):
            reader.import_(bundle)


def test_another_process_sees_the_import_and_the_memory_goes_on(memory, empty, bundle, tmp_path):
    memory.add_fact("acme", "is", "here")
    memory.export(bundle)
    with opened(tmp_path / "b.afl") as second:
        empty.import_(bundle)
        assert second.latest("acme", "is")["object"] == "here"
        second.add_fact("acme", "is", "there")
        assert empty.latest("acme", "is")["object"] == "there"
