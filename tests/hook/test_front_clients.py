"""Hung, vanished, broken and many clients of one front; hung, broken and dead fronts of one hook."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import socket
import sqlite3
import threading

import pytest

from afl_core.model.ids import new_id
from afl_core.worker.frames import Frame, encode

KEY = bytes(range(8)) + bytes(32)


def connected(rendered) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    link.settimeout(30)
    link.connect(rendered.paths.socket)
    return link


def frame(rendered, text: str, event: str = "UserPromptSubmit") -> bytes:
    payload = json.dumps(rendered.prompt_payload(text)).encode()
    return encode(Frame(new_id(), "claude", event, rendered.build, len(payload), b"", payload))


def read_all(link: socket.socket) -> bytes:
    found = b""
    while part := link.recv(65536):
        found += part
    return found


def test_twenty_cold_prompts_at_once_are_twenty_rows_and_one_front(rendered):
    payloads = [json.dumps(rendered.prompt_payload(f"prompt {number}", f"s{number}")).encode() for number in range(20)]
    hooks = [rendered.start("UserPromptSubmit", payload) for payload in payloads]
    assert [rendered.finish(hook) for hook in hooks] == [b"{}"] * 20
    rendered.wait(lambda: len(rendered.intake()) == 20)
    rendered.wait(lambda: len(rendered.fronts()) == 1)
    assert {row["session_id"] for row in rendered.intake()} == {f"claude:s{number}" for number in range(20)}


def test_a_second_front_leaves_at_once(rendered):
    rendered.start_front()
    assert rendered.spawn_front().wait(30) == 0
    assert len(rendered.fronts()) == 1


def test_a_client_that_sends_nothing_holds_up_nobody_and_is_let_go(rendered):
    rendered.start_front()
    with connected(rendered) as silent, connected(rendered) as half:
        half.sendall(frame(rendered, "half")[:200])
        assert rendered.prompt("meanwhile") == b"{}"
        assert len(rendered.intake()) == 1
        assert read_all(silent) == b""
        assert read_all(half) == b""
    assert rendered.health() is not None


def test_a_frame_that_arrives_a_byte_at_a_time_is_taken(rendered):
    rendered.start_front()
    with connected(rendered) as slow:
        for byte in frame(rendered, "slowly"):
            slow.sendall(bytes([byte]))
        assert read_all(slow) == b"{}\n\x04"
    assert len(rendered.intake()) == 1


def test_a_client_that_vanished_is_kept_without_cards_and_does_not_end_the_front(rendered):
    rendered.add_card("l1", "CARD ONE")
    rendered.start_front()
    front = rendered.front()
    os.kill(front, signal.SIGSTOP)
    link = connected(rendered)
    link.sendall(frame(rendered, "gone before it was read"))
    link.close()
    os.kill(front, signal.SIGCONT)
    rendered.wait(lambda: len(rendered.intake()) == 1)
    assert rendered.rows("SELECT * FROM deliveries") == []
    assert rendered.health()["pid"] == front


@pytest.mark.parametrize(
    "junk",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0" * 600,
        b"AFL1 xyz claude Stop b 1 1 1\n",
        b"AFL1 " + b"0" * 32 + b" claude Stop b 99999999 99999999 0\n",
        b"AFL1" + b"x" * 600,
    ],
)
def test_what_is_no_frame_is_hung_up_on(rendered, junk):
    rendered.start_front()
    with connected(rendered) as link:
        link.sendall(junk)
        with contextlib.suppress(ConnectionResetError):  # hung up on before everything was read
            assert read_all(link) == b""
    assert rendered.health() is not None


def test_a_hung_front_costs_the_quarter_second_and_the_event_arrives_once(rendered):
    rendered.add_card("l1", "CARD ONE")
    rendered.start_front()
    rendered.wait(lambda: os.path.exists(rendered.paths.spool_key))
    front = rendered.front()
    os.kill(front, signal.SIGSTOP)
    assert rendered.prompt("into the void") == b"{}"
    assert rendered.hook_counts() == {"deadline": 1}
    assert len(rendered.spooled()) == 1
    os.kill(front, signal.SIGCONT)
    rendered.wait(lambda: not rendered.spooled())
    assert len(rendered.intake()) == 1
    assert rendered.rows("SELECT * FROM deliveries") == []


def test_a_locked_database_is_no_answer_so_the_hook_seals_the_event_and_it_arrives_once(rendered):
    rendered.start_front()
    rendered.wait(lambda: os.path.exists(rendered.paths.spool_key))
    db = sqlite3.connect(rendered.paths.database, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    assert rendered.prompt("while it is locked") == b"{}"
    assert len(rendered.spooled()) == 1
    db.execute("ROLLBACK")
    db.close()
    rendered.wait(lambda: not rendered.spooled())
    assert len(rendered.intake()) == 1


def test_a_front_that_knows_no_host_yet_refuses_so_that_nothing_is_lost(rendered):
    text = pathlib.Path(rendered.paths.front_file).read_bytes()
    pathlib.Path(rendered.paths.front_file).write_bytes(b"{ half")
    rendered.start_front()
    rendered.wait(lambda: os.path.exists(rendered.paths.spool_key))
    assert rendered.prompt("kept for later") == b"{}"
    assert (rendered.intake(), len(rendered.spooled())) == ([], 1)
    pathlib.Path(rendered.paths.front_file).write_bytes(text)
    rendered.wait(lambda: not rendered.spooled())
    assert len(rendered.intake()) == 1


class FakeFront:
    """Listens where a front would, and answers each client with `reply`, byte by byte; None: never."""

    def __init__(self, rendered, reply: bytes | None) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(rendered.paths.socket)
        self.listener.listen(5)
        self.reply = reply
        self.held: list[socket.socket] = []
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        while True:
            link, _ = self.listener.accept()
            data = link.recv(1 << 20)
            if data == b"stop":
                link.close()
                return
            self.held.append(link)
            if self.reply is not None:
                for byte in self.reply:
                    link.sendall(bytes([byte]))
                link.close()

    def stop(self, rendered) -> None:
        with connected(rendered) as link:
            link.sendall(b"stop")
            self.thread.join(30)
        for link in (*self.held, self.listener):
            link.close()


@pytest.mark.parametrize(
    ("reply", "printed", "reason"),
    [
        (b"{}\n\x04", b"{}", None),
        (b'{"a": "\xe4\xb8\xad"}\n\x04', b'{"a": "\xe4\xb8\xad"}', None),
        (b"\n\x04", b"", None),
        (b"", b"{}", "malformed"),
        (b'{"hookSpecificOutput": ', b"{}", "malformed"),
        (None, b"{}", "deadline"),
    ],
)
def test_the_hook_prints_a_whole_answer_or_the_no_op(rendered, reply, printed, reason):
    pathlib.Path(rendered.paths.spool_key).write_bytes(KEY)
    pathlib.Path(rendered.paths.run, "woken").touch()
    fake = FakeFront(rendered, reply)
    try:
        assert rendered.prompt("hello") == printed
    finally:
        fake.stop(rendered)
    assert rendered.hook_counts() == ({reason: 1} if reason else {})
    assert len(rendered.spooled()) == (1 if reason else 0)


def test_a_socket_nobody_listens_at_is_replaced_by_a_new_front(rendered):
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(rendered.paths.socket)
    stale.close()
    assert rendered.prompt("hello") == b"{}"
    assert len(rendered.intake()) == 1


def test_a_home_whose_path_is_longer_than_a_socket_name_may_be_works_all_the_same(rendered, home, child_environment):
    deep = home / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    far = type(rendered)(deep, child_environment)
    far._children = rendered._children
    try:
        assert far.prompt("from far away") == b"{}"
        assert far.health()["build"] == far.build
        assert len(far.intake()) == 1
    finally:
        far.kill_fronts()
