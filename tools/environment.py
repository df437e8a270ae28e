"""The virtual environment .venv-dev: made once, kept up to date, and the clean environment variables its programs run with.

Only the standard library: this runs before anything is installed.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-dev"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "afl-stamp"
"""Two lines: what the environment was made with and what was installed into it. `UNFINISHED` while either goes on."""
UNFINISHED = "unfinished\n"

DROPPED_NAMES = {"VIRTUAL_ENV", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV", "PIP_DRY_RUN"}
DROPPED_PREFIXES = ("PYTHON", "AFL_", "AGENT_FEEDBACK_LOOP_", "CLAUDE", "ANTHROPIC_", "CODEX_", "OPENAI_", "GEMINI_", "GOOGLE_")
"""What could lead the programs astray: another Python's settings, the person's own memory, and logins to real models."""
KEPT_NAMES = {"AFL_REQUIRE_REAL_CLI"}


def clean_environment(extra: Mapping[str, str] = {}) -> dict[str, str]:
    """The variables for a child: ours without what is dropped above, no user-site installs, and `extra`."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT_NAMES or not _dropped(name)}
    return {**kept, "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **extra}


def _dropped(name: str) -> bool:
    return name in DROPPED_NAMES or name.startswith(DROPPED_PREFIXES)


def run(arguments: list[str], extra: Mapping[str, str] = {}) -> int:
    """Run the environment's Python from the repository's root; gives the exit status. `-P`: the folder itself is not a place to import from."""
    return subprocess.run([str(PYTHON), "-P", *arguments], cwd=ROOT, env=clean_environment(extra), check=False).returncode


def prepare() -> None:
    """Make .venv-dev or bring it up to date; ends the program with a sentence when that cannot be done.

    A Python that changed, a folder that was moved and a half-made environment mean a new one; changed requirements are installed into
    the one that is there. An environment that somebody made by hand has no stamp and is only installed into.
    """
    if _stamp() == _wanted():
        return
    with locked(ROOT / ".venv-dev.lock", "another tools/dev.py is preparing .venv-dev; waiting for it"):
        if _stamp() == _wanted():
            return
        base, packages = _wanted().splitlines()
        made_with = _stamp().partition("\n")[0]
        if not PYTHON.exists() or made_with not in ("", base):
            _make()
        STAMP.write_text(UNFINISHED, encoding="utf-8")
        print("preparing .venv-dev", flush=True)
        failed = _install("-r", "requirements/build.txt") or _install("--no-build-isolation", "-r", "requirements/dev.txt")
        # pip that gives up leaves the environment as it was; only an interruption leaves it unfinished.
        STAMP.write_text(f"{base}\n{'incomplete' if failed else packages}\n", encoding="utf-8")
        if failed:
            sys.exit(failed)


def _stamp() -> str:
    try:
        return STAMP.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def _wanted() -> str:
    base = f"{sys.version} {VENV}".encode()
    packages = hashlib.sha256()
    for part in sorted([*ROOT.glob("afl_*/pyproject.toml"), *ROOT.glob("requirements/*.txt")]):
        packages.update(f"{part.relative_to(ROOT)}\0".encode() + part.read_bytes())
    return f"{hashlib.sha256(base).hexdigest()}\n{packages.hexdigest()}\n"


def _make() -> None:
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        sys.exit(f"{sys.executable} cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv")
    shutil.rmtree(VENV, ignore_errors=True)
    VENV.mkdir()
    STAMP.write_text(UNFINISHED, encoding="utf-8")
    # The base interpreter, because this program may itself run in the environment that was just removed.
    python = getattr(sys, "_base_executable", None) or sys.executable
    made = subprocess.run([python, "-I", "-m", "venv", str(VENV)], cwd=ROOT, env=clean_environment(), check=False)
    if made.returncode != 0:
        sys.exit(f"{python} could not make a virtual environment in {VENV} (its own words are above)")


def _install(*arguments: str) -> str:
    """Install into the environment; gives a sentence about what went wrong, empty when nothing did."""
    pip = [str(PYTHON), "-I", "-m", "pip", "install", "--quiet", "--retries", "2", *arguments]
    if subprocess.run(pip, cwd=ROOT, env=clean_environment(), check=False).returncode == 0:
        return ""
    return (
        f"pip could not install what {arguments[-1]} names (its own words are above). The first run, and one after these files changed, "
        "needs a network connection or a configured package index; then run the same command again."
    )


@contextlib.contextmanager
def locked(path: pathlib.Path, waiting: str) -> Iterator[None]:
    """Hold the lock file `path` alone; prints `waiting` once when another process has it. The lock ends with the process."""
    with path.open("a", encoding="utf-8") as file:
        told = False
        while not _try_lock(file.fileno()):
            if not told:
                print(waiting, flush=True)
                told = True
            time.sleep(0.2)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
