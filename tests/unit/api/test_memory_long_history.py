"""What a thing has of a history costs what is done with it now nothing. Counted in SQLite's instructions, not in time."""

from __future__ import annotations


def steps(memory, call):
    """What SQLite did for a call, in hundreds of its instructions."""
    db, done = memory._files.reader(), []
    db.set_progress_handler(lambda: done.append(1), 100)
    try:
        call()
    finally:
        db.set_progress_handler(None, 0)
    return len(done)


def test_a_long_history_costs_what_takes_its_place_nothing(opens):
    memory = opens(telemetry="off", index_text=False)
    last = [memory.add_fact("acme", "tier", "v0")]
    calls = {
        "supersede": lambda: last.append(memory.supersede(last[-1], object=f"v{len(last)}")),
        "latest": lambda: memory.latest("acme", "tier"),
        "add": lambda: memory.add_fact("acme", "tier", f"a{len(last)}"),
    }
    few = {name: steps(memory, call) for name, call in calls.items()}
    while len(last) < 1_500:
        last.append(memory.supersede(last[-1], object=f"v{len(last)}"))
    many = {name: steps(memory, call) for name, call in calls.items()}
    for name in calls:
        assert many[name] <= 2 * few[name] + 4, (name, few, many)
    assert memory.verify()["ok"]
