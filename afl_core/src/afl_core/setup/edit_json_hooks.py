"""Where our handlers stand in a scanned settings document, and how one is cut out. Adds nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from afl_core.setup.edit_json_comments import blanked, comments_in, without
from afl_core.setup.edit_json_scan import Array, Member, Node, Object, decode_string

Owned = Callable[[dict[str, Any]], bool]
"""Says whether a handler object (the one that holds "command") is ours."""

Step = tuple[Object | Array, Member | Node]
"""A container and the element of it that is meant."""

_LONGEST_INT = 20
"""Digits from which a whole number is read as a float: the interpreter refuses to convert very long ones."""

_CHAIN_TO_HANDLER = 4


@attrs.frozen
class Found:
    """One handler of ours: `chain` leads from the root's "hooks" member over event and group to the handler."""

    event: str
    effective: bool
    """False when a later duplicate key hides this place from the host."""
    matcher: str | None
    alone: bool
    """True when the group holds nothing but a matcher and this handler."""
    group: Object
    handler: Object
    chain: tuple[Step, ...]


def find_owned(document: bytes, root: Node, owned: Owned) -> list[Found]:
    """Every handler that is ours, in document order; shapes the host would ignore are passed over."""
    found: list[Found] = []
    for hooks in _members(root, "hooks"):
        for event in _members(hooks.value, None):
            items = event.value.items if isinstance(event.value, Array) else ()
            effective = _is_last(root, hooks) and _is_last(hooks.value, event)
            for group in items:
                found.extend(_in_group(document, (root, hooks, event, group), owned, effective))
    return found


def cut(document: bytes, chain: tuple[Step, ...]) -> bytes:
    """`document` without the last element of `chain`, and without what held only that element and was made for it."""
    container, element = chain[-1]
    elements: tuple[Member | Node, ...] = container.members if isinstance(container, Object) else container.items
    at = elements.index(element)
    if at > 0:
        return _after(document, elements[at - 1].end, element)
    if len(elements) > 1:
        return _before(document, element, elements[1].start)
    in_group = len(chain) == _CHAIN_TO_HANDLER
    if not in_group:
        if comments_in(document, container.start + 1, element.start) or comments_in(document, element.end, container.end - 1):
            return without(document, element.start, element.end, trim=True)
        lead = _lead(document, container, element)
        if lead:
            return without(document, element.start - lead, element.end)
    if in_group and not only_matcher_and_hooks(chain[-2][1]):
        return without(document, container.start + 1, container.end - 1)
    if len(chain) > 1:
        return cut(document, chain[:-1])
    return without(document, container.start + 1, container.end - 1)


def _after(document: bytes, neighbour: int, element: Member | Node) -> bytes:
    """`document` without an element and the comma behind its neighbour, which ends at `neighbour`."""
    if not comments_in(document, neighbour, element.start):
        return without(document, neighbour, element.end)
    comma = neighbour + blanked(document[neighbour : element.start]).index(b",")
    return without(document[:comma] + document[comma + 1 :], element.start - 1, element.end - 1, trim=True)


def _before(document: bytes, element: Member | Node, neighbour: int) -> bytes:
    """`document` without an element and the comma before its neighbour, which begins at `neighbour`."""
    if not comments_in(document, element.end, neighbour):
        return without(document, element.start, neighbour)
    comma = element.end + blanked(document[element.end : neighbour]).index(b",")
    return without(document[:comma] + document[comma + 1 :], element.start, element.end)


def _in_group(document: bytes, way: tuple[Node, Member, Member, Node], owned: Owned, effective: bool) -> Iterator[Found]:
    root, hooks, event, group = way
    if (
        not isinstance(root, Object)
        or not isinstance(hooks.value, Object)
        or not isinstance(event.value, Array)
        or not isinstance(group, Object)
    ):
        return
    matcher = group.last("matcher")
    text = None if matcher is None else _text(document, matcher.value)
    for member in _members(group, "hooks"):
        for handler in member.value.items if isinstance(member.value, Array) else ():
            if isinstance(handler, Object) and isinstance(member.value, Array) and owned(as_dict(document, handler)):
                chain: tuple[Step, ...] = ((root, hooks), (hooks.value, event), (event.value, group), (member.value, handler))
                alone = only_matcher_and_hooks(group) and len(member.value.items) == 1
                yield Found(event.key, effective, text, alone, group, handler, chain)


def _members(node: Node, key: str | None) -> Iterator[Member]:
    for member in node.members if isinstance(node, Object) else ():
        if key is None or member.key == key:
            yield member


def _is_last(node: Node, member: Member) -> bool:
    return isinstance(node, Object) and node.last(member.key) is member


def only_matcher_and_hooks(group: Member | Node) -> bool:
    """True when a group has one "hooks" and beside it at most a matcher: the shape we write."""
    keys = [member.key for member in group.members] if isinstance(group, Object) else []
    return keys.count("hooks") == 1 and set(keys) <= {"matcher", "hooks"}


def _lead(document: bytes, container: Object | Array, element: Member | Node) -> int:
    """How many bytes of white space we put before the only element of a container that was there, and empty, before us; else 0.

    An element of several lines went into a container without anything inside, so all of the white space is ours; one on a single line was
    given one byte more than there was.
    """
    before = element.start - container.start - 1
    if not before or element.end != container.end - 1:
        return 0
    return before if b"\n" in document[element.start : element.end] else 1


def as_dict(document: bytes, handler: Object) -> dict[str, Any]:
    """A handler as the host reads it: of duplicate keys the last one counts."""
    text = blanked(document[handler.start : handler.end]).decode("utf-8", "surrogateescape")
    value: dict[str, Any] = json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < _LONGEST_INT else float(digits))
    return value


def _text(document: bytes, node: Node) -> str:
    """A string's text; of anything else a text that no string has."""
    token = document[node.start : node.end]
    return decode_string(token) if token.startswith(b'"') else f"\0{token!r}"
