"""Memories that things happen to, and what a person would see of one."""

from __future__ import annotations

import contextlib
import json

from hypothesis import strategies as st

from afl_core.api.memory import Memory
from afl_core.model.errors import AflError

NOW = 1_767_225_600_000
SUBJECTS, RELATIONS, OBJECTS = ("acme", "pat"), ("is", "likes"), ("tea", "coffee", "eu west", "日本の茶")


class Clock:
    """A clock that goes on a little with every look."""

    def __init__(self, at=NOW):
        self.at = at

    def __call__(self):
        self.at += 7
        return self.at


def opened(path, at=NOW, **more):
    return Memory(path, clock=Clock(at), telemetry="off", **more)


STEP = st.tuples(
    st.sampled_from(
        ("fact", "fact", "fact", "supersede", "supersede", "link", "retract", "again", "forget", "merge", "undo", "tool", "event")
    ),
    st.integers(0, 11),
    st.integers(0, 11),
)
STEPS = st.lists(STEP, max_size=14)


def happen(memory, steps):
    """Let things happen; what cannot is left out."""
    for step in steps:
        with contextlib.suppress(AflError):
            _happen(memory, *step)


def _happen(memory, kind, one, other):
    subject, relation, said = SUBJECTS[one % 2], RELATIONS[other % 2], OBJECTS[(one + other) % 4]
    if kind == "fact":
        memory.add("fact", subject=subject, relation=relation, object=said)
    elif kind == "tool":
        memory.record_tool_call("bash", f"failed {said}", one % 2 == 0, call_id=f"c{one}{other}", thread=None if other % 2 else "s")
    elif kind == "event":
        memory.add("event", content=f"{said} was said")
    elif kind == "merge":
        memory.merge_heads(subject, relation, said)
    else:
        _to_one(memory, kind, known(memory), one, other, said)


def _to_one(memory, kind, there, one, other, said):
    if not there:
        return
    chosen, second = there[one % len(there)], there[other % len(there)]
    if kind == "supersede":
        memory.supersede(chosen, **({"object": said} if memory.get(chosen)["type"] == "fact" else {"content": said}))
    elif kind == "link":
        memory.supersede_by(chosen, second)
    elif kind == "retract":
        memory.retract(chosen)
    elif kind == "again":
        told = memory.get(chosen)
        memory.add(told["type"], told["fields"])
    elif kind == "forget":
        memory.forget(chosen)
    elif kind == "undo":
        memory.undo(chosen)


def known(memory):
    """The addresses of everything that is there, in order."""
    return [row[0] for row in memory._files.reader().execute("SELECT hash FROM grains ORDER BY hash")]


def heads(memory):
    """Every thing's heads."""
    found = {}
    for row in memory._files.reader().execute("SELECT ns, subject, relation, hash FROM grains WHERE head > 0"):
        found.setdefault(tuple(row)[:3], set()).add(row[3])
    return found


def live(memory):
    """Whether each grain is live."""
    return dict(memory._files.reader().execute("SELECT hash, superseded_by IS NULL FROM grains").fetchall())


def seen(memory, at=NOW + 1_000_000):
    """What a person sees: recall, latest, history, heads, forks and search."""
    clock, memory._clock = memory._clock, lambda: at
    try:
        keys = [(subject, relation) for subject in SUBJECTS for relation in RELATIONS]
        return json.loads(
            json.dumps(
                {
                    "recall": {f"{s} {r}": sorted((one["hash"], one["score"]) for one in memory.recall(s, r)) for s, r in keys},
                    "tools": sorted(one["hash"] for one in memory.recall(tool_name="bash")),
                    "latest": {f"{s} {r}": memory.latest(s, r) for s, r in keys},
                    "history": {f"{s} {r}": memory.history(s, r) for s, r in keys},
                    "heads": sorted((*key, sorted(tips)) for key, tips in heads(memory).items()),
                    "places": sorted(map(tuple, memory._files.reader().execute("SELECT hash, coalesce(superseded_by, '') FROM grains"))),
                    "search": {word: sorted(one["hash"] for one in memory.search(word)) for word in ("tea", "日本", "failed", "west")},
                }
            )
        )
    finally:
        memory._clock = clock
