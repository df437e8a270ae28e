"""Values given to a named key: JSON, YAML, env files, TOML, code, command-line flags, XML, name-and-value pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import guesses, lookalikes
from afl_redactors.families.judging import ENDS_LINE, is_mixed, worth_hiding
from afl_redactors.keys import CREDENTIAL_NAME, GUESSED, WORDS, Trust, is_sure, judge, left_of
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Rule, Span, matching
from afl_redactors.values import LONGEST_TAIL, Value, read_block, read_inside, read_list, read_pieces, read_value
from afl_redactors.windows import Clip, View

_NAME = rf"(?P<word>{CREDENTIAL_NAME})(?P<suffix>[A-Za-z0-9_.\-]{{0,48}})"
_TYPE = r"[&*]?[A-Za-z_][\w.]{0,40}(?:\[[\w.,\ |]{0,40}\]|<[\w.,\ |]{0,40}>)?[?!]?(?:[ ]?\|[ ]?\w{1,20}){0,4}"
_ASSIGNMENT = re.compile(
    rf"""{_NAME}(?P<close>\\{{0,7}}["'`]{{0,2}})\]?\)?[ \t]{{0,8}}\*{{0,3}}\??
    (?P<sep>:[ \t]{{0,4}}{_TYPE}(?:[ \t]{{1,4}}=(?![=>])|=(?=["'`]))|:=|=>|[=!]==?|=(?!~)|:(?!:|//)|[：＝]|,(?=[ \t]{{0,4}}\\{{0,7}}["'`])
    |\|\||\?\?=?|(?<=[ ])or(?=[ ]["'`])|\((?=[ \t]{{0,4}}\\{{0,7}}["'`]|[^\s()"'`]{{5,64}}\))|(?<=[ \t])(?=\\{{0,7}}["'`]))
    (?P<gap>[ \t]{{0,8}}(?:\*{{1,3}}[ \t]{{1,2}}|\*\*(?=\S))?)""",
    re.VERBOSE | re.IGNORECASE,
)
_FLAG = re.compile(rf"(?<![\w-])--?(?P<left>[A-Za-z0-9-]{{0,40}}?){_NAME}(?P<gap>[ ]|\t)(?![-=|&> \t])", re.VERBOSE | re.IGNORECASE)
_FLAG_ITEM = re.compile(
    rf"""(?<![\w-])--?(?P<left>[A-Za-z0-9-]{{0,40}}?){_NAME}["']?(?:(?P<comma>,)[ ]{{0,4}}|\r?\n[ \t]{{0,32}}-[ ]{{1,4}})(?=["']?[^\s"',$-])""",
    re.VERBOSE | re.IGNORECASE,
)
_SEARCHES = re.compile(r"(?<![\w.-])(?:[efpz]?grep|rg|ag|ack|ps|pgrep|ls|less|du|wc)[ ][^\n|;&]{0,120}$")
"""A command whose flags are letters."""
_LIST_LEFT = {True: re.compile(r"\[[^\]\n]{0,120}$"), False: re.compile(r"(?:^|\n)[ \t]{0,32}-[ ]{1,4}[\"']?$")}
_ENDS_FLAG_ITEM = {True: re.compile(r"[ ]{0,4}[,\]]"), False: re.compile(r"[\"']?[ \t]{0,8}(?:\r?\n|$)")}
_SHAPED = re.compile(
    rf"""{_NAME}(?:
    (?P<dumped>["']?\]=>\s{{1,40}}string\(\d{{1,6}}\)[ ](?="))
    |(?P<nested>\\{{0,3}}["']\s{{0,4}}:\s{{0,4}}\{{\s{{0,40}}\\{{0,3}}["']value\\{{0,3}}["']\s{{0,4}}:\s{{0,4}}(?=\\{{0,3}}["']))
    |(?P<printed>\][ ]=>[ ](?=[^\s(\[]))
    |(?P<attribute>["'][^<>\n]{{0,80}}>(?=[^<\s]))
    |(?P<noted>[ ]\([A-Za-z][\w\ ,.-]{{0,24}}\):[ ](?=\S)))""",
    re.VERBOSE | re.IGNORECASE,
)
_SHAPED_BEHIND = re.compile(
    r"""["']?\]=>\s{1,40}string\(|\\{0,3}["']\s{0,4}:\s{0,4}\{\s{0,40}\\{0,3}["']value|\][ ]=>[ ]|["'][^<>\n]{0,80}>[^<\s]|[ ]\([A-Za-z][\w ,.-]{0,24}\):[ ]""",
    re.IGNORECASE,
)
"""What stands behind the name in one of these shapes."""
_PRINTED_LEFT = re.compile(r"(?:^|\n)[ \t]{1,64}\[[\w.-]{0,64}$")
_ATTRIBUTE_LEFT = re.compile(r"<[\w:.-]{1,32}[ ](?:[^<>\n]{0,60}[ ])?(?:name|key|id)=[\"'][\w.-]{0,64}$", re.IGNORECASE)
_PAIR = re.compile(
    rf"""{_NAME}\\{{0,7}}["']?[ \t]{{0,4}}(?:,|[ \t\r\n])\s{{0,40}}
    (?:\\{{0,7}}["']?[A-Za-z][\w-]{{0,32}}\\{{0,7}}["']?[ \t]{{0,4}}[:=][ \t]{{0,4}}(?:\\{{0,7}}["'][^"'\n\\]{{0,80}}\\{{0,7}}["']|[\w.-]{{1,40}})(?:,|[ \t\r\n])\s{{0,40}}){{0,2}}?
    \\{{0,7}}["']?value\\{{0,7}}["']?[ \t]{{0,4}}[:=][ \t]{{0,4}}""",
    re.VERBOSE | re.IGNORECASE,
)
_PAIR_LEFT = re.compile(r"(?:name|key)\\{0,7}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,7}[\"']?[\w.-]{0,64}$", re.IGNORECASE)
_ELEMENT = re.compile(rf"{_NAME}(?:[ ][^<>\n]{{0,100}})?>(?:<!\[CDATA\[)?(?=[^<\s])", re.VERBOSE | re.IGNORECASE)
_ELEMENT_LEFT = re.compile(r"<[\w:.-]{0,64}$")
_DEFAULT = re.compile(rf"{_NAME}:?[-=](?=[^}}\s])", re.VERBOSE | re.IGNORECASE)
_DEFAULT_LEFT = re.compile(r"\$\{\w{0,64}$")
_IN_ADDRESS = re.compile(r"://[\w.%+-]{0,64}$|arn:[\w-]{1,16}:[^\s\"']{0,48}$")
_GIVES = frozenset(":=：＝")
_QUOTED_ONLY = frozenset({"=>", "==", "===", "!=", "!==", "||", "??", "??=", "or"})
_SETTER = re.compile(
    r"(?:^|[^\w])(?:set|with|use|using|update|change|reset|verify|check|compare|encode|encrypt|hash|auth|authenticate)?_?$", re.IGNORECASE
)
_WRAPPED = re.compile(
    r"(?P<wrapper>(?:new[ ]|\[\])?[A-Za-z_][\w.:]{0,60}?)(?:<[\w, ]{0,20}>)?[(](?:[A-Za-z_][\w.:]{0,40}[(]){0,2}[ \t]{0,4}(?=[bBrRfFuU]{0,2}[\"'`])|[(]\s{0,80}(?=[bBrRfFuU]{0,2}[\"'`])"
)
_LOOKS_UP = re.compile(
    r"(?:get|env|environ|read|load|fetch|find|lookup|config|conf|settings?|option|param|vault|prompt|input|ask|t|i18n|gettext|translate|require|open|path|join|resolve|"
    r"file|exec|run|query|select|header|headers|item|field|label|text|printf?|format|sprintf|console|log|error|warn|match|test|regex|regexp|replace|split|require|import|"
    r"describe|it|expect|key|name|column|func|function|lambda|symbol|type|typevar|newtype|question|getpass|flag|argument|add)$",
    re.IGNORECASE,
)
_CLOSES = re.compile(r"[\"'`][ \t]{0,4}(?:[,)\]}+%;.>&|]|$|\n|[ \t](?:if|else|in|and|or|not)\b)", re.MULTILINE)
_TARGETS = re.compile(r"(?:^|[\n;{])[ \t]{0,64}(?:const[ ]|let[ ]|var[ ])?[\[(]?(?P<names>(?:[A-Za-z_][\w.]{0,40}[ ]?,[ ]?){1,4})$")
_ROOM_LEFT = 160
"""Characters before a quote in which it is looked for whether it closes another."""
_QUOTE = re.compile(r"[bBrRfFuU]{0,2}\\{0,7}[\"'`]")
_WHOLE_ELEMENT = re.compile(r"(?<=<!\[CDATA\[)[^\]\n]{1,4096}(?=\]\]>)|(?<!<!\[CDATA\[)[^<\n]{1,4096}(?=</)")
_WHOLE_DEFAULT = re.compile(r"[^}\n]{1,512}(?=\})")
_ENDS_ITEM = re.compile(r"\\{0,7}[\"'`][ \t]{0,8}(?:[\r\n;})\]#\\]|//|$)")


def _assigned(view: View, found: re.Match[str]) -> Iterator[Span]:
    start, separator = found.end(), found["sep"]
    left = left_of(view.text, found.start())
    trust = judge(left, found["word"], found["suffix"])
    if trust is Trust.NONE or _is_for_another_rule(view.text, found) or not _may_separate(view.text, found):
        return
    if trust not in GUESSED and view.text[start : start + 1] == "[" and not view.text.startswith("[]", start):
        for item in read_list(view, start):
            if worth_hiding(view, item, trust, separator, tight=False):
                yield item.start, item.end
        return
    value = None if _closes_a_string(view.text, start) else _value(view, found, left, trust)
    if value is None or not _fits(view.text, value, found, trust) or _says_nothing(view.text, value, found, left):
        return
    tight = separator in {"=", "＝"} and not found["gap"] and view.text[found.start("sep") - 1] not in " \t"
    if worth_hiding(view, value, trust, separator, tight=tight):
        yield value.start, value.end
        for piece in read_pieces(view, value):
            if lookalikes.is_placeholder(piece.text):
                return
            yield piece.start, piece.end


def _value(view: View, found: re.Match[str], left: str, trust: Trust) -> Value | None:
    """Read what follows the separator, in whichever form it is given."""
    start, separator = found.end(), found["sep"]
    value = read_block(view, start) if separator == ":" and trust not in GUESSED else None
    return (
        value
        or _set_in_quotes(view, found, left)
        or _wrapped(view, start, separator, trust)
        or (None if left else _in_its_place(view, found))
        or read_value(view, start, tail=None if separator[-1:] in _GIVES else LONGEST_TAIL)
    )


def _says_nothing(text: str, value: Value, found: re.Match[str], left: str) -> bool:
    """Say whether a value is a piece of code, or no more than its name."""
    if not value.quoted and lookalikes.is_plain(value.text) and _is_of_code(text, value, found):
        return True
    return _is_in_its_name(value.text, left + found["word"] + found["suffix"])


_CASE = re.compile(r"(?<![A-Za-z])case[ ]{0,2}[\"'][\w.-]{0,64}$")
"""Of a switch, whose colon gives nothing."""
_IDENTIFIER = re.compile(r"[a-z]{2,16}\d{1,4}[a-z]{2,16}|_{0,2}[A-Za-z]{1,20}\d{0,4}(?:_{1,2}[A-Za-z]{1,20}\d{0,4}){1,6}")
"""The next name in a list of names, such as `symbol2label` or `__acme_context64_t`."""
_METHOD = re.compile(
    r"(?:^|[._ \t])(?:get|set|fetch|load|make|create|generate|verify|check|encode|decode|parse|read|handle|on)_?$", re.IGNORECASE
)


def _is_of_code(text: str, value: Value, found: re.Match[str]) -> bool:
    """Say whether a bare word is a function given to a method's name, or the rest of a name in quotes such as `"passwd:dir"`."""
    if found["sep"] == ":" and not found["gap"] and text[value.end : value.end + 1] in {'"', "'"}:
        return True
    return _METHOD.search(text[max(0, found.start() - 24) : found.start()]) is not None


def _is_in_its_name(value: str, name: str) -> bool:
    """Say whether a value says no more than its name does: `TOKEN_DOCUMENT = 'document'`."""
    said = "".join(letter for letter in value.casefold() if letter.isalnum()) if len(value) <= 128 else ""
    return len(said) >= 4 and said in "".join(letter for letter in name.casefold() if letter.isalnum())


def _closes_a_string(text: str, start: int) -> bool:
    """Say whether the quote at `start` ends a string that began before, as in `print("token=" + shown)`."""
    if _CLOSES.match(text, start) is None:
        return False
    quote = text[start]
    line = text.rfind("\n", max(0, start - _ROOM_LEFT), start) + 1
    return text.count(quote, line or max(0, start - _ROOM_LEFT), start) % 2 == 1


def _set_in_quotes(view: View, found: re.Match[str], left: str) -> Value | None:
    """Read the whole value of `set "NAME=value"`, as the shell of Windows has it."""
    if found["sep"] != "=" or not view.folded.endswith('set "', 0, found.start() - len(left)):
        return None
    return read_inside(view, found.end(), '"')


def _wrapped(view: View, start: int, separator: str, trust: Trust) -> Value | None:
    """Read the string in `SecretStr("...")`, `String::from("...")` or `("...")`; None where the call only looks something up."""
    found = _WRAPPED.match(view.text, start) if trust not in GUESSED and (separator.endswith("=") or separator == ":") else None
    if found is None:
        return None
    wrapper = re.split(r"[.:_ ]|(?<=[a-z])(?=[A-Z])", found["wrapper"] or "")
    value = None if any(_LOOKS_UP.match(part) for part in wrapper) else read_value(view, found.end())
    return value if value is not None and value.quoted and guesses.is_sure(value.text) else None


def _in_its_place(view: View, found: re.Match[str]) -> Value | None:
    """Read the value of the name in `user, password = "a", "b"`: the one that stands in the same place."""
    if found["sep"] not in {"=", ":="} or not view.text.endswith((", ", ","), 0, found.start()):
        return None
    targets = _TARGETS.search(view.text[max(0, found.start() - 160) : found.start()])
    if targets is None:
        return None
    at = found.end()
    for _ in range(targets["names"].count(",")):
        before = read_value(view, at)
        comma = re.compile(r"\\?[\"'`]?[ ]?,[ ]?").match(view.text, before.end) if before else None
        if comma is None:
            return Value(found.end(), found.end(), "", quoted=True)
        at = comma.end()
    value = read_value(view, at)
    fits = value is not None and value.quoted and guesses.is_chosen(value.text)
    return value if fits else Value(found.end(), found.end(), "", quoted=True)


def _is_for_another_rule(text: str, found: re.Match[str]) -> bool:
    before = text[max(0, found.start() - 68) : found.start()]
    addressed = found["sep"] == ":" and ("://" in before or "arn:" in before) and _IN_ADDRESS.search(before) is not None
    return addressed or ("${" in before and _DEFAULT_LEFT.search(before) is not None)


def _may_separate(text: str, found: re.Match[str]) -> bool:
    """Say whether the separator may stand between this name and what follows it, before that is read."""
    separator, word = found["sep"], found["word"].casefold()
    if separator == ":" and found["close"] and _CASE.search(text, max(0, found.start() - 72), found.start()):
        return False
    if word.endswith("signature"):
        return separator == "="
    if separator in _QUOTED_ONLY:
        return _QUOTE.match(text, found.end()) is not None
    if separator == ",":
        left = found.start() - len(left_of(text, found.start())) - 1
        return bool(found["close"]) and left >= 0 and text[left] == found["close"][-1]
    if separator == "(":
        before = text[max(0, found.start() - 24) : found.start()]
        told = is_sure(word) or _QUOTE.match(text, found.end()) is not None
        return told and not found["close"] and not found["suffix"] and _SETTER.search(before) is not None
    if separator == "":
        return not found["close"]
    verb = word == "pass" and separator == ":" and text[found.start("sep") - 1] in " \t"
    return not verb  # "pass :meth:`x`" in reStructuredText


def _fits(text: str, value: Value, found: re.Match[str], trust: Trust) -> bool:
    """Say whether a value of this kind can follow the separator."""
    separator = found["sep"]
    if separator == ",":
        named = not is_sure(found["word"]) and _IDENTIFIER.fullmatch(value.text) is not None
        return value.quoted and not named and guesses.is_chosen(value.text)
    if separator == "(":
        if value.quoted:
            return trust is Trust.STRONG and guesses.is_chosen(value.text) and (is_sure(found["word"]) or guesses.is_random(value.text))
        return is_sure(found["word"]) and guesses.is_sure(value.text)
    if separator == "":
        ends = _ENDS_ITEM.match(text, value.end) is not None
        return value.quoted and ends and trust is Trust.STRONG and guesses.is_chosen(value.text)
    if separator in {"||", "??", "??=", "or"}:
        return guesses.is_chosen(value.text)
    if separator in _QUOTED_ONLY:
        return trust is Trust.STRONG or is_mixed(value.text)
    if separator == "=" and found["gap"] and not value.quoted and lookalikes.is_plain(value.text):
        return is_sure(found["word"])
    return True


def _flagged(view: View, found: re.Match[str]) -> Iterator[Span]:
    trust = judge(found["left"], found["word"], found["suffix"])
    value = read_value(view, found.end()) if trust not in {Trust.NONE, *GUESSED} and not _are_letters(view.text, found) else None
    if value is None:
        return
    if not value.quoted and lookalikes.is_plain(value.text) and lookalikes.is_prose(value.text):
        return
    if worth_hiding(view, value, Trust.STRONG, " ", tight=True):
        yield value.start, value.end


def _are_letters(text: str, found: re.Match[str]) -> bool:
    """Say whether a flag is several of one letter, as in `grep -rnPw`."""
    if found["word"].casefold() != "pw" or found.group().startswith("--"):
        return False
    if found["word"] != "pw" or found["left"]:
        return "-" not in found["left"] and len(found["left"]) < 8
    return _SEARCHES.search(text, max(0, found.start() - 160), found.start()) is not None


def _flagged_item(view: View, found: re.Match[str]) -> Iterator[Span]:
    """The item behind a flag in a list of arguments: `[--token, X]`, or each on a line of its own."""
    comma, text = found["comma"] is not None, view.text
    if judge(found["left"], found["word"], found["suffix"]) in {Trust.NONE, *GUESSED}:
        return
    if not _LIST_LEFT[comma].search(text[max(0, found.start() - 128) : found.start()]):
        return
    value = read_value(view, found.end(), tail=LONGEST_TAIL)
    if value is None or not _ENDS_FLAG_ITEM[comma].match(text, value.end) or not guesses.is_chosen(value.text):
        return
    if worth_hiding(view, value, Trust.STRONG, " ", tight=True):
        yield value.start, value.end


def _shaped(view: View, found: re.Match[str]) -> Iterator[Span]:
    """The value in what a language prints of its variables, in an object of its own, in an element with a named attribute, behind a remark."""
    text, before = view.text, view.text[max(0, found.start() - 200) : found.start()]
    trust = judge(left_of(text, found.start()), found["word"], found["suffix"])
    if trust in {Trust.NONE, *GUESSED} or (found["noted"] and not is_sure(found["word"])):
        return
    if (found["printed"] and not _PRINTED_LEFT.search(before)) or (found["attribute"] and not _ATTRIBUTE_LEFT.search(before)):
        return
    value = read_value(view, found.end(), min(len(text), found.end() + 512), tail=LONGEST_TAIL)
    if value is None or (found["printed"] and not ENDS_LINE.match(text, value.end)):
        return
    if (value.quoted or guesses.is_chosen(value.text)) and worth_hiding(view, value, Trust.STRONG, ":", tight=False):
        yield value.start, value.end


def _paired(view: View, found: re.Match[str]) -> Iterator[Span]:
    if not _PAIR_LEFT.search(view.text[max(0, found.start() - 96) : found.start()]):
        return
    trust = judge(left_of(view.text, found.start()), found["word"], found["suffix"])
    value = read_value(view, found.end()) if trust not in {Trust.NONE, *GUESSED} else None
    if value is not None and not value.quoted:
        if lookalikes.is_plain(value.text) and view.text[value.end : value.end + 1] in {"}", ")", ","}:
            return
        if found.group()[-1] == ":" and view.text[found.start() - 1] in "\"'" and lookalikes.is_name_shape(value.text):
            return  # a variable of minified code
    if value is not None and worth_hiding(view, value, Trust.STRONG, ":", tight=False):
        yield value.start, value.end


def _enclosed(view: View, found: re.Match[str]) -> Iterator[Span]:
    before = view.text[max(0, found.start() - 66) : found.start()]
    for left, whole in ((_ELEMENT_LEFT, _WHOLE_ELEMENT), (_DEFAULT_LEFT, _WHOLE_DEFAULT)):
        value = whole.match(view.text, found.end()) if left.search(before) else None
        if value is None or judge(left_of(view.text, found.start()), found["word"], found["suffix"]) in {Trust.NONE, *GUESSED}:
            continue
        inner = value.group()
        if guesses.is_measure(inner):
            continue
        if not (lookalikes.is_placeholder(inner) or already_redacted(inner) or lookalikes.is_label(inner) or lookalikes.is_type(inner)):
            yield value.span()


ASSIGNED = Rule("assignment", WORDS, matching(_ASSIGNMENT, _assigned, named=True), before=16, after=160)
DEFAULT = Rule("assignment", WORDS, matching(_DEFAULT, _enclosed, named=True), before=16, after=80)
ELEMENT = Rule("assignment", WORDS, matching(_ELEMENT, _enclosed, named=True), before=16, after=200)
PAIRED = Rule("assignment", WORDS, matching(_PAIR, _paired, named=True), before=16, after=240, clip=Clip.NOTHING)
FLAGGED = Rule("cli-flag", WORDS, matching(_FLAG, _flagged), before=64, after=96)
FLAGGED_ITEM = Rule("cli-flag", WORDS, matching(_FLAG_ITEM, _flagged_item), before=64, after=120, clip=Clip.NOTHING)
SHAPED = Rule("assignment", WORDS, matching(_SHAPED, _shaped, named=True), before=16, after=240, clip=Clip.NOTHING)

RULES = (ASSIGNED, DEFAULT, ELEMENT, PAIRED, SHAPED, FLAGGED, FLAGGED_ITEM)

BEHIND = re.compile(
    r"""[A-Za-z0-9_.\-\u0130\u0131\u017f\u212a]{0,64}+(?P<behind>(?P<assigns>\\{0,7}["'`]{0,2}\]?\)?[ \t]{0,8}\*{0,3}\??(?:[:=：＝]|!=|\?\?|\|\||\((?=[ \t]{0,4}[\\"'`]|[^\s()"'`]{5,64}\))|(?<=[ ])or[ ](?=["'`])|,[ \t]{0,4}\\{0,7}["'`]|(?<=[ \t])\\{0,7}["'`]))?)"""
)
"""The rest of a name behind its telling part, and whether an assignment may follow."""
_OPENED = re.compile(r"(?:<[\w:.-]{0,72}|\$\{\w{0,72})\n?(?:mot de )?", re.IGNORECASE)
_FLAG_OPENED = re.compile(r"-[A-Za-z0-9-]{0,48}(?:mot de )?", re.IGNORECASE)
_SHAPES = frozenset("\"'\\] ")
_BEHIND_A_FLAG = (" ", "\t", ",", "\n", "\r", '"\n', "'\n", '"\r', "'\r")
_ROOM = 80
"""Characters before a name within which an element, a default or a flag begins."""
_PAIR_ROOM = 240
"""Characters of a name-and-value pair around its name."""


def worth(view: View, start: int, end: int, rest: re.Match[str]) -> list[Rule]:
    """Return which of these rules are worth running where a telling part stands from `start` to `end` and `rest` matched `BEHIND` it."""
    text = view.text
    rules: list[Rule] = [ASSIGNED] if rest["assigns"] is not None else []
    low = max(0, start - _ROOM)
    opened = max(text.rfind("<", low, start), text.rfind("${", low, start))
    if opened >= 0 and _OPENED.fullmatch(text, opened, start):
        rules += (DEFAULT, ELEMENT)
    if view.seen.find("value", end, end + _PAIR_ROOM) >= 0:
        near = view.seen[max(0, start - _PAIR_ROOM) : start]
        if (":" in near or "=" in near) and ("name" in near or "key" in near):
            rules.append(PAIRED)
    if text[rest.start("behind") : rest.start("behind") + 1] in _SHAPES and _SHAPED_BEHIND.match(text, rest.start("behind")):
        rules.append(SHAPED)
    if text.startswith(_BEHIND_A_FLAG, rest.start("behind")):
        dash = text.rfind("-", low, start)
        if dash >= 0 and _FLAG_OPENED.fullmatch(text, dash, start):
            rules += (FLAGGED, FLAGGED_ITEM)
    return rules
