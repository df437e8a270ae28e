"""The hook's files as they shall stand in the pack: copied, one of them rendered, and compiled for the Python that will run them."""

from __future__ import annotations

import importlib.util
import marshal
import os

import afl_core
from afl_core.model.errors import SetupError
from afl_core.processes.run import detail, run
from afl_core.settings.paths import Paths
from afl_core.setup.pack_files import PackFile, look
from afl_core.setup.runtime import PROBE_SECONDS, Runtime

CONSTANTS = "constants.py"
SCRIPT = "hook.py"

_CHECKED_HASH = 0b11
"""Flags of a compiled file that is compared with the hash of its source at every import (PEP 552).

The usual comparison by time and size is blind to two installs within one second: the build id always has the same length.
"""

_COMPILE = """
import importlib.util, marshal, sys
source = sys.stdin.buffer.read()
code = compile(source, sys.argv[1], "exec", dont_inherit=True)
sys.stdout.buffer.write(importlib.util.MAGIC_NUMBER + (3).to_bytes(4, "little") + importlib.util.source_hash(source) + marshal.dumps(code))
"""


def shipped_names() -> list[str]:
    """The hook's files in the order in which they are put in place.

    Values first, the files that use them next, the script hosts start last. A hook that starts in the middle of the swap reads whole files only
    and mixes two builds at worst: constants only grow, a file that does not fit its neighbours raises, and the guard of the command turns that
    into silence; what was said is then taken from the transcript. A whole new directory could not take the old one's place in one step.
    """
    folder = _source_folder()
    names = sorted(name for name in os.listdir(folder) if name.endswith(".py") and name != "__init__.py")
    if CONSTANTS not in names or SCRIPT not in names:
        raise SetupError(f"the hook's files are missing from {folder}", code="AFL-SETUP-024", hint="install the package afl-core again")
    last = ("client.py", SCRIPT)
    return [CONSTANTS, *(name for name in names if name not in (CONSTANTS, *last)), *(name for name in last if name in names)]


def hook_files(paths: Paths, runtime: Runtime, constants: bytes) -> list[PackFile]:
    """Every file of the hook folder as it shall be, compiled forms included, in order."""
    files = []
    for name in shipped_names():
        path = os.path.join(paths.hook_dir, name)
        source = constants if name == CONSTANTS else _read(name)
        files.append(PackFile(path, source, ""))
        if name != SCRIPT:  # a script is never read from a compiled form
            files.append(PackFile(*_compiled(path, source, runtime), ""))
    return files


def silent_constants(paths: Paths) -> PackFile:
    """The values of a home that is no home: a host session that still runs keeps calling the hook, which then answers with the no-op."""
    return PackFile(os.path.join(paths.hook_dir, CONSTANTS), _read(CONSTANTS), "")


def _compiled(path: str, source: bytes, runtime: Runtime) -> tuple[str, bytes]:
    """Place and bytes of the compiled form. One that fits its source is kept: compiling twice need not give the same bytes."""
    folder, name = os.path.split(path)
    place = os.path.join(folder, "__pycache__", f"{name.removesuffix('.py')}.{runtime.cache_tag}.pyc")
    head = bytes.fromhex(runtime.magic) + _CHECKED_HASH.to_bytes(4, "little") + importlib.util.source_hash(source)
    there = look(place)
    if there is not None and there.startswith(head) and len(there) > len(head):
        return place, there
    if runtime.magic == importlib.util.MAGIC_NUMBER.hex():
        return place, head + marshal.dumps(compile(source, path, "exec", dont_inherit=True))
    result = run([runtime.python, "-I", "-S", "-c", _COMPILE, path], environment={}, cwd="/", deadline_seconds=PROBE_SECONDS, stdin=source)
    if result.returncode != 0 or not result.stdout.startswith(head):
        raise SetupError(
            f"{runtime.python} cannot compile {path}: {detail(result).rpartition(chr(10))[2]}",
            code="AFL-SETUP-024",
            hint="run: afl install with another Python",
        )
    return place, result.stdout


def _source_folder() -> str:
    return os.path.join(os.path.dirname(os.path.abspath(afl_core.__file__)), "hook")


def _read(name: str) -> bytes:
    with open(os.path.join(_source_folder(), name), "rb") as handle:
        return handle.read()
