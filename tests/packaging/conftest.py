"""Building and installing the distributions from here, without a network and without the person's pip settings."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parents[2]
DISTRIBUTIONS = ("afl_core", "afl_redactors", "afl_providers_claude", "afl_providers_codex", "afl_providers_gemini")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def projects() -> dict[str, dict[str, Any]]:
    """Folder -> its parsed pyproject.toml."""
    return {name: tomllib.loads((ROOT / name / "pyproject.toml").read_text("utf-8")) for name in DISTRIBUTIONS}


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a command to its end in a home of its own; `status` is what it must end with. Gives the completed process, output joined."""
    home = tmp_path_factory.mktemp("home")

    def run(*command: object, status: int = 0, cwd: pathlib.Path = ROOT, **extra: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "HOME": str(home),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_NO_CACHE_DIR": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            **extra,
        }
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=240,
        )
        assert done.returncode == status, f"{command} ended with {done.returncode}:\n{done.stdout}"
        return done

    return run


@pytest.fixture(scope="module")
def fresh_venv(tmp_path_factory: pytest.TempPathFactory, run: Run) -> pathlib.Path:
    """The Python of a new virtual environment that sees every third-party package of this one, but nothing of ours."""
    folder = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    others = folder / "others"
    others.mkdir()
    for entry in pathlib.Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.lstrip("_").lower().startswith(("afl", "editable__", "pip")):
            (others / entry.name).symlink_to(entry)
    python = folder / "venv/bin/python"
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
    pathlib.Path(site, "third_party.pth").write_text(f"{others}\n", "utf-8")
    return python


@pytest.fixture(scope="module")
def installed(fresh_venv: pathlib.Path, run: Run) -> pathlib.Path:
    """The Python of a virtual environment into which the README's install line was run."""
    folders = [f"./{name}" for name in DISTRIBUTIONS]
    run(sys.executable, "-m", "pip", "--python", fresh_venv, "install", "--quiet", "--no-build-isolation", *folders)
    return fresh_venv
