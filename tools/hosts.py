"""The real coding agents that the tests drive: installed from npm at a pinned version, outside the tree, once.

Nothing here fails the run: what cannot be installed is named with the reason, and the tests that need it are skipped and counted.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import environment

PINS = environment.ROOT / "requirements/hosts.json"
INSTALL_SECONDS = 900
VERSION_SECONDS = 60


def install() -> dict[str, str]:
    """Install what is missing; gives `AFL_<HOST>_BIN` -> path of its command for each host that is there."""
    if os.environ.get("AFL_NO_REAL_HOSTS"):
        return _told("AFL_NO_REAL_HOSTS is set: their tests are skipped")
    npm = shutil.which("npm")
    if npm is None:
        return _told("npm is not installed: their tests are skipped")
    found = {}
    for name, pin in json.loads(PINS.read_text(encoding="utf-8")).items():
        command = _command(_folder(name, pin), pin)
        problem = None if command.exists() else _install(npm, name, pin)
        if problem is None:
            print(f"{name} {pin['version']}: {command}", flush=True)
            found[f"AFL_{name.upper()}_BIN"] = str(command)
        else:
            print(f"{name} {pin['version']} could not be installed, its tests are skipped: {problem}", flush=True)
    return found


def _told(sentence: str) -> dict[str, str]:
    print(sentence, flush=True)
    return {}


def _folder(name: str, pin: dict[str, str]) -> pathlib.Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(cache) / "agent-feedback-loop" / "hosts" / f"{name}-{pin['version']}"


def _command(folder: pathlib.Path, pin: dict[str, str]) -> pathlib.Path:
    return folder / "node_modules" / ".bin" / pin["command"]


def _install(npm: str, name: str, pin: dict[str, str]) -> str | None:
    """Install into a folder beside the final one and rename it, so that a killed run leaves nothing that looks whole; gives the problem."""
    folder = _folder(name, pin)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with environment.locked(folder.parent / f"{name}.lock", f"another run is installing {name}; waiting for it"):
            if _command(folder, pin).exists():
                return None
            for stale in folder.parent.glob(f"{name}-*.partial-*"):
                shutil.rmtree(stale)
            print(f"installing {name} {pin['version']} from npm, once (about {pin['megabytes']} MB in {folder.parent})", flush=True)
            partial = pathlib.Path(tempfile.mkdtemp(prefix=f"{folder.name}.partial-", dir=folder.parent))
            try:
                problem = _fetch(npm, partial, pin) or _try(partial, pin)
                if problem is None:
                    shutil.rmtree(folder, ignore_errors=True)
                    partial.rename(folder)
                return problem
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    except (OSError, subprocess.SubprocessError) as bad:
        return str(bad)


def _fetch(npm: str, partial: pathlib.Path, pin: dict[str, str]) -> str | None:
    # The program itself is an optional dependency, one a platform: a person's own `omit=optional` must not leave it out.
    options = ["--no-audit", "--no-fund", "--loglevel=error", "--include=optional", "--prefix", str(partial)]
    done = subprocess.run(
        [npm, "install", *options, f"{pin['package']}@{pin['version']}"],
        cwd=partial,
        env=environment.clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=INSTALL_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        return f"npm ended with status {done.returncode}\n{done.stdout.strip()[-2000:]}"
    return None


def _try(partial: pathlib.Path, pin: dict[str, str]) -> str | None:
    """Ask it for its version, in a home of its own: a package may be there and still not run on this machine."""
    home = partial / "home"
    home.mkdir()
    done = subprocess.run(
        [str(_command(partial, pin)), "--version"],
        cwd=home,
        env=environment.clean_environment({"HOME": str(home)}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=VERSION_SECONDS,
        check=False,
    )
    shutil.rmtree(home)
    if done.returncode != 0 or pin["version"] not in done.stdout:
        return f"its --version says (status {done.returncode}): {done.stdout.strip()[-500:]}"
    return None
