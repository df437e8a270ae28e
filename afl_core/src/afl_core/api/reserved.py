"""Namespaces that only their owners write, and what a handle may do. Pure."""

from __future__ import annotations

from collections.abc import Collection

from afl_core.model.errors import AflError, ModelError

EVERY_NS = "*"
LOOP_NS, AGENT_NS = "afl-loop", "agent:"
RESERVED = (LOOP_NS, "global")
RESERVED_BEGINNINGS = (AGENT_NS, "project:")
SCOPES = frozenset({"read", "write", "forget", "review", "apply"})


class ScopeError(AflError):
    """A handle was asked for more than it was opened for."""

    code = "AFL-SCOPE-001"


def is_reserved(ns: str) -> bool:
    """Whether a namespace has an owner, or means every one."""
    return ns == EVERY_NS or ns in RESERVED or ns.startswith(RESERVED_BEGINNINGS)


def refuse_reserved(ns: str) -> None:
    """Raise `ModelError` (AFL-MODEL-006) for a namespace that capture, reviews or the loop own, and for the word that means every one."""
    if ns == EVERY_NS:
        raise ModelError(
            f"namespace {ns!r} means every one where grains are read, and none can be called so",
            code="AFL-MODEL-006",
            hint="use another namespace; lessons are changed with: afl memory",
        )
    if is_reserved(ns):
        raise ModelError(
            f"namespace {ns!r} is written only by its owner",
            code="AFL-MODEL-006",
            hint="use another namespace; lessons are changed with: afl memory",
        )


def refuse_to_erase(ns: str, *, is_lesson: bool) -> None:
    """Raise `ModelError` (AFL-MODEL-009) for what governs agents. What was captured or remembered of somebody may be erased, in any namespace."""
    if is_lesson:
        raise ModelError(
            "a lesson is not erased like other grains: reports, deliveries and undo stand on it",
            code="AFL-MODEL-009",
            hint="switch it off with: afl memory disable",
        )
    if ns == LOOP_NS or ns.startswith(AGENT_NS):
        raise ModelError(
            f"namespace {ns!r} holds who decided what, and stays", code="AFL-MODEL-009", hint="forget the grains that it speaks of"
        )


def narrowed(held: Collection[str] | None, asked: Collection[str] | None) -> frozenset[str]:
    """The scopes of a handle: those asked for, as far as they are held. Raises `ModelError` for an unknown one."""
    if asked is not None and (unknown := set(asked) - SCOPES):
        raise ModelError(
            f"unknown scope {min(unknown)!r}; there are {', '.join(sorted(SCOPES))}", code="AFL-MODEL-007", hint="name scopes of these"
        )
    mine = SCOPES if held is None else frozenset(held)
    return mine if asked is None else mine & frozenset(asked)


def demand(held: frozenset[str], scope: str) -> None:
    """Raise `ScopeError` when the handle lacks the scope."""
    if scope not in held:
        raise ScopeError(f"this handle may not {scope}", hint=f"open the memory with the scope {scope!r}")
