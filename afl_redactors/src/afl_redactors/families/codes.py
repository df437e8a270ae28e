"""Codes of a second factor, said as such: "2FA code is 481 522", "Use 123456 as your verification code", a list of backup codes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from afl_redactors.markers import already_redacted
from afl_redactors.rules import Lead, Rule, Span
from afl_redactors.windows import Clip, View

_KINDS = (
    "2fa", "mfa", "otp", "totp", "one-time", "one time", "onetime", "verification", "security", "auth", "authentication", "authenticator", "authorization",
    "login", "log-in", "signin", "sign-in", "confirmation", "access", "sms", "backup", "recovery", "two-factor", "two factor", "two-step", "pairing",
)  # fmt: skip
"""What stands before "code" in English."""
_NOUN = "code"
_TOLD = (
    "one-time password", "one time password", "onetimepassword", "one_time_password", "one-time passcode", "one time passcode",
    "验证码", "驗證碼", "校验码", "动态码", "动态密码", "一次性密码", "备用码", "恢复码", "備用碼",
    "認証コード", "確認コード", "検証コード", "セキュリティコード", "ワンタイムパスワード", "ワンタイムコード", "バックアップコード", "リカバリーコード",
    "인증번호", "인증 번호", "인증 코드", "인증코드", "확인 코드", "보안 코드", "일회용 비밀번호", "백업 코드", "복구 코드",
    "código de verificación", "código de seguridad", "código de acceso", "código de confirmación", "código de un solo uso", "códigos de respaldo",
    "códigos de recuperación", "code de vérification", "code de sécurité", "code de confirmation", "code de connexion", "code à usage unique",
    "codes de secours", "codes de récupération", "código de verificação", "código de segurança", "código de acesso", "código de confirmação",
    "código de uso único", "códigos de backup", "códigos de recuperação", "bestätigungscode", "sicherheitscode", "verifizierungscode",
    "einmalcode", "einmalpasswort", "zugangscode", "anmeldecode", "sms-code", "backup-codes", "wiederherstellungscode", "код подтверждения",
    "код безопасности", "код доступа", "код проверки", "код авторизации", "код из смс", "одноразовый код", "одноразовый пароль", "резервные коды",
    *(f"{kind}{joint}{noun}" for kind in ("2fa", "mfa", "otp", "totp", "authenticator") for joint in (" ", "_", "-") for noun in ("token", "pin")),
)  # fmt: skip
_ALONE = ("otp", "totp", "2fa", "mfa")
"""Words that stand for the code itself."""
_NUMBERS = ("pin:", "pin is ", "pin code", "tan:", "tan is ")
"""What numbers that are known by heart or sent are called; their names are written in capitals, or the sentence says that it is one."""

_LIST = r"backup|recovery|备用|恢复|備用|バックアップ|リカバリー|백업|복구|respaldo|recupera|secours|récup|wiederherstellung|резервн"
_CODE = re.compile(
    r"(?<![A-Za-z0-9_./#-])(?:[A-Z]{1,3}-)?(?:\d{3}[ -]\d{3}|\d{4}[ -]\d{4}|\d{4,8})(?![A-Za-z0-9_%/]|[.,:-]\d|-\w)(?![ ]?(?:ms|s|secs?|seconds?|min|minutes?|hours?|days?|digits?|char|bytes?|bits?"
    r"|attempts?|users?|possib|times|remain|requests?|errors?|ways|lines?|combin|位|桁|자리|цифр|dígitos|chiffres|stellig|ziffern)\b)"
)
_SPARE = re.compile(
    r"(?<![A-Za-z0-9_./#-])(?=[A-Za-z-]{0,12}\d)(?:[A-Za-z0-9]{4,10}(?:[ -][A-Za-z0-9]{4,10}(?![\w])){1,5}|[A-Za-z0-9]{8,16})(?![\w./%:=(-])"
)
"""One of a list of codes for later: in groups, or eight characters and more, with a digit."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_JOINT = re.compile(
    r"""s?[)\]]?(?:\\{0,3}["'`*]){0,3}(?:[ ]\([^()\n]{1,24}\))?(?:[ ]?(?P<firm>(?:\\{0,3}["'])?[ ]?(?:[:=：＝]|[ ]?(?:->|→|—|–|-)(?=[ ]))(?:[ \t]{0,4}(?:\\n|\r?\n)[ \t>*•-]{0,8})?
    |[ ]?(?:is|was|are|es|son|est|sont|é|são|ist|lautet|lauten|war|это|是|为|為|は|が|는|은|가|이)(?=[\s:：\d"'`*])(?:[ ]now)?[ ]?:?)|[ ])
    [ \t]{0,4}(?:\\{0,3}["'`*\[]){0,3}(?:[*•-][ ])?(?:1[.)][ ])?""",
    re.VERBOSE | re.IGNORECASE,
)
_NEXT = re.compile(
    r"(?:\\{0,3}[\"'`*]){0,3}(?:[ \t]{0,4}[,;|/]|[ ](?:and|or|und|et|y|e)(?=[ ]))?(?:[ \t]{0,4}(?:\\n|\r?\n)|[ \t]{1,4})[ \t>*•-]{0,8}(?:\d{1,2}[.)][ ]{1,2})?(?:\\{0,3}[\"'`*]){0,3}"
)
_BEFORE = re.compile(
    r"(?P<value>(?<![A-Za-z0-9_./#-])(?:[A-Z]{1,3}-)?(?:\d{3}[ -]\d{3}|\d{4,8}))[\"'`*]{0,3}[ ](?:is|as)[ ](?:(?:your|the|my|a|our|this|an)[ ])?(?:[\w.&]{1,20}[ ]){0,2}$"
)
_MOST = 20
_ROOM = 96

_SEPARATED = tuple(f"{kind}{joint}{_NOUN}" for kind in _KINDS for joint in (" ", "_", "-", ""))
_WORD = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?:{'|'.join(map(re.escape, sorted(_KINDS, key=len, reverse=True)))})[ _-]?{_NOUN}(?![a-rt-z])"
    rf"|(?:{'|'.join(map(re.escape, sorted(_TOLD, key=len, reverse=True)))})|(?:{'|'.join(_ALONE)})(?![A-Za-z0-9-])|(?-i:PIN|TAN)(?=:|[ ]is[ ])|pin(?:[ ]code)?(?=[ ]is[ ]|(?<=code):))",
    re.IGNORECASE,
)


def _values(view: View, found: re.Match[str]) -> Iterator[Span]:
    """The codes told behind these words, or else the one told before them."""
    text = view.text
    spare = re.search(_LIST, found.group(), re.IGNORECASE) is not None
    joint = _JOINT.match(text, found.end())
    told = False
    if joint is not None:
        at = joint.end()
        for _ in range(_MOST if spare else 1):
            code = _code(text, at, spare=spare, firm=joint["firm"] is not None)
            if code is None:
                break
            told = True
            yield code
            following = _NEXT.match(text, code[1])
            if following is None:
                break
            at = following.end()
    if not told and (before := _BEFORE.search(text, max(0, found.start() - _ROOM), found.start())):
        yield before.span("value")


def _code(text: str, at: int, *, spare: bool, firm: bool) -> Span | None:
    found = _CODE.match(text, at)
    if found is not None:
        digits = sum(letter.isdigit() for letter in found.group())
        sure = digits >= 6 if not firm else not _YEAR.fullmatch(found.group())
        return found.span() if sure else None
    code = _SPARE.match(text, at) if spare and firm else None
    if code is None or already_redacted(code.group()):
        return None
    parts = re.split("[ -]", code.group())
    return code.span() if len({*map(len, parts)}) == 1 and sum(letter.isdigit() for letter in code.group()) >= 2 else None


def _search(view: View, start: int, end: int) -> Iterator[Span]:
    at = start
    while found := _WORD.search(view.text, at, end):
        at = found.end()
        for span in _values(view, found):
            view.count(span[1] - span[0])
            yield span
            at = max(at, span[1])


_BEHIND = (" ", ":", "=", '"', "'", "_", "：", "\\")
_RULE = Rule("one-time-code", (*_SEPARATED, *_TOLD, *_ALONE, *_NUMBERS), _search, before=1, after=48, clip=Clip.NOTHING)
RULES = (_RULE,)


def _asks(view: View, start: int, _end: int) -> Sequence[Rule]:
    low = max(0, start - 16)
    found = next((one for one in _WORD.finditer(view.text, low, start + 48) if one.start() <= start < one.end()), None)
    return RULES if found is not None and next(_values(view, found), None) is not None else ()


LEADS: tuple[Lead, ...] = (Lead((*_SEPARATED, *_TOLD, *_NUMBERS, *(f"{word}{more}" for word in _ALONE for more in _BEHIND)), _asks),)
