"""Three sessions at once while front and jobs die at random moments: what is left is what three undisturbed sessions leave."""

from __future__ import annotations

import random
import threading
import time

CASES = ("interrupted_text", "steering", "denied_feedback")
SECONDS = 12.0


def told_by(product) -> None:
    for case, host in zip(CASES, product.hosts, strict=True):
        product.replay(case, host)
    product.until(lambda: product.one("SELECT count(*) FROM reviews WHERE status = 'completed'") == len(CASES), "three reviews")
    product.until_calm()


def slowly(product, case, host, failures, pauses) -> None:
    try:
        for moment in product.moments(case, host):
            host.run_hooks(moment.payload)
            time.sleep(pauses.uniform(0.2, 1.2))
    except Exception as bad:  # noqa: BLE001 - shown by the test
        failures.append(bad)


def test_random_kills_while_three_sessions_run_change_nothing(make, undisturbed):
    expected = undisturbed("three sessions", told_by, projects=3)
    product = make(projects=3)
    product.settings(**product.wishes, review_max_attempts=20)
    product.warm()
    dice, failures = random.Random(20240229), []
    sessions = [
        threading.Thread(target=slowly, args=(product, case, host, failures, random.Random(number)))
        for number, (case, host) in enumerate(zip(CASES, product.hosts, strict=True))
    ]
    for session in sessions:
        session.start()
    end, killed = time.monotonic() + SECONDS, 0
    while time.monotonic() < end and (killed < 12 or any(session.is_alive() for session in sessions)):
        time.sleep(dice.uniform(0.1, 0.8))
        killed += product.kill(dice.choice(("front", "jobs", "jobs")))
    for session in sessions:
        session.join()
    assert failures == []
    assert killed >= 5

    product.begin_later()
    product.until(lambda: product.reconciles_cleanly() and product.is_calm(), "calm by reconcile")
    made = product.picture()
    assert len(made["reports"]) == len(CASES)
    assert made == expected
    product.check_leftovers()
