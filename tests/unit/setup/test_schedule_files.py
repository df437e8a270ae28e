"""The files service managers read: the same text for the same values, and every path arrives as it was, whatever it holds."""

from __future__ import annotations

import json
import os
import plistlib
import re
import shutil
import string
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.model.errors import SetupError
from afl_core.setup.schedule import launchd, systemd, windows
from afl_core.setup.schedule.job import Job

JOB = Job("/home/me", "", ("/usr/bin/python3", "-I", "-S", "/home/me/hook/schedule.py"), "/home/me/logs/reconcile.log", "/usr/bin:/bin")
OTHER = Job(JOB.home, "1234abcd", JOB.command, JOB.log, JOB.search)

UNIT = r"""# Written by `afl install`, which replaces this file; `afl uninstall` removes it.
[Unit]
Description=Agent Feedback Loop: reads what hooks missed and runs what is due
ConditionPathExists=/home/me/hook/schedule.py
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart="/bin/sh" "-c" "exec \"$$0\" \"$$@\"" "/usr/bin/python3" "-I" "-S" "/home/me/hook/schedule.py"
Environment="HOME=/home/me" "PATH=/usr/bin:/bin"
Restart=always
RestartSec=30
TimeoutStopSec=20
KillMode=mixed
UMask=0077
Nice=10
IOSchedulingClass=idle
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes

[Install]
WantedBy=default.target
"""

AGENT = {
    "Label": "dev.agent-feedback-loop.reconcile",
    "ProgramArguments": ["/usr/bin/python3", "-I", "-S", "/home/me/hook/schedule.py"],
    "WorkingDirectory": "/",
    "RunAtLoad": True,
    "KeepAlive": True,
    "ThrottleInterval": 30,
    "ExitTimeOut": 20,
    "ProcessType": "Background",
    "LowPriorityIO": True,
    "Nice": 10,
    "Umask": 0o077,
    "EnvironmentVariables": {"HOME": "/home/me", "PATH": "/usr/bin:/bin"},
    "StandardOutPath": "/home/me/logs/reconcile.log",
    "StandardErrorPath": "/home/me/logs/reconcile.log",
}

paths = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\0\ufffe\uffff/"), min_size=1, max_size=20
).map(lambda text: f"/h{text}x")


def hostile(path):
    return Job(path, "", (f"{path}/bin/python", "-I", "-S", f"{path}/hook/schedule.py"), f"{path}/log", f"{path}/bin:/bin")


# ------------------------------------------------------------------------------------------------------------------------------- systemd


def words(line):
    """A value of a unit file as systemd takes it apart: double quotes with C escapes, then specifiers."""
    found = []
    for quoted in re.findall(r'"((?:\\.|[^"\\])*)"', line):
        plain = re.sub(r"\\(.)", r"\1", quoted)
        assert not re.search(r"(?<!%)(?:%%)*%(?!%)", plain), "a specifier would be replaced"
        found.append(plain.replace("%%", "%"))
    assert re.fullmatch(r'(?:"(?:\\.|[^"\\])*"(?: |$))*', line)
    return found


def values(unit, name):
    return [line.partition("=")[2] for line in unit.decode().splitlines() if line.startswith(f"{name}=")]


def test_the_unit_is_what_it_was():
    assert systemd.render(JOB).decode() == UNIT
    assert systemd.unit_of(JOB) == "agent-feedback-loop-reconcile.service"
    assert systemd.unit_of(OTHER) == "agent-feedback-loop-reconcile-1234abcd.service"


def unit_for(path):
    """What the unit says that systemd reads: the words it runs, its environment and its condition; and whether a variable would be replaced."""
    unit = systemd.render(hostile(path))
    (run,), (environment,) = values(unit, "ExecStart"), values(unit, "Environment")
    arguments = words(run)
    replaced = any(re.search(r"(?<!\$)(?:\$\$)*\$(?!\$)", word) for word in arguments)
    condition = [value.replace("%%", "%") for value in values(unit, "ConditionPathExists")]
    return [word.replace("$$", "$") for word in arguments], words(environment), condition, replaced


def unit_wanted(path):
    """What it has to say."""
    job = hostile(path)
    return ["/bin/sh", "-c", 'exec "$0" "$@"', *job.command], [f"HOME={path}", f"PATH={job.search}"], [job.script], False


@given(paths)
def test_every_path_of_the_unit_arrives_as_it_was(path):
    assert unit_for(path) == unit_wanted(path)


def test_the_shell_in_between_hands_every_word_over(tmp_path):
    strange = tmp_path / "a b%h$x\"q'é\\z=1"
    strange.mkdir()
    os.symlink(sys.executable, strange / "python")
    show = "import json, sys; print(json.dumps(sys.argv[1:]))"
    argv = ["/bin/sh", "-c", 'exec "$0" "$@"', str(strange / "python"), "-IS", "-c", show, str(strange), "$(echo no)", ""]
    done = subprocess.run(argv, capture_output=True, encoding="utf-8")
    assert json.loads(done.stdout) == [str(strange), "$(echo no)", ""]


@pytest.mark.parametrize("name", ["plain", "a b%h$x${HOME}\"q'é\\z=1 %%u"])
def test_systemd_itself_finds_nothing_wrong_with_the_unit(tmp_path, name):
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not here")
    folder = tmp_path / name
    (folder / "bin").mkdir(parents=True)
    os.symlink(sys.executable, folder / "bin" / "python")
    unit = tmp_path / systemd.unit_of(JOB)
    unit.write_bytes(systemd.render(hostile(str(folder))))
    (tmp_path / "run").mkdir(mode=0o700)
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run"), "HOME": str(tmp_path)}
    done = subprocess.run([program, "--user", "verify", str(unit)], capture_output=True, encoding="utf-8", env=environ, timeout=120)
    assert (done.returncode, [line for line in done.stderr.splitlines() if unit.name in line]) == (0, [])


# ------------------------------------------------------------------------------------------------------------------------------- launchd


def test_the_agent_is_kept_alive_and_has_no_interval_of_its_own():
    assert plistlib.loads(launchd.render(JOB)) == AGENT
    assert plistlib.loads(launchd.render(OTHER))["Label"] == "dev.agent-feedback-loop.reconcile.1234abcd"
    assert launchd.render(JOB) == launchd.render(JOB)


@given(paths)
def test_every_path_of_the_agent_arrives_as_it_was(path):
    job = hostile(path)
    read = plistlib.loads(launchd.render(job))
    assert tuple(read["ProgramArguments"]) == job.command
    assert (read["EnvironmentVariables"], read["StandardErrorPath"]) == ({"HOME": path, "PATH": job.search}, job.log)


# ------------------------------------------------------------------------------------------------------------------------------- Windows


def windows_words(line):
    """A command line as a C program on Windows takes it apart."""
    found, word, quoted, position = [], None, False, 0
    while position < len(line):
        char = line[position]
        if char == "\\":
            run = len(line[position:]) - len(line[position:].lstrip("\\"))
            position += run
            if line[position : position + 1] == '"':
                word = (word or "") + "\\" * (run // 2)
                if run % 2:
                    word += '"'
                    position += 1
            else:
                word = (word or "") + "\\" * run
            continue
        if char == '"':
            quoted, word = not quoted, word or ""
        elif char in " \t" and not quoted:
            if word is not None:
                found.append(word)
            word = None
        else:
            word = (word or "") + char
        position += 1
    return found if word is None else [*found, word]


def task_for(path):
    """The command that the task runs, and its words as Windows parts them."""
    root = ET.fromstring(windows.render(hostile(path)).decode("utf-16").replace('encoding="UTF-16"', ""))
    space = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
    (action,) = root.iter(f"{space}Exec")
    return action.findtext(f"{space}Command"), windows_words(action.findtext(f"{space}Arguments"))


def task_wanted(path):
    """What it has to run."""
    return hostile(path).command[0], ["-I", "-m", "afl_core.cli.main", "--home", path, "reconcile", "--at-most", "600"]


@given(paths)
def test_every_path_of_the_task_arrives_as_it_was(path):
    assert task_for(path) == task_wanted(path)


def test_the_task_runs_one_pass_at_a_time_and_ends_one_that_hangs():
    text = windows.render(JOB).decode("utf-16")
    assert "<MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>" in text
    assert "<ExecutionTimeLimit>PT15M</ExecutionTimeLimit>" in text
    assert (windows.task_of(JOB), windows.task_of(OTHER)) == ("Agent Feedback Loop\\reconcile", "Agent Feedback Loop\\reconcile-1234abcd")


# ------------------------------------------------------------------------------------------------------------------------------ all three


@pytest.mark.parametrize("char", ["\n", "\r", "\t", "\x01", "\x7f", "\x85", "\udc80", "\u2028", "\ufffe"])
@pytest.mark.parametrize("render", [systemd.render, launchd.render, windows.render])
def test_a_path_that_no_service_file_can_hold_is_refused_by_name(render, char):
    with pytest.raises(SetupError) as caught:
        render(hostile(f"/h/a{char}b"))
    assert caught.value.code == "AFL-SETUP-040"


@pytest.mark.parametrize("char", sorted(set(string.punctuation + " ") - {"/"}))
def test_every_sign_that_shells_and_units_care_about_can_stand_in_a_path(char):
    path = f"/h{char}x{char}{char}y"
    assert (unit_for(path), task_for(path)) == (unit_wanted(path), task_wanted(path))
