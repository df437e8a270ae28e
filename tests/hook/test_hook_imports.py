"""What hook and front import, held by a list: each module more is paid by every prompt."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys

HOOK = {"client", "constants", "_signal", "_socket", "time", "posix"}
SEALING = {"seal", "wake", "counts"}

# Heavy, or the way into a plug-in world; none of it is needed to answer a prompt.
FORBIDDEN = {
    "attr", "attrs", "cattr", "cattrs", "pluggy", "click", "importlib.metadata", "importlib_metadata", "asyncio", "logging", "subprocess",
    "threading", "pathlib", "tempfile", "shutil", "argparse", "email", "urllib", "ssl", "inspect", "dataclasses", "site", "tomllib",
    "cryptography.hazmat.primitives.ciphers.aead", "cryptography.hazmat.primitives.asymmetric.x25519", "cryptography.fernet",
}  # fmt: skip

FRONT_ROOMS = {"model", "settings", "store", "capture", "lessons", "vault", "worker"}


def imported(report: str) -> set[str]:
    return {
        line.rpartition("|")[2].strip()
        for line in report.splitlines()
        if line.startswith("import time:") and "imported package" not in line
    }


def run(arguments: list[str], payload: bytes, environment: dict[str, str]) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", *arguments], input=payload, capture_output=True, env=environment, timeout=60
    )
    assert done.returncode == 0
    return imported(done.stderr.decode())


def test_a_hook_that_is_answered_imports_built_in_modules_only(rendered):
    rendered.start_front()
    found = run([rendered.paths.hook, "claude", "UserPromptSubmit"], b'{"session_id": "s"}', rendered.environment)
    assert found - run(["-c", "pass"], b"", rendered.environment) <= HOOK
    assert "client" in found


def test_a_hook_that_seals_adds_the_light_half_of_cryptography_only(rendered):
    pathlib.Path(rendered.paths.spool_key).write_bytes(os.urandom(40))
    pathlib.Path(rendered.paths.run, "woken").touch()
    found = run([rendered.paths.hook, "claude", "Stop"], b'{"session_id": "s"}', rendered.environment)
    extra = found - run(["-c", "pass"], b"", rendered.environment) - HOOK - SEALING
    assert len(rendered.spooled()) == 1
    assert not extra & FORBIDDEN
    assert {name.partition(".")[0] for name in extra} <= {"cryptography", "__future__", "_openssl", "_cffi_backend", "types"}


def test_the_front_imports_nothing_of_the_plug_in_world_whatever_it_is_asked(rendered):
    pathlib.Path(rendered.paths.spool_key).write_bytes(os.urandom(40))
    pathlib.Path(rendered.paths.run, "woken").touch()
    rendered.fire("Stop", {"session_id": "s0", "last_assistant_message": "waits"})
    rendered.add_card("l1", "CARD ONE")
    report = rendered.home / "imports"
    worker = os.path.join(rendered.paths.hook_dir, "worker.py")
    with open(report, "wb") as out:
        process = subprocess.Popen([sys.executable, "-I", "-S", "-X", "importtime", worker], stderr=out, env=rendered.environment)
    rendered._children.append(process)
    rendered.wait(rendered.health)
    rendered.wait(lambda: not rendered.spooled())
    assert b"CARD ONE" in rendered.prompt("one")
    rendered.fire("SessionStart", {"session_id": "s1", "source": "compact"})
    rendered.fire("UserPromptSubmit", b"x" * 2_000_000)
    rendered.kill_fronts(signal.SIGTERM)

    found = imported(report.read_text("utf-8"))
    assert {"afl_core.worker.turn", "afl_core.lessons.selection", "sqlite3"} <= found
    assert not found & FORBIDDEN
    assert {name.split(".")[1] for name in found if name.startswith("afl_core.")} <= FRONT_ROOMS
    standard = set(sys.stdlib_module_names) | set(sys.builtin_module_names)
    assert {top for name in found if (top := name.partition(".")[0]) not in standard} <= {
        "afl_core",
        "constants",
        "cryptography",
        "_openssl",
        "_cffi_backend",
    }
