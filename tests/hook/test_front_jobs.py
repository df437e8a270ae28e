"""When the front starts the jobs process, what it tells it, and what that process inherits."""

from __future__ import annotations

import json
import os
import pathlib
import signal


def lines(rendered, name: str) -> list[str]:
    try:
        return (rendered.home / name).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []


def told(rendered) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines(rendered, "jobs.told")]


def test_a_prompt_starts_it_once_and_tells_it_each_session_with_its_environment(rendered):
    rendered.prompt("one", "s1", env={"CLAUDE_CONFIG_DIR": "/elsewhere", "ANTHROPIC_API_KEY": "secret"})
    rendered.prompt("two", "s2")
    rendered.wait(lambda: len(told(rendered)) >= 2)
    assert {entry["session"]: entry["env"] for entry in told(rendered)} == {
        "claude:s1": {"CLAUDE_CONFIG_DIR": "/elsewhere"},
        "claude:s2": {},
    }
    assert lines(rendered, "jobs.starts") == ["start"]


def test_it_inherits_an_allowlisted_environment_and_the_data_root(rendered):
    rendered.prompt("one", env={"SECRET_TOKEN": "s", "CLAUDE_CONFIG_DIR": "/c", "LC_ALL": "C"})
    rendered.wait(lambda: lines(rendered, "jobs.env"))
    names = {line.partition("=")[0] for line in lines(rendered, "jobs.env")}
    assert f"AFL_DATA_ROOT={rendered.paths.data}" in lines(rendered, "jobs.env")
    assert {"HOME", "PATH", "LC_ALL"} <= names
    assert not names & {"SECRET_TOKEN", "CLAUDE_CONFIG_DIR"}


def test_an_ordinary_session_start_does_not_start_it_and_its_end_does(rendered):
    rendered.start_front()
    rendered.fire("SessionStart", {"session_id": "s1", "source": "startup"})
    assert rendered.health()["jobs"] is False
    rendered.fire("SessionEnd", {"session_id": "s1", "reason": "other"})
    rendered.wait(lambda: told(rendered))


def test_rows_an_earlier_front_left_start_it(rendered):
    rendered.prompt("one")
    rendered.wait(lambda: lines(rendered, "jobs.starts") == ["start"])
    rendered.kill_fronts()
    rendered.start_front()
    rendered.wait(lambda: len(lines(rendered, "jobs.starts")) >= 2)
    assert lines(rendered, "jobs.starts") == ["start", "start"]


def test_a_timer_that_is_due_starts_it(rendered):
    rendered.rows("INSERT INTO status VALUES ('jobs_next_ms', '{\"at_ms\": 1}', 1)")
    rendered.start_front()
    rendered.wait(lambda: lines(rendered, "jobs.starts"))
    assert lines(rendered, "jobs.starts") == ["start"]


def test_it_is_started_again_when_it_dies_and_not_at_once(rendered):
    stand_in = pathlib.Path(rendered.python)
    stand_in.write_text(stand_in.read_text("utf-8").replace("exit 0", "exit 3"), "utf-8")
    stand_in.write_text(stand_in.read_text("utf-8").replace(f"cat >> {rendered.home}/jobs.told", "true"), "utf-8")
    rendered.prompt("one")
    rendered.wait(lambda: len(lines(rendered, "jobs.starts")) >= 2)
    log = pathlib.Path(rendered.paths.runtime_log).read_text("utf-8")
    assert "jobs ended with status 3; the next start is 1 s away" in log


def test_an_interpreter_that_cannot_be_started_does_not_end_the_front(rendered):
    rendered.start_front()
    os.chmod(rendered.python, 0)
    os.rename(rendered.python, rendered.python + ".gone")
    assert rendered.prompt("one") == b"{}"
    assert rendered.health()["jobs"] is False


def test_its_input_ends_when_the_front_leaves(rendered):
    rendered.prompt("one")
    rendered.wait(lambda: lines(rendered, "jobs.starts"))
    rendered.kill_fronts(signal.SIGTERM)
    rendered.wait(lambda: told(rendered))  # the stand-in writes when its input ends
    assert len(told(rendered)) == 1
