"""Our hook commands are told from everybody else's, whatever home, interpreter or version they name."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.setup.render import command_for
from afl_core.spec.guarded_command import owns_guarded_command

HOOK = "/home/dev/.agent/feedback-loop/hook/hook.py"


def guarded(hook=HOOK, python="/usr/bin/python3", flags="-I -S", host="quartz", event="Stop"):
    quoted = shlex.quote(hook) if "'" in hook else f"'{hook}'"
    return f"test -r {quoted} && '{python}' {flags} {quoted} {host} {event} 2>/dev/null || :"


@pytest.mark.parametrize(
    "command",
    [
        guarded(),
        guarded(hook="/other/home/.agent/feedback-loop/hook/hook.py"),
        guarded(hook="/a b/it's/feedback-loop/hook/hook.py"),
        guarded(python="/opt/my python/bin/python3.13"),
        guarded(flags="-I"),
        guarded(flags=""),
        guarded(event="PostToolBatch"),
        guarded(event="before_turn-2"),
        f"/bin/sh -c {shlex.quote(guarded())}",
        f"  {guarded()}  ",
    ],
)
def test_other_homes_interpreters_versions_and_wrappers_are_ours_too(command):
    assert owns_guarded_command(command, "quartz")


@pytest.mark.parametrize(
    "command",
    [
        "",
        "echo hello",
        "'",
        guarded(host="granite"),
        guarded(event="'Stop; true'"),
        guarded(hook="/home/dev/bin/hook.py"),
        guarded().removesuffix(" || :"),
        guarded().replace("2>/dev/null ", ""),
        guarded() + " && rm -rf build",
        "echo x; " + guarded(),
        "echo '" + guarded().replace("'", "") + "'",
        f"test -r '{HOOK}' && cat '{HOOK}' 2>/dev/null || :",
        guarded().replace(f"'{HOOK}' quartz", "/somewhere/else.py quartz"),
        f"/bin/sh -c {shlex.quote(guarded())} extra",
        f"bash -c {shlex.quote('echo hello')}",
    ],
)
def test_a_command_that_does_anything_else_is_left_to_its_owner(command):
    assert not owns_guarded_command(command, "quartz")


FOLDERS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=12)
NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True)


@given(home=FOLDERS, python=FOLDERS, host=NAMES, other=NAMES, event=NAMES, own_shell=st.booleans())
def test_whatever_install_writes_for_a_host_is_that_hosts_alone(home, python, host, other, event, own_shell):
    command = command_for(f"/{home}/feedback-loop/hook/hook.py", f"/{python}", host, event, own_shell=own_shell)

    assert owns_guarded_command(command, host)
    assert owns_guarded_command(command, other) == (other == host)


@given(st.text())
def test_any_other_text_is_somebody_elses_and_never_an_error(command):
    assert not owns_guarded_command(command, "quartz")
