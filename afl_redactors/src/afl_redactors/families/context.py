"""Credential-like words beside a credential word in the same sentence, for what no other family can read. The most careful family."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from afl_redactors import lookalikes
from afl_redactors.families import chinese
from afl_redactors.markers import MASK
from afl_redactors.rules import Rule, Span
from afl_redactors.windows import Clip, View

_WORD = re.compile(
    r"""(?<![A-Za-z0-9/.@\\])(?:(?<!\s-)pwd?|p/w|pass(?:words?|wd|codes?|phrases?)|credentials?|secrets?|(?:api|access|secret|private)[ _-]?keys?
    |(?<!max[ _])(?<!per[ -])(?<!input[ _])(?<!output[ _])(?<!next[ _])(?<!stop[ _])(?<!each[ ])(?<!context[ ])token(?![ _-](?:count|limit|budget|usage|window|cost|price|bucket|ring|size|length|stream|type|per|ratio|id)s?\b)
    |passwor[dt]e?|kennwort|contraseña|senha|mot[ ]de[ ]passe)(?![A-Za-z0-9_(-]|[/.@][A-Za-z])
    |密码|密碼|口令|密钥|密鑰|金鑰|令牌|秘钥|密匙|пароль|パスワード|비밀번호""",
    re.VERBOSE | re.IGNORECASE,
)
_BODY = r"[^\s,;(){}\[\]<>|\"'`\u2010-\u203f\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uff60\ue000]"
_TOKEN = re.compile(rf"{_BODY}{{6,}}(?:[\"'`](?![:,=.*+]){_BODY}{{1,64}}){{0,4}}")
_DIGIT = re.compile(r"\d")
_TOKEN_CHARACTER = re.compile(_BODY)
_CALLS = frozenset("([")
_EDGES = ".,:;?*_\\"
_BESIDE = re.compile(
    r"(?:[ \t]{0,4}[:=：“\"'`(*-]{0,3}[ \t]{0,2}(?:(?:is|was|to|be|now|still|of|for|as|called|value|我的|是|为)[ \t]{1,2}){0,2}[\"'`“(*]{0,2}|[^\S\n]{0,2}[是为：:][ ]{0,2})$",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"[\"'`”)*]{0,2}[ \t]{1,2}(?:(?:is|was|as|=|are)[ \t]|\((?:that'?s[ ]|this[ ]is[ ]|it'?s[ ]|is[ ])?)(?:(?:my|the|our|your|a|an|new|old|current|admin|root)[ \t]){0,3}$",
    re.IGNORECASE,
)
_OF_CODE = re.compile(
    r"--[a-z][a-z0-9]{0,24}(?:-[a-z0-9]{1,24}){1,8}$|[a-z]{3,24}\d[a-z_]{3,40}\.?$|[a-z_]{1,20}\d?[a-z_]{0,20}\d?(?:\.[a-z_]{1,20}\d?[a-z_]{0,20}\d?){1,6}$|0x[0-9a-f]{1,16}[:,]|\$[A-Za-z_]\w{0,60}[/.:-]|\d{1,2}\*[A-Za-z]"
)
_GIVEN = re.compile(r"[A-Za-z][\w.-]{0,40}=(?!=)")
"""A value with a name of its own: where that is no credential's, neither is the value, unless it is long."""
_AROUND = 40
"""Characters on either side in which minified code shows itself."""
_SIGNS_OF_CODE = ("(", ")", ";", "!", "&&", "||", "?", "=", "]", "}")
"""What code has so near; the first six of them JSON has not."""
_QUOTES = frozenset("\"'`")
_LONG_GIVEN = 24
_SHORTEST = 6
_IDENTIFIED = re.compile(
    r"(?<![A-Za-z])(?:sessions?|requests?|jobs?|traces?|spans?|runs?|builds?|commits?|rev(?:ision)?|version|orders?|tickets?|pods?|containers?|nodes?|hosts?|users?|clients?|tenants?|ids?|sha)[ \t]?[:#=]?[ \t]?$",
    re.IGNORECASE,
)
"""Words behind which the name of something stands."""
_ATTRIBUTE = re.compile(r"(?:href|id|name|class|src|for|rel)=[\"']#?$", re.IGNORECASE)
_QUERY = re.compile(r"&[A-Za-z_][\w.-]{0,40}=")
"""The rest of an address behind a value that another rule read."""
_TIME = re.compile(r"(?:\d{4}-\d\d-\d\d[T_])?\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?[.,;:]?$")
"""A time, as every line of a log begins with: known at once."""
_LONGEST = 256
"""Characters. A longer word, or one that begins outside the window, is a blob and no credential somebody wrote into a sentence."""
_FAR = 512
"""Characters before and behind a credential word within which its sentence has to begin and end to be read for a digit."""
_STOPS = ("\n", ". ", "。")
"""What surely ends a sentence."""
_NEAR = 32
"""Characters between a credential word and a name-shaped token that may still count as standing beside it."""


def _beside(view: View, start: int, end: int) -> Iterator[Span]:
    words = list(_words(view, start, end)) if _DIGIT.search(view.text, start, end + _LONGEST + 1) else []
    if not words:
        return
    text = view.text
    for found in _TOKEN.finditer(text, start, end):
        first, last = found.span()
        if last == end:
            last = _to_its_end(view, first, last)
        elif found.group().isalpha() or _TIME.match(text, first, last):
            continue
        if _DIGIT.search(text, first, last) is None or last - first > _LONGEST:
            continue
        if first == start > 0 and _TOKEN_CHARACTER.match(text, start - 1):
            continue
        span = _trimmed(text, first, last)
        near = partial(_is_near, text, words, *span)
        if _is_only_a_name(text[span[0] : span[1]], near) or not _worth_judging(text, *span):
            continue
        if _looks_secret(text[span[0] : span[1]].removesuffix("'s"), near):
            yield span


def _is_only_a_name(token: str, near: Callable[[], bool]) -> bool:
    """Say whether a token is too short, a number, or the name of something that stands beside no credential word: most are, and this tells it first."""
    return len(token) < _SHORTEST or token.isdigit() or (lookalikes.is_name_shape(token.rstrip("!")) and not near())


def _worth_judging(text: str, first: int, last: int) -> bool:
    """Say whether a token may be a credential by what stands around it and by the name it is given."""
    if (
        _is_dense(text, first, last)
        or text[last : last + 1] in _CALLS
        or lookalikes.names_a_class(text[first:last])
        or _QUERY.match(text, first, last)
    ):
        return False
    if _IDENTIFIED.search(text[max(0, first - 16) : first]) or _ATTRIBUTE.search(text[max(0, first - 9) : first]):
        return False
    given = _GIVEN.match(text, first, last)
    if given is None:
        return True
    name = given.group()[:-1]
    return not name.casefold().endswith(("uri", "url")) and (last - given.end() >= _LONG_GIVEN or _names_a_credential(name))


def _is_dense(text: str, first: int, last: int) -> bool:
    """Say whether a token stands in code without spaces, as minifiers write it."""
    quoted = text[first - 1 : first] in _QUOTES or text[last : last + 1] in _QUOTES
    near = text[max(0, first - _AROUND) : first] + text[last : last + _AROUND]
    return "(" in near and len(near.split()) <= 2 and sum(map(near.count, _SIGNS_OF_CODE[: 6 if quoted else None])) >= 3


def _names_a_credential(name: str) -> bool:
    return lookalikes.names_a_credential(name) and not name.casefold().endswith("id")


def _is_near(text: str, words: list[Span], first: int, last: int) -> bool:
    """Say whether what stands from `first` to `last` belongs to a credential word right before or behind it."""
    index = bisect_left(words, (first, 0))
    if index and first - words[index - 1][1] <= _NEAR and _BESIDE.fullmatch(text, words[index - 1][1], first):
        return True
    return index < len(words) and 0 < words[index][0] - last <= _NEAR and _BEFORE.fullmatch(text, last, words[index][0]) is not None


def _words(view: View, start: int, end: int) -> Iterator[Span]:
    """Yield where the credential words stand; only the places where one may start are read."""
    if view.everywhere:
        yield from (found.span() for found in _WORD.finditer(view.text, start, end))
        return
    at = start
    for name in view.names_within(start, end):
        found = _WORD.match(view.text, name, end) if name >= at else None
        if found:
            yield found.span()
            at = found.end()


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


def _looks_secret(token: str, near: Callable[[], bool]) -> bool:
    if len(token) > lookalikes.LONG:
        return MASK not in token
    if MASK in token or _stays(token):
        return False
    if lookalikes.is_name_shape(token.rstrip("!")):
        return near()
    if not token.isascii():
        return False
    if not any(letter.isalpha() for letter in token):
        return near()
    if token.isalnum() or ("_" in token and token.replace("_", "").isalnum()):
        wordy = re.search(r"[A-Za-z]{5}", token) is not None
        return near() or (not wordy and (_turns(token) >= 3 or (_turns(token) >= 2 and len(token) >= 8))) or _turns(token) >= 5
    return near() or not re.search(r"[=/\\:]|\.\w", token) or _turns(token) >= 5


def _stays(token: str) -> bool:
    """Say whether the token is something else than a credential, wherever it stands."""
    return (
        lookalikes.is_known_shape(token)
        or lookalikes.is_placeholder(token)
        or lookalikes.is_path(token)
        or lookalikes.is_code(token)
        or lookalikes.is_reference(token)
        or any(part != token and lookalikes.is_known_shape(part) for part in (token.rstrip("!"), token.lstrip("@#~$")))
        or _OF_CODE.match(token) is not None
    )


def _turns(token: str) -> int:
    return sum(left.isdigit() != right.isdigit() for left, right in pairwise(token))


BESIDE = Rule(
    "credential-context",
    (
        "pass",
        "pw",
        "p/w",
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
)

RULES = (BESIDE,)


def worth(text: str, start: int) -> bool:
    """Say whether `BESIDE` is worth running where a telling part of a name stands at `start`: is it a word, and is there a digit in its sentence?"""
    if _WORD.match(text, start) is None:
        return False
    low, high = max(0, start - _FAR), min(len(text), start + _FAR)
    begins, ends = low, high
    for stop in _STOPS:
        begins = max(begins, text.rfind(stop, begins, start))
        found = text.find(stop, start, ends)
        ends = found if found >= 0 else ends
    if begins == low > 0 or ends == high < len(text):
        return True  # too long to be read for this
    return _DIGIT.search(text, begins, ends) is not None
