"""Wherever a person's comments stand in a settings document, they stay, and taking our hooks out again gives back the very bytes."""

from __future__ import annotations

import json
import re

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from afl_core.setup.edit_json_comments import blanked, comments_in, texts_of
from afl_core.setup.edit_json_scan import scan
from afl_core.setup.json_splice import HookEntry, ensure_hook_entries, only_ours_changed, remove_hook_entries, semantically_equal_outside

EVENTS = ("BeforeAgent", "AfterAgent", "SessionStart")
ENTRIES = st.lists(
    st.builds(
        HookEntry,
        event=st.sampled_from(EVENTS),
        matcher=st.sampled_from([None, "", "startup"]),
        command=st.just("afl a"),
        timeout=st.just(5000),
    ),
    max_size=3,
    unique_by=lambda entry: entry.event,
).map(tuple)


def ours(handler):
    return str(handler.get("command", "")).startswith("afl ")


PLAIN = st.sampled_from([b'"x"', b'"// no"', b'"/* no */"', b'"a\\"//b\\\\"', '"\u00e9"'.encode(), b'"\xff"', b"0", b"true", b"null"])
TREES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: ("list", items))
        | st.lists(st.tuples(PLAIN.filter(lambda token: token.startswith(b'"')), inner), max_size=3).map(lambda pairs: ("object", pairs))
    ),
    max_leaves=5,
)


def handlers(command):
    return command.map(lambda told: ("object", [(b'"type"', b'"command"'), (b'"command"', told)]))


THEIRS = handlers(st.sampled_from([b'"theirs"', b'"not // afl"']))
ANYBODYS = THEIRS | handlers(st.just(b'"afl old"'))


def documents(handler):
    group = st.tuples(st.sampled_from([[], [(b'"matcher"', b'"x"')]]), st.lists(handler, max_size=2)).map(
        lambda made: ("object", [*made[0], (b'"hooks"', ("list", made[1]))])
    )
    lists = st.lists(group | TREES, max_size=2).map(lambda items: ("list", items))
    names = st.sampled_from([f'"{event}"'.encode() for event in (*EVENTS, "Else")])
    hooks = st.lists(st.tuples(names, lists), max_size=3).map(lambda pairs: ("object", pairs))
    pair = st.tuples(st.sampled_from([b'"model"', b'"ui"']), TREES) | st.tuples(st.just(b'"hooks"'), hooks)
    return st.lists(pair, max_size=3).map(lambda pairs: ("object", pairs))


SAID = st.sampled_from([b"", b" mine", b" {", b' "a": 1,', b" \xe4\xb8\x96", b" ends with spaces  ", b" // twice", b'"'])


@st.composite
def written(draw, trees):
    """A document's bytes, laid out in lines or on one, with comments and white space thrown in between any two tokens."""
    tree = draw(trees)
    newline, unit = draw(st.sampled_from([b"\n", b"\r\n"])), draw(st.sampled_from([b"", b"  ", b"    ", b"\t"]))
    lines, busy = draw(st.booleans()), draw(st.sampled_from([0, 1, 3]))

    def gap(level):
        plain = newline + unit * level if lines else b""
        if not busy or draw(st.integers(0, 3)) >= busy:
            return plain
        parts = [draw(st.sampled_from([b"", b" ", plain]))]
        for _ in range(draw(st.integers(1, 2))):
            said = draw(SAID)
            block = b"/*" + said + draw(st.sampled_from([b"", newline])) + b"*/"
            parts += [draw(st.sampled_from([block, b"//" + said + newline])), draw(st.sampled_from([b"", b" ", plain]))]
        return b"".join(parts)

    def write(node, level):
        if isinstance(node, bytes):
            return node
        kind, content = node
        opening, closing = (b"[", b"]") if kind == "list" else (b"{", b"}")
        if not content:
            return opening + draw(st.sampled_from([b"", b" ", newline, gap(level)])) + closing
        elements = [
            write(item, level + 1) if kind == "list" else item[0] + gap(level) + b":" + gap(level) + write(item[1], level + 1)
            for item in content
        ]
        body = b""
        for number, element in enumerate(elements):
            body += (b"" if not number else gap(level) + b",") + gap(level + 1) + element
        return opening + body + gap(level) + closing

    return gap(0) + write(tree, 0) + gap(0)


@settings(max_examples=250)
@given(written(documents(THEIRS)), ENTRIES)
def test_putting_in_and_taking_out_gives_back_the_very_bytes(document, entries):
    after = ensure_hook_entries(document, entries, ours, comments=True)
    only_ours_changed(ours, comments=True)(document, after)
    assert remove_hook_entries(after, ours, comments=True) == document


@settings(max_examples=150)
@given(written(documents(ANYBODYS)), ENTRIES)
def test_no_comment_is_lost_or_moved_past_another_and_nothing_of_others_changes(document, entries):
    after = ensure_hook_entries(document, entries, ours, comments=True)
    removed = remove_hook_entries(after, ours, comments=True)
    for one, other in ((document, after), (after, removed)):
        assert texts_of(one) == texts_of(other)
        assert semantically_equal_outside(one, other, ours, comments=True)
    assert not re.search(rb'"afl (?:a|old)"', blanked(removed))


@settings(max_examples=150)
@given(written(documents(ANYBODYS)), ENTRIES)
def test_the_second_time_nothing_changes_and_the_host_sees_every_entry(document, entries):
    once = ensure_hook_entries(document, entries, ours, comments=True)
    assert ensure_hook_entries(once, entries, ours, comments=True) == once
    seen = json.loads(blanked(once).decode("utf-8", "surrogateescape"))
    for entry in entries:
        groups = [group for group in seen["hooks"][entry.event] if isinstance(group, dict)]
        assert entry.handler() in [handler for group in groups for handler in group.get("hooks", ())]


@given(written(documents(ANYBODYS)))
def test_what_is_no_comment_stays_when_comments_are_blanked_out(document):
    plain = blanked(document)
    assert len(plain) == len(document)
    assert plain.count(b"\n") == document.count(b"\n")
    assert comments_in(plain) == ()
    assert repr(scan(plain)) == repr(scan(document, comments=True))


@settings(max_examples=150)
@given(written(documents(ANYBODYS)), ENTRIES, st.data())
def test_comments_written_among_our_entries_afterwards_are_not_lost_either(document, entries, data):
    after = ensure_hook_entries(document, entries, ours, comments=True)
    places = [found.end() for found in re.finditer(rb'[{,]\s*(?="type": "command")|\[|"timeout":', blanked_strings(after))]
    if places:
        place = data.draw(st.sampled_from(places))
        after = after[:place] + data.draw(st.sampled_from([b" // late\n", b"/* late */"])) + after[place:]
    removed = remove_hook_entries(after, ours, comments=True)
    assert texts_of(after) == texts_of(removed)
    assert semantically_equal_outside(after, removed, ours, comments=True)
    changed = ensure_hook_entries(after, tuple(attrs.evolve(entry, timeout=1) for entry in entries), ours, comments=True)
    assert texts_of(after) == texts_of(changed)


def blanked_strings(document):
    """The document in which nothing stands in strings or comments any more, except our own keys."""
    return re.sub(rb'"(?!type": "command"|timeout":)(?:[^"\\]|\\.)*"(?!: "command")', lambda found: b"_" * len(found[0]), blanked(document))
