"""Whether the name in front of `=` or `:` is the name of a credential, and how sure that is. Reads names only, never values."""

from __future__ import annotations

import re
from enum import Enum

from afl_redactors import wordlists

CREDENTIAL_NAME = (
    r"(?:pass(?:word|wd|code|phrase|wort|wrd)|(?:(?<![A-Za-z])|(?<=store)|(?<=key)|(?<=user)|(?<=db)|(?<=root)|(?<=admin)|(?<=sql)|(?<=smtp)|(?<=mail)|(?<=my)|(?<=ldap))pass(?![a-z])|"
    r"(?-i:(?<=[a-z])Pass(?![a-z]))|pwd|(?<![A-Za-z])pw(?![a-z])|(?-i:(?<=[a-z])P[wW](?![a-z]))|(?<=my)pw(?![a-z])|(?<![A-Za-z])p/w(?![a-z])|(?<![A-Za-z])psk(?![a-z])|(?-i:(?<=[a-z])Psk(?![a-z]))|"
    r"secret|token|credential|kennwort|wachtwoord|lösenord|adgangskode|hasło|parola|şifre|contrase[ñn]a|mot\ de\ passe|(?:(?<=mot_de_)|(?<=mot-de-)|(?<=motde)|(?<=mot\.de\.)|(?<=palavra-)|(?<=palavra_))passe(?![a-z])|"
    r"(?<![A-Za-z])mdp(?![a-z])|senha|парол[ья]|パスワード|비밀번호|패스워드|비번|암호|토큰|"
    r"(?:api|access|account|private|signing|signature|encryption|encrypt|decryption|master|auth|authentication|authorization|service|storage|deploy|session|shared|app|subscription|admin|licen[cs]e|"
    r"aes|hmac|jwt|crypto|cipher|webhook|consumer|integration|client|preshared|pre-shared|recovery|root|vapid|sas|sdk|ssh|security)[_\-.\ ]?key|"
    r"(?<![A-Za-z0-9])_auth(?=[\"']?[ ]?=)|x-(?:amz|goog)-signature|(?<=[A-Za-z0-9])[_-]key(?![a-z])|(?:(?-i:(?<=[a-z])Key)|(?<![A-Za-z0-9_-])key)(?=\\{0,3}[\"']?\]?[ ]?[=:]))"
)
"""A regular expression (verbose, case-insensitive) for the telling part of a name."""

CHINESE = ("密码", "密碼", "口令", "密钥", "密鑰", "金鑰", "令牌", "秘钥", "密匙")
"""Words that name a credential in tables and labels; what Chinese text says of them is read elsewhere."""

WORDS = (
    "pass",
    "pw",
    "p/w",
    "psk",
    "secret",
    "token",
    "credential",
    "key",
    "kennwort",
    "wachtwoord",
    "lösenord",
    "adgangskode",
    "hasło",
    "parola",
    "şifre",
    "contraseña",
    "contrasena",
    "mdp",
    "senha",
    "пароль",
    "пароля",
    "パスワード",
    "비밀번호",
    "패스워드",
    "비번",
    "암호",
    "토큰",
    "_auth",
    "-signature",
    *CHINESE,
)

BARE_KEYS = ("key=", "key =", "key:", 'key":', "key':", 'key\\":', 'key\\\\\\":', 'key"]', "key']")
"""A key of whatever kind with what may follow it: the word alone stands in too many ordinary texts."""

NAME_LITERALS = (
    *(word for word in WORDS if word not in ("key", "-signature", *CHINESE)),
    *(f"{kind}{joint}key" for kind in sorted(wordlists.KINDS_OF_KEY) for joint in ("", "_", "-", ".", " ")),
    "x-amz-signature",
    "x-goog-signature",
    "_key",
    "-key",
    *BARE_KEYS,
)
"""What the telling part of a name begins with, in full: each stands where a match of `CREDENTIAL_NAME` begins, or `FRENCH` before it."""

FRENCH = "mot de "
"""What may stand before the "pass" of a telling part."""

BEFORE_PASSE = (FRENCH, "mot_de_", "mot-de-", "motde", "mot.de.", "palavra-", "palavra_")
"""What may stand before a "pass" that goes on as an ordinary word does."""

_LEFT = re.compile(r"[\w$.-]{0,64}")
_SEGMENT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_UNSURE = re.compile(r"token|secret|credential|토|.{0,16}key|_auth|x-", re.IGNORECASE)
_ANY_KEY = frozenset({"_key", "-key", "key"})


_TELLING = re.compile(r"pass|pwd|secret|token|(?<![A-Za-z])key(?![A-Za-z])", re.IGNORECASE)


class Trust(Enum):
    """How far a name is believed."""

    NONE = 0
    BARE = 1
    """A key: believed where the value looks random beyond doubt."""
    RANDOM = 4
    """A key of some kind: believed where the value looks random."""
    WEAK = 2
    STRONG = 3


GUESSED = frozenset({Trust.BARE, Trust.RANDOM})
"""Names that are believed for the sake of their values."""


def left_of(text: str, start: int) -> str:
    """Return the part of an identifier that stands directly before `start`, at most 64 characters."""
    before = text[max(0, start - 64) : start]
    found = _LEFT.match(before[::-1])  # from its end: a search for what ends there would begin at every character
    return before[len(before) - found.end() :] if found else ""


def is_sure(word: str) -> bool:
    """Say whether a telling word is one for a password, and not for a token, a key or something secret."""
    return _UNSURE.match(word) is None


def _is_about_something_else(suffix: str) -> bool:
    """Say whether a dotted name goes on to a member that holds no credential."""
    dotted = suffix.rstrip(".")
    return "." in dotted and not _TELLING.search(suffix) and dotted.rsplit(".", 1)[1].casefold() not in wordlists.STAGES


def judge(left: str, word: str, suffix: str) -> Trust:
    """Weigh a name given as what stands before the telling word, the word, and what follows it."""
    plural = False
    if suffix[:1].isalpha():
        glued = not (word[-1].islower() and suffix[0].isupper())
        plural = glued and suffix[0] in "sS" and not suffix[1:2].isalpha()
        if glued and not plural and not suffix.casefold().startswith("base64"):
            return Trust.NONE
        if plural:
            suffix = suffix[1:]
    if _is_about_something_else(suffix):
        return Trust.NONE
    after = [segment.casefold() for segment in _SEGMENT.findall(suffix)]
    before = [segment.casefold() for segment in _SEGMENT.findall(left)]
    if any(segment in wordlists.NOT_AFTER for segment in after):
        return Trust.NONE
    nearest = before[-1] if before else ""
    folded = word.casefold()
    if nearest in wordlists.NOT_BEFORE or (folded == "token" and nearest in wordlists.NOT_BEFORE_TOKEN):
        return Trust.NONE
    if (folded == "pwd" and word.isupper() and not before) or left.endswith("OLD"):
        return Trust.WEAK
    if folded in _ANY_KEY:
        return _of_a_key(nearest)
    if is_sure(folded):
        return Trust.STRONG
    bare = folded in {"token", "secret", "credential"} and not before and not after
    return Trust.WEAK if bare or plural else Trust.STRONG


def _of_a_key(nearest: str) -> Trust:
    if nearest in wordlists.NOT_BEFORE_KEY:
        return Trust.NONE
    return Trust.RANDOM if nearest else Trust.BARE
