"""The main job on three real CLIs in one home: a person corrects Codex, and the card reaches the model in later sessions of all three."""

from __future__ import annotations

import pytest

from afl_core.setup.doctor import doctor
from afl_core.spec.health import Health

pytestmark = pytest.mark.real_cli

HOSTS = ("codex", "claude", "gemini")


def test_a_correction_in_codex_becomes_a_card_in_all_three(installed):
    product = installed(*HOSTS)
    lesson = product.corrected("codex")
    assert product.signals() == [("interruption", "turn_cut")]  # the host keeps nothing of the answer it broke off
    assert [product.sides[name].api.requests for name in ("claude", "gemini")] == [[], []]
    for name in HOSTS:
        product.given_later(name, lesson)
    assert product.reconciled_sessions() == ["codex", *HOSTS]

    with product.open() as home:
        report = doctor(home, live=True)
    assert report.healthy, [line for line in report.lines if line.health is not Health.OK]
    body = report.as_json()
    assert {name: body["live"][name]["status"] for name in HOSTS} == dict.fromkeys(HOSTS, "healthy"), body["live"]
    assert {name: body["clis"][name]["runnable"] for name in HOSTS} == dict.fromkeys(HOSTS, True)
    assert product.leaked() == []
