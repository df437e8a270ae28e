"""A front that runs for days: house-keeping forgets keys that nothing needs, and what this front seals afterwards can be opened all the same."""

from __future__ import annotations

DAYS = 24 * 3_600_000


def test_what_a_front_of_many_days_seals_is_opened(product):
    product.warm()
    [front] = product.pids("front")
    product.write("clock", str(9 * DAYS))
    product.begin_later()
    product.ask_later()
    product.answer_later()
    product.until_calm()
    product.until(lambda: product.rows("SELECT 1 FROM status WHERE name = 'upkeep'"), "house-keeping")

    # Nothing but the hook ever sees these words, so they have to be opened.
    prompt = {**product.common("5e551011-0000-4000-8000-0000000000aa"), "hook_event_name": "UserPromptSubmit", "prompt_id": "t"}
    product.host.run_hooks({**prompt, "prompt": "only the hook saw this"})
    product.until(lambda: product.one("SELECT count(*) FROM events WHERE text = 'only the hook saw this'") == 1, "the event")
    assert product.pids("front") == [front]
    assert product.rows("SELECT body_json FROM status WHERE name = 'front_counts'") == []
