"""Put our hook entries into a host's JSON settings and take them out again: bytes in, bytes out, everything else stays as it is.

Where the host's settings may hold comments, every comment stays, in its place among what is not ours.
A list or object of the person's own that was empty must still be there after removal. Layout remembers it: an element we put into
such a container has white space before it and none after it (no serializer writes that); in a container we made, both sides agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from afl_core.model.errors import SetupError
from afl_core.setup.edit_json_comments import after_same_line, blanked, comments_in
from afl_core.setup.edit_json_compare import only_ours_changed, same_value, semantically_equal_outside
from afl_core.setup.edit_json_hooks import Found, Owned, cut, find_owned
from afl_core.setup.edit_json_scan import BOM, Array, JsonSyntaxError, Member, Node, Object, is_blank, position, scan
from afl_core.setup.edit_json_style import Style, detect_style, line_indent, render, render_key, starts_line

__all__ = ["HookEntry", "Owned", "ensure_hook_entries", "only_ours_changed", "remove_hook_entries", "semantically_equal_outside"]


@attrs.frozen
class HookEntry:
    """One command a host shall run at `event`; `timeout` is in the host's own unit, `extra` goes beside it into the same object."""

    event: str
    matcher: str | None
    command: str
    timeout: int
    extra: Mapping[str, object] = attrs.field(factory=dict)

    def handler(self) -> dict[str, object]:
        """The object that holds the command."""
        return {"type": "command", "command": self.command, "timeout": self.timeout, **self.extra}

    def group(self) -> dict[str, object]:
        """The object that stands in the event's list."""
        matcher = {} if self.matcher is None else {"matcher": self.matcher}
        return {**matcher, "hooks": [self.handler()]}


def ensure_hook_entries(document: bytes, entries: tuple[HookEntry, ...], owned: Owned | None = None, *, comments: bool = False) -> bytes:
    """`document` with exactly `entries` as our entries: one an event, ours of other events taken out, other people's untouched.

    `owned` is given each handler object (the one with "command") and says whether it is ours; by default one is ours when its
    command is that of an entry. An entry that is there already is not touched, a changed one is rewritten in place (comments inside of it then stand before it). `comments`: the
    host's settings may hold them. Raises `SetupError`: the document is not what the host reads (with line and column), "hooks" or an event's list
    has another shape, or two entries name one event.
    """
    ours = owned or _by_command(entries)
    _check(entries, ours)
    if is_blank(document) and not (comments and document.startswith(BOM)):
        return _new_document(document, entries) if entries else document
    wanted = {entry.event for entry in entries}
    while True:
        stale = [found for found in find_owned(document, scan(document, comments=comments), ours) if found.event not in wanted]
        if not stale:
            break
        document = cut(document, stale[-1].chain)
    for entry in entries:
        document = _ensure_one(document, entry, ours, comments=comments)
    return document


def remove_hook_entries(document: bytes, owned: Owned, *, comments: bool = False) -> bytes:
    """`document` without the handlers that are `owned`, and without the groups, lists and "hooks" object that only held them.

    What the person left empty stays. Raises `SetupError` with line and column when the document is not what the host reads.
    """
    while not is_blank(document):
        found = find_owned(document, scan(document, comments=comments), owned)
        if not found:
            break
        document = cut(document, found[-1].chain)
    return document


def _by_command(entries: tuple[HookEntry, ...]) -> Owned:
    commands = {entry.command for entry in entries}

    def owned(handler: dict[str, Any]) -> bool:
        command = handler.get("command")
        return isinstance(command, str) and command in commands

    return owned


def _check(entries: tuple[HookEntry, ...], owned: Owned) -> None:
    events = [entry.event for entry in entries]
    for entry in entries:
        if events.count(entry.event) > 1:
            raise SetupError(f"two of our entries are for the event {entry.event}", code="AFL-SETUP-011")
        taken = {"type", "command", "timeout"} & set(entry.extra)
        if taken:
            raise SetupError(
                f"the entry for {entry.event} has extra keys that are already taken: {', '.join(sorted(taken))}", code="AFL-SETUP-011"
            )
        if not owned(entry.handler()):
            raise SetupError(f"the entry for {entry.event} would not be recognised as ours later", code="AFL-SETUP-011")


def _new_document(blank: bytes, entries: tuple[HookEntry, ...]) -> bytes:
    style = Style(newline=b"\r\n" if b"\r\n" in blank else b"\n")
    mark = BOM if blank.startswith(BOM) else b""
    return mark + render({"hooks": {entry.event: [entry.group()] for entry in entries}}, style, b"") + style.newline


def _ensure_one(document: bytes, entry: HookEntry, owned: Owned, *, comments: bool) -> bytes:
    """Keep at most one of ours for the entry's event and make it what the entry says."""
    while True:
        found = [each for each in find_owned(document, scan(document, comments=comments), owned) if each.event == entry.event]
        usable = [each for each in found if each.effective and (each.matcher == entry.matcher or each.alone)]
        keeper = next((each for each in usable if each.matcher == entry.matcher), usable[0] if usable else None)
        others = [each for each in found if each is not keeper]
        if not others:
            break
        document = cut(document, others[-1].chain)
    if keeper is None:
        return _add(document, scan(document, comments=comments), entry)
    return _refresh(document, scan(document, comments=comments), entry, keeper)


def _refresh(document: bytes, root: Node, entry: HookEntry, keeper: Found) -> bytes:
    """Rewrite the handler, or the whole group when its matcher differs; nothing when both already say what the entry says."""
    style = detect_style(document, root) if isinstance(root, Object) else Style()
    target, value = (keeper.handler, entry.handler()) if keeper.matcher == entry.matcher else (keeper.group, entry.group())
    old = document[target.start : target.end]
    if same_value(old, render(value, Style(), b"")):
        return document
    style = attrs.evolve(style, lines=b"\n" in old)
    indent = line_indent(document, target.start)
    inside = [old[one.start : one.end] + style.newline + indent for one in comments_in(old)]
    return document[: target.start] + b"".join(inside) + render(value, style, indent) + document[target.end :]


def _add(document: bytes, root: Node, entry: HookEntry) -> bytes:
    """Append a group of ours, making the event's list and the "hooks" object where they are missing."""
    if not isinstance(root, Object):
        raise _shape(document, root, "the document must be an object")
    style = detect_style(document, root)
    hooks = root.last("hooks")
    if hooks is None:
        return _append_member(document, root, "hooks", {entry.event: [entry.group()]}, style, root=True)
    if not isinstance(hooks.value, Object):
        raise _shape(document, hooks, '"hooks" must be an object')
    event = hooks.value.last(entry.event)
    if event is None:
        return _append_member(document, hooks.value, entry.event, [entry.group()], style)
    if not isinstance(event.value, Array):
        raise _shape(document, event, f'"{entry.event}" must be a list')
    return _append(document, event.value, event.value.items, lambda hand, indent: render(entry.group(), hand, indent), style)


def _append_member(document: bytes, into: Object, key: str, value: object, style: Style, *, root: bool = False) -> bytes:
    def member(hand: Style, indent: bytes) -> bytes:
        return render_key(key, hand) + render(value, hand, indent)

    return _append(document, into, into.members, member, style, root=root)


def _append(
    document: bytes,
    into: Object | Array,
    elements: tuple[Node | Member, ...],
    write: Callable[[Style, bytes], bytes],
    style: Style,
    *,
    root: bool = False,
) -> bytes:
    """Put one more element at the end of `into`, laid out as its neighbours are; see the module's first lines for empty containers."""
    if elements:
        last = elements[-1]
        indent = line_indent(document, last.start)
        lines = starts_line(blanked(document), last)
        at = after_same_line(document, last.end, into.end - 1)
        comma, glue = (b",", style.newline + indent) if lines else (style.comma, b"")
        if at > last.end:  # a neighbour's comment stays on the neighbour's line
            comma, glue = b",", glue or _apart(document, at, into, style, indent)
        return (
            document[: last.end] + comma + document[last.end : at] + glue + write(attrs.evolve(style, lines=lines), indent) + document[at:]
        )
    if within := comments_in(document, into.start + 1, into.end - 1):
        at, inner = within[-1].end, line_indent(document, into.start) + style.indent
        glue = style.newline + inner if style.lines else _apart(document, at, into, style, inner)
        return document[:at] + glue + write(style, inner) + document[at:]
    base = line_indent(document, into.start)
    inside = document[into.start + 1 : into.end - 1]
    before, after, hand = style.newline + base + style.indent, b"", style
    if inside or not style.lines:
        before, hand = b" ", attrs.evolve(style, lines=False)
    elif root:
        after = style.newline + base
    return document[: into.end - 1] + before + write(hand, base + style.indent) + after + document[into.end - 1 :]


def _apart(document: bytes, at: int, into: Object | Array, style: Style, indent: bytes) -> bytes:
    """What parts an element on one line from the comment that ends at `at`: a comment of a line needs a new one."""
    line = any(one.end == at and one.line for one in comments_in(document, into.start + 1, into.end - 1))
    return style.newline + indent if line else b" "


def _shape(document: bytes, where: Node | Member, reason: str) -> SetupError:
    error = JsonSyntaxError(reason, *position(document, where.start))
    error.code = "AFL-SETUP-011"
    return error
