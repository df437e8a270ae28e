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
        said = seen if isinstance(seen, Said) else None
        begins = said is not None and said.speaker is Speaker.PERSON and not said.steering and said.rejects is None
        is_placed = is_placed or begins or (isinstance(seen, Said | ToolCalled) and seen.turn is not None)
        if not is_placed:
            continue
        if isinstance(seen, ToolCalled):
            calls.add(seen.call_id)
        has_agent = has_agent or begins or isinstance(seen, ToolCalled) or (said is not None and said.speaker is Speaker.AGENT)
        needs = seen.call_id if isinstance(seen, ToolReturned) else said.rejects if said else None
        if (needs is None or needs in calls) and (has_agent or not isinstance(seen, Cut)):
            found.append(seen)
    return found
