"""A prompt that a hook saw and that the transcript knows to be a machine's is never taken for a person's, however long it waits."""

from __future__ import annotations

GRACE_MS = 120_000


def test_a_hook_row_of_a_machines_text_never_becomes_an_event(world, tape):
    world.now = tape.start + 2_000
    ident = world.hook("prompt", "Run the tests before finishing.", turn=None)
    tape.person("finish").agent("Done.").record(
        "user", promptId="t1", promptSource="hook", message={"role": "user", "content": "Run the tests before finishing."}
    )
    world.absorb()
    world.now += GRACE_MS + 1
    world.absorb()

    assert world.messages() == [("user", "finish"), ("assistant", "Done.")]
    assert world.states() == {ident: "ignored"}
    assert world.db.execute("SELECT sealed FROM intake").fetchone()[0] is None


def test_of_two_rows_with_the_same_text_one_is_the_machines(world, tape):
    world.now = tape.start + 2_000
    world.hook("prompt", "again", turn=None)
    world.hook("prompt", "again", turn=None, at=world.now + 1)
    tape.record("user", promptId="t1", promptSource="hook", message={"role": "user", "content": "again"}).person("again")
    world.absorb()

    assert sorted(world.states().values()) == ["ignored", "joined"]
    assert world.messages() == [("user", "again")]
