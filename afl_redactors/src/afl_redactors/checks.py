"""What the value of a rule is measured by: entropy and checksums. Pure, and bounded by the value's length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from math import log2


def entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits a character; 0 for an empty value."""
    counts = Counter(value).values()
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)


def luhn(value: str) -> bool:
    """Whether the digits of `value` end in their Luhn check digit (ISO/IEC 7812) and are not all the same."""
    digits = [int(letter) for letter in value if letter.isdecimal() and letter.isascii()]
    if len(set(digits)) < 2:
        return False
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + doubled) % 10 == 0


def mod97(value: str) -> bool:
    """Whether `value` is an IBAN with the right check digits (ISO 13616: the rest by 97 is 1)."""
    plain = "".join(letter for letter in value.upper() if letter.isascii() and letter.isalnum())
    if len(plain) < 15 or not plain[2:4].isdigit():
        return False
    return int("".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])) % 97 == 1


CHECKSUMS: Mapping[str, Callable[[str], bool]] = {"luhn": luhn, "mod97": mod97}
"""By the name a pack gives."""
