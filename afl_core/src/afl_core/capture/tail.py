"""What can be understood of the end of a transcript without the part before it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from afl_core.model.observation import Compacted, Cut, Observation, Said, Speaker, ToolCalled, ToolReturned


def self_contained(observations: Sequence[Observation]) -> list[Observation]:
    """The observations that a reader of the whole file would understand in the same way.

    Left out, for `sync` to find: what stands before the first record that names its turn, results and rejections of calls that are not here,
    an interruption of a turn that began earlier and of which nothing is here, everything before the last compaction (its epoch is not known).
    """
    last = max((at for at, seen in enumerate(observations) if isinstance(seen, Compacted)), default=-1)
    found: list[Observation] = []
    calls: set[str] = set()
    is_placed = has_agent = False
    for seen in observations[last + 1 :]:
        is_person = isinstance(seen, Said) and seen.speaker is Speaker.PERSON
        begins = is_person and not (seen.steering or seen.rejects)  # type: ignore[union-attr]
        is_placed = is_placed or begins or (isinstance(seen, Said | ToolCalled) and seen.turn is not None)
        if isinstance(seen, ToolCalled):
            calls.add(seen.call_id)
        by_agent = isinstance(seen, ToolCalled) or (isinstance(seen, Said) and seen.speaker is Speaker.AGENT)
        has_agent = has_agent or begins or (is_placed and by_agent)
        needs = seen.call_id if isinstance(seen, ToolReturned) else seen.rejects if isinstance(seen, Said) else None
        if not is_placed or (needs is not None and needs not in calls) or (isinstance(seen, Cut) and not has_agent):
            continue
        found.append(seen)
    return found
