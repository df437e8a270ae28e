"""What a minute in which nothing waits costs: a look of the reconcile daemon, beside a bare interpreter, a hook and a full pass of the same run.

    python3 tools/dev.py bench schedule [--rounds 20] [--looks 200] [--sessions 400] [--json]

Installs into a temporary home, fills it with sessions that were read to their end, and asks the daemon to look again and again. Judges nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # not there under PYTHONSAFEPATH

from _home import PATIENCE_S, BenchHome
from _processes import Cost, memory, timed

from afl_core.store import status
from afl_core.store.connection import connect, writing

PROJECTS = 40


def fill(home: BenchHome, sessions: int) -> None:
    """Sessions with transcripts that were read to their end, in a host's directory that the daemon looks at."""
    root = home.root / "transcripts"
    now = time.time_ns() // 1_000_000
    db = connect(home.paths.database)
    with writing(db):
        for number in range(sessions):
            path = root / f"project-{number % PROJECTS}" / f"{number}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b'{"type": "user"}\n')
            seen = path.stat()
            db.execute(
                "INSERT INTO sessions (session_id, host, native_id, project_id, cwd, transcript_path, started_ms, seen_ms) VALUES (?, 'claude', ?, 'p', '/', ?, ?, ?)",
                (f"claude:{number}", str(number), str(path), now, now),
            )
            db.execute(
                "INSERT INTO cursors (path, host, session_id, device, inode, generation, offset, state_json, version, updated_ms)"
                " VALUES (?, 'claude', ?, ?, ?, 1, ?, '{\"adapter\": {}, \"thread\": {}}', 1, ?)",
                (str(path), f"claude:{number}", seen.st_dev, seen.st_ino, seen.st_size, now),
            )
        for name in ("reconcile", "upkeep"):
            status.put(db, name, {"status": "completed"}, now)
    db.close()
    front = pathlib.Path(home.paths.front_file)
    body = json.loads(front.read_text("utf-8"))
    body["hosts"]["claude"]["roots"] = [{"folder": str(root), "pattern": "*/*.jsonl"}]
    front.write_text(json.dumps(body), "utf-8")


def cpu_ms(pid: int) -> float:
    """Processor time of a process so far, to the microsecond."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text("ascii").split()[0]) / 1e6


def until(come_true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not come_true():
        if time.monotonic() > end:
            raise SystemExit("the daemon did not look")
        time.sleep(0.001)


def looks(home: BenchHome, count: int) -> dict[str, float]:
    """Medians over `count` looks of one daemon that finds nothing to do."""
    lock = home.paths.reconcile_lock
    script = os.path.join(home.paths.hook_dir, "schedule.py")
    process = subprocess.Popen([sys.executable, "-I", "-S", script], env=home.environ)
    try:
        until(lambda: os.path.exists(lock) and os.stat(lock).st_size)
        time.sleep(1.0)
        found = []
        for _ in range(count):
            spent, looked = cpu_ms(process.pid), os.stat(lock).st_mtime_ns
            process.send_signal(signal.SIGHUP)
            until(lambda looked=looked: os.stat(lock).st_mtime_ns != looked)  # type: ignore[misc]
            time.sleep(0.01)
            found.append(cpu_ms(process.pid) - spent)
        held = memory(process.pid)
        if pathlib.Path(home.paths.reconcile_log).read_text("utf-8").count(" pass "):
            raise SystemExit("something waited: these were no idle looks")
    finally:
        process.terminate()
        process.wait()
    return {"cpu": statistics.median(found), "cpu_95": sorted(found)[int(len(found) * 0.95)], "mb": held.now if held else 0.0}


def measured(home: BenchHome, rounds: int, count: int) -> dict[str, Any]:
    look = looks(home, count)
    home.warm_up()
    home.fire("Stop")
    time.sleep(3.0)
    bare: list[Cost] = []
    hook: list[Cost] = []
    reconcile = [sys.executable, "-I", "-m", "afl_core.cli.main", "--home", str(home.root), "--json", "reconcile"]
    for _ in range(rounds):
        bare.append(timed([sys.executable, "-I", "-S", "-c", "pass"], home.environ))
        hook.append(home.fire("Stop"))
    home.stop()
    passes = [timed(reconcile, home.environ) for _ in range(max(3, rounds // 4))]
    floor, stub, whole = (statistics.median(one.cpu for one in side) for side in (bare, hook, passes))
    costs = {"bare interpreter (-I -S -c pass)": floor, "hook, answered": stub, "daemon, idle look": look["cpu"], "full pass": whole}
    return {
        "cpu_ms": costs,
        "x_bare": {name: cost / floor for name, cost in costs.items()},
        "x_hook": {name: cost / stub for name, cost in costs.items()},
        "look_cpu_ms_95": look["cpu_95"],
        "daemon_mb": look["mb"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help="runs of the interpreter and of the hook")
    parser.add_argument("--looks", type=int, default=200, help="looks of the daemon")
    parser.add_argument("--sessions", type=int, default=400, help="sessions the store knows")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="afl-bench-") as name:
        home = BenchHome(pathlib.Path(name))
        try:
            fill(home, options.sessions)
            result = measured(home, options.rounds, options.looks)
        finally:
            home.stop()
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    print(f"{'':<34}{'cpu ms':>9}{'x bare':>9}{'x hook':>9}")
    for label, cost in result["cpu_ms"].items():
        print(f"{label:<34}{cost:>9.2f}{result['x_bare'][label]:>9.2f}{result['x_hook'][label]:>9.2f}")
    print(f"95 of 100 looks cost at most {result['look_cpu_ms_95']:.2f} ms; the daemon holds {result['daemon_mb']:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
