"""Becoming the daemon of a home: refused with a next step where the light process would end without a word."""

from __future__ import annotations

import json
import sys

import pytest

from afl_core.model.errors import WorkerError
from afl_core.settings.paths import Paths
from afl_core.worker.daemon_start import become_daemon


@pytest.fixture
def paths(home):
    return Paths(str(home))


def install(home):
    pack = home / ".agent/feedback-loop"
    (pack / "hook").mkdir(parents=True)
    (pack / "hook/schedule.py").write_text("raise SystemExit(0)")
    (pack / "current.json").write_text(json.dumps({"python": sys.executable, "hosts": {}}))


def test_where_nothing_is_installed_it_says_so(paths):
    with pytest.raises(WorkerError, match="nothing is installed"):
        become_daemon(paths, {}, None)


def test_where_the_data_are_gone_it_names_the_directory(paths, home):
    install(home)
    with pytest.raises(WorkerError, match="feedback-loop-data is missing") as caught:
        become_daemon(paths, {}, None)
    assert caught.value.hint == "run: afl install"
