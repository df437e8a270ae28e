"""Credentials inside addresses and connection strings: `scheme://user:pass@host`, `curl -u user:pass`, a MySQL data source name, signed links."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import lookalikes
from afl_redactors.markers import already_redacted
from afl_redactors.placeholders import is_template
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.values import Value, read_inside, read_value
from afl_redactors.windows import View

_WITH_PASSWORD = re.compile(r"(?<=[A-Za-z0-9])://(?P<user>[^\s/?#\"'`<>@:,;()]{0,128}(?:@[A-Za-z0-9.-]{1,64})?):(?=[^\s@])")
_USER_ONLY = re.compile(r"(?<=[A-Za-z0-9])://(?P<value>[A-Za-z0-9_.~%+=-]{12,512})@(?=[A-Za-z0-9\[])")
_UNTIL = re.compile(r"[\s<>]|\\{0,8}[\"'`](?=[\s,;:)\]}>\\\"'`]|$)|\\[nrt]")
_PORT = re.compile(r"\d{1,5}(?:[/?\#\s\"'`<>()\[\]{},;.:|\\。，；、）]|$)")
_SURE_HOST = re.compile(
    r"(?:localhost|\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}\.?)(?::\d{1,5})?(?=[/?#,\s)\]}>\"'`\\.;。，]|$)|[A-Za-z0-9-]{1,63}:\d{1,5}(?=[/?#,\s)\"'`\\]|$)"
)
_HOST_BEGINS = re.compile(r"@(?:[\w\[%$<{*]|\.[\w.]|\\)")
_NAMES_OF_IT = frozenset({"pass", "password", "passwd", "pwd", "pw"})
"""What stands for a password in addresses that show where one goes."""
_FARTHEST = 4096
"""Characters between the colon and the `@`."""

_CURL_USER = re.compile(r"(?<=\s)(?:-u|--user|--proxy-user|-U)[ =]{0,2}\\?(?P<quote>[\"']?)(?P<user>[^\s:\"'$`]{0,128}):(?=[^\s\"'$])")
_SQL_DSN = re.compile(r"(?<![\w.-])[\w.-]{1,64}:(?P<value>[^\s\"'`@/]{1,256}(?:@[^\s\"'`@/(]{1,64}){0,3})@(?:tcp|unix)\(")
_SIGNATURE = re.compile(r"[?&](?:sig|signature)=(?=[A-Za-z0-9%+/=_-]{16})", re.IGNORECASE)


def _password(view: View, found: re.Match[str]) -> Iterator[Span]:
    text, start = view.text, found.end()
    if _PORT.match(text, start):
        return
    limit = min(len(text), start + _FARTHEST)
    stop = _UNTIL.search(text, start, limit)
    stop_at = stop.start() if stop else limit
    end = at = text.find("@", start, stop_at)
    while at >= 0:
        end = at
        if _SURE_HOST.match(text, at + 1):
            break
        at = text.find("@", at + 1, stop_at)
    view.count(stop_at - start)
    if (
        end > start
        and _HOST_BEGINS.match(text, end)
        and not already_redacted(text[start:end])
        and not is_template(text[start:end])
        and text[start:end].casefold() not in _NAMES_OF_IT
    ):
        yield start, end


def _lone_token(_view: View, found: re.Match[str]) -> Iterator[Span]:
    value = found["value"]
    if any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value) and not lookalikes.is_known_shape(value):
        yield found.span("value")


def _after_user(view: View, found: re.Match[str]) -> Iterator[Span]:
    line = view.text.rfind("\n", max(0, found.start() - 512), found.start()) + 1
    if (
        "curl" not in view.text[max(line, found.start() - 512) : found.start()]
        and "wget" not in view.text[max(line, found.start() - 512) : found.start()]
    ):
        return
    value = read_inside(view, found.end(), found["quote"]) if found["quote"] else read_value(view, found.end())
    yield from _worth_hiding(value)


def _value_here(view: View, found: re.Match[str]) -> Iterator[Span]:
    yield from _worth_hiding(read_value(view, found.end()))


def _worth_hiding(value: Value | None) -> Iterator[Span]:
    if value is None or already_redacted(value.text) or lookalikes.is_placeholder(value.text):
        return
    yield value.start, value.end


def _named(_view: View, found: re.Match[str]) -> Iterator[Span]:
    if not (already_redacted(found["value"]) or lookalikes.is_placeholder(found["value"])):
        yield found.span("value")


_USER_AND_PASSWORD = Rule("url-userinfo", ("://",), matching(_WITH_PASSWORD, _password), before=1, after=160)
_USER = Rule("url-userinfo", ("://",), matching(_USER_ONLY, _lone_token), before=1, after=600)
_SQL = Rule("url-userinfo", ("@tcp(", "@unix("), matching(_SQL_DSN, _named), before=400, after=8)
_DOWNLOAD = Rule("cli-user", ("curl", "wget"), matching(_CURL_USER, _after_user), before=0, after=512)
_SIGNED = Rule("signed-url", ("sig=", "signature="), matching(_SIGNATURE, _value_here), before=1, after=64)

_LONGEST_USER = 160
"""Characters that `_CURL_USER` may match at most."""


def _has_password(text: str, at: int) -> bool:
    found = _WITH_PASSWORD.match(text, at)
    return found is not None and _PORT.match(text, found.end()) is None


def _has_user(text: str, at: int) -> bool:
    end = at + 512 + _LONGEST_USER
    line = text.find("\n", at, end)
    end = end if line < 0 else line + 1
    flag = text.find("-", at, end)
    return flag >= 0 and _CURL_USER.search(text, flag, end) is not None


RULES = (_USER_AND_PASSWORD, _USER, _SQL, _DOWNLOAD, _SIGNED)
LEADS: tuple[Lead, ...] = (
    leading(_USER_AND_PASSWORD, _has_password),
    leading(_USER, _USER_ONLY.match),
    leading(_SQL, lambda _text, _at: True),
    leading(_DOWNLOAD, _has_user),
    leading(_SIGNED, lambda text, at: at > 0 and _SIGNATURE.match(text, at - 1)),
)
