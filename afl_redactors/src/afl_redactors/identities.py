"""Check digits of numbers that people are known by. Each is computed as the body that gives the number out publishes it. Pure, one value at a time."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from afl_redactors.checks import luhn, mod97

_CARDS = (
    (re.compile(r"4"), (13, 16, 19)),
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),
    (re.compile(r"3[47]"), (15,)),
    (re.compile(r"6011|64[4-9]|65"), (16, 17, 18, 19)),
    (re.compile(r"62|81"), (16, 17, 18, 19)),
    (re.compile(r"30[0-5]|309|36|3[89]"), (14, 16, 19)),
    (re.compile(r"35(?:2[89]|[3-8])"), (16, 17, 18, 19)),
    (re.compile(r"220[0-5]"), (16, 17, 18, 19)),
    (re.compile(r"50(?:18|20|38|8)|5[678]|60|63|67"), (13, 14, 15, 16, 17, 18, 19)),
)
"""How the numbers of an issuer begin, and how many digits they have."""

_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22,
    "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28,
    "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27,
    "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24,
    "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
"""Characters of an IBAN by its country, as SWIFT's registry lists them."""

_DIHEDRAL = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678", "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_PERMUTED = ("0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258")
_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"


def _digits(value: str) -> list[int]:
    return [int(letter) for letter in value if letter.isdecimal()]


def _weighed(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True))


def card(value: str) -> bool:
    """A payment card: a known beginning with its length, and the Luhn check digit."""
    digits = "".join(letter for letter in value if letter.isdecimal())
    return luhn(digits) and any(begins.match(digits) and len(digits) in lengths for begins, lengths in _CARDS)


def iban(value: str) -> bool:
    """A bank account: the length of its country, and the right remainder."""
    plain = re.sub(r"[ -]", "", value).upper()
    return len(plain) == _IBAN_LENGTHS.get(plain[:2]) and mod97(plain)


def phone(value: str) -> bool:
    """As many digits as E.164 has room for, and not all the same."""
    digits = _digits(value)
    return 8 <= len(digits) <= 15 and len(set(digits)) > 2


def chinese(value: str) -> bool:
    """A resident identity number: ISO 7064, MOD 11-2 over 17 digits."""
    total = sum(int(digit) * (2 ** (17 - place) % 11) for place, digit in enumerate(value[:17]))
    return "10X98765432"[total % 11] == value[17].upper()


def german(value: str) -> bool:
    """A tax identification number: of ten digits one stands two or three times; ISO 7064, MOD 11,10."""
    digits = _digits(value)
    if len(digits) != 11 or digits[0] == 0 or max(Counter(digits[:10]).values()) not in {2, 3}:
        return False
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[10]


def spanish(value: str) -> bool:
    """A DNI or NIE: the letter for the remainder by 23, with X, Y and Z as 0, 1 and 2."""
    plain = value.replace("-", "").replace(" ", "").upper()
    number = plain[:-1].translate(str.maketrans("XYZ", "012"))
    return number.isdecimal() and _DNI[int(number) % 23] == plain[-1]


def french(value: str) -> bool:
    """A social security number: its key is 97 less the remainder; 2A and 2B count as 19 and 18."""
    plain = re.sub(r"[ .-]", "", value).upper().replace("2A", "19").replace("2B", "18")
    return len(plain) == 15 and plain.isdecimal() and 97 - int(plain[:13]) % 97 == int(plain[13:])


def brazilian(value: str) -> bool:
    """A CPF: two check digits modulo 11."""
    digits = _digits(value)
    if len(digits) != 11 or len(set(digits)) == 1:
        return False
    return all(_weighed(digits[:end], range(end + 1, 1, -1)) * 10 % 11 % 10 == digits[end] for end in (9, 10))


def japanese(value: str) -> bool:
    """An individual number: the check digit modulo 11 that ordinance 85 of 2014 gives."""
    digits = _digits(value)
    if len(digits) != 12 or len(set(digits)) == 1:
        return False
    remainder = _weighed(digits[:11], (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return digits[11] == (0 if remainder <= 1 else 11 - remainder)


def indian(value: str) -> bool:
    """An Aadhaar number: Verhoeff's check digit."""
    digits, check = _digits(value), 0
    for place, digit in enumerate(reversed(digits)):
        check = int(_DIHEDRAL[check][int(_PERMUTED[place % 8][digit])])
    return len(digits) == 12 and len(set(digits)) > 2 and check == 0


def snils(value: str) -> bool:
    """A Russian insurance number: the weighed sum by 101."""
    digits = _digits(value)
    return len(digits) == 11 and _weighed(digits[:9], range(9, 0, -1)) % 101 % 100 == digits[9] * 10 + digits[10]


def inn(value: str) -> bool:
    """A Russian taxpayer number: one check digit of ten, or two of twelve, modulo 11."""
    digits, weights = _digits(value), (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)
    if len(digits) not in {10, 12} or len(set(digits)) == 1:
        return False
    ends = (9,) if len(digits) == 10 else (10, 11)
    return all(_weighed(digits[:end], weights[11 - end :]) % 11 % 10 == digits[end] for end in ends)


def public_address(value: str) -> bool:
    """An address of the internet: none that is private, of this machine, of documentation, or of no single machine."""
    address = _address(value)
    if address is None or address.is_multicast or address.is_reserved or not address.is_global:
        return False
    return address.version == 4 or int(address) >> 125 == 1


def any_address(value: str) -> bool:
    """An address of one machine or network, wherever it is."""
    address = _address(value)
    return address is not None and not (address.is_loopback or address.is_unspecified or address.is_multicast or int(address) == 2**32 - 1)


def _address(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(value)
    except ValueError:
        return None


CHECKSUMS: Mapping[str, Callable[[str], bool]] = {
    "card": card,
    "iban": iban,
    "phone": phone,
    "chinese": chinese,
    "german": german,
    "spanish": spanish,
    "french": french,
    "brazilian": brazilian,
    "japanese": japanese,
    "indian": indian,
    "snils": snils,
    "inn": inn,
    "public-address": public_address,
    "any-address": any_address,
}
"""By the name a pack gives."""
