"""Whether a value that a credential's name is given is one, and not a placeholder, a type, an expression or a sentence. Pure."""

from __future__ import annotations

import re

from afl_redactors import guesses, lookalikes
from afl_redactors.keys import GUESSED, Trust
from afl_redactors.markers import already_redacted
from afl_redactors.placeholders import is_template
from afl_redactors.values import Value
from afl_redactors.windows import View

_CONNECTION_PART = re.compile(
    r";[ ]?(?:database|data[ ]source|server|host|user|uid|user[ ]id|username|port|encrypt|trusted|integrated|ssl|initial[ ]catalog|provider|driver|timeout|pooling|"
    r"connect|trust|persist|multiple|min|max|search|command|application)[A-Za-z ]{0,32}=",
    re.IGNORECASE,
)
_ENDS_HERE = re.compile(r"[.!;,]?[ \t]{0,8}(?:[\r\n]|$|[,;}\])&\"'`，。；、！）]|\\[nr\"']|\#|//|<)")
_IN_A_CALL = re.compile(r"\)|,[ ](?:[A-Za-z_]\w{0,40}[ ]?=|\*|\n)|,\n")
"""What follows a variable that is handed to a call by name."""

_MINIFIED = re.compile(r"[A-Za-z_$]{1,2}(?:\.[A-Za-z_$][\w$]{0,24}){1,3}")
"""A member of a variable of one or two letters."""
_CLOSES_MINIFIED = frozenset(",;)}]")

ENDS_LINE = re.compile(r"[ \t]{0,8}(?:[\r\n]|$|\\[nr\"']|\#)")


def worth_hiding(view: View, value: Value, trust: Trust, separator: str, *, tight: bool) -> bool:
    """Decide whether a value given to a credential's name is a value, and not a placeholder, a type, an expression or a sentence."""
    if already_redacted(value.text):
        return False
    if len(value.text) > lookalikes.LONG:
        return True
    content = value.text.strip()
    if trust is Trust.STRONG and separator == "=" and not value.quoted and _in_a_connection_string(view.text, value):
        return not (is_template(content) or lookalikes.is_reference(content))
    if _is_no_value(content):
        return False
    if trust in GUESSED:
        content = "".join(content.split()) if value.quoted and "\n" in content else content
        return guesses.is_random(content) and (
            trust is Trust.RANDOM or (guesses.is_mixed(content) and len(content) >= 20 and "/" not in content)
        )
    if value.quoted:
        return not _is_a_command(view.text, value) and _quoted_is_worth_hiding(content, trust)
    if view.text.startswith(("...", "…"), value.end) and len(content) < 16:
        return False
    if _is_code(view.text, value, content):
        return False
    if lookalikes.is_plain(content):
        return _plain_is_worth_hiding(view, value, trust, separator, tight=tight)
    return _bare_is_worth_hiding(content, trust, separator, tight=tight)


def _is_code(text: str, value: Value, content: str) -> bool:
    """Say whether an unquoted value is an expression, or a member of a short variable in minified code."""
    if lookalikes.is_code(content) and not _in_a_connection_string(text, value):
        return True
    return text[value.end : value.end + 1] in _CLOSES_MINIFIED and _MINIFIED.fullmatch(content) is not None


def _is_no_value(content: str) -> bool:
    """Say whether a value is none whatever the name in front of it."""
    return (
        lookalikes.is_placeholder(content)
        or lookalikes.is_reference(content)
        or lookalikes.is_type(content)
        or guesses.is_measure(content)
        or lookalikes.names_a_class(content)
        or lookalikes.is_pattern(content)
        or lookalikes.is_file_of_a_secret(content)
        or _bare_url(content)
    )


def _bare_is_worth_hiding(content: str, trust: Trust, separator: str, *, tight: bool) -> bool:
    if lookalikes.names_itself(content):
        return False
    if trust is Trust.STRONG:
        return separator == " " or content[0] not in "<>" or len(content) > 2
    if content.replace(".", "").isdigit() or lookalikes.is_known_shape(content):
        return False
    return tight or not lookalikes.is_name_shape(content) or (len(content) >= 8 and is_mixed(content))


def _is_a_command(text: str, value: Value) -> bool:
    """Say whether a value in backquotes is a command of a shell, whose output is meant."""
    return text.startswith("`", value.end) and text[value.start - 2 : value.start - 1] == "=" and " " in value.text


def _in_a_connection_string(text: str, value: Value) -> bool:
    """Say whether `Password=a(1)` is a part of a connection string, where no call can stand."""
    return _CONNECTION_PART.match(text, value.end) is not None and not value.text.endswith("()")


def _quoted_is_worth_hiding(content: str, trust: Trust) -> bool:
    if lookalikes.is_label(content) or lookalikes.names_itself(content) or (not content.isascii() and lookalikes.is_of_signs(content)):
        return False
    if trust is Trust.STRONG:
        return True
    if lookalikes.is_plain(content) and lookalikes.is_prose(content):
        return False
    return not lookalikes.is_known_shape(content)


def _plain_is_worth_hiding(view: View, value: Value, trust: Trust, separator: str, *, tight: bool) -> bool:
    word = value.text
    if lookalikes.names_a_credential(word) or lookalikes.names_itself(word) or lookalikes.is_prose(word) or lookalikes.is_label(word):
        return False
    if tight:
        return not _IN_A_CALL.match(view.text, value.end)
    if trust is Trust.STRONG and separator != "=":
        return _ENDS_HERE.match(view.text, value.end) is not None
    if trust is Trust.STRONG:
        return ENDS_LINE.match(view.text, value.end) is not None
    return separator == ":" and word.islower() and len(word) >= 3 and ENDS_LINE.match(view.text, value.end) is not None


def is_mixed(content: str) -> bool:
    """Say whether a value of six characters or more holds letters and digits."""
    return len(content) >= 6 and any(letter.isdigit() for letter in content) and any(letter.isalpha() for letter in content)


def _bare_url(content: str) -> bool:
    return content.startswith(("http://", "https://")) and "@" not in content
