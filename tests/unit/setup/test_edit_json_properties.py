"""Whatever a settings document looks like, our hooks leave no trace in it and other people's stay as they are."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from afl_core.setup.json_splice import HookEntry, ensure_hook_entries, remove_hook_entries, semantically_equal_outside

EVENTS = ("UserPromptSubmit", "Stop", "SessionStart")


def ours(handler):
    return str(handler.get("command", "")).startswith("afl ")


# A document is a tree of ("plain", token), ("list", [tree]) and ("object", [(key token, tree)]): duplicates and spelling are kept.
TEXTS = st.sampled_from(
    [b'""', b'"x"', b'"\\u00e9"', '"\u00e9\u4e16"'.encode(), b'"\xff\xfe"', b'"\\ud83d"', b'"a\\"b\\\\"', b'"// no"', b'"{"', b'"]"']
)
PLAIN = (TEXTS | st.sampled_from([b"0", b"-1.50e+3", b"1e999", b"true", b"null"])).map(lambda token: ("plain", token))
KEYS = TEXTS | st.sampled_from([b'"model"', b'"env"', b'"command"'])
TREES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: ("list", items))
        | st.lists(st.tuples(KEYS, inner), max_size=3).map(lambda pairs: ("object", pairs))
    ),
    max_leaves=6,
)


def handlers(command):
    return st.fixed_dictionaries({"command": command}).map(
        lambda made: ("object", [(b'"type"', ("plain", b'"command"')), (b'"command"', ("plain", made["command"]))])
    )


THEIRS = handlers(st.sampled_from([b'"theirs"', b'"not afl "', b'"\xff"']))
OLDER_OURS = handlers(st.sampled_from([b'"afl old"', b'"a\\u0066l x"']))


def groups(handler):
    with_matcher = st.tuples(
        st.sampled_from([[], [(b'"matcher"', ("plain", b'""'))], [(b'"_note"', ("plain", b"1"))]]), st.lists(handler, max_size=2)
    )
    return with_matcher.map(lambda made: ("object", [*made[0], (b'"hooks"', ("list", made[1]))])) | TREES


def documents(handler):
    lists = st.lists(groups(handler), max_size=3).map(lambda items: ("list", items))
    names = st.sampled_from([f'"{event}"'.encode() for event in (*EVENTS, "Else")] + [b'"St\\u006fp"'])
    hooks = st.lists(st.tuples(names, lists), max_size=3).map(lambda pairs: ("object", pairs))
    pair = st.tuples(KEYS, TREES) | st.tuples(st.just(b'"hooks"'), hooks)
    return st.lists(pair, max_size=4).map(lambda pairs: ("object", pairs))


INDENTS = st.sampled_from([b"", b" ", b"  ", b"    ", b"\t"])
GAPS = st.sampled_from([b"", b"", b" ", b"\n", b"  ", b"\r\n\t", b"\n\n  "])


@st.composite
def written(draw, trees):
    """A document's bytes: pretty, on one line, or with white space thrown in anywhere."""
    tree = draw(trees)
    newline, unit = draw(st.sampled_from([b"\n", b"\r\n"])), draw(INDENTS)
    colon, comma = draw(st.sampled_from([(b":", b","), (b": ", b", "), (b" : ", b" , ")]))
    hand = draw(st.sampled_from(["lines", "one line", "wild"]))

    def gap(level, between=b""):
        if hand == "wild":
            return draw(GAPS)
        return newline + unit * level if hand == "lines" else between

    def write(node, level):
        kind, content = node
        if kind == "plain":
            return content
        brackets = (b"[", b"]") if kind == "list" else (b"{", b"}")
        if not content:
            return brackets[0] + (draw(GAPS) if draw(st.booleans()) else b"") + brackets[1]
        elements = [write(item, level + 1) if kind == "list" else item[0] + colon + write(item[1], level + 1) for item in content]
        glue = (comma if hand == "one line" else b",").join
        body = glue([gap(level + 1) + element for element in elements])
        return brackets[0] + body + gap(level) + brackets[1]

    mark = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    return mark + draw(GAPS) + write(tree, 0) + draw(GAPS)


ENTRIES = st.lists(
    st.builds(
        HookEntry,
        event=st.sampled_from(EVENTS),
        matcher=st.sampled_from([None, "", "startup|compact"]),
        command=st.sampled_from(["afl a", "afl 'b' \"c\" \u4e16"]),
        timeout=st.integers(1, 60),
        extra=st.sampled_from([{}, {"_owner": "afl", "more": {"x": [1, "\n"]}}]),
    ),
    max_size=3,
    unique_by=lambda entry: entry.event,
).map(tuple)


@settings(max_examples=500)
@given(written(documents(THEIRS)), ENTRIES)
def test_putting_in_and_taking_out_gives_back_the_very_bytes(document, entries):
    after = ensure_hook_entries(document, entries, ours)
    assert semantically_equal_outside(document, after, ours)
    assert remove_hook_entries(after, ours) == document


@settings(max_examples=300)
@given(written(documents(THEIRS | OLDER_OURS)), ENTRIES)
def test_the_second_time_nothing_changes_and_ours_are_exactly_the_entries(document, entries):
    once = ensure_hook_entries(document, entries, ours)
    assert ensure_hook_entries(once, entries, ours) == once
    assert sorted(_ours_in(once), key=repr) == sorted(((entry.event, entry.matcher, entry.handler()) for entry in entries), key=repr)
    assert all(entry.handler() in _seen_by_the_host(once, entry.event) for entry in entries)


@settings(max_examples=300)
@given(written(documents(THEIRS | OLDER_OURS)), ENTRIES)
def test_other_peoples_entries_are_untouched_by_both(document, entries):
    after = ensure_hook_entries(document, entries, ours)
    removed = remove_hook_entries(after, ours)
    assert semantically_equal_outside(document, after, ours)
    assert semantically_equal_outside(after, removed, ours)
    assert _ours_in(removed) == []


@settings(max_examples=300)
@given(written(documents(THEIRS | OLDER_OURS)))
def test_removal_deletes_bytes_and_never_writes_any(document):
    rest = iter(document)
    assert all(byte in rest for byte in remove_hook_entries(document, ours))


def _ours_in(document):
    """Event, matcher and handler of every entry of ours, duplicate keys included; read by the standard reader, not by ours."""
    pairs = json.loads(document.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape"), object_pairs_hook=Pairs)
    found = []
    for key, hooks in pairs if isinstance(pairs, Pairs) else ():
        for event, groups_ in hooks if key == "hooks" and isinstance(hooks, Pairs) else ():
            for group in groups_ if isinstance(groups_, list) and not isinstance(groups_, Pairs) else ():
                found.extend(_ours_in_group(event, group))
    return found


def _seen_by_the_host(document, event):
    """Our handlers for `event` when of duplicate keys the last one counts."""
    seen = json.loads(document.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape"))
    return [handler for group in seen["hooks"][event] if isinstance(group, dict) for handler in _listed(group.get("hooks"))]


def _listed(value):
    return value if isinstance(value, list) else []


def _ours_in_group(event, group):
    if not isinstance(group, Pairs):
        return
    matcher = dict(group).get("matcher")
    for key, inner in group:
        for handler in inner if key == "hooks" and isinstance(inner, list) and not isinstance(inner, Pairs) else ():
            if isinstance(handler, Pairs) and ours(dict(handler)):
                yield event, matcher, _plain(handler)


class Pairs(list):
    """An object as its pairs."""


def _plain(value):
    if isinstance(value, Pairs):
        return {key: _plain(inner) for key, inner in value}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
