"""Secrets that the structure around them gives away: the data of a Kubernetes Secret, a registry's `auth`, the private members of a JSON web key."""

from __future__ import annotations

import re
from base64 import b64decode
from bisect import bisect_left
from collections.abc import Iterator

from afl_redactors import lookalikes
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.values import read_block, read_value
from afl_redactors.windows import Clip, View

_FAR = 8192
"""Characters of a Secret before and behind its kind."""
_KIND = re.compile(r"\\{0,3}[\"']?kind\\{0,3}[\"']?[ ]?:[ ]{0,4}\\{0,3}[\"']?Secret\\{0,3}[\"']?[ \t]{0,4}(?=[\r\n,}\\]|$)")
_DATA = re.compile(r"(?:^|\n)(?P<indent>[+-]?[ \t]{0,16})(?:data|stringData):[ \t]{0,8}(?:\#[^\n]{0,80})?\r?\n")
_ENTRY = re.compile(r"(?P<indent>[+-]?[ \t]{1,24})[\"']?[A-Za-z0-9._-]{1,128}[\"']?:[ \t]{1,8}(?=\S)")
_JSON_DATA = re.compile(r"\\{0,3}[\"'](?:data|stringData)\\{0,3}[\"'][ ]?:[ ]?\{")
_JSON_ENTRY = re.compile(r"[\s,]{0,64}\\{0,3}[\"'][A-Za-z0-9._-]{1,128}\\{0,3}[\"'][ ]?:[ ]?(?=\\{0,3}[\"'])")
_DOCUMENT = "\n---"
_MOST = 64

_AUTH = re.compile(r"\\{0,7}[\"']?auth\\{0,7}[\"']?[ ]?[:=][ ]?\\{0,7}[\"']?(?P<value>[A-Za-z0-9+/_-]{8,2048}={0,2})(?![\w+/=-])")
_MEMBER = re.compile(
    r"\\{0,3}[\"'](?:d|p|q|dp|dq|qi|k)\\{0,3}[\"']\s{0,4}:\s{0,4}\\{0,3}[\"'](?P<value>[A-Za-z0-9_-]{16,2048})(?=\\{0,3}[\"'])"
)


def _kind_before(view: View, at: int) -> int:
    """Return where the kind of the object before ends, so that every object is read once however many there are; -1 without one."""
    hits = view.hits("kind")
    index = bisect_left(hits, at)
    return hits[index - 1] if index else -1


def _kind_behind(view: View, at: int) -> int:
    return view.next_hit("kind", at)


def _secret(view: View, found: re.Match[str]) -> Iterator[Span]:
    text = view.text
    low, high = max(0, found.start() - _FAR), min(len(text), found.end() + _FAR)
    low = max(low, text.rfind(_DOCUMENT, low, found.start()), _kind_before(view, found.start()))
    stops = [stop for stop in (text.find(_DOCUMENT, found.end(), high), _kind_behind(view, found.end())) if stop >= 0]
    high = min([high, *stops])
    view.count(high - low)
    for data in _DATA.finditer(text, low, high):
        yield from _entries(view, data, high)
    for data in _JSON_DATA.finditer(text, low, high):
        at = data.end()
        for _ in range(_MOST):
            entry = _JSON_ENTRY.match(text, at, high)
            value = read_value(view, entry.end()) if entry else None
            if value is None:
                break
            if not _stands_in(value.text):
                yield value.start, value.end
            at = value.end + 1


def _entries(view: View, data: re.Match[str], high: int) -> Iterator[Span]:
    at = data.end()
    for _ in range(_MOST):
        entry = _ENTRY.match(view.text, at, high)
        if entry is None or len(entry["indent"]) <= len(data["indent"]):
            return
        value = read_block(view, entry.end()) or read_value(view, entry.end())
        if value is None:
            return
        if not _stands_in(value.text):
            yield value.start, value.end
        end = view.text.find("\n", value.end)
        if end < 0:
            return
        at = end + 1


def _stands_in(value: str) -> bool:
    return already_redacted(value) or lookalikes.is_placeholder(value) or lookalikes.is_reference(value) or "{{" in value


def _pair(_view: View, found: re.Match[str]) -> Iterator[Span]:
    encoded = found["value"].replace("-", "+").replace("_", "/")
    try:
        decoded = b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode()
    except ValueError:  # the decoder's own error, or no UTF-8
        return  # a word, not an encoded pair
    if ":" in decoded and decoded.isprintable():
        yield found.span("value")


def _web_key(view: View, found: re.Match[str]) -> Iterator[Span]:
    text = view.text
    low, high = max(0, found.start() - 4096), min(len(text), found.end() + 4096)
    low = max(low, text.rfind("{", low, found.start()))
    end = text.find("}", found.end(), high)
    high = end if end >= 0 else high
    view.count(high - low)
    for member in _MEMBER.finditer(text, low, high):
        yield member.span("value")


_KIND_OF_KEY = re.compile(r"\\{0,3}[\"']kty\\{0,3}[\"']\s{0,4}:")
_KUBERNETES = Rule("kubernetes-secret", ("kind",), matching(_KIND, _secret), before=8, after=48)
_REGISTRY = Rule(
    "registry-auth", ('auth"', "auth'", "auth\\", "auth:", "auth :", "auth =", "auth="), matching(_AUTH, _pair), before=8, after=2100
)
_JWK = Rule("json-web-key", ('"kty', '\\"kty', "'kty"), matching(_KIND_OF_KEY, _web_key), before=4, after=24, clip=Clip.NOTHING)

RULES = (_KUBERNETES, _REGISTRY, _JWK)

_SECRET_BEHIND = re.compile(r"kind\\{0,3}[\"']?[ ]?:[ ]{0,4}\\{0,3}[\"']?Secret\b")
_AUTH_BEHIND = re.compile(r"auth\\{0,7}[\"']?[ ]?[:=][ ]?\\{0,7}[\"']?[A-Za-z0-9+/_-]{8}")
LEADS: tuple[Lead, ...] = (
    leading(_KUBERNETES, _SECRET_BEHIND.match, ("kind:", "kind :", 'kind"', "kind'", "kind\\")),
    leading(_REGISTRY, _AUTH_BEHIND.match),
    leading(_JWK, lambda _text, _at: True),
)
