"""tools/dev.py: what it says before anything is installed, and the environment it gives its children."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys

import pytest


@pytest.fixture
def environment(root, monkeypatch):
    """tools/environment.py as a module."""
    monkeypatch.syspath_prepend(str(root / "tools"))
    spec = importlib.util.spec_from_file_location("environment_under_test", root / "tools/environment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def hosts(root, monkeypatch, environment, tmp_path):
    """tools/hosts.py as a module, with its cache in a temporary directory and without npm."""
    monkeypatch.setitem(sys.modules, "environment", environment)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    spec = importlib.util.spec_from_file_location("hosts_under_test", root / "tools/hosts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def npm(tmp_path, script):
    """Put an `npm` of our own on the PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/npm").write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}", "utf-8")
    (tmp_path / "bin/npm").chmod(0o755)


def test_without_arguments_it_explains_itself(run, root):
    assert "dev.py test" in run(sys.executable, root / "tools/dev.py").stdout


def test_an_unknown_command_is_refused_with_the_known_ones(run, root):
    said = run(sys.executable, root / "tools/dev.py", "tset", status=1).stdout
    assert "'tset'" in said
    assert "demo, test, bench" in said


def test_an_unknown_benchmark_is_refused(run, root):
    assert "bench takes the name" in run(sys.executable, root / "tools/dev.py", "bench", "no-such", status=1).stdout


def test_an_old_python_can_read_it_and_is_told_so(run, root):
    source = (root / "tools/dev.py").read_text("utf-8")
    ast.parse(source, feature_version=(3, 8))
    script = f"import sys\nsys.version_info = (3, 8, 10)\nsys.argv = ['dev.py', 'test']\nexec(compile({source!r}, 'dev.py', 'exec'))\n"
    said = run(sys.executable, "-c", script, status=1).stdout
    assert said.startswith("Python 3.11 or newer is needed; this is Python 3.8 ")


def test_children_get_no_foreign_python_no_login_and_no_user_install(environment, monkeypatch):
    for name in ("PYTHONPATH", "PIP_TARGET", "VIRTUAL_ENV", "CLAUDECODE", "ANTHROPIC_API_KEY", "AFL_HOME", "AGENT_FEEDBACK_LOOP_X"):
        monkeypatch.setenv(name, "planted")
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PIP_INDEX_URL", "kept")
    given = environment.clean_environment({"EXTRA": "1"})
    assert "planted" not in given.values()
    assert (given["PIP_USER"], given["PIP_INDEX_URL"], given["EXTRA"], given["PATH"]) == ("0", "kept", "1", os.environ["PATH"])


def test_the_stamp_changes_with_the_requirements_and_with_the_place(environment, monkeypatch, tmp_path):
    (tmp_path / "requirements").mkdir()
    requirements = tmp_path / "requirements/test.txt"
    requirements.write_text("one\n", "utf-8")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    base, packages = environment._wanted().splitlines()
    requirements.write_text("two\n", "utf-8")
    assert environment._wanted().splitlines()[0] == base
    assert environment._wanted().splitlines()[1] != packages
    monkeypatch.setattr(environment, "VENV", tmp_path / "elsewhere")
    assert environment._wanted().splitlines()[0] != base


def prepared(environment, monkeypatch, tmp_path, stamp, install=""):
    """Run `prepare` over an environment with this stamp, without really making or installing; gives what it did."""
    done = []
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.touch()
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "PYTHON", python)
    monkeypatch.setattr(environment, "STAMP", tmp_path / "venv/afl-stamp")
    if stamp is not None:
        environment.STAMP.write_text(stamp.replace("BASE", environment._wanted().splitlines()[0]), "utf-8")
    monkeypatch.setattr(environment, "_make", lambda: done.append("make"))
    monkeypatch.setattr(environment, "_install", lambda *arguments: done.append(arguments[-1]) or install)
    environment.prepare()
    return done


@pytest.mark.parametrize(
    ("stamp", "made"),
    [
        ("BASE\nother requirements\n", []),
        ("another Python\nother requirements\n", ["make"]),
        ("unfinished\n", ["make"]),
        (None, []),
    ],
    ids=["requirements changed", "python changed", "interrupted", "made by hand"],
)
def test_an_environment_is_made_anew_only_when_it_has_to_be(environment, monkeypatch, tmp_path, stamp, made):
    assert prepared(environment, monkeypatch, tmp_path, stamp) == [*made, "requirements/build.txt", "requirements/dev.txt"]
    assert environment.STAMP.read_text("utf-8") == environment._wanted()


def test_a_failed_install_ends_with_a_sentence_and_the_next_run_installs_again(environment, monkeypatch, tmp_path):
    with pytest.raises(SystemExit, match="no network"):
        prepared(environment, monkeypatch, tmp_path, "BASE\nold\n", install="no network")
    assert environment.STAMP.read_text("utf-8").splitlines()[1] == "incomplete"


def test_a_prepared_environment_is_left_alone(environment, monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "STAMP", tmp_path / "stamp")
    environment.STAMP.write_text(environment._wanted(), "utf-8")
    monkeypatch.setattr(environment, "locked", None)  # preparing anything would ask for the lock first
    environment.prepare()
    assert environment.STAMP.read_text("utf-8") == environment._wanted()


def test_a_second_run_waits_for_the_first_and_says_so(root, tmp_path):
    def holder(say, rest):
        code = (
            f"import sys; sys.path.insert(0, {str(root / 'tools')!r}); import environment, pathlib\n"
            f"with environment.locked(pathlib.Path({str(tmp_path / 'lock')!r}), {say!r}): print('held', flush=True); {rest}\n"
        )
        return subprocess.Popen([sys.executable, "-u", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    with holder("", "sys.stdin.read()") as first:
        assert first.stdout.readline() == b"held\n"
        with holder("waiting for the first", "pass") as second:
            assert second.stdout.readline() == b"waiting for the first\n"
            assert second.poll() is None
            first.stdin.close()
            assert second.stdout.readline() == b"held\n"


def test_without_npm_real_agents_are_left_out_with_a_word(hosts, capsys):
    assert hosts.install() == {}
    assert "npm is not installed" in capsys.readouterr().out


def test_real_agents_can_be_left_out_on_purpose(hosts, monkeypatch, tmp_path, capsys):
    npm(tmp_path, "echo called >&2; exit 9\n")
    monkeypatch.setenv("AFL_NO_REAL_HOSTS", "1")
    assert hosts.install() == {}
    assert "AFL_NO_REAL_HOSTS is set" in capsys.readouterr().out


def test_a_failing_npm_is_quoted_and_leaves_nothing_behind(hosts, tmp_path, capsys):
    npm(tmp_path, "echo 'no route to anywhere'; exit 7\n")
    assert hosts.install() == {}
    said = capsys.readouterr().out
    assert "npm ended with status 7" in said
    assert "no route to anywhere" in said
    assert not list((tmp_path / "cache").rglob("claude-*"))


INSTALLS = """
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/.bin"
for name in claude codex gemini; do
  printf '#!/bin/sh\\necho {version}\\n' > "$2/node_modules/.bin/$name"
  chmod +x "$2/node_modules/.bin/$name"
done
echo run >> "{log}"
"""


def test_an_agent_is_installed_once_outside_the_tree_and_its_path_is_exported(hosts, root, tmp_path):
    pins = json.loads((root / "requirements/hosts.json").read_text("utf-8"))
    npm(tmp_path, INSTALLS.format(version=" ".join(pin["version"] for pin in pins.values()), log=tmp_path / "log"))
    stale = tmp_path / "cache/agent-feedback-loop/hosts/claude-0.0.1.partial-killed"
    stale.mkdir(parents=True)
    first, second = hosts.install(), hosts.install()
    assert first == second
    places = {
        name: tmp_path / f"cache/agent-feedback-loop/hosts/{name}-{pin['version']}/node_modules/.bin/{name}" for name, pin in pins.items()
    }
    assert first == {f"AFL_{name.upper()}_BIN": str(place) for name, place in places.items()}
    assert (tmp_path / "log").read_text("utf-8") == "run\n" * len(pins)
    assert not stale.exists()


def test_an_agent_that_does_not_run_here_is_not_kept(hosts, tmp_path, capsys):
    npm(tmp_path, INSTALLS.format(version="0.0.0", log=tmp_path / "log"))
    assert hosts.install() == {}
    assert "--version says (status 0): 0.0.0" in capsys.readouterr().out
    assert not list((tmp_path / "cache").rglob("claude-*"))
