"""What stands where a secret would: placeholders of every kind, labels in several languages, format strings. Pure questions about one value."""

from __future__ import annotations

import re

from afl_redactors import wordlists

LONG = 512
"""Characters. A longer value is never taken for a placeholder: it is not worth reading twice."""

_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey|JWT)\s+", re.IGNORECASE)
_OWNED = r"(?:my|your|the|some|any|new|old|user|test|bad|wrong|good|invalid|valid|incorrect|correct|default|sample|example|dummy|fake|foo|real|actual|initial|a|an|this|is|db|replace|with)"
_CREDENTIAL = r"(?:pass(?:word|wd|phrase|code|wort)?|pwd|pw|secret|token|credentials?|(?:api|access|secret|private)?[-_ ]?key|value|string)"
_TEMPLATE = re.compile(
    r"""(?:<[^<>]*>|&lt;[^<>&]*&gt;|\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$\([^()]*\)|\#\{[^{}]*\}|%\([^()]*\)s|[:/@.])++|
    \{[\w.\s()'"\[\]!:,]*\}|\[[A-Za-z _-]*\]|%[A-Za-z_]\w*%?|%|\$(?:env:)?[A-Za-z_]\w*|\$\d|@[A-Za-z]\w*@|__[A-Z_]+__|:[a-z_]+|
    [xX]{2,}(?:[-_.][xX]+)*|(?:[A-Za-z]{1,8}[-_.]){0,3}[xX]{4,}(?:[-_.][xX]{3,}){0,5}""",
    re.VERBOSE | re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    rf"""(?:your|insert|enter|replace|example|dummy|sample|placeholder|todo|redacted|some|fake)(?:[-_ ][A-Za-z_ -]*)?|
    (?:change|set|fill|edit|update|replace)[-_ ]?(?:me|this|it|in)(?:[-_ !.][A-Za-z_ -]*)?[!.]?|
    (?:{_OWNED}[-_ ]){{0,4}}{_OWNED}?{_CREDENTIAL}s?(?:[-_ ]?here)?|
    [A-Za-z]{{0,8}}[-_]?your[-_ ]?[A-Za-z_ -]*|
    (?:hier|ici|qui|aqu[ií]|aqui|dein|deine|ihr|ihre|votre|ton|tu|seu|sua|su|вставьте|введите|ваш|укажите)[-_ ][^\W\d][\w -]*|
    [^\W\d][\w-]*[-_ ](?:eintragen|einfügen|einsetzen|ersetzen|hier|aqu[ií]|aqui|ici)|
    [^\x00-\x7f\w]*(?:你的|您的|请|請|在此|此处|ここに|こちらに|あなたの|여기에|여기|귀하의|당신의)[^\x00-\x20]*|
    [^\x00-\x7f]{{0,24}}(?:入力|填写|填寫|替换|輸入|输入|입력|입력하세요)[^\x00-\x7f]{{0,12}}""",
    re.VERBOSE | re.IGNORECASE,
)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_MASKED = re.compile(r"[*•●∗×]{3}|[.…]{3}$|…$")
_SAME = re.compile(r"[xX0-9_]{1,2}[xX]{2,511}|(\d)\1{3,511}|_{4,512}")
_FORMAT = re.compile(r"%(?:\(\w{1,40}\))?[-+#0 ]{0,3}\d{0,3}(?:\.\d{1,2})?[sdrifxX]|\{[\w.!:\[\]]{0,40}\}|\$\{?\w{1,60}\}?")
_FILLED_IN = re.compile(r"\{\{[^{}]{0,240}\}\}|\{%[^{}%]{0,240}%\}")
"""What Jinja, Helm, Handlebars and CloudFormation put a value in for."""
_AROUND = re.compile(r"[A-Za-z\s_./:@-]{0,240}")
_NAMED = re.compile(
    r"(?:(?:[A-Za-z]{1,20}|k8s|oauth2|s3|v\d|sha\d{1,3}|md5|x509|[a-z]{1,8}\d)[-_.:/# ]){0,8}(?:pass(?:word|wd|phrase|code)?|secret|token|credential|pwd|api_?key|key|auth|jwt)s?(?:[-_.:/ ](?:[A-Za-z]{1,20}|sha\d{1,3}|md5|v\d)){0,6}",
    re.IGNORECASE,
)
_CAMEL = re.compile(
    r"(?:password|passwd|token|secret|credential|auth|apiKey)s?(?:[A-Z][a-z]{1,20}){1,6}|(?:[A-Za-z]{1,20}[-_./]){0,4}[a-z]{1,20}\d?(?:[A-Z][a-z]{1,20}){0,6}(?:Pass(?:word|wd|phrase|code)?|Secret|Token|Credential|Key|Pw|Pwd|Auth)s?(?:[A-Z][a-z]{1,20}){0,6}"
)


def is_placeholder(value: str) -> bool:
    """Say whether `value` stands for a secret that is not there: `<your-token>`, `${TOKEN}`, `xxx`, `***`, `changeme`, `%s:%s`."""
    if len(value) > LONG:
        return False
    value = value.strip().removeprefix("\\n")
    scheme = _SCHEME.match(value)
    if scheme:
        value = value[scheme.end() :]
    return is_template(value) or value.casefold() in wordlists.STAND_INS or _PLACEHOLDER.fullmatch(value) is not None


def is_template(value: str) -> bool:
    """Say whether `value` is a placeholder by its form alone: brackets, variables, masks. A word such as "secret" may be a bad password."""
    if len(value) > LONG:
        return False
    if _LETTER_OR_DIGIT.search(value) is None or _MASKED.search(value) or _SAME.fullmatch(value) or _TEMPLATE.fullmatch(value):
        return True
    if ("{{" in value or "{%" in value) and (rest := _FILLED_IN.sub("", value)) != value and _AROUND.fullmatch(rest):
        return True
    return ("%" in value or "{" in value or "$" in value) and _LETTER_OR_DIGIT.search(_FORMAT.sub("", value)) is None


def names_itself(value: str) -> bool:
    """Say whether a value without digits is only the name of a credential: `auth_token`, `pref-key-token`, `passwordRules`, `#add-password`."""
    if len(value) > 128:
        return False
    value = value.lstrip("#.@:/")
    return _NAMED.fullmatch(value) is not None or _CAMEL.fullmatch(value) is not None


def is_label(value: str) -> bool:
    """Say whether a quoted `value` is said about a credential, as the labels of a form, messages and questions are."""
    if len(value) > LONG:
        return False
    if value.endswith(("?", "？", "...", "…", ":")) and (" " in value or not value.isascii()):
        return True
    words = re.findall(r"[^\W\d_]+", value)
    folded = [word.casefold() for word in words]
    if any(word in wordlists.CREDENTIAL_WORDS for word in folded) and sum(letter.isdigit() for letter in value) <= (" " in value):
        return len(words) >= 2 or folded[0] not in wordlists.TYPES
    if len(words) < 3 or " " not in value:
        return False
    usual = sum(word in wordlists.PROSE or word in wordlists.LABEL_WORDS for word in folded)
    return usual * 2 >= len(words) and usual >= 2


def is_of_signs(value: str) -> bool:
    """Say whether `value` is Chinese, Japanese or Korean text: no letter or digit of it can be typed into a field for a password."""
    return not re.search(r"[A-Za-z0-9]", value) and re.search(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", value) is not None
