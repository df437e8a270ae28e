"""What a child inherits and what a frame may carry."""

from __future__ import annotations

import pathlib
import re

import afl_core
from afl_core.worker.environment import INHERITED, KEPT_SESSIONS, Environments, for_child, parse


def test_the_hook_starts_the_front_with_the_names_the_front_starts_its_child_with():
    text = (pathlib.Path(afl_core.__file__).parent / "hook" / "wake.py").read_text("utf-8")
    names = re.findall(r'b"([A-Z_]+)"', text.partition("KEEP = (")[2].partition("\n)")[0])
    assert tuple(names) == INHERITED


def test_a_child_inherits_the_listed_names_and_the_locale_only():
    assert for_child({"HOME": "/h", "LC_TIME": "C", "OPENAI_API_KEY": "k", "AFL_REVIEW_JOB_ID": "1"}) == {"HOME": "/h", "LC_TIME": "C"}


def test_a_frame_carries_what_is_ours_what_is_listed_and_what_the_person_lists():
    block = b"AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST=A, B\0A=1\0B=x=y\0C=3\0DIR=/d\0\0=novalue\0NOEQUALS"
    assert parse(block, ("DIR",)) == {"AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST": "A, B", "A": "1", "B": "x=y", "DIR": "/d"}
    assert parse(b"", ()) == {}


def test_values_that_are_no_utf_8_survive():
    assert parse(b"DIR=/\xff", ("DIR",)) == {"DIR": "/\udcff"}


def test_the_least_recently_seen_session_is_forgotten_first():
    held = Environments()
    for number in range(KEPT_SESSIONS):
        held.remember(str(number), {"N": str(number)})
    held.remember("0", {"N": "again"})
    held.remember("new", {})
    assert held.get("1") == {}
    assert held.get("0") == {"N": "again"}
    assert held.sessions()[-1] == "new"


def test_a_frame_that_waited_does_not_replace_what_a_session_said_itself():
    held = Environments()
    held.remember_earlier("s", {"URL": "spooled"})
    assert held.get("s") == {"URL": "spooled"}
    held.remember("s", {"URL": "live", "KEY": "allowed"})
    held.remember_earlier("s", {"URL": "spooled"})
    assert held.get("s") == {"URL": "live", "KEY": "allowed"}
