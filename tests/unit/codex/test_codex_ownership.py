"""Our hook commands are recognised in any home and any version, and nobody else's is."""

from __future__ import annotations

import shlex

import pytest

from afl_core.setup.render import command_for
from afl_providers_codex.host import CodexHost

HOST = CodexHost()


def guarded(hook="/home/dev/.agent/feedback-loop/hook/hook.py", python="/usr/bin/python3", flags="-I -S", host="codex", event="Stop"):
    quoted = shlex.quote(hook) if "'" in hook else f"'{hook}'"
    return f"test -r {quoted} && '{python}' {flags} {quoted} {host} {event} 2>/dev/null || :"


@pytest.mark.parametrize("event", [event.name for event in HOST.manifest().events])
def test_the_guarded_command_of_every_event_is_ours(event):
    assert HOST.owns_command(guarded(event=event))


@pytest.mark.parametrize(
    "command",
    [
        guarded(hook="/other/home/.agent/feedback-loop/hook/hook.py"),
        guarded(hook="/a b/it's/feedback-loop/hook/hook.py"),
        guarded(python="/opt/my python/bin/python3.13"),
        guarded(flags="-I"),
        guarded(flags=""),
        guarded(event="Interrupt"),
        f"/bin/sh -c {shlex.quote(guarded())}",
        f"  {guarded()}  ",
    ],
)
def test_other_homes_interpreters_versions_and_wrappers_are_ours_too(command):
    assert HOST.owns_command(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "echo hello",
        "'",
        guarded(host="claude"),
        guarded(hook="/home/dev/bin/hook.py"),
        guarded().removesuffix(" || :"),
        guarded().replace("2>/dev/null ", ""),
        guarded() + " && rm -rf build",
        "echo x; " + guarded(),
        "echo '" + guarded().replace("'", "") + "'",
        "test -r '/h/feedback-loop/hook/hook.py' && cat '/h/feedback-loop/hook/hook.py' 2>/dev/null || :",
        guarded().replace("'/home/dev/.agent/feedback-loop/hook/hook.py' codex", "/somewhere/else.py codex"),
        f"/bin/sh -c {shlex.quote(guarded())} extra",
        f"bash -c {shlex.quote('echo hello')}",
    ],
)
def test_a_command_that_does_anything_else_is_left_to_its_owner(command):
    assert not HOST.owns_command(command)


@pytest.mark.parametrize("own_shell", [True, False])
@pytest.mark.parametrize("hook", ["/home/dev/.agent/feedback-loop/hook/hook.py", "/it's/a $(home)/.agent/feedback-loop/hook/hook.py"])
def test_the_command_that_install_writes_is_ours_and_another_hosts_is_not(hook, own_shell):
    assert HOST.owns_command(command_for(hook, "/usr/bin/python3", "codex", "Stop", own_shell=own_shell))
    assert not HOST.owns_command(command_for(hook, "/usr/bin/python3", "gemini", "Stop", own_shell=own_shell))
