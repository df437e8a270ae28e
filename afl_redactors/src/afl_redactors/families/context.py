"""Credential-like words beside a credential word in the same sentence, for what no other family can read. The most careful family."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

from afl_redactors import lookalikes
from afl_redactors.families import chinese
from afl_redactors.markers import MASK
from afl_redactors.rules import Rule, Span
from afl_redactors.windows import Clip, View

_WORD = re.compile(
    r"""(?<![A-Za-z0-9])(?:pass(?:words?|wd|codes?|phrases?)|credentials?|secrets?|(?:api|access|secret|private)[ _-]?keys?
    |(?<!max[ _])(?<!per[ -])(?<!input[ _])(?<!output[ _])(?<!next[ _])(?<!stop[ _])(?<!each[ ])(?<!context[ ])token(?![ _-](?:count|limit|budget|usage|window|cost|price|bucket|ring|size|length|stream|type|per|ratio|id)s?\b)
    |passwor[dt]e?|kennwort|contraseña|senha|mot[ ]de[ ]passe)(?![A-Za-z0-9_-])
    |密码|密碼|口令|密钥|密鑰|金鑰|令牌|秘钥|密匙|пароль|パスワード|비밀번호""",
    re.VERBOSE | re.IGNORECASE,
)
_BODY = r"[^\s,;(){}\[\]<>|\"'`\u2010-\u203f\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uff60\ue000]"
_TOKEN = re.compile(rf"{_BODY}{{6,}}(?:[\"'`](?![:,=.*+]){_BODY}{{1,64}}){{0,4}}")
_TOKEN_CHARACTER = re.compile(_BODY)
_CALLS = frozenset("([")
_EDGES = ".,:;?*_\\"
_BESIDE = re.compile(
    r"(?:[ \t]{0,4}[:=：“\"'`(*-]{0,3}[ \t]{0,2}(?:(?:is|was|to|be|now|still|of|for|as|called|value|我的|是|为)[ \t]{1,2}){0,2}[\"'`“(*]{0,2}|[^\S\n]{0,2}[是为：:][ ]{0,2})$",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"[\"'`”)*]{0,2}[ \t]{1,2}(?:is|was|as|=|are)[ \t](?:(?:my|the|our|your|a|an|new|old|current|admin|root)[ \t]){0,3}$", re.IGNORECASE
)
_LONGEST = 256
"""Characters. A longer word, or one that begins outside the window, is a blob and no credential somebody wrote into a sentence."""
_NEAR = 32
"""Characters between a credential word and a name-shaped token that may still count as standing beside it."""


def _beside(view: View, start: int, end: int) -> Iterator[Span]:
    words = [(found.start(), found.end()) for found in _WORD.finditer(view.text, start, end)]
    if not words:
        return
    starts = [first for first, _ in words]
    for found in _TOKEN.finditer(view.text, start, end):
        first, last = found.span()
        if last == end:
            last = _to_its_end(view, first, last)
        if last - first > _LONGEST or (first == start and start > 0 and _TOKEN_CHARACTER.match(view.text, start - 1)):
            continue
        first, last = _trimmed(view.text, first, last)
        if last - first < 6 or view.text[last : last + 1] in _CALLS or lookalikes.names_a_class(view.text[first:last]):
            continue
        token = view.text[first:last]
        index = bisect_left(starts, first)
        near = index > 0 and first - words[index - 1][1] <= _NEAR and _BESIDE.fullmatch(view.text, words[index - 1][1], first) is not None
        near = near or (
            index < len(words) and 0 < starts[index] - last <= _NEAR and _BEFORE.fullmatch(view.text, last, starts[index]) is not None
        )
        if _looks_secret(token, near=near):
            yield first, last


def _to_its_end(view: View, first: int, last: int) -> int:
    whole = _TOKEN.match(view.text, first, first + _LONGEST + 1)
    view.count((whole.end() - first) if whole else 0)
    return max(last, whole.end()) if whole else last


def _trimmed(text: str, first: int, last: int) -> Span:
    while first < last and text[first] in _EDGES:
        first += 1
    while last > first and text[last - 1] in _EDGES:
        last -= 1
    return first, last


def _looks_secret(token: str, *, near: bool) -> bool:
    digits = sum(letter.isdigit() for letter in token)
    if not digits or digits == len(token) or MASK in token:
        return False
    if len(token) > lookalikes.LONG:
        return True
    if (
        lookalikes.is_placeholder(token)
        or lookalikes.is_known_shape(token)
        or lookalikes.is_path(token)
        or lookalikes.is_code(token)
        or lookalikes.is_reference(token)
    ):
        return False
    if any(lookalikes.is_known_shape(part) for part in (token.rstrip("!"), token.lstrip("@#~$"))):
        return False
    letters = any(letter.isalpha() for letter in token)
    if lookalikes.is_name_shape(token.rstrip("!")):
        return near
    if not token.isascii():
        return False
    if not letters:
        return near
    if token.isalnum() or ("_" in token and token.replace("_", "").isalnum()):
        wordy = re.search(r"[A-Za-z]{5}", token) is not None
        return near or (not wordy and (_turns(token) >= 3 or (_turns(token) >= 2 and len(token) >= 8))) or _turns(token) >= 5
    return near or not re.search(r"[=/\\:]|\.\w", token) or _turns(token) >= 5


def _turns(token: str) -> int:
    return sum(left.isdigit() != right.isdigit() for left, right in pairwise(token))


RULES = (
    Rule(
        "credential-context",
        (
            "pass",
            "credential",
            "secret",
            "key",
            "token",
            "kennwort",
            "contraseña",
            "senha",
            "пароль",
            "パスワード",
            "비밀번호",
            *chinese.WORDS,
        ),
        _beside,
        before=256,
        after=256,
        clip=Clip.SENTENCE,
        gives_way=True,
    ),
)
