"""A third-party redactor that hangs or raises: it is named, nothing it could not judge is stored, and nothing is lost once it is gone."""

from __future__ import annotations

import signal

import pytest

from afl_core.plugins.isolation import QUARANTINE_MS

MODULE = """
from afl_core.spec.marker import hookimpl
from afl_core.spec.redactor import Redaction

AFL_API_VERSION = 1


class Third:
    name = "third"
    version = "1"

    def redact(self, text):
        {act}
        return Redaction(text, ())


@hookimpl
def afl_redactors():
    return [Third()]
"""
ACTS = {"fine": "pass", "raises": "raise ValueError('cannot judge')", "hangs": "import re; re.match('(a+)+b', 'a' * 60)"}


def put_plugin(product, act: str) -> None:
    """A distribution named third-redactor, as an installer leaves it, next to the jobs process only."""
    folder = product.home / "plugins"
    info = folder / "third_redactor-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: third-redactor\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[afl.plugins]\nthird = third_redactor\n", "utf-8")
    (folder / "third_redactor.py").write_text(MODULE.format(act=ACTS[act]), "utf-8")


def remove_plugin(product) -> None:
    (product.home / "plugins").rename(product.home / "plugins.gone")


def ledger(product) -> list[tuple[object, ...]]:
    return product.rows("SELECT plugin, call, failures, quarantined_until_ms IS NOT NULL FROM plugin_ledger ORDER BY 1, 2")


@pytest.fixture
def wary(product):
    product.set(afl_core__redaction__chain___SECONDS_PER_TEXT=0.3, afl_core__worker__jobs___RETRY_MS=[100, 200])
    return product


def finish(product, undisturbed) -> None:
    """The later session follows, and everything is as if there had been no plug-in."""
    expected = undisturbed("the correction and the card")
    product.until_reviewed()
    product.begin_later()
    assert product.ask_later()
    product.answer_later()
    product.until_calm()
    assert product.picture() == expected
    product.check_leftovers()


def test_one_that_hangs_is_ended_by_the_kernel_named_and_put_in_quarantine_and_capture_goes_on_without_it(wary, undisturbed):
    put_plugin(wary, "hangs")
    wary.replay("interrupted_text")
    wary.until(lambda: ledger(wary) == [("third", "redact", 3, 1)], "quarantine")
    assert wary.log().count(f"jobs ended with status -{signal.SIGALRM.value}") == 3
    wary.until(lambda: "is in quarantine after 3 failures in redact" in wary.log(), "its name in the log")
    [alive] = wary.until(lambda: wary.pids("jobs"), "a jobs process that stays")
    assert wary.one("SELECT count(*) FROM events") == 0  # fail closed: what was not judged is not indexed
    assert wary.one("SELECT count(*) FROM intake WHERE state = 'new'") == 3

    remove_plugin(wary)
    wary.kill("jobs", signal.SIGTERM)
    wary.until(lambda: wary.pids("jobs") not in ([], [alive]), "the next jobs process")
    finish(wary, undisturbed)


def test_one_that_raises_lets_nothing_in_and_nothing_is_lost(wary, undisturbed):
    put_plugin(wary, "raises")
    wary.replay("interrupted_text")
    wary.until(lambda: ledger(wary) and ledger(wary)[0][:2] == ("third", "redact"), "its failure")
    wary.until(lambda: "redactor 'third' failed, so the text was not kept" in wary.log(), "the reason in the log")
    assert wary.one("SELECT count(*) FROM events") == 0
    assert wary.one("SELECT count(*) FROM intake WHERE state = 'new'") == 3
    [jobs] = wary.pids("jobs")

    wary.until(lambda: ledger(wary) == [("third", "redact", 3, 1)], "quarantine")

    put_plugin(wary, "fine")
    wary.write("clock", str(QUARANTINE_MS))
    wary.kill("jobs", signal.SIGTERM)
    wary.until(lambda: wary.pids("jobs") not in ([], [jobs]), "the next jobs process")
    finish(wary, undisturbed)


def test_one_that_works_changes_nothing(wary, undisturbed):
    put_plugin(wary, "fine")
    wary.story()
    assert wary.picture() == undisturbed("the correction and the card")
    assert ledger(wary) == []
