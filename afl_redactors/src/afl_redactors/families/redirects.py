"""What lets somebody in for a moment, in addresses and the bodies of forms: OAuth codes, tickets of a single sign-on, SAML responses, verifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import guesses, lookalikes
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.windows import Clip, View

_NAMES = ("code", "ticket", "auth", "sid", "session", "oauth_verifier", "verifier", "jwt", "magic", "invite", "hmac")
_WORDS = tuple(f"{mark}{name}=" for mark in "?&#;" for name in _NAMES)
_FORMS = ("code_verifier=", "device_code=", "samlresponse=", "samlart=", "oauth_verifier=", "client_assertion=", "subject_assertion=")
_VALUE = r"(?P<value>[A-Za-z0-9._~%/=-]{8,4096}+(?!\+))"
_IN_AN_ADDRESS = re.compile(rf"[?&#;](?P<name>{'|'.join(_NAMES)})={_VALUE}", re.IGNORECASE)
_IN_A_FORM = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(word[:-1] for word in _FORMS)})={_VALUE}", re.IGNORECASE)
_STATE = re.compile(r"[?&#;](?:state|session_state|grant_type|iss|redirect_uri)=", re.IGNORECASE)
_EXCHANGED = re.compile(rf"(?<![A-Za-z_])code\\{{0,3}}[\"']?[ ]?[:=][ ]?\\{{0,3}}[\"']?{_VALUE}", re.IGNORECASE)
_WORDY = re.compile(r"[A-Za-z]{2,20}(?:[-_.][A-Za-z]{1,20}){0,6}[-_.]?\d{0,6}")
_TEXT = re.compile(r"%(?:0A|20|22|28|7B)", re.IGNORECASE)
"""Line breaks, spaces, quotes and brackets, which text has that stands in an address."""
_LONG = 16


def _is_drawn(value: str, least: int) -> bool:
    """Say whether a value is no word, no number and no name of something."""
    bare = value.rstrip("=.")
    if _TEXT.search(value):
        return False
    if len(bare) < least or already_redacted(value) or lookalikes.is_placeholder(bare) or _WORDY.fullmatch(bare):
        return False
    if not (any(letter.isdigit() for letter in bare) and any(letter.isalpha() for letter in bare)):
        return False
    return guesses.is_random(bare) or guesses.is_mixed(bare) or guesses.is_uuid(bare[:36])


def _in_an_address(view: View, found: re.Match[str]) -> Iterator[Span]:
    text = view.text
    near = _STATE.search(text, max(0, found.start() - 256), found.end() + 256) is not None
    if _is_drawn(found["value"], 8 if near else _LONG):
        yield found.span("value")


def _in_a_form(_view: View, found: re.Match[str]) -> Iterator[Span]:
    if _is_drawn(found["value"], _LONG):
        yield found.span("value")


def _exchanged(_view: View, found: re.Match[str]) -> Iterator[Span]:
    if _is_drawn(found["value"], 8):
        yield found.span("value")


_NAME = "oauth-code"
_ADDRESS = Rule(_NAME, _WORDS, matching(_IN_AN_ADDRESS, _in_an_address), before=0, after=96)
_FORM = Rule(_NAME, _FORMS, matching(_IN_A_FORM, _in_a_form), before=1, after=96)
_EXCHANGE = Rule(_NAME, ("authorization_code",), matching(_EXCHANGED, _exchanged), before=400, after=400, clip=Clip.NOTHING)

RULES = (_ADDRESS, _FORM, _EXCHANGE)
LEADS: tuple[Lead, ...] = (
    leading(_ADDRESS, _IN_AN_ADDRESS.match),
    leading(_FORM, _IN_A_FORM.match),
    leading(_EXCHANGE, lambda text, at: _EXCHANGED.search(text, max(0, at - 400), at + 400)),
)
