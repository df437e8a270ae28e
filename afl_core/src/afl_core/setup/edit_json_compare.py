"""What two settings documents say apart from our hooks, and whether it is the same. Decides, changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from afl_core.model.errors import SetupError
from afl_core.setup.edit_json_comments import blanked, texts_of
from afl_core.setup.edit_json_hooks import Owned, as_dict, find_owned, only_matcher_and_hooks
from afl_core.setup.edit_json_scan import Array, Member, Node, Object, Scalar, decode_string, is_blank, scan


def semantically_equal_outside(before: bytes, after: bytes, owned: Owned, *, comments: bool = False) -> bool:
    """True when both documents say the same, in the same order and with the same duplicate keys, apart from what is ours. `comments`: see `scan`.

    Numbers are equal when they are spelled alike. An empty file counts as an empty object, and the list of an event in which ours stands (in
    either document) counts as absent when nothing else is in it. Raises `JsonSyntaxError` when one of them is not strict JSON.
    """
    trees = [(document, scan(document, comments=comments)) for document in (_or_object(before), _or_object(after))]
    touched = {found.event for document, root in trees for found in find_owned(document, root, owned)}
    first, second = (_Outside(document, owned, touched).root(root) for document, root in trees)
    return first == second


def both_are_json(before: bytes, after: bytes) -> None:
    """Raise `JsonSyntaxError` unless both are strict JSON; an empty file passes."""
    scan(_or_object(before))
    scan(_or_object(after))


def only_ours_changed(owned: Owned, *, comments: bool = False) -> Callable[[bytes, bytes], None]:
    """A check for `plan_edit`: raises `SetupError` when an edit would alter anything that is not ours, a comment included."""

    def check(before: bytes, after: bytes) -> None:
        if not semantically_equal_outside(before, after, owned, comments=comments) or texts_of(before) != texts_of(after):
            raise SetupError(
                "the edit would alter something that is not ours, so it was not made",
                code="AFL-SETUP-012",
                hint="report this with the file's layout; until then add the hooks by hand",
            )

    return check


def same_value(first: bytes, second: bytes) -> bool:
    """True when two JSON texts hold the same value; neither the order of keys nor comments count."""
    first, second = blanked(first), blanked(second)
    return _sorted(_value(first, scan(first))) == _sorted(_value(second, scan(second)))


def _or_object(document: bytes) -> bytes:
    return b"{}" if is_blank(document) else document


def _value(document: bytes, node: Node) -> tuple[Any, ...]:
    """A comparable form that keeps order, duplicates and the spelling of numbers."""
    if isinstance(node, Scalar):
        token = document[node.start : node.end]
        if not token.startswith(b'"'):
            return ("plain", token)
        text = decode_string(token)
        # A raw byte and an escaped lone surrogate decode alike; only their spelling tells them apart.
        return ("text", token if any("\ud800" <= character <= "\udfff" for character in text) else text)
    if isinstance(node, Array):
        return ("list", tuple(_value(document, item) for item in node.items))
    return ("object", tuple((_key(document, member), _value(document, member.value)) for member in node.members))


def _key(document: bytes, member: Member) -> Any:
    return _value(document, Scalar(member.start, member.key_end))[1]


def _sorted(value: tuple[Any, ...]) -> tuple[Any, ...]:
    kind, content = value
    if kind == "list":
        return (kind, tuple(_sorted(item) for item in content))
    if kind == "object":
        return (kind, tuple(sorted(((key, _sorted(inner)) for key, inner in content), key=repr)))
    return value


@attrs.frozen
class _Outside:
    """The comparable form of a document without what is ours."""

    document: bytes
    owned: Owned
    touched: set[str]

    def root(self, node: Node) -> tuple[Any, ...]:
        if not isinstance(node, Object):
            return _value(self.document, node)
        return ("object", tuple(pair for member in node.members for pair in self.top(member)))

    def top(self, member: Member) -> Iterator[tuple[Any, Any]]:
        if member.key != "hooks" or not isinstance(member.value, Object):
            yield _key(self.document, member), _value(self.document, member.value)
            return
        events = tuple(pair for event in member.value.members for pair in self.event(event))
        if events or not self.touched:
            yield "hooks", ("object", events)

    def event(self, member: Member) -> Iterator[tuple[Any, Any]]:
        if not isinstance(member.value, Array):
            yield _key(self.document, member), _value(self.document, member.value)
            return
        groups = tuple(form for group in member.value.items for form in self.group(group))
        if groups or member.key not in self.touched:
            yield _key(self.document, member), ("list", groups)

    def group(self, node: Node) -> Iterator[tuple[Any, ...]]:
        if not isinstance(node, Object):
            yield _value(self.document, node)
            return
        pairs: list[tuple[Any, Any]] = []
        emptied = False
        for member in node.members:
            if member.key == "hooks" and isinstance(member.value, Array):
                kept = [item for item in member.value.items if not self.ours(item)]
                emptied = not kept and len(member.value.items) > 0
                pairs.append(("hooks", ("list", tuple(_value(self.document, item) for item in kept))))
            else:
                pairs.append((_key(self.document, member), _value(self.document, member.value)))
        if not (emptied and only_matcher_and_hooks(node)):
            yield ("object", tuple(pairs))

    def ours(self, node: Node) -> bool:
        return isinstance(node, Object) and self.owned(as_dict(self.document, node))
