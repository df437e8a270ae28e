"""The skeleton of a text: what two texts have in common that look the same to a reader (after Unicode UTS #39). Pure."""

from __future__ import annotations

import unicodedata

_ALIKE = str.maketrans(
    {
        **dict(zip("авекмнорстухіјѕԁһԛԝёүөҽոսցքաѡ", "abekmhopctyxijsdhqweyoenugqaw", strict=False)),
        **dict(zip("αβεικνορτυχγωϲϳ", "abeikvoptuxywcj", strict=False)),
        **dict(zip("ıɩɑɡıʟօхҺ", "iiagiloxh", strict=False)),
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ħ": "h",
        "0": "o", "1": "l", "|": "l",
        "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "＿": "_",
        "‘": "'", "’": "'", "“": '"', "”": '"', "`": "'", "´": "'",
    }
)  # fmt: skip
"""Letters of other scripts, digits and marks by what they are read as. Applied to case-folded text."""

_LINE_OF_I = str.maketrans({"i": "l"})
"""`I`, `l` and `1` look alike in many fonts: all become l."""


def skeleton(text: str) -> str:
    """Compatibility-composed, case-folded, without marks, invisible characters and double white space, look-alikes as one letter."""
    if text.isascii():
        folded = text.lower()
    else:
        wide = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
        folded = "".join(letter for letter in wide if unicodedata.category(letter) not in ("Cf", "Mn", "Me", "Cc") or letter.isspace())
    return " ".join(folded.translate(_ALIKE).translate(_LINE_OF_I).split())
