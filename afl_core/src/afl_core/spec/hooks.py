"""The hook specifications. A plug-in is a module (or object) with functions of these names, marked with `hookimpl` and found through `afl.plugins`.

A specification is never called itself; what it returns here is what a plug-in without any answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from afl_core.spec.command import CommandSpec
from afl_core.spec.health import HealthLine
from afl_core.spec.host import HostAdapter
from afl_core.spec.keystore import Keystore
from afl_core.spec.marker import hookspec
from afl_core.spec.redactor import Redactor
from afl_core.spec.reviewer import Reviewer
from afl_core.spec.selector import Selector


@hookspec
def afl_hosts() -> list[HostAdapter]:
    """Register host adapters. Called once per process, when the first host is needed (install, doctor, jobs)."""
    return []


@hookspec
def afl_reviewers() -> list[Reviewer]:
    """Register isolated reviewers. Called by jobs before the first review and by doctor."""
    return []


@hookspec
def afl_redactors() -> list[Redactor]:
    """Register redactors. Called before the first text is stored; all of them run on every text, in order of name."""
    return []


@hookspec
def afl_selectors() -> list[Selector]:
    """Register selectors. Read at install; the chosen one is loaded by the front."""
    return []


@hookspec
def afl_keystores(keys_dir: str) -> list[Keystore]:  # noqa: ARG001 - named by the contract
    """Register keystores; `keys_dir` is the private directory of this home's keys. Called when the vault's private key is made or needed, never by a hook or the front."""
    return []


@hookspec
def afl_commands() -> list[CommandSpec]:
    """Register commands of `afl`. Called when a command is not one of core's, and for the top-level help."""
    return []


@hookspec
def afl_health(home: str) -> list[HealthLine]:  # noqa: ARG001 - named by the contract
    """Report the health of what the plug-in needs. Called by `afl doctor` with the home directory."""
    return []


@hookspec
def afl_event_captured(event: Mapping[str, Any]) -> None:
    """Observe: an event (redacted) was stored. Called by jobs after the commit; what it raises is counted, never felt."""


@hookspec
def afl_review_committed(review: Mapping[str, Any]) -> None:
    """Observe: a review was committed. Called by jobs after the commit."""


@hookspec
def afl_lesson_changed(lesson: Mapping[str, Any]) -> None:
    """Observe: a lesson was added, revised, enabled, disabled or promoted. Called after the commit."""
