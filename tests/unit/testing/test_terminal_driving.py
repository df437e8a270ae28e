"""Driving a program in a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import signal
import sys

import pytest

from afl_core.testing.failure import KitError
from afl_core.testing.terminal import Terminal


@pytest.fixture
def run(tmp_path):
    """Run Python source in a terminal."""
    opened = []

    def begin(source, **size):
        environment = {"PATH": os.environ["PATH"], "TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
        opened.append(Terminal([sys.executable, "-I", "-c", source], environment=environment, folder=tmp_path, **size))
        return opened[-1]

    yield begin
    for terminal in opened:
        terminal.close()


def test_a_program_sees_a_terminal_of_the_size_asked_for(run):
    terminal = run("import os,sys; print(sys.stdin.isatty(), os.get_terminal_size())", columns=90, rows=20)
    terminal.wait_for(r"True os\.terminal_size\(columns=90, lines=20\)")
    assert terminal.wait_exit() == 0


def test_typed_words_and_enter_reach_the_program(run):
    terminal = run("print('got ' + input('name? ').upper())")
    terminal.wait_for(r"name\?")
    terminal.submit("turtle")
    assert "got TURTLE" in terminal.wait_for("got TURTLE")


def test_ctrl_c_interrupts_the_program(run):
    terminal = run("import time\ntry:\n  print('ready', flush=True)\n  time.sleep(60)\nexcept KeyboardInterrupt:\n  print('stopped')")
    terminal.wait_for("ready")
    terminal.key("ctrl-c")
    terminal.wait_for("stopped")
    assert terminal.wait_exit() == 0


DEAF = """
import sys, termios, tty
tty.setraw(0)
print('ready', end='', flush=True)
heard = 0
while True:
    key = sys.stdin.buffer.raw.read(1)
    heard += 1
    if heard == 3:
        print('\\r\\x1b[Kheard ' + str(key), end='', flush=True)
"""


def test_a_key_that_a_program_loses_is_pressed_again_until_it_shows(run):
    terminal = run(DEAF)
    terminal.wait_for("ready")
    terminal.press("ctrl-u", "heard b'.x15'", again=0.05)
    assert "ready" not in terminal.screen()

    terminal = run(DEAF)
    terminal.wait_for("ready")
    terminal.press("tab", "ready", gone=True, again=0.05)
    terminal.wait_for("heard")

    terminal = run(DEAF)
    terminal.wait_for("ready")
    terminal.insist(lambda: terminal.type("k"), "heard b'k'", again=0.05)


def test_a_key_without_any_effect_is_given_up_with_the_screen(run):
    terminal = run(DEAF)
    terminal.wait_for("ready")
    with pytest.raises(KitError, match=r"(?s)'something' to appear was over; the screen:.*ready"):
        terminal.press("tab", "something", again=60.0, timeout=0.1)


def test_a_phrase_is_found_where_the_screen_wraps_it_between_words(run):
    screen = run("print('one two' + ' ' * 13 + 'three')", columns=20).wait_for("two three")
    assert "two three" not in screen
    assert "two three" in " ".join(screen.split())


def test_a_wait_that_runs_out_shows_the_screen(run):
    terminal = run("import time; print('something else', flush=True); time.sleep(60)")
    terminal.wait_for("something")
    with pytest.raises(KitError, match=r"(?s)'turtles' to appear.*something else"):
        terminal.wait_for("turtles", timeout=0.05)


def test_a_wait_ends_at_once_when_the_program_has_ended(run):
    terminal = run("print('bye')")
    with pytest.raises(KitError, match=r"(?s)the program ended.*bye"):
        terminal.wait_for("turtles", timeout=600)


def test_a_wait_for_words_to_go_ends_when_they_are_wiped(run):
    terminal = run("print('busy', end='', flush=True); input(); print('\\x1b[2J', end='', flush=True); input()")
    terminal.wait_for("busy")
    terminal.key("enter")
    assert "busy" not in terminal.wait_gone("busy")


def test_output_is_every_byte_with_its_escapes(run):
    terminal = run("print('\\x1b[31mred\\x1b[0m')")
    terminal.wait_exit()
    terminal.wait_for("red")
    assert b"\x1b[31mred\x1b[0m" in terminal.output()


def test_an_unknown_key_is_refused_with_the_known_ones(run):
    terminal = run("input()")
    with pytest.raises(KitError) as refused:
        terminal.key("hyper")
    assert "escape" in refused.value.hint


def test_a_program_that_asks_for_the_cursor_is_answered(run):
    source = (
        "import sys,termios,tty\ntty.setraw(0)\nprint('\\x1b[6n', end='', flush=True)\nanswer=''\n"
        "while not answer.endswith('R'): answer += sys.stdin.read(1)\nprint(repr(answer))"
    )
    assert r"'\x1b[1;1R'" in run(source).wait_for(r"x1b\[1;1R")


def test_closing_ends_a_program_that_refuses_to_end_and_its_children(run, tmp_path):
    child = "import fcntl,time; held = open('held', 'w'); fcntl.flock(held, fcntl.LOCK_EX); print('locked', flush=True); time.sleep(600)"
    source = (
        "import signal,subprocess,sys,time\nfor s in (signal.SIGTERM, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\n"
        f"subprocess.Popen([sys.executable, '-c', {child!r}])\ntime.sleep(600)"
    )
    terminal = run(source)
    terminal.wait_for("locked")
    terminal.close()
    assert terminal.returncode == -signal.SIGKILL
    with open(tmp_path / "held", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # waits for ever if the child still lives


def test_a_program_that_does_not_exist_ends_with_an_error(tmp_path):
    with Terminal(["/nonexistent/program"], environment={}, folder=tmp_path) as terminal:
        assert terminal.wait_exit() != 0
        terminal.wait_for("No such file")
