"""Which Python the hooks, the front and the jobs run in, where their packages are, and the build id of what runs. Starts short children, changes nothing."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

import afl_core
from afl_core.model.errors import ProcessError, SetupError
from afl_core.plugins.discovery import Found
from afl_core.processes.environment import child_environment
from afl_core.processes.run import detail, run
from afl_core.store.migrate import MINIMUM_SQLITE

MINIMUM_PYTHON = (3, 11)
PROBE_SECONDS = 60.0
"""How long a child that only imports may take (a cold disk, a scanner)."""

PACKAGES = (
    "afl_core",
    "cryptography",
    "_cffi_backend",
    "attr",
    "cattrs",
    "pluggy",
    "importlib_metadata",
    "click",
    "filelock",
    "rich",
    "keyring",
)
"""Top-level modules whose places become SITE; those that are not installed are skipped."""

NEEDED = ("afl_core", "cryptography", "attr", "pluggy", "importlib_metadata")

NOT_BUILT_FROM = ("testing", "demo", "__pycache__")
"""Rooms that nothing of the running product imports: changing them is no new build."""

_PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe.py")

_TRY = """
import sys
sys.path.extend(sys.argv[1:])
import afl_core.store.connection
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
print("true")
"""
"""What hook and front need, imported as they import it: without the `site` module, which reads every `.pth` file there is."""


@attrs.frozen
class Runtime:
    """An interpreter that was tried: `python` is absolute and no shim; `site` is what `-S` leaves out of `sys.path`."""

    python: str
    site: tuple[str, ...]
    version: str
    sqlite: str
    magic: str
    cache_tag: str
    warnings: tuple[str, ...] = ()


def choose_runtime(python: str, found: Iterable[Found], environ: Mapping[str, str]) -> Runtime:
    """Try `python` as hooks will use it. Raises `SetupError` when it is no absolute interpreter, too old, or cannot import what is needed.

    Its links are not resolved: the place a package manager keeps pointing at the newest patch release outlives the place it points to.
    """
    warnings: list[str] = []
    if not os.path.isabs(python):
        raise SetupError(
            f"{python or 'the interpreter'} is not an absolute path", code="AFL-SETUP-021", hint="name the interpreter by its whole path"
        )
    names = (*PACKAGES, *sorted({one.module.partition(":")[0].partition(".")[0] for one in found}))
    distributions = sorted({one.distribution for one in found if one.distribution})
    is_script = _is_script(python)
    facts = _child(python, ["-I", _PROBE, json.dumps([names, distributions])], environ)
    if is_script:
        warnings.append(f"{python} is a script that picks a Python each time; hooks use what it picks now: {facts['executable']}")
        python = str(facts["executable"])
    if tuple(facts["numbers"]) < MINIMUM_PYTHON:
        version = ".".join(map(str, facts["numbers"]))
        raise SetupError(
            f"{python} is Python {version}; 3.11 or newer is needed", code="AFL-SETUP-022", hint="install the product with a newer Python"
        )
    if tuple(int(part) for part in facts["sqlite"].split(".")) < MINIMUM_SQLITE:
        raise SetupError(
            f"{python} has SQLite {facts['sqlite']}; 3.35 or newer is needed",
            code="AFL-SETUP-022",
            hint="use a Python built with a newer SQLite",
        )
    if wanting := [name for name in NEEDED if name in facts["missing"]]:
        hint = f"install the product with {python} -m pip, or name the Python it is installed in"
        raise SetupError(f"{python} cannot import {', '.join(wanting)}", code="AFL-SETUP-021", hint=hint)
    site = tuple(facts["site"])
    _child(python, ["-I", "-S", "-c", _TRY, *site], environ)
    if reason := looks_temporary(python, environ):
        warnings.append(
            f"{python} lies in {reason}; when it is removed, hooks do nothing until `afl install` is run again with another Python"
        )
    return Runtime(python, site, facts["version"], facts["sqlite"], facts["magic"], facts["tag"], tuple(warnings))


def looks_temporary(python: str, environ: Mapping[str, str]) -> str:
    """The directory that makes an interpreter look as if it will be gone tomorrow; '' when it looks settled."""
    home = environ.get("HOME", "")
    caches = [os.path.join(home, part) for part in (".cache", ".local/pipx/.cache", "Library/Caches")] if home else []
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders", *caches):  # noqa: S108 - named, not used
        if python.startswith(place.rstrip("/") + "/"):
            return place
    return ""


@functools.cache
def package_digest() -> str:
    """SHA-256 in hex over the files this process's package is made of, by relative path; read once, as the code itself was."""
    root = os.path.dirname(os.path.abspath(afl_core.__file__))
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in NOT_BUILT_FROM)
        for name in sorted(files):
            path = os.path.join(folder, name)
            with open(path, "rb") as handle:
                digest.update(
                    f"{os.path.relpath(path, root)}\0".encode("utf-8", "surrogateescape") + hashlib.sha256(handle.read()).digest()
                )
    return digest.hexdigest()


def build_of(runtime: Runtime, rendered: bytes, found: Iterable[Found]) -> str:
    """`<version>+<12 hex>`: changes with the Python, the places and contents of the code, the plug-ins and what is rendered for the hook."""
    plugins = sorted((one.name, one.distribution, one.version) for one in found)
    parts = json.dumps([runtime.version, runtime.python, runtime.site, package_digest(), plugins]).encode() + rendered
    return f"{afl_core.__version__}+{hashlib.sha256(parts).hexdigest()[:12]}"


def _is_script(python: str) -> bool:
    try:
        found = os.stat(python)
        if not stat.S_ISREG(found.st_mode) or not os.access(python, os.X_OK):
            raise SetupError(
                f"{python} is not a program that can be run", code="AFL-SETUP-021", hint="name the interpreter by its whole path"
            )
        with open(python, "rb") as handle:
            return handle.read(2) == b"#!"
    except OSError as bad:
        raise SetupError(
            f"{python} cannot be used: {bad.strerror}", code="AFL-SETUP-021", hint="name the interpreter by its whole path"
        ) from bad


def _child(python: str, arguments: list[str], environ: Mapping[str, str]) -> Any:
    try:
        result = run([python, *arguments], environment=child_environment(environ), cwd="/", deadline_seconds=PROBE_SECONDS)
    except ProcessError as bad:
        raise SetupError(f"{python} cannot be run: {bad.sentence}", code="AFL-SETUP-021", hint="name another interpreter") from bad
    try:
        return json.loads(result.stdout)
    except ValueError as bad:
        said = detail(result).rpartition("\n")[2] or f"exit status {result.returncode}"
        raise SetupError(
            f"{python} cannot run the product: {said}",
            code="AFL-SETUP-021",
            hint="install the product into that Python, or name another one",
        ) from bad
