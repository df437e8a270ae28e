"""Credentials in HTTP headers: Authorization with any scheme, a bare Bearer or Basic, cookies."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator

from afl_redactors import guesses, lookalikes
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.values import Value, read_value
from afl_redactors.windows import View

_AUTHORIZATION = re.compile(
    r"""authorization\\{0,7}["'`]{0,2}\]?[ \t]{0,4}\*{0,2}(?:[:=：]|=>|,\s{0,16}\\{0,3}["']value\\{0,3}["'][ ]?:|,(?=[ ]?\\{0,7}["'`]))[ \t]{0,4}\*{0,2}(?:\\{0,7}[bBfF]?["'`](?![\s"'`]{0,4}[)+,;]|["'`]))?[ \t]{0,2}
    (?:(?P<scheme>bearer|basic|token|apikey|api-key|digest|negotiate|ntlm|key|jwt|aws4-hmac-sha256|hawk|dpop|splunk|genie\w{0,3}|ssws)[ \t]{1,4})?(?=\S)""",
    re.VERBOSE | re.IGNORECASE,
)
_BEARER = re.compile(r"(?<![\w-])bearer[ \t]{1,4}(?=[A-Za-z0-9_+/=.~-]{8})", re.IGNORECASE)
_BASIC = re.compile(r"(?<![\w-])basic[ \t]{1,4}(?P<value>[A-Za-z0-9+/_-]{8,512}={0,2})(?![\w+/=-])", re.IGNORECASE)
_MANY_PARTS = frozenset({"digest", "aws4-hmac-sha256", "hawk"})
_TO_QUOTE = re.compile(r"[^\n\r\"'`\\]{1,4096}")
_PARTS = re.compile(r"[^\n\r'`\\]{1,4096}")
_COOKIE = re.compile(
    r"""(?<![A-Za-z])(?P<set>set-)?cookie2?(?:\\{0,7}["'`]{0,2}\]?[ \t]{0,4}(?:[:=]|,\s{0,16}\\{0,3}["']value\\{0,3}["'][ ]?:|,(?=[ ]?\\{0,7}["']))[ \t]{0,4}|[ ](?=["']))\\{0,7}["'`]?[ \t]{0,2}
    (?P<name>[\w.$!%*~-]{1,128})=(?=[^\s;=])""",
    re.VERBOSE | re.IGNORECASE,
)
_LEFT_OUT = ("...", "…")
_CONSTANT = re.compile(r"[A-Z]{2,24}(?:_[A-Z0-9]{1,24}){1,8}")
"""The name of a constant, which stands for a value."""
_COOKIE_VALUE = re.compile(r"[^;\s\"'`\\]{1,4096}")
_COOKIE_REST = re.compile(r"[^\n\r\"'`\\]{1,8192}")
_SESSION = re.compile(
    r"(?:jsessionid|phpsessid|asp\.net_sessionid|connect\.sid|sessionid)\\{0,7}[\"']?[ ]?[=:][ ]?\\{0,7}[\"']?(?=[\w%.+/-]{12})",
    re.IGNORECASE,
)
_OWN_SESSION = re.compile(r"(?<![A-Za-z0-9])_[a-z0-9_]{2,32}?_sess(?:ion)?=(?P<value>[\w%.+/=-]{20,512})")
"""The cookie of a framework that names it for its application, such as `_shop_session`."""


def _header(view: View, found: re.Match[str]) -> Iterator[Span]:
    scheme = (found["scheme"] or "").casefold()
    if scheme in _MANY_PARTS:
        parts = _PARTS.match(view.text, found.end())
        if parts and not already_redacted(parts.group()) and not parts.group().rstrip().endswith(_LEFT_OUT):
            yield parts.span()
        return
    if scheme and view.text[found.end()] in "\"'`":
        return  # the quote that closes a string such as "Basic " in code
    value = read_value(view, found.end())
    if value is None or already_redacted(value.text) or lookalikes.is_placeholder(value.text) or lookalikes.is_type(value.text):
        return
    if lookalikes.is_code(value.text) or lookalikes.is_reference(value.text) or guesses.is_measure(value.text):
        return
    if _is_left_out(view.text, value) or _CONSTANT.fullmatch(value.text):
        return
    if lookalikes.is_plain(value.text):
        follows = view.text[value.end : value.end + 2]
        if (
            not scheme
            or lookalikes.is_prose(value.text)
            or lookalikes.names_a_credential(value.text)
            or (follows[:1] == " " and follows[1:].isalpha())
        ):
            return
    yield value.start, value.end


def _is_left_out(text: str, value: Value) -> bool:
    """Say whether the middle or the end of a value is left out, as documentation does."""
    return text.startswith(_LEFT_OUT, value.end) or any(mark in value.text for mark in _LEFT_OUT)


def _bearer(view: View, found: re.Match[str]) -> Iterator[Span]:
    value = read_value(view, found.end())
    if (
        value is None
        or lookalikes.is_placeholder(value.text)
        or lookalikes.is_code(value.text)
        or _is_left_out(view.text, value)
        or _CONSTANT.fullmatch(value.text)
    ):
        return
    random = any(letter.isdigit() for letter in value.text) and not lookalikes.is_known_shape(value.text)
    if random or (len(value.text) >= 24 and not lookalikes.is_plain(value.text)):
        yield value.start, value.end


def _basic(_view: View, found: re.Match[str]) -> Iterator[Span]:
    encoded = found["value"].replace("-", "+").replace("_", "/")
    try:
        decoded = b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode()
    except ValueError:  # the decoder's own error, one of letters beyond ASCII that the pattern takes for others, or no UTF-8
        return  # an ordinary word behind "basic", not an encoded pair
    if ":" in decoded and decoded.isprintable():
        yield found.span("value")


_PAIR_OF_JAR = re.compile(r"(?:^|;[ ]?)(?P<name>[\w.$!%*~-]{1,128})=(?P<value>[^;]{1,4096})")
_OF_A_SESSION = re.compile(
    r"sess|(?<![a-z])sid|sid(?![a-z])|auth|token|csrf|xsrf|jwt|secret|login|remember|user|account|_id|ticket|(?<![a-z])key|saml|sso|ssid",
    re.IGNORECASE,
)


def _may_identify(name: str, value: str) -> bool:
    """Say whether a cookie may let somebody in: one of a session with a digit in it, or any that is long and mixed."""
    digits, letters = any(letter.isdigit() for letter in value), any(letter.isalpha() for letter in value)
    if lookalikes.is_placeholder(value) or lookalikes.is_known_shape(value):
        return False
    if _OF_A_SESSION.search(name):
        return (digits and len(value) >= 3) or len(value) >= 12
    return digits and letters and len(value) >= 16 and not re.search(r"[A-Z]{6}|[a-z]{8}", value)


def _cookie(view: View, found: re.Match[str]) -> Iterator[Span]:
    shape = _COOKIE_VALUE if found["set"] else _COOKIE_REST
    value = shape.match(view.text, found.end())
    if value is None or already_redacted(value.group()) or lookalikes.is_placeholder(value.group()) or lookalikes.is_code(value.group()):
        return
    jar = f"{found['name']}={value.group()}"
    if any(_may_identify(pair["name"], pair["value"].strip()) for pair in _PAIR_OF_JAR.finditer(jar)):
        yield value.start(), value.start() + len(value.group().rstrip(" \t)},;"))


def _is_no_session(value: str) -> bool:
    """Say whether `value` is an id that logs and transcripts call a session's, and opens none."""
    return lookalikes.is_placeholder(value) or guesses.is_uuid(value) or lookalikes.is_code(value)


def _own_session(_view: View, found: re.Match[str]) -> Iterator[Span]:
    if any(letter.isdigit() for letter in found["value"]) and not _is_no_session(found["value"]):
        yield found.span("value")


def _session(view: View, found: re.Match[str]) -> Iterator[Span]:
    value = read_value(view, found.end())
    if value is not None and any(letter.isdigit() for letter in value.text) and not _is_no_session(value.text):
        yield value.start, value.end


_HEADER = Rule("authorization", ("authorization",), matching(_AUTHORIZATION, _header), before=0, after=96)
_TOKEN = Rule("bearer", ("bearer",), matching(_BEARER, _bearer), before=1, after=32)
_PAIR = Rule("basic-auth", ("basic",), matching(_BASIC, _basic), before=1, after=640)
_JAR = Rule("cookie", ("cookie",), matching(_COOKIE, _cookie), before=5, after=256)
_OWN = Rule("cookie", ("_session=", "_sess="), matching(_OWN_SESSION, _own_session), before=40, after=64)
_LONE = Rule("cookie", ("sessid", "sessionid", "connect.sid"), matching(_SESSION, _session), before=16, after=64)

_BASIC_BEGINS = re.compile(r"(?<![\w-])basic[ \t]{1,4}[A-Za-z0-9+/_-]{8}", re.IGNORECASE)
_SESSION_ENDS = re.compile(r"(?:sess(?:ion)?id|connect\.sid)\\{0,7}[\"']?[ ]?[=:]", re.IGNORECASE)

_OWN_ENDS = re.compile(r"_sess(?:ion)?=[\w%.+/=-]{20}")

RULES = (_HEADER, _TOKEN, _PAIR, _JAR, _LONE, _OWN)
LEADS: tuple[Lead, ...] = (
    leading(_HEADER, _AUTHORIZATION.match),
    leading(_TOKEN, _BEARER.match),
    leading(_PAIR, _BASIC_BEGINS.match),
    leading(_JAR, _COOKIE.match),
    leading(_LONE, _SESSION_ENDS.match),
    leading(_OWN, _OWN_ENDS.match),
)
