"""How a row of `grains` is found by its address. The index holds the first half of its digits: enough to tell grains apart, and half as many pages."""

AT = "substr(hash, 1, 32) = substr(?, 1, 32) AND +hash = ?"
"""Condition on a row of `grains`; its two values are both the address."""
# The plus keeps SQLite from putting the second value in the place of `hash` in the first condition, which would read the whole table.


def same(hash: str, other: str) -> str:
    """The condition that the `hash` column of a row of `grains` is an address of another row; both are names of columns."""
    return f"(substr({hash}, 1, 32) = substr({other}, 1, 32) AND +{hash} = {other})"


def beginning(address: str) -> tuple[str, str]:
    """Two bounds of `substr(hash, 1, 32)`: those of the addresses that begin so lie from the first up to, and not at, the second."""
    return address[:32], address[:32] + "g"
