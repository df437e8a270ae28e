"""Credentials handed to a call by their place: `new NetworkCredential("bob", "X")`, `auth=("bob", "X")`, `mysqli("db", "bob", "X")`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import guesses, lookalikes
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.values import LONGEST_TAIL, read_value
from afl_redactors.windows import Clip, View

_ARGUMENT = r"(?:[bBrRfFuU@]?\\?\"[^\"\n]{0,160}\"|[bBrRfFuU@]?'[^'\n]{0,160}'|[^,()\"'\n]{1,80}|[A-Za-z_.]{1,60}\([^()\n]{0,80}\)|\{[^{}\n]{0,160}\})"
_NAMED = r"(?:\s{0,40}(?:user(?:name)?|login)[ ]?[=:])?"
_COMMA = r"\s{0,8},\s{0,40}"
_VALUE = r"(?:(?:Some|b64encode|SecretStr)\()?(?=[bBrRfFuU@]?\\{0,7}[\"'])"

SURE: tuple[tuple[tuple[str, ...], int], ...] = (
    (("networkcredential(", "pscredential(", "usernamepasswordcredential(", "usernamepasswordcredentials(", "passwordcredentials("), 1),
    (("basicawscredentials(", "staticcredentialsprovider(", "passwordauthentication(", "httpbasicauth(", "httpdigestauth("), 1),
    (("basic_auth(", "basicauth(", "setbasicauth(", "basiccredentials(", "usernamepasswordauthenticationtoken(", "httpproxyauth("), 1),
    (("mysqli(", "mysqli_connect(", "mysql_connect(", "directoryentry(", "clientsecretcredential(", "getconnection("), 2),
    (("dbi->connect(", "new pdo(", "staticcredentials("), 2),
    (("azurekeycredential(", "apikeycredential(", "secretkeyspec(", "hmac.new(", "fernet("), 0),
    (("createhmac(", "jwt.sign(", "jwt.encode(", "jwt.verify(", "jwt.decode(", "credentials.basic(", "wifi.begin("), 1),
)
"""Calls that take a credential in this place, the first being 0."""
UNSURE: tuple[tuple[tuple[str, ...], int], ...] = (
    (("login(", "signin(", "sign_in(", "log_in(", "authenticate(", "withcredentials(", "credentials(", "logon("), 1),
    (("auth=(", "auth = (", "auth: (", ".auth(", ":auth(", "auth=["), 1),
    ((".auth(", ":auth(", "bcrypt.hash(", "bcrypt.hashsync(", "bcrypt.hashpw("), 0),
)
"""Calls in which it is one where it looks like one."""


def _handed(view: View, found: re.Match[str], *, sure: bool) -> Iterator[Span]:
    value = read_value(view, found.end() + (view.text[found.end() : found.end() + 1] == "@"), tail=LONGEST_TAIL)
    if value is None or not value.quoted or already_redacted(value.text):
        return
    content = value.text
    if not guesses.is_chosen(content) and (not sure or " " in content or len(content) < 5 or _is_no_value(content)):
        return
    yield value.start, value.end


def _is_no_value(content: str) -> bool:
    return (
        lookalikes.is_placeholder(content)
        or lookalikes.names_itself(content)
        or lookalikes.is_known_shape(content)
        or lookalikes.is_reference(content)
        or guesses.is_measure(content)
        or content.startswith(("$", "%", "{", "#"))
        or lookalikes.is_path(content)
        or "://" in content
    )


def _rule(words: tuple[str, ...], place: int, *, sure: bool) -> tuple[Rule, Lead]:
    names = "|".join(re.escape(word) for word in words)
    compiled = re.compile(
        rf"(?:(?<![A-Za-z0-9_])(?=\w)|(?=\W))(?:{names}){_NAMED}\s{{0,40}}(?:{_ARGUMENT}{_COMMA}){{{place}}}{_VALUE}", re.IGNORECASE
    )

    def read(view: View, found: re.Match[str]) -> Iterator[Span]:
        return _handed(view, found, sure=sure)

    rule = Rule("call-argument", words, matching(compiled, read), before=1, after=640, clip=Clip.NOTHING)
    return rule, leading(rule, compiled.match)


_MADE = [*(_rule(words, place, sure=True) for words, place in SURE), *(_rule(words, place, sure=False) for words, place in UNSURE)]

RULES = tuple(rule for rule, _ in _MADE)
LEADS: tuple[Lead, ...] = tuple(lead for _, lead in _MADE)
