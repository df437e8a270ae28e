"""The peer: installed from the package registry into an environment of its own, once, where this product's tools keep what they download."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PIN = "dejadb==1.2.0"
INSTALL_SECONDS = 300


class PeerError(Exception):
    """The peer cannot be had here; says why."""


def interpreter() -> str:
    """The interpreter of the peer's environment, which is made where it is missing. Raises `PeerError`."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    version = ".".join(map(str, sys.version_info[:2]))
    folder = cache / "agent-feedback-loop" / "peers" / f"{PIN.replace('==', '-')}-py{version}"
    try:
        if not _works(folder):
            _install(folder)
    except (OSError, subprocess.SubprocessError) as bad:
        raise PeerError(f"{PIN} cannot be had: {bad}") from bad
    return str(folder / "bin" / "python")


def _works(folder: pathlib.Path) -> bool:
    python = folder / "bin" / "python"
    return python.exists() and subprocess.run([str(python), "-I", "-c", "import dejadb"], check=False, timeout=60).returncode == 0


def _install(folder: pathlib.Path) -> None:
    """Beside the final place and renamed, so that a killed run leaves nothing that looks whole."""
    print(f"installing {PIN}, once, into {folder}", file=sys.stderr, flush=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = pathlib.Path(tempfile.mkdtemp(prefix=f"{folder.name}.partial-", dir=folder.parent))
    try:
        subprocess.run([sys.executable, "-I", "-m", "venv", str(partial)], check=True, timeout=INSTALL_SECONDS)
        pip = [str(partial / "bin" / "python"), "-I", "-m", "pip", "install", "--quiet", "--retries", "2", PIN]
        done = subprocess.run(pip, check=False, timeout=INSTALL_SECONDS, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise PeerError(f"{PIN} cannot be had: {(done.stderr.strip().splitlines() or ['pip failed'])[-1]}")
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
