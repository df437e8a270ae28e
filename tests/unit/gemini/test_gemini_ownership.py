"""Our hook commands are told from everybody else's, whatever home, interpreter or version they name."""

from __future__ import annotations

import shlex

import pytest

from afl_providers_gemini.host import GeminiHost

HOST = GeminiHost()


def guarded(
    hook="/home/dev/.agent/feedback-loop/hook/hook.py", python="/usr/bin/python3", flags="-I -S", host="gemini", event="AfterAgent"
):
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
        guarded(event="BeforeTool"),
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
        guarded(host="codex"),
        guarded(hook="/home/dev/bin/hook.py"),
        guarded().removesuffix(" || :"),
        guarded().replace("2>/dev/null ", ""),
        guarded() + " && rm -rf build",
        "echo x; " + guarded(),
        "echo '" + guarded().replace("'", "") + "'",
        "test -r '/h/feedback-loop/hook/hook.py' && cat '/h/feedback-loop/hook/hook.py' 2>/dev/null || :",
        guarded().replace("'/home/dev/.agent/feedback-loop/hook/hook.py' gemini", "/somewhere/else.py gemini"),
        f"/bin/sh -c {shlex.quote(guarded())} extra",
        f"bash -c {shlex.quote('echo hello')}",
    ],
)
def test_a_command_that_does_anything_else_is_left_to_its_owner(command):
    assert not HOST.owns_command(command)
