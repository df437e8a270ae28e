"""The file install writes for the front."""

from __future__ import annotations

import json
import os

import pytest

from afl_core.spec.host import CONTEXT_SLOT as CONTRACT_SLOT
from afl_core.worker.manifests import CONTEXT_SLOT, Manifests, parse

HOST = {
    "events": [{"name": "Prompt", "kind": "prompt", "injects": True}, {"name": "Stop", "kind": "stop", "injects": False}],
    "fields": {"session": "id"},
    "envelope": {"Prompt": {"a": ["{context}", "{context} not alone"], "b": 1}, "Stop": {"a": "{context}"}},
    "noop": "{}",
}


def test_the_slot_is_the_one_of_the_host_contract():
    assert CONTEXT_SLOT == CONTRACT_SLOT


def test_the_envelope_is_filled_where_a_leaf_is_the_slot_and_nowhere_else():
    host = parse(json.dumps({"hosts": {"h": HOST}})).hosts["h"]
    assert json.loads(host.reply("Prompt", 'say "é"\n')) == {"a": ['say "é"\n', "{context} not alone"], "b": 1}


def test_an_event_that_takes_no_context_and_an_empty_text_get_the_no_op():
    host = parse(json.dumps({"hosts": {"h": HOST}})).hosts["h"]
    assert [host.reply("Stop", "x"), host.reply("Unknown", "x"), host.reply("Prompt", "")] == [b"{}"] * 3


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"hosts": {"h": {}}}', '{"hosts": []}', '{"hosts": {"h": 3}}'])
def test_a_file_of_another_shape_is_named_and_what_was_known_stays(tmp_path, text):
    path = tmp_path / "front.json"
    path.write_text(json.dumps({"hosts": {"h": HOST}, "memory_budget": 7}), "utf-8")
    manifests = Manifests(str(path))
    assert manifests.current().memory_budget == 7
    path.write_text(text, "utf-8")
    os.utime(path, ns=(1, 1))
    assert manifests.current().memory_budget == 7
    assert str(path) in manifests.fault


def test_a_changed_file_is_read_again_and_a_missing_one_keeps_what_was_known(tmp_path):
    path = tmp_path / "front.json"
    manifests = Manifests(str(path))
    assert manifests.current().hosts == {}
    path.write_text(json.dumps({"hosts": {"h": HOST}, "selector": {"name": "mine", "target": "m:a"}}), "utf-8")
    assert (manifests.current().selector_target, manifests.fault) == ("m:a", "")
    path.unlink()
    assert manifests.current().selector_name == "mine"
    assert manifests.fault


def test_a_fault_is_over_when_the_same_file_can_be_read_again(tmp_path):
    path = tmp_path / "front.json"
    path.write_text(json.dumps({"hosts": {"h": HOST}}), "utf-8")
    manifests = Manifests(str(path))
    manifests.current()
    path.rename(tmp_path / "away")
    manifests.current()
    assert manifests.fault
    (tmp_path / "away").rename(path)
    assert list(manifests.current().hosts) == ["h"]
    assert manifests.fault == ""


def test_a_file_that_could_not_be_opened_once_is_tried_again(tmp_path, monkeypatch):
    path = tmp_path / "front.json"
    path.write_text(json.dumps({"hosts": {"h": HOST}}), "utf-8")
    manifests = Manifests(str(path))

    def refused(*_args, **_more):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr("builtins.open", refused)
        manifests.current()
    assert "Permission denied" in manifests.fault
    assert (list(manifests.current().hosts), manifests.fault) == (["h"], "")


@pytest.mark.parametrize("told", [{}, {"schedule": None}, {"schedule": {}}, {"schedule": {"installed": False}}])
def test_without_a_word_about_it_there_is_no_schedule(told):
    assert not parse(json.dumps({"hosts": {}, **told})).scheduled
    assert parse(json.dumps({"hosts": {}, "schedule": {"installed": True}})).scheduled
