"""What telemetry tells: read from the sidecar, for a person, an analyzer or a report."""

from __future__ import annotations

from typing import Any

from afl_core.memory.telemetry import Telemetry
from afl_core.model.clock import DAY_MS
from afl_core.store import telemetry as rows


def view(telemetry: Telemetry, now: int, days: int, ns: str | None) -> dict[str, Any]:
    """Access of grains, questions asked and budget samples of the last days; all empty where telemetry is off."""
    if telemetry.mode == "off":
        return {"mode": "off", "access": [], "queries": [], "budget": {"sample_count": 0, "overflow_count": 0}}
    db, since = telemetry.read(), now // DAY_MS - days + 1
    samples, overflows = rows.budgets(db, since)
    return {
        "mode": telemetry.mode,
        "access": [{"hash": hash, "recall_count": count, "last_ms": last} for hash, count, last in rows.accessed(db, since, ns)],
        "queries": [
            {"sample": sample, "run_count": runs, "empty_count": empty, "sum_results": results, "last_ms": last}
            for sample, runs, empty, results, last in rows.asked(db, since, ns)
        ],
        "budget": {"sample_count": samples, "overflow_count": overflows},
    }
