"""The contracts in pyproject.toml hold the house: each planted violation breaks the contract that speaks of it."""

from __future__ import annotations

import re
import sys

import pytest

OPTIONAL = {"builtins", "exchange", "loop"}
"""Rooms of the house that a contract tolerates while they are not there."""
ROOMS = {
    *OPTIONAL,
    *("api", "capture", "changes", "cli", "demo", "hook", "lessons", "memory", "model", "plugins", "processes"),
    *("files", "redaction", "review", "settings", "setup", "spec", "store", "testing", "vault", "worker"),
}
HOUSE = "A room imports only the rooms below it"
LINT = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"


@pytest.fixture
def house(tmp_path, root):
    """Every room as an empty package, beside the real contracts."""
    (tmp_path / "pyproject.toml").write_text((root / "pyproject.toml").read_text("utf-8"), "utf-8")
    for package in (
        "afl_core",
        "afl_redactors",
        "afl_providers_claude",
        "afl_providers_codex",
        "afl_providers_gemini",
        *(f"afl_core/{room}" for room in ROOMS),
    ):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    return tmp_path


def lint(run, house, status):
    said = run(sys.executable, "-c", LINT, "--no-cache", "--no-logo", cwd=house, status=status, PYTHONPATH=str(house)).stdout
    return said, set(re.findall(r"^(.+) BROKEN$", said, re.MULTILINE))


def test_the_rooms_here_are_those_of_the_house(root):
    folder = root / "afl_core/src/afl_core"
    there = {path.name for path in folder.iterdir() if (path / "__init__.py").exists()} | {path.stem for path in folder.glob("[!_]*.py")}
    assert there - OPTIONAL == ROOMS - OPTIONAL


def test_an_empty_house_keeps_every_contract(run, house):
    _said, broken = lint(run, house, 0)
    assert broken == set()


@pytest.mark.parametrize(
    ("importer", "imported", "contract"),
    [
        ("afl_core/model", "afl_core.store", HOUSE),
        ("afl_core/store", "afl_core.settings", HOUSE),
        ("afl_core/spec", "afl_core.plugins", HOUSE),
        ("afl_core/vault", "afl_core.memory", HOUSE),
        ("afl_core/lessons", "afl_core.review", HOUSE),
        ("afl_core/review", "afl_core.capture", HOUSE),
        ("afl_core/changes", "afl_core.lessons", HOUSE),
        ("afl_core/worker", "afl_core.setup", HOUSE),
        ("afl_core/setup", "afl_core.cli", HOUSE),
        ("afl_core/cli", "afl_core.testing", HOUSE),
        ("afl_core/testing", "afl_core.demo", HOUSE),
        ("afl_core/capture", "afl_core.lessons", "capture knows neither lessons nor changes"),
        ("afl_core/capture", "afl_core.changes", "capture knows neither lessons nor changes"),
        ("afl_core/testing", "afl_core.builtins", "Nobody imports builtins: it is found through its entry point"),
        ("afl_core/setup", "afl_providers_claude", "Core knows no provider and no redactor"),
        ("afl_core/cli", "afl_core.store", "Commands hold no SQL and decide nothing"),
        ("afl_core/vault", "afl_core.redaction", "The vault neither redacts nor runs processes"),
        ("afl_core/memory", "afl_core.plugins", "Memory runs no process and calls no plug-in itself"),
        ("afl_redactors", "afl_core.redaction", "Providers and redactors see only the contracts and the model"),
        ("afl_providers_claude", "afl_redactors", "Providers and redactors see only the contracts and the model"),
    ],
)
def test_a_planted_import_breaks_the_contract_that_forbids_it(run, house, importer, imported, contract):
    (house / importer / "planted.py").write_text(f"def late() -> None:\n    import {imported}\n", "utf-8")
    said, broken = lint(run, house, 1)
    assert contract in broken
    assert f"{importer.replace('/', '.')}.planted -> {imported}" in said


def test_the_hook_may_import_no_room(run, house):
    for room in ROOMS - {"hook"}:
        (house / "afl_core/hook" / f"planted_{room}.py").write_text(f"import afl_core.{room}\n", "utf-8")
    said, broken = lint(run, house, 1)
    assert "The hook imports nothing of the product" in broken
    assert {room for room in ROOMS if f"afl_core.hook.planted_{room} -> afl_core.{room}" in said} == ROOMS - {"hook"}


def test_no_room_may_import_the_hook(run, house):
    for room in ROOMS - {"hook"}:
        (house / "afl_core" / room / "planted.py").write_text("import afl_core.hook\n", "utf-8")
    said, broken = lint(run, house, 1)
    assert broken == {"Nobody imports the hook: it is copied as files"}
    assert {room for room in ROOMS if f"afl_core.{room}.planted -> afl_core.hook" in said} == ROOMS - {"hook"}


def test_a_provider_may_import_the_contracts_and_the_model_and_no_other_room(run, house):
    for room in ROOMS:
        (house / "afl_providers_claude" / f"planted_{room}.py").write_text(f"import afl_core.{room}\n", "utf-8")
    said, broken = lint(run, house, 1)
    assert "Providers and redactors see only the contracts and the model" in broken
    refused = {room for room in ROOMS if f"afl_providers_claude.planted_{room} -> afl_core.{room}" in said}
    assert refused == ROOMS - {"spec", "model"}


def test_a_new_room_has_to_be_given_its_place(run, house):
    (house / "afl_core/attic").mkdir()
    (house / "afl_core/attic/__init__.py").touch()
    said, broken = lint(run, house, 1)
    assert HOUSE in broken
    assert "attic" in said


def test_the_rooms_that_may_be_missing_may_be_missing(run, house):
    for room in OPTIONAL:
        (house / "afl_core" / room / "__init__.py").unlink()
        (house / "afl_core" / room).rmdir()
    _said, broken = lint(run, house, 0)
    assert broken == set()
