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
    today = now // DAY_MS
    since = today + 1 - min(max(days, 0), today + 1)
    with telemetry.reading() as db:
        samples, overflows = rows.budgets(db, since)
        access, asked = rows.accessed(db, since, ns), rows.asked(db, since, ns)
    return {
        "mode": telemetry.mode,
        "access": [
            {"hash": telemetry.address(name, sealed), "recall_count": count, "last_ms": last} for name, sealed, count, last in access
        ],
        "queries": [
            {"sample": telemetry.question(sample), "run_count": runs, "empty_count": empty, "sum_results": results, "last_ms": last}
            for _key, sample, runs, empty, results, last in asked
        ],
        "budget": {"sample_count": samples, "overflow_count": overflows},
    }
