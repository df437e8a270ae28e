"""One reconciling pass in a process of its own; prints what it took as JSON. `bench reconcile` starts it: what a process held at most is its own.

With `--timed` also what redaction took of it. Reading the clock twice for each text makes the pass slower, so the other figures are of another pass.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # not there under PYTHONSAFEPATH

from _processes import memory

from afl_core.api.home import Home
from afl_core.redaction.chain import Chain, Redacted
from afl_core.worker import reconcile
from afl_core.worker.heap import hold_loaded


class Timed:
    """Counts what redaction takes of the processor, and of how much text."""

    def __init__(self) -> None:
        self.seconds, self.calls, self.characters = 0.0, 0, 0
        whole: Callable[..., Redacted] = Chain.redact

        def redact(chain: Chain, text: str, blocked: Any = ()) -> Redacted:
            began = time.thread_time()
            try:
                return whole(chain, text, blocked)
            finally:
                self.seconds += time.thread_time() - began
                self.calls += 1
                self.characters += len(text)

        Chain.redact = redact  # type: ignore[method-assign]


def peak() -> float:
    """The most megabytes this program held. What `getrusage` says counts what the process was before it became this program."""
    held = memory(os.getpid())
    return held.peak if held else 0.0


def main(root: str, *, timed: Timed | None) -> None:
    with Home(root, {"HOME": root}) as home:
        home.chain.redact("nothing")
        hold_loaded(home)
        home.writer.register(home.db)
        before = home.db.execute("SELECT coalesce(max(rowid), 0) FROM events").fetchone()[0]
        if timed:
            timed.seconds, timed.calls, timed.characters = 0.0, 0, 0
        began, cpu = time.perf_counter(), time.process_time()
        body = reconcile.run(home, review=False, since_ms=0)
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        kept = home.db.execute("SELECT coalesce(sum(length(cast(text AS BLOB))), 0) FROM events WHERE rowid > ?", (before,)).fetchone()[0]
    print(
        json.dumps(
            {
                "wall_s": wall,
                "cpu_s": cpu,
                **({"redaction_s": timed.seconds, "redactions": timed.calls, "redacted_bytes": timed.characters} if timed else {}),
                "kept_bytes": kept,
                "peak_mb": peak(),
                **{
                    name: body.get(name)
                    for name in ("status", "filesScanned", "eventsCaptured", "duplicateEvents", "errors", "coverageGaps")
                },
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], timed=Timed() if "--timed" in sys.argv else None)
