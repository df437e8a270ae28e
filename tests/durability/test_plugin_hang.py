"""A plug-in that hangs ends its process by a kernel timer, even inside a C loop, and the next process names it."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys

import pytest

from afl_core.model.errors import PluginError
from afl_core.plugins.isolation import Guard, Mark, MemoryLedger

HANG = """
import re, sys
from afl_core.plugins.isolation import Guard, Mark, MemoryLedger
guard = Guard(MemoryLedger(), mark=Mark(sys.argv[1]))
guard.call("slow", "redact", lambda: re.match(r"(a+)+b", "a" * 60), seconds=0.2)
"""


def test_a_hanging_regular_expression_is_ended_and_named(tmp_path: pathlib.Path) -> None:
    mark = str(tmp_path / "plugin.mark")
    ended = subprocess.run([sys.executable, "-I", "-c", HANG, mark], check=False, timeout=60)
    assert ended.returncode == -signal.SIGALRM
    assert Mark(mark).left() == ("slow", "redact")
    ledger = MemoryLedger()
    guard = Guard(ledger, mark=Mark(mark))
    assert [(entry.plugin, entry.call, entry.failures) for entry in ledger.all()] == [("slow", "redact", 1)]
    assert Mark(mark).left() is None
    assert guard.call("slow", "redact", lambda: 1, seconds=5) == 1


def test_a_call_that_returns_in_time_leaves_no_mark_and_no_timer(tmp_path: pathlib.Path) -> None:
    mark = str(tmp_path / "plugin.mark")
    guard = Guard(MemoryLedger(), mark=Mark(mark))
    assert guard.call("fine", "redact", lambda: 3, seconds=5) == 3
    with pytest.raises(PluginError):
        guard.call("raises", "redact", lambda: 1 / 0, seconds=5)
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert Mark(mark).left() is None
