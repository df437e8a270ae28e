"""What the daemon imports while nothing waits, held by a list: it stays in memory for weeks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from afl_core.worker.daemon_start import is_served

ROOMS = {"model", "settings", "store", "worker"}
FORBIDDEN = {
    "attr", "attrs", "cattr", "cattrs", "pluggy", "click", "importlib.metadata", "importlib_metadata", "asyncio", "logging", "subprocess",
    "threading", "pathlib", "tempfile", "shutil", "argparse", "email", "urllib", "ssl", "inspect", "dataclasses", "site", "tomllib",
    "cryptography", "socket", "ast", "afl_core.processes", "afl_core.plugins", "afl_core.api",
}  # fmt: skip


def test_an_idle_daemon_imports_nothing_but_the_standard_library_and_the_stores_reading_half(rendered):
    now = time.time_ns() // 1_000_000
    for name in ("reconcile", "upkeep"):
        rendered.rows("INSERT INTO status VALUES (?, '{}', ?)", name, now)
    folder = rendered.home / "transcripts" / "project"
    folder.mkdir(parents=True)
    rendered.write_front_file(hosts={"fake": {"roots": [{"folder": str(folder.parent), "pattern": "*/*.jsonl"}]}})
    report = rendered.home / "imports"
    script = os.path.join(rendered.paths.hook_dir, "schedule.py")
    with open(report, "wb") as out:
        process = subprocess.Popen([sys.executable, "-I", "-S", "-X", "importtime", script], stderr=out, env=rendered.environment)
    rendered._children.append(process)
    rendered.wait(lambda: is_served(rendered.paths) and os.path.exists(rendered.paths.reconcile_log))
    before = os.stat(rendered.paths.reconcile_lock).st_mtime_ns
    process.send_signal(signal.SIGHUP)
    rendered.wait(lambda: os.stat(rendered.paths.reconcile_lock).st_mtime_ns != before)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0

    lines = [line for line in report.read_text("utf-8").splitlines() if line.startswith("import time:") and "imported package" not in line]
    found = {line.rpartition("|")[2].strip() for line in lines}
    assert {"afl_core.worker.daemon", "afl_core.worker.todo", "sqlite3"} <= found
    assert not found & FORBIDDEN
    assert {name.split(".")[1] for name in found if name.startswith("afl_core.")} <= ROOMS
    standard = set(sys.stdlib_module_names) | set(sys.builtin_module_names)
    assert {top for name in found if (top := name.partition(".")[0]) not in standard} <= {"afl_core", "constants"}
