"""One turn against a real database: what one transaction holds, and what a defect in choosing cards costs."""

from __future__ import annotations

import json
import os

import pytest

from afl_core.lessons import selection
from afl_core.model.errors import StoreError, VaultError
from afl_core.model.ids import new_id
from afl_core.settings.paths import Paths
from afl_core.store import intake, sessions
from afl_core.store.connection import connect, writing
from afl_core.store.migrate import create_or_migrate
from afl_core.vault.seal import public_of
from afl_core.worker.environment import Environments
from afl_core.worker.frames import Frame
from afl_core.worker.keyring import Keyring
from afl_core.worker.manifests import Manifests
from afl_core.worker.selector import SelectorSlot
from afl_core.worker.turn import Desk, keep_spooled, take

HOST = {
    "events": [
        {"name": "Prompt", "kind": "prompt", "injects": True},
        {"name": "Start", "kind": "session_start", "injects": True},
        {"name": "End", "kind": "session_end"},
    ],
    "fields": {"session": "id", "prompt": "text", "source": "source", "agent": "agent", "cwd": "cwd", "transcript": "transcript"},
    "envelope": {"Prompt": {"context": "{context}"}, "Start": {"context": "{context}"}},
    "noop": "{}",
    "compaction_sources": ["compact"],
}
NOW = 1_767_225_600_000


@pytest.fixture
def desk(home):
    paths = Paths(home)
    for directory in (paths.keys, paths.run, paths.pack):
        os.makedirs(directory, 0o700)
    create_or_migrate(paths.database, paths.backups, paths.data)
    with (
        open(paths.public_key, "wb") as public,
        open(paths.name_key, "wb") as names,
        open(paths.front_file, "w", encoding="utf-8") as front,
    ):
        public.write(public_of(os.urandom(32)))
        names.write(os.urandom(32))
        json.dump({"hosts": {"h": HOST}}, front)
    db = connect(paths.database, busy_ms=50)
    said: list[str] = []
    keyring = Keyring(paths)
    keyring.register(db, NOW)
    yield Desk(
        db, Manifests(paths.front_file), keyring, Environments(), SelectorSlot(paths.run, said.append), {"h": ("DIR",)}, (), said.append
    )
    db.close()


def frame(event="Prompt", env=b"", **fields):
    payload = json.dumps({"id": "s", **fields}).encode()
    return Frame(new_id(), "h", event, "b", len(payload), env, payload)


def add_card(desk):
    rule = '{"paths":[],"tools":[],"task_types":[],"signals":[],"words":[],"grams":[]}'
    with writing(desk.db) as db:
        db.execute("INSERT INTO projection VALUES ('l', '', 0, 'Blocker', 1, 'f', 1, 'none', 'conditional', 'CARD', 20, ?, '')", (rule,))


def table(desk, name):
    return desk.db.execute(f"SELECT * FROM {name}").fetchall()


def test_a_defect_in_choosing_costs_the_cards_and_never_the_row(desk, monkeypatch):
    add_card(desk)

    def broken(*_args, **_kwargs):
        raise KeyError("match_json")

    monkeypatch.setattr(selection, "select", broken)
    assert take(desk, frame(text="hello"), NOW).reply == b"{}"
    assert [row["state"] for row in table(desk, "intake")] == ["new"]
    assert intake.counts(desk.db) == {"selection_failed": {"count": 1, "last_ms": NOW}}


def test_a_defect_in_recording_leaves_no_half_of_a_delivery(desk, monkeypatch):
    add_card(desk)
    monkeypatch.setattr("afl_core.lessons.delivery.compose", lambda *_: 1 / 0)
    assert take(desk, frame(text="hello"), NOW).reply == b"{}"
    assert (table(desk, "deliveries"), len(table(desk, "intake"))) == ([], 1)


def test_a_locked_database_is_an_error_and_nothing_was_kept(desk):
    other = connect(desk.db.execute("PRAGMA database_list").fetchone()[2])
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError) as caught:
        take(desk, frame(text="hello"), NOW)
    assert caught.value.code == "AFL-STORE-005"
    other.execute("ROLLBACK")
    other.close()
    assert table(desk, "intake") == []
    assert take(desk, frame(text="hello"), NOW).has_work


def test_the_same_event_twice_is_one_row_one_delivery_and_one_epoch(desk):
    add_card(desk)
    prompt, start = frame(text="hello"), frame("Start", source="compact")
    first, second = take(desk, prompt, NOW), take(desk, prompt, NOW + 5)
    assert b"CARD" in first.reply
    take(desk, start, NOW + 10)
    take(desk, start, NOW + 20)
    assert len(table(desk, "intake")) == 2
    assert sessions.get(desk.db, "h:s").epoch == 2
    assert sorted((row["epoch"], row["emissions"]) for row in table(desk, "deliveries")) == [(1, 1), (2, 1)]
    assert second.session_id == "h:s"


def test_a_client_that_no_longer_listens_gets_no_cards_recorded(desk):
    add_card(desk)
    assert take(desk, frame(text="hello"), NOW, is_listening=False).reply == b"{}"
    assert (table(desk, "deliveries"), len(table(desk, "intake"))) == ([], 1)


def test_an_event_from_the_spool_is_kept_at_its_own_time_and_reopens_nothing(desk):
    take(desk, frame(text="later"), NOW)
    take(desk, frame("End"), NOW + 1)
    with writing(desk.db):
        assert keep_spooled(desk, frame(text="earlier"), NOW - 60_000) == "h:s"
    session = sessions.get(desk.db, "h:s")
    assert (session.seen_ms, session.ended_ms) == (NOW + 1, NOW + 1)
    assert sorted(row["received_ms"] for row in table(desk, "intake") if row["kind"] == "prompt") == [NOW - 60_000, NOW]


def test_rows_an_event_can_be_born_from_wait_and_the_others_do_not(desk):
    take(desk, frame(text="hello"), NOW)
    take(desk, frame(text=""), NOW)
    take(desk, frame("Start", source="startup"), NOW)
    take(desk, frame(text="inner", agent=""), NOW)
    assert sorted((row["kind"], row["state"], row["sealed"] is None) for row in table(desk, "intake")) == [
        ("prompt", "ignored", True),
        ("prompt", "ignored", True),
        ("prompt", "new", False),
        ("session_start", "ignored", True),
    ]
    assert sessions.with_waiting(desk.db) == ["h:s"]


def test_the_environment_is_remembered_and_never_written(desk):
    take(desk, frame(text="x", env=b"DIR=/somewhere\0KEY=secret"), NOW)
    assert desk.environments.get("h:s") == {"DIR": "/somewhere"}
    with open(desk.db.execute("PRAGMA database_list").fetchone()[2] + "-wal", "rb") as log:
        assert b"somewhere" not in log.read()


def test_sessions_are_alive_until_they_end_or_are_quiet_for_half_an_hour(desk):
    take(desk, frame(text="x"), NOW)
    assert [session.session_id for session in sessions.alive(desk.db, NOW + sessions.ALIVE_MS)] == ["h:s"]
    assert sessions.alive_until(desk.db, NOW) == NOW + sessions.ALIVE_MS
    assert sessions.alive(desk.db, NOW + sessions.ALIVE_MS + 1) == []
    take(desk, frame("End"), NOW + 5)
    assert sessions.alive(desk.db, NOW + 6) == []
    assert sessions.alive_until(desk.db, NOW + 6) == NOW + 5


def test_a_session_seen_in_the_future_is_not_believed_to_be_alive(desk):
    take(desk, frame(text="x"), NOW + 10**9)
    assert sessions.alive(desk.db, NOW) == []
    assert sessions.alive_until(desk.db, NOW) == 0


@pytest.mark.parametrize("content", [None, b"short"])
def test_a_front_without_a_usable_public_key_says_which_file_is_wrong(home, desk, content):
    path = Paths(home).public_key
    os.unlink(path)
    if content is not None:
        with open(path, "wb") as handle:
            handle.write(content)
    with pytest.raises(VaultError) as caught:
        Keyring(Paths(home))
    assert path in caught.value.sentence


def projects_of(desk):
    return {row["session_id"]: row["project_id"] for row in table(desk, "sessions")}


@pytest.mark.parametrize("cwd", [None, "", 7, "relative/path", "/" + "x" * 5000])
def test_sessions_of_which_no_directory_is_known_share_no_project(desk, cwd):
    for session in ("one", "two"):
        take(desk, frame(id=session, text="x", **({} if cwd is None else {"cwd": cwd})), NOW)
        take(desk, frame(id=session, text="again"), NOW + 1)
    found = projects_of(desk)
    assert found["h:one"] != found["h:two"]
    assert [(row["root"], row["kind"], row["lineage"]) for row in table(desk, "projects")] == [("", "unscoped", None)] * 2


def repository(home, config=""):
    git = home / "repo" / ".git"
    for folder in ("objects", "refs"):
        (git / folder).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main", "utf-8")
    (git / "config").write_text(config, "utf-8")
    return git


def test_a_remote_that_a_repository_is_given_later_is_found_at_the_next_session_start(desk, home):
    git = repository(home)
    take(desk, frame(text="x", cwd=str(home / "repo")), NOW)
    assert [row["lineage"] for row in table(desk, "projects")] == [None]
    (git / "config").write_text('[remote "origin"]\n\turl = https://example.org/a/b\n', "utf-8")
    take(desk, frame(text="y", cwd=str(home / "repo")), NOW + 1)
    assert [row["lineage"] for row in table(desk, "projects")] == [None]
    take(desk, frame("Start", id="later", source="startup", cwd=str(home / "repo")), NOW + 2)
    (found,) = [row["lineage"] for row in table(desk, "projects")]
    assert found
    (git / "config").write_text('[remote "origin"]\n\turl = https://example.org/c/d\n', "utf-8")
    take(desk, frame("Start", id="last", source="startup", cwd=str(home / "repo")), NOW + 3)
    assert [row["lineage"] for row in table(desk, "projects")] == [found]


def test_what_a_spooled_event_says_of_its_host_does_not_replace_what_the_session_said_since(desk):
    take(desk, frame(text="x", env=b"AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST=KEY\0KEY=secret\0DIR=/now"), NOW)
    with writing(desk.db):
        keep_spooled(desk, frame(text="earlier", env=b"DIR=/before"), NOW - 60_000)
        keep_spooled(desk, frame(id="t", text="alone", env=b"DIR=/before"), NOW - 60_000)
    assert desk.environments.get("h:s")["KEY"] == "secret"
    assert desk.environments.get("h:t") == {"DIR": "/before"}


def test_a_key_that_house_keeping_forgot_is_there_again_with_the_first_row_that_needs_it(desk):
    with writing(desk.db) as db:
        db.execute("DELETE FROM vault_keys")
    take(desk, frame(text="x"), NOW)
    assert [row["key_id"] for row in table(desk, "vault_keys")] == [desk.keyring.intake_key_id]


def test_a_subagent_that_speaks_in_its_sessions_name_does_not_move_the_sessions_transcript(desk):
    take(desk, frame(text="hello", transcript="/s/mine.jsonl"), NOW)
    take(desk, frame(text="child task", agent="child", transcript="/s/child.jsonl"), NOW + 1)
    assert sessions.get(desk.db, "h:s").transcript_path == "/s/mine.jsonl"
    take(desk, frame(text="again", transcript="/s/mine.2.jsonl"), NOW + 2)
    assert sessions.get(desk.db, "h:s").transcript_path == "/s/mine.2.jsonl"
