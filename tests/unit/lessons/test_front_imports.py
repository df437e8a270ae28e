"""What the front runs through costs little to start: nothing of the plug-in world is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

ALLOWED_THIRD_PARTY: set[str] = set()
PROGRAM = """
import sys
before = set(sys.modules)
import {module}
for name in sorted(set(sys.modules) - before):
    print(name)
"""
HEAVY = {
    "attr",
    "attrs",
    "cattrs",
    "pluggy",
    "click",
    "cryptography",
    "dataclasses",
    "inspect",
    "logging",
    "asyncio",
    "pathlib",
    "email",
    "urllib",
}


@pytest.mark.parametrize(
    "module",
    [
        "afl_core.lessons.selection",
        "afl_core.lessons.delivery",
        "afl_core.lessons.relevance",
        "afl_core.lessons.frame",
        "afl_core.lessons.hold",
        "afl_core.store.connection",
        "afl_core.store.projection",
        "afl_core.store.deliveries",
        "afl_core.model.card_text",
        "afl_core.model.words",
    ],
)
def test_a_file_of_the_front_imports_no_heavy_module(module):
    paths = [path for path in sys.path if path]
    program = f"import sys; sys.path[:] = {paths!r}\n" + PROGRAM.format(module=module)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert module in loaded
    tops = {name.split(".")[0] for name in loaded}
    assert not tops & HEAVY
    assert {top for top in tops if top not in sys.stdlib_module_names} - {"afl_core"} == ALLOWED_THIRD_PARTY


def test_the_check_would_see_a_heavy_module():
    paths = [path for path in sys.path if path]
    program = f"import sys; sys.path[:] = {paths!r}\n" + PROGRAM.format(module="afl_core.model.lesson")
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert "attrs" in done.stdout.split()
