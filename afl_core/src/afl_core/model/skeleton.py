"""The skeleton of a text: what two texts have in common that look the same to a reader (after Unicode UTS #39). Pure."""

from __future__ import annotations

import unicodedata

_ALIKE = str.maketrans(
    {
        **dict(zip("авекмнорстухіјѕԁһԛԝёүөҽոսցքաѡӏԍьզհյօ", "abekmhopctyxijsdhqweyoenugqawlgbqhjo", strict=True)),
        **dict(zip("αβεικνορτυχγωϲϳη", "abeikvoptuxywcjn", strict=True)),
        **dict(zip("ıɩɑɡʟᴀʙᴄᴅᴇꜰɢʜɪᴊᴋᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "iiaglabcdefghijkmnoprstuvwyz", strict=True)),
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ħ": "h",
        "0": "o", "1": "l", "|": "l",
        "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "＿": "_",
        "‘": "'", "’": "'", "“": '"', "”": '"', "`": "'", "´": "'",
    }
)  # fmt: skip
"""Letters of other scripts, digits and marks by what they are read as. Applied to case-folded text."""

_LINE_OF_I = str.maketrans({"i": "l"})
"""`I`, `l` and `1` look alike in many fonts: all become l."""

_UNSEEN = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Fillers and blanks that Unicode counts as letters or symbols."""
_DROPPED = ("Cf", "Mn", "Me", "Cc", "Cn", "Co")
"""Categories of what a reader does not see: marks, controls, formats, what has no form."""


def skeleton(text: str) -> str:
    """Compatibility-composed, case-folded, without marks, invisible characters and double white space, look-alikes as one letter."""
    if text.isascii() and text.isprintable():
        folded = text.lower()
    else:
        # A look-alike may stand behind a mark, a mark behind a fold: first everything apart, then what cannot be seen goes.
        wide = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
        folded = "".join(letter for letter in wide if letter.isspace() or not _is_unseen(letter))
    return " ".join(folded.translate(_ALIKE).translate(_LINE_OF_I).split())


def _is_unseen(letter: str) -> bool:
    return letter in _UNSEEN or unicodedata.category(letter) in _DROPPED
