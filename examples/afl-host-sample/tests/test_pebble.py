"""Pebble keeps the host contract and the scenario suite, found through its own entry point."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path

from afl_host_sample.plugin import afl_hosts

from afl_core.testing.contracts.host import HostContract
from afl_core.testing.contracts.scenarios import CannotTell, HostScenarios

_spec = importlib.util.spec_from_file_location("pebble", Path(__file__).with_name("pebble.py"))
pebble = importlib.util.module_from_spec(_spec)
sys.modules["pebble"] = pebble
_spec.loader.exec_module(pebble)

CONTEXT = "<card nonce=0123456789abcdef>Run the tests before you say that they pass.</card>"


def plain(home):
    home.talk().asks("say hello").answers("Hello.")
    return {"request": "say hello", "answer": "Hello."}


def tool_success(home):
    home.talk().asks("run it").calls("c1", "make").returns("c1", 0).answers("It ran.")
    return {"request": "run it"}


def tool_failure(home):
    home.talk().asks("run it").calls("c1", "make").returns("c1", 2).answers("It failed.")
    return {"request": "run it"}


def interrupted_then_corrected(home):
    talk = home.talk().asks("use the API").answers("I take the old API because", ends=False).does("stopped")
    talk.asks("no, the new one").answers("The new one.")
    return {"request": "use the API", "correction": "no, the new one"}


def interrupted_before_output(home):
    home.talk().asks("use the API").does("stopped").asks("no, leave it").answers("Left.")
    return {"request": "use the API", "correction": "no, leave it"}


def steering_additive(home):
    home.talk().asks("the weather").asks("in Celsius", meanwhile=True).answers("20 degrees.")
    return {"request": "the weather", "addition": "in Celsius"}


def steering_corrective(home):
    talk = home.talk().asks("wait for it").calls("c1", "sleep 9").asks("do not sleep", meanwhile=True)
    talk.returns("c1", 0).answers("Noted.")
    return {"request": "wait for it", "correction": "do not sleep"}


def rejected_with_words(home):
    home.talk().asks("clean up").calls("c1", "rm -rf build").does("refused", call="c1", text="move it to old").answers("Moved.")
    return {"request": "clean up", "correction": "move it to old"}


def rejected_without_words(home):
    home.talk().asks("clean up").calls("c1", "rm -rf build").does("refused", call="c1").asks("do not delete it").answers("Kept.")
    return {"request": "clean up", "correction": "do not delete it"}


def complaint(home):
    home.talk().asks("fix the tests").answers("All of them pass.").asks("you never ran them").answers("No.")
    return {"request": "fix the tests", "complaint": "you never ran them", "answer": "All of them pass."}


def compacted(home):
    talk = home.talk().asks("first").answers("One.").does("shortened", text="They spoke of turtles.")
    talk.hook("TalkStart", because="shortened")
    talk.asks("second").answers("Two.")
    return {"before": "first", "after": "second", "summary": "turtles"}


def resumed(home):
    talk = home.talk().asks("first").answers("One.")
    talk.hook("TalkEnd", because="left")
    talk.hook("TalkStart", because="again")
    talk.asks("second").answers("Two.")
    return {"request": "first", "later": "second", "answer": "One."}


def rewound(home):
    talk = home.talk().asks("first").answers("One.").asks("second").answers("Two.").does("back")
    talk.asks("another").answers("Three.")
    return {"request": "first", "undone": "second", "instead": "another"}


def forked(home):
    first = home.talk().asks("first").answers("One.")
    home.talk("two", "copied", copied=first.file).asks("another way").answers("Two.")
    return {"shared": "first", "new": "another way", "answer": "Two."}


def injected(home):
    home.talk().asks("say hello", added=CONTEXT).answers("Hello.")
    return {"request": "say hello", "context": CONTEXT}


def machine_prompts(home):
    home.talk().asks("build it").answers("Started.").asks("[pebble] the build is done").answers("It is done.")
    return {"request": "build it", "prompt": "the build is done"}


def same_text_twice(home):
    home.talk().asks("go on").answers("One.").asks("go on").answers("Two.")
    return {"request": "go on"}


CANNOT = {
    "withdrawn": "Pebble has no way to take a prompt back",
    "subagent": "Pebble works alone: it has no subagents",
}


class TestScenarios(HostScenarios):
    """What people do to Pebble."""

    host = "pebble"

    def recording(self, scenario):
        if scenario in CANNOT:
            return CannotTell(CANNOT[scenario])
        home = pebble.Pebble()
        words = globals()[scenario](home)
        return home.recording(**words)


class TestHost(HostContract):
    """On a talk that has everything."""

    def make(self):
        [host] = afl_hosts()
        return host

    def records(self):
        home = pebble.Pebble()
        for scenario in (interrupted_then_corrected, steering_corrective, rejected_with_words, compacted, rewound, injected):
            scenario(home)
        lines = [line for talk in home.talks for line in talk.file.splitlines()]
        return [*lines, b'{"kind": "screen", "pixels": "0101"}', b"broken", b"[]"]


def test_it_is_found_through_its_entry_point():
    [found] = [entry for entry in importlib.metadata.entry_points(group="afl.plugins") if entry.name == "pebble"]
    assert found.value == "afl_host_sample.plugin"


def test_of_core_it_imports_the_contracts_and_the_model_alone():
    code = "import sys, afl_host_sample.plugin; print(*sorted(name for name in sys.modules if name.startswith('afl_core.')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True).stdout.split()
    assert {name.split(".")[1] for name in loaded} == {"spec", "model"}


def test_the_command_that_install_writes_is_its_own():
    [host] = afl_hosts()
    hook = "/home/person/.agent/feedback-loop/hook/hook.py"
    ours = f"test -r '{hook}' && '/usr/bin/python3' -I -S '{hook}' pebble BeforeTurn 2>/dev/null || :"
    assert host.owns_command(ours)
    assert not host.owns_command(ours.replace("pebble", "granite"))
    assert not host.owns_command(ours.replace("&& '/usr/bin/python3'", "; rm -rf ~ && '/usr/bin/python3'"))
