"""The demo's reviewer: a script that answers as a model would, through the explicit command protocol. It reads the hand-off and cites from it; nothing is made up.

Run by the product as `python reviewer.py`, with the four `AFL_REVIEW_*` variables; prints one JSON receipt.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def answer(context: dict[str, Any]) -> dict[str, Any]:
    """A receipt for a hand-off: the first complaint that follows something the agent did."""
    events = context["events"]
    candidates = context["feedback_candidate_event_ids"]
    signals = {one["event_id"]: one for one in context.get("signals", [])}
    for event in events:
        if event["event_uid"] not in candidates or event["event_uid"] not in signals:
            continue
        referent_id = signals[event["event_uid"]]["referent_event_id"]
        referent = next(one for one in events if one["event_uid"] == referent_id)
        return _lesson(event, referent)
    return {
        "write_complete": True,
        "review_receipt_id": "demo-receipt",
        "report_content_id": "demo-report",
        "report_content": "The messages ask for work and criticise nothing that was done before them.",
        "status": "reviewed_no_lesson",
        "lessons": [],
        "minor_findings": [],
    }


def _lesson(complaint: dict[str, Any], referent: dict[str, Any]) -> dict[str, Any]:
    said, did = complaint["redacted_text"], referent["redacted_text"]
    return {
        "write_complete": True,
        "review_receipt_id": "demo-receipt",
        "report_content_id": "demo-report",
        "report_content": f"While the agent wrote “{did[:70].strip()}…” the person stopped it and said “{said}”. The agent had chosen the API without reading which one the project uses; the work had to start again.",
        "status": "reviewed",
        "lessons": [
            {
                "lesson_id": "api-choice-unchecked",
                "revision": 1,
                "base_revision": 0,
                "severity": "Major",
                "responsibility": "agent_fault",
                "confidence": "high",
                "causal_chain": [
                    "The person asked for a refactoring of a module.",
                    "The agent assumed that the old API was the right one.",
                    "It did not read how the rest of the project calls that API.",
                    "It began to rewrite the module on that assumption.",
                    "The person had to interrupt and correct it.",
                ],
                "method_class": "evidence-premise",
                "class_id": "api-choice-unchecked",
                "generalizable": True,
                "rule_action": "none",
                "evidence_refs": [
                    {
                        "feedback_event_id": complaint["event_uid"],
                        "feedback_quote": said,
                        "referent_event_ids": [referent["event_uid"]],
                        "referent_quote": did[:60],
                    }
                ],
                "scope": {"repository_lineage_id": None, "paths": [], "tools": [], "task_types": [], "signals": ["old API", "new API"]},
                "card": {
                    "when": "Refactoring or rewriting a module that calls an API with an old and a new form",
                    "must_do": "Use the new API; look up how the project already calls it before writing",
                    "must_not": "Do not use the old API because it seems right",
                    "verify": "Search the changed files for calls of the old API; there are none",
                    "why": "The person had to stop a rewrite that used the old API",
                    "exception": "The person asks for the old API by name",
                    "source_ids": [complaint["event_uid"]],
                    "verify_predicate": None,
                    "gate_predicate": None,
                },
                "decision_timeline": [],
                "counterfactual_checkpoint": None,
                "impact_scope": None,
                "stop_condition": None,
                "rollback_or_isolation": None,
                "global_promotion_evidence": [],
                "effectiveness": None,
            }
        ],
        "minor_findings": [],
    }


def main() -> int:
    """Read the hand-off named in the environment and print the receipt."""
    with open(os.environ["AFL_REVIEW_CONTEXT_FILE"], encoding="utf-8") as handle:
        context = json.load(handle)
    json.dump(answer(context), sys.stdout, ensure_ascii=False)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
