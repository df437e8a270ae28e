"""When a lesson may become global: the rule alone, pure. `operations.PromoteLesson` applies it, and nothing else sets a lesson free of its project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from afl_core.model.lesson import LessonRow, Severity

MIN_LINEAGES = 2
MIN_INCIDENTS = 2


def missing(row: LessonRow, fields: Mapping[str, Any], independent: tuple[int, int]) -> tuple[str, ...]:
    """What keeps a lesson from becoming global, one sentence each; empty when nothing does.

    `fields`: of its grain. `independent`: distinct lineages and distinct incidents of its family; a project without a lineage never counts.
    """
    lineages, incidents = independent
    checks = (
        (row.severity is Severity.BLOCKER, f"its severity is {row.severity.value}, not Blocker"),
        (fields.get("responsibility") == "agent_fault", "it is not an agent's fault"),
        (row.generalizable, "its reviewer did not call it generalizable"),
        (fields.get("rule_action") == "propose_global_rule", "its reviewer did not propose a global rule"),
        (lineages >= MIN_LINEAGES, f"its family was seen in {lineages} independent code bases, {MIN_LINEAGES} are needed"),
        (incidents >= MIN_INCIDENTS, f"its family was seen in {incidents} incidents, {MIN_INCIDENTS} are needed"),
    )
    return tuple(sentence for holds, sentence in checks if not holds)
