"""An install killed at any step leaves host settings old or new, and running it again finishes; so does an uninstall."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from afl_core.api.home import Home
from afl_core.model.errors import SetupError
from afl_core.settings.paths import Paths
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall
from afl_core.store.connection import connect
from afl_core.vault.keys import load_public

BEFORE = b'{\n\t"model": "opus",\n\t"hooks": {"Stop": []}\n}\n'

STEPS = (
    "directories", "vault:name-key", "vault:private-saved", "vault:public-key", "vault", "store:built", "store:created", "store", "spool-key",
    "hook:ready", "hook:constants.py", "hook:client.py", "hook:hook.py",
    "pack:ready", "pack:reviewer.md", "pack:changes.toml", "pack:manifest.json", "pack:front.json",
    "current:ready", "current:current.json",
    "settings:backup:0", "settings:written:0", "settings:recorded", "settings:replaced:0", "settings:synced:0", "settings:done", "done",
)  # fmt: skip
"""Where a fresh install is stopped; steps for the other files of one set are left out."""

UPGRADE_STEPS = ("directories", "hook:ready", "hook:constants.py", "pack:front.json", "current:ready", "current:current.json", "done")
UNINSTALL_STEPS = ("settings:recorded", "settings:replaced:0", "settings:done", "journal", "stopped", "done")

CHILD = """
import os, signal, sys
from afl_core.api.home import Home
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall

what, step, home = sys.argv[1:]

def checkpoint(done):
    if done == step:
        os.kill(os.getpid(), signal.SIGKILL)

with Home(home, {"HOME": home, "PATH": os.defpath}) as opened:
    if what != "uninstall":
        apply_install(plan_install(opened, replace_existing=what == "replace"), checkpoint)
    else:
        apply_uninstall(plan_uninstall(opened, True), checkpoint)
"""


@pytest.fixture
def environ(home):
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_bytes(BEFORE)
    return {"HOME": str(home), "PATH": os.defpath}


def killed_at(what, step, home, environment):
    child = subprocess.run(
        [sys.executable, "-c", CHILD, what, step, str(home)],
        env={**environment, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        timeout=60,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()


def settings(home):
    return (home / ".claude/settings.json").read_bytes()


def install(home, environ, steps=None):
    with Home(str(home), environ) as opened:
        return apply_install(plan_install(opened), (lambda _step: None) if steps is None else steps.append)


def uninstall(home, environ):
    with Home(str(home), environ) as opened:
        return apply_uninstall(plan_uninstall(opened, True))


def leftovers(home):
    """Half-made files; a database whose building was cut off is the store's to sweep, by its age."""
    found = [path for path in home.rglob("*") if path.name.endswith((".tmp", ".new"))]
    return sorted(str(path) for path in found if path.parent.name != "store")


def assert_whole(home, environ):
    paths = Paths(home)
    load_public(paths)
    connect(paths.database).close()
    hooks = json.loads(settings(home))["hooks"]
    assert sum(len(group["hooks"]) for groups in hooks.values() for group in groups) == 4
    assert leftovers(home) == []
    with Home(str(home), environ) as opened:
        assert not plan_install(opened).changes


def test_the_steps_above_are_steps_of_an_install(home, environ):
    told: list[str] = []
    install(home, environ, told)
    assert [step for step in told if step in STEPS] == list(STEPS)


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_during_a_fresh_install_is_finished_by_the_next_and_undone_whole(home, environ, child_environment, step):
    killed_at("install", step, home, child_environment)
    now = settings(home)
    assert now == BEFORE or b"hook.py" in now
    assert (now == BEFORE) == (step not in STEPS[-4:])
    json.loads(now)
    install(home, environ)
    assert_whole(home, environ)
    uninstall(home, environ)
    assert settings(home) == BEFORE


@pytest.mark.parametrize("step", UPGRADE_STEPS)
def test_a_kill_during_an_upgrade_is_finished_by_the_next(home, environ, child_environment, step):
    first = install(home, environ)
    hooked = settings(home)
    (home / ".agent/feedback-loop-data/settings.toml").write_text('reviewer_env_allowlist = "LOGIN"\n')
    (home / ".agent/feedback-loop-data/settings.toml").chmod(0o600)
    if step == "pack:front.json":  # put right with the rest
        (home / ".agent/feedback-loop/front.json").write_text("{}")
    killed_at("install", step, home, child_environment)
    assert settings(home) == hooked
    second = install(home, environ)
    assert second.build != first.build
    assert_whole(home, environ)
    uninstall(home, environ)
    assert settings(home) == BEFORE


@pytest.mark.parametrize("step", UNINSTALL_STEPS)
def test_a_kill_during_an_uninstall_is_finished_by_the_next(home, environ, child_environment, step):
    install(home, environ)
    killed_at("uninstall", step, home, child_environment)
    assert settings(home) == BEFORE or b"hook.py" in settings(home)
    uninstall(home, environ)
    assert settings(home) == BEFORE
    assert not os.path.lexists(Paths(home).pack)
    assert os.path.exists(Paths(home).database)
    assert leftovers(home) == []


LEGACY_STEPS = ("legacy-settings:replaced:0", "legacy:pack", "legacy:store", "directories", "settings:replaced:0")


@pytest.mark.parametrize("step", LEGACY_STEPS)
def test_a_kill_while_the_earlier_product_is_moved_aside_is_finished_by_the_next(home, environ, child_environment, step):
    pack, store = home / ".agent/feedback-loop", home / ".agent/feedback-loop-data/store"
    for folder in (pack / "bin", store):
        folder.mkdir(parents=True)
    (pack / "bin/afl-hook").write_text("old")
    (store / "feedback-loop.sqlite3").write_bytes(b"SQLite format 3\0" + bytes(4080))
    body = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"'{pack}/hooks/stop-hook.sh'"}]}]}}
    (home / ".claude/settings.json").write_text(json.dumps(body))
    killed_at("replace", step, home, child_environment)
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened, replace_existing=True))
    assert_whole(home, environ)
    assert b"stop-hook.sh" not in settings(home)
    assert (home / ".agent/feedback-loop.reference/bin/afl-hook").read_text() == "old"
    assert (home / ".agent/feedback-loop-data/store.reference/feedback-loop.sqlite3").stat().st_size == 4096


LIMITED = """
import resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import os
from afl_core.api.home import Home
from afl_core.model.errors import AflError
from afl_core.setup.install import apply_install, plan_install
home = sys.argv[1]
try:
    with Home(home, {"HOME": home, "PATH": os.defpath}) as opened:
        apply_install(plan_install(opened))
except AflError as bad:
    print(bad.code)
    sys.exit(7)
"""


@pytest.mark.parametrize(("limit", "has_store"), [(20_000, False), (6_000, True), (900, True)])
def test_a_disk_that_takes_no_more_is_a_named_error_and_the_next_install_finishes(home, environ, child_environment, limit, has_store):
    if has_store:
        with Home(str(home), environ) as opened:
            apply_install(plan_install(opened, hosts=[]))
        for path in Path(Paths(home).hook_dir).rglob("*.py"):
            path.write_text("")
    child = subprocess.run(
        [sys.executable, "-c", LIMITED, str(home), str(limit)],
        env={**child_environment, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        timeout=60,
    )
    assert child.returncode == 7, child.stderr.decode()
    assert child.stdout.startswith(b"AFL-")
    assert settings(home) == BEFORE
    install(home, environ)
    assert_whole(home, environ)


def test_only_one_install_of_a_home_runs_at_a_time(home, environ, child_environment):
    script = CHILD.replace("os.kill(os.getpid(), signal.SIGKILL)", "print('here', flush=True); sys.stdin.readline()")
    child = subprocess.Popen(
        [sys.executable, "-c", script, "install", "vault:private-saved", str(home)],
        env={**child_environment, "PYTHONPATH": ":".join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"here\n"
        with pytest.raises(SetupError) as caught:
            install(home, environ)
        assert caught.value.code == "AFL-SETUP-028"
        child.communicate(b"go on\n", timeout=60)
    assert child.returncode == 0
    assert_whole(home, environ)
