"""What install writes as text is the same for the same values, and means to a shell and to Python what it was meant to mean."""

from __future__ import annotations

import json
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.model.errors import SetupError
from afl_core.settings.load import load_policy
from afl_core.settings.paths import Paths
from afl_core.settings.schema import Policy, Settings
from afl_core.setup import render
from afl_core.setup.runtime import Runtime
from afl_core.spec.host import HookEvent, HostManifest
from afl_core.worker.manifests import parse

RUNTIME = Runtime("/opt/it's python", ("/a b", "/ü"), "3.11", "3.40.1", "00", "cpython-311")
MANIFEST = HostManifest(
    name="fake",
    label="Fake",
    events=(HookEvent("Ask", "prompt", 5, injects=True), HookEvent("End", "stop", 5)),
    fields={"session": "id", "prompt": "text"},
    envelope={"Ask": {"extra": "{context}"}},
    noop="{}",
    limit_chars=9000,
    limit_bytes=None,
    machine_prefixes=("<x>",),
    compaction_sources=("compact",),
    routing_env=("FAKE_HOME",),
)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30))
def test_a_quoted_text_is_one_word_and_the_same_text(text):
    assert shlex.split(render.quoted(text)) == [text]


def test_what_a_shell_would_run_stays_text():
    text = "a b'c\"d$(echo no)`echo no`\\n;&|*~!\n#"
    done = subprocess.run(["/bin/sh", "-c", f"printf %s {render.quoted(text)}"], capture_output=True, encoding="utf-8")
    assert done.stdout == text


def test_a_nul_character_is_refused():
    with pytest.raises(SetupError) as caught:
        render.quoted("a\0b")
    assert caught.value.code == "AFL-SETUP-023"


def test_the_command_has_the_guarded_form():
    command = render.command_for("/h/hook.py", "/usr/bin/python3", "claude", "Stop")
    assert command == "test -r '/h/hook.py' && '/usr/bin/python3' -I -S '/h/hook.py' claude Stop 2>/dev/null || :"


@pytest.mark.parametrize("word", ["", "a b", "x;rm", "$(x)"])
def test_an_event_whose_name_is_no_plain_word_is_refused(word):
    with pytest.raises(SetupError):
        render.command_for("/h", "/p", "claude", word)


def test_the_constants_are_ascii_python_with_the_values_of_the_home(tmp_path):
    paths = Paths(tmp_path / "ü 'x'")
    source = render.constants(paths, RUNTIME, [MANIFEST], ["TOKEN"], "1+abc")
    source.decode("ascii")
    names: dict[str, object] = {}
    exec(compile(source, "constants.py", "exec"), names)
    assert names["HOME"] == paths.home
    assert names["RUN"] == paths.run
    assert names["SPOOL"] == paths.spool
    assert names["DATA"] == paths.data
    assert names["PYTHON"] == RUNTIME.python
    assert names["SITE"] == RUNTIME.site
    assert names["BUILD"] == "1+abc"
    assert names["NOOPS"] == {"fake": b"{}"}
    assert names["KINDS"] == {"fake": {"Ask": "prompt", "End": "stop"}}
    assert names["FORWARD"] == {"fake": ("FAKE_HOME", "AFL_REPORT_LANGUAGE")}
    assert names["ALLOW"] == ("TOKEN",)


def test_a_home_whose_path_is_no_unicode_is_rendered_as_it_is(tmp_path):
    paths = Paths(str(tmp_path) + "/\udcff")
    names: dict[str, object] = {}
    exec(compile(render.constants(paths, RUNTIME, [], [], "b"), "constants.py", "exec"), names)
    assert names["HOME"] == paths.home


def test_the_front_reads_back_what_was_rendered_for_it():
    rendered = render.front_file([MANIFEST], Settings(memory_budget=7, memory_enabled=False, selector="mine"), "my:selector")
    read = parse(rendered.decode())
    assert (read.memory_enabled, read.memory_budget, read.selector_name, read.selector_target) == (False, 7, "mine", "my:selector")
    host = read.hosts["fake"]
    assert dict(host.kinds) == {"Ask": "prompt", "End": "stop"}
    assert json.loads(host.reply("Ask", "words")) == {"extra": "words"}
    assert host.reply("End", "words") == b"{}"
    assert (host.limit_chars, host.limit_bytes, host.machine_prefixes, host.compaction_sources) == (9000, None, ("<x>",), ("compact",))


def test_the_shipped_policy_is_the_default_policy(tmp_path):
    path = tmp_path / "changes.toml"
    path.write_bytes(render.policy_file())
    assert load_policy(path) == Policy()
