"""A user and a password told as a pair: "login: bob / X", "creds bob:X", "log in as admin/X", "user bob, pass X"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import guesses, lookalikes
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.values import LONGEST_TAIL, read_value
from afl_redactors.windows import View

_SURE = (
    "creds", "cred:", "credentials", "zugangsdaten", "anmeldedaten", "identifiants", "credenciales", "credenciais", "учетные данные", "учётные данные",
    "账号密码", "账号/密码", "帳號密碼", "用户名/密码", "basic auth ", "login/password", "user/password", "username/password", "user/pass", "user/pw", "u/p", "ログイン情報", "認証情報",
)  # fmt: skip
"""Words behind which nothing but a pair stands."""
_LOGINS = (
    "login:", "login is ", "logins:", "login details", "log in with ", "log in as ", "log in using ", "login as ", "login with ", "sign in with ", "sign in as ",
    "account:", "account is ", "account ", "zugang:", "zugang ist ", "login ist ", "connexion :", "acceso:", "acesso:", "логин:", "доступ:", "账号：", "账号:", "账户：",
    "ログイン:", "ログイン：", "로그인:", "계정:",
)  # fmt: skip
"""Words behind which a user stands."""
_LINK = r"(?:[ ](?:info|details|data|(?:for|für|para|pour|de|del|do|da|для)(?:[ ][\w.-]{1,24}){1,4}|are|is|were|now|sind|sont|son|são|это|использовать)){0,3}[ ]?(?:[:=：]|->|→)?[ ]{0,2}(?:是|は|은|는)?[(]?"
_USER = r"[\"'`*]{0,2}(?P<user>[^\W\d][\w.+-]{1,47}(?:@[\w-]{1,40}(?:\.[\w-]{1,24}){1,3})?)[\"'`*]{0,2}"
_NEXT = r"(?P<mark>[ ]/[ ]|[ ]:[ ]|[ ]\|[ ]|/|:[ ]?)(?=\S)"


def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    listed = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9_.@/-])(?:{listed}){_LINK}{_USER}{_NEXT}", re.IGNORECASE)


_OF_CREDENTIALS, _OF_A_LOGIN = _pattern(_SURE), _pattern(_LOGINS)
_LONGEST = 512
"""Characters of a password, at most."""
_NUMBERED = re.compile(r"[A-Za-z]{1,32}\d{1,4}")
_SCHEME = re.compile(r"https?|ftp|ssh|file|v\d{1,3}|port|host|user|name|email|type|arn|urn", re.IGNORECASE)


def _told(view: View, found: re.Match[str], *, sure: bool) -> Iterator[Span]:
    value = read_value(view, found.end(), min(len(view.text), found.end() + _LONGEST), tail=LONGEST_TAIL)
    if value is None or already_redacted(value.text) or _SCHEME.fullmatch(found["user"]):
        return
    content, apart = value.text.rstrip(")*"), found["mark"].strip() != found["mark"]
    if "/" in content or not guesses.is_chosen(content) or (not sure and lookalikes.is_known_shape(content)):
        return
    if found["mark"] == "/" and not sure and not _stands_out(content):
        return
    if not sure and not apart and _NUMBERED.fullmatch(content):
        return
    yield value.start, value.start + len(content)


def _stands_out(content: str) -> bool:
    """Say whether a value that a slash joins to a name is more than the second of two names."""
    return guesses.is_sure(content) and any(not letter.isalnum() for letter in content)


def _of_credentials(view: View, found: re.Match[str]) -> Iterator[Span]:
    return _told(view, found, sure=True)


def _of_a_login(view: View, found: re.Match[str]) -> Iterator[Span]:
    return _told(view, found, sure=False)


_PASS_BEFORE = re.compile(
    r"(?<![\w.-])(?:user(?:name)?|login|account|usr|benutzer|usuario|utilisateur|usuário)(?:[ ]is[ ]|[ ]?[:=][ ]?|[ ])[\"'`*]{0,2}[^\W\d][\w.@+-]{1,63}[\"'`*]{0,2}[ ]?[,;/|]?[ ]?(?:and[ ])?$",
    re.IGNORECASE,
)
_PASS = re.compile(r"(?<=[ ,/;|])pass[ ](?=\S)", re.IGNORECASE)


def _behind_pass(view: View, found: re.Match[str]) -> Iterator[Span]:
    if not _PASS_BEFORE.search(view.text[max(0, found.start() - 100) : found.start()]):
        return
    value = read_value(view, found.end(), min(len(view.text), found.end() + _LONGEST), tail=LONGEST_TAIL)
    if value is not None and "|" not in value.text and guesses.is_chosen(value.text) and not already_redacted(value.text):
        yield value.start, value.end


_USED = re.compile(
    r"(?<![\w.@/-])(?:use|with|try)[ ][\"'`*]{0,2}[A-Za-z][\w.+-]{1,47}[\"'`*]{0,2}(?:[ ]/[ ]|/|:)[\"'`*]{0,2}(?P<value>[^\s\"'`/,;]{5,128})[\"'`*]{0,2}[ ]to[ ](?:log[ -]?in|sign[ -]?in)",
    re.IGNORECASE,
)


def _used(_view: View, found: re.Match[str]) -> Iterator[Span]:
    if _stands_out(found["value"]) and not already_redacted(found["value"]):
        yield found.span("value")


_NAME = "credential-pair"
_CREDENTIALS = Rule(_NAME, _SURE, matching(_OF_CREDENTIALS, _of_credentials), before=1, after=240)
_LOGIN = Rule(_NAME, _LOGINS, matching(_OF_A_LOGIN, _of_a_login), before=1, after=240)
PASSED = Rule(_NAME, ("pass",), matching(_PASS, _behind_pass), before=0, after=64)
_TO_LOG_IN = Rule(
    _NAME, (" to log in", " to login", " to log-in", " to sign in", " to sign-in"), matching(_USED, _used), before=240, after=16
)

_USERS = ("user", "login", "account", "usr", "benutzer", "usuario", "utilisateur", "usuário")


def worth(view: View, start: int) -> bool:
    """Say whether a user is named before the "pass" at `start`."""
    near = view.seen[max(0, start - 100) : start]
    return any(word in near for word in _USERS) and _PASS_BEFORE.search(view.text[max(0, start - 100) : start]) is not None


RULES = (_CREDENTIALS, _LOGIN, PASSED, _TO_LOG_IN)
LEADS: tuple[Lead, ...] = (
    leading(_CREDENTIALS, _OF_CREDENTIALS.match),
    leading(_LOGIN, _OF_A_LOGIN.match),
    leading(_TO_LOG_IN, lambda text, at: _USED.search(text, max(0, at - 240), at + 16)),
)
