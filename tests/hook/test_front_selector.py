"""A selector plug-in on the prompt path: used, failing, stuck."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

from afl_core.worker.selector import STUCK


@pytest.fixture
def plugged(rendered):
    """A home with one card that nothing matches and a selector whose code the test writes."""
    rendered.rows(
        "INSERT INTO projection VALUES ('quiet', '', 2, 'Major', 1, 'f', 1, 'none', 'conditional', 'QUIET CARD', 20,"
        ' \'{"paths":[],"tools":[],"task_types":[],"signals":[],"words":[],"grams":[]}\', \'\')'
    )
    site = rendered.home / "site"
    site.mkdir()
    text = pathlib.Path(rendered.paths.hook_dir, "constants.py").read_text("utf-8")
    namespace: dict[str, tuple[str, ...]] = {}
    exec(text, {}, namespace)
    rendered.render(SITE=(*namespace["SITE"], str(site)))
    rendered.write_front_file(selector={"name": "mine", "target": "my_selector:Mine"})

    def plug(body: str) -> None:
        (site / "my_selector.py").write_text(f"class Mine:\n    def candidates(self, prompt, cards):\n        {body}\n", "utf-8")

    rendered.plug = plug
    return rendered


def test_what_it_adds_is_given_and_unknown_ids_are_ignored(plugged):
    plugged.plug("return [lesson for lesson, text in cards if 'QUIET' in text] + ['nonsense']")
    plugged.start_front()
    sessions = iter(range(1000))
    plugged.wait(lambda: b"QUIET CARD" in plugged.prompt("anything", f"s{next(sessions)}"))
    assert plugged.prompt("anything", "last").count(b"QUIET CARD") == 1


def test_one_that_raises_is_counted_and_the_prompt_goes_on(plugged):
    plugged.plug("raise ValueError('no')")
    plugged.start_front()
    sessions = iter(range(1000))

    def failed() -> bool:
        assert plugged.prompt("anything", f"s{next(sessions)}") == b"{}"
        return plugged.counts().get("selector_failed", 0) >= 3

    plugged.wait(failed)
    for _ in range(3):
        plugged.prompt("anything", f"s{next(sessions)}")
    assert plugged.counts()["selector_failed"] == 3


def test_one_that_is_stuck_is_killed_with_the_front_named_and_left_out_from_then_on(plugged):
    plugged.plug("[None for _ in iter(int, 1)]")
    first = plugged.start_front()
    plugged.wait(lambda: os.path.exists(plugged.paths.spool_key))
    sessions = iter(range(1000))

    def killed() -> bool:
        assert plugged.prompt("anything", f"s{next(sessions)}") == b"{}"
        return first.poll() is not None

    plugged.wait(killed)
    plugged.lift_mark()
    plugged.wait(lambda: plugged.prompt("anything", f"s{next(sessions)}") == b"{}" and plugged.health())
    (row,) = plugged.rows("SELECT body_json FROM status WHERE name = ?", STUCK)
    assert json.loads(row["body_json"])["name"] == "mine"
    plugged.wait(lambda: not plugged.spooled())
    pid = plugged.health()["pid"]
    for _ in range(3):
        assert plugged.prompt("anything", f"s{next(sessions)}") == b"{}"
    assert plugged.health()["pid"] == pid
    assert len(plugged.intake()) == len({row["session_id"] for row in plugged.intake()}) == next(sessions)
