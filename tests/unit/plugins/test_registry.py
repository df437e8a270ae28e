"""Plug-ins are called one at a time: a broken one is named, counted and left out, and the others never notice."""

from __future__ import annotations

import pathlib
import sys
import textwrap
from collections.abc import Iterator

import pytest

from afl_core.model.errors import PluginError
from afl_core.plugins import discovery
from afl_core.plugins.discovery import Found, discover, read_entry_points
from afl_core.plugins.isolation import FAILURES_TO_QUARANTINE, QUARANTINE_MS, Guard, MemoryLedger
from afl_core.plugins.registry import Registry
from afl_core.spec.redactor import Redaction

GOOD = """
    from afl_core.spec.marker import hookimpl
    AFL_API_VERSION = 1
    class Upper:
        name = {name!r}; version = "1"
        def redact(self, text): raise NotImplementedError
    @hookimpl
    def afl_redactors(): return [Upper()]
    @hookimpl
    def afl_event_captured(event): seen.append(event)
    seen = []
"""


@pytest.fixture
def modules(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def _plugin(folder: pathlib.Path, name: str, source: str) -> Found:
    (folder / f"plug_{name}.py").write_text(textwrap.dedent(source))
    return Found(name=name, module=f"plug_{name}", distribution=f"dist-{name}", version="1.0")


def test_the_installed_distributions_are_found_by_their_entry_points() -> None:
    assert {"core", "claude", "redactors"} <= {found.name for found in read_entry_points()}


def test_one_plugin_that_cannot_be_imported_does_not_keep_the_others_from_loading(modules: pathlib.Path) -> None:
    found = [
        _plugin(modules, "broken", "raise ZeroDivisionError('at import')"),
        _plugin(modules, "good", GOOD.format(name="good")),
        Found("gone", "plug_gone", "dist-gone", "1"),
    ]
    registry = Registry(found)
    assert [redactor.name for _, redactor in registry.redactors()] == ["good"]
    problems = {one.name: one.problem for one in registry.plugins()}
    assert problems["good"] == ""
    assert "ZeroDivisionError: at import" in problems["broken"]
    assert "No module named 'plug_gone'" in problems["gone"]


def test_a_plugin_that_raises_in_a_hook_is_named_and_the_others_are_still_asked(modules: pathlib.Path) -> None:
    raising = "from afl_core.spec.marker import hookimpl\nAFL_API_VERSION = 1\n@hookimpl\ndef afl_redactors(): raise OSError('no rules')"
    registry = Registry(
        [_plugin(modules, "a", GOOD.format(name="a")), _plugin(modules, "bad", raising), _plugin(modules, "z", GOOD.format(name="z"))]
    )
    assert [redactor.name for _, redactor in registry.redactors()] == ["a", "z"]
    assert "OSError: no rules" in {one.name: one.problem for one in registry.plugins()}["bad"]


@pytest.mark.parametrize(
    ("version", "words"), [("", "contract None"), ("AFL_API_VERSION = 99", "upgrade afl_core"), ("AFL_API_VERSION = 'x'", "contract 'x'")]
)
def test_a_plugin_for_another_contract_version_is_refused_with_what_to_upgrade(modules: pathlib.Path, version: str, words: str) -> None:
    registry = Registry([_plugin(modules, "old", version)])
    assert words in registry.plugins()[0].problem


def test_a_hook_with_an_argument_the_contract_does_not_know_is_refused(modules: pathlib.Path) -> None:
    source = "from afl_core.spec.marker import hookimpl\nAFL_API_VERSION = 1\n@hookimpl\ndef afl_redactors(moon): return []"
    assert "does not fit its specification" in Registry([_plugin(modules, "odd", source)]).plugins()[0].problem


def test_two_hosts_of_one_name_do_not_replace_each_other(modules: pathlib.Path) -> None:
    source = "from afl_core.spec.marker import hookimpl\nAFL_API_VERSION = 1\nclass Host:\n    name = 'moon'\n@hookimpl\ndef afl_hosts(): return [Host()]"
    registry = Registry([_plugin(modules, "first", source), _plugin(modules, "second", source)])
    assert list(registry.hosts()) == ["moon"]
    assert sum("already registered" in one.problem for one in registry.plugins()) == 1


def test_observers_hear_and_what_they_raise_is_not_felt(modules: pathlib.Path) -> None:
    raising = (
        "from afl_core.spec.marker import hookimpl\nAFL_API_VERSION = 1\n@hookimpl\ndef afl_event_captured(event): raise ValueError('deaf')"
    )
    registry = Registry([_plugin(modules, "deaf", raising), _plugin(modules, "ear", GOOD.format(name="ear"))])
    registry.tell("afl_event_captured", event={"event_id": "e"})
    assert sys.modules["plug_ear"].seen == [{"event_id": "e"}]
    assert "ValueError at plug_deaf.py:4" in {one.name: one.problem for one in registry.plugins()}["deaf"]


def test_repeated_failures_lead_to_quarantine_which_ends(clock: object) -> None:
    now = [1_000_000]
    guard = Guard(MemoryLedger(), clock=lambda: now[0])
    calls = []

    def failing() -> Redaction:
        calls.append(1)
        raise RuntimeError("again")

    for _ in range(FAILURES_TO_QUARANTINE + 2):
        with pytest.raises(Exception, match="plug-in 'p'"):
            guard.call("p", "redact", failing)
    assert len(calls) == FAILURES_TO_QUARANTINE
    now[0] += QUARANTINE_MS
    with pytest.raises(Exception, match="failed in redact"):
        guard.call("p", "redact", failing)
    assert len(calls) == FAILURES_TO_QUARANTINE + 1
    now[0] += QUARANTINE_MS
    assert guard.call("p", "redact", lambda: 7) == 7
    assert guard.ledger.all() == []


def test_a_clock_that_jumped_back_does_not_prolong_a_quarantine() -> None:
    now = [1_000_000_000]
    guard = Guard(MemoryLedger(), clock=lambda: now[0])
    for _ in range(FAILURES_TO_QUARANTINE):
        with pytest.raises(Exception, match="plug-in 'p'"):
            guard.call("p", "x", lambda: 1 / 0)
    now[0] -= 500_000_000
    assert guard.call("p", "x", lambda: 7) == 7


def test_the_cache_is_used_while_the_environment_is_the_same(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = str(tmp_path / "plugins.json")
    first = discover(cache)
    monkeypatch.setattr(discovery, "read_entry_points", lambda: (_ for _ in ()).throw(AssertionError("was asked again")))
    assert discover(cache) == first
    monkeypatch.setattr(discovery, "read_entry_points", lambda: (Found("new", "m", "d", "1"),))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert discover(cache) == (Found("new", "m", "d", "1"),)


@pytest.mark.parametrize("content", [b"", b"{", b'{"key": 1}', b"[]", b"\xff"])
def test_a_broken_cache_is_only_slower(tmp_path: pathlib.Path, content: bytes) -> None:
    cache = tmp_path / "plugins.json"
    cache.write_bytes(content)
    assert "core" in {found.name for found in discover(str(cache))}


def test_what_a_foreign_error_says_is_not_kept_where_it_may_quote_evidence() -> None:
    guard = Guard(MemoryLedger())
    secret = "my password is hunter2-Sesame!"

    def judging() -> None:
        raise ValueError(f"cannot judge {secret!r}")

    with pytest.raises(PluginError) as refused:
        guard.call("p", "redact", judging)
    [entry] = guard.ledger.all()
    assert "hunter2" not in refused.value.sentence
    assert "hunter2" not in entry.last_error
    assert entry.last_error.startswith("ValueError at test_registry.py:")


RAISING = "from afl_core.spec.marker import hookimpl\nAFL_API_VERSION = 1\n@hookimpl\ndef afl_redactors(): raise OSError('no rules')"


def test_a_redactor_plugin_that_cannot_register_is_missed(modules: pathlib.Path) -> None:
    registry = Registry([_plugin(modules, "good", GOOD.format(name="good")), _plugin(modules, "bad", RAISING)])
    assert registry.missing_redactors(()) == ["bad"]


def test_a_redactor_plugin_that_was_there_at_install_and_does_not_load_or_is_gone_is_missed(modules: pathlib.Path) -> None:
    found = [_plugin(modules, "good", GOOD.format(name="good")), _plugin(modules, "broken", "raise ZeroDivisionError")]
    assert Registry(found).missing_redactors(["good", "broken", "gone"]) == ["broken", "gone"]
    assert Registry(found).missing_redactors(["good"]) == []


def test_a_plugin_that_failed_to_register_once_is_asked_again(modules: pathlib.Path) -> None:
    source = (
        "from afl_core.spec.marker import hookimpl\nAFL_API_VERSION = 1\ncalls = []\nclass R:\n    name = 'late'; version = '1'\n"
        "@hookimpl\ndef afl_redactors():\n    calls.append(1)\n    if len(calls) == 1:\n        raise OSError('not yet')\n    return [R()]"
    )
    registry = Registry([_plugin(modules, "late", source)])
    assert registry.missing_redactors(()) == ["late"]
    assert registry.missing_redactors(()) == []
    assert [redactor.name for _, redactor in registry.redactors()] == ["late"]
