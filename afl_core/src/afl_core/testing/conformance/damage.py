"""Damage that may be done to a transcript, as hypothesis strategies: records with changed, foreign and missing values, and lines cut off."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]
"""How a test asks for the next random value."""

SCALARS: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)


@functools.lru_cache(maxsize=64)
def words_of(records: tuple[bytes, ...]) -> tuple[list[str], list[str]]:
    """The keys, and the texts short enough to be a type, a role or a time, that occur in recorded records."""
    keys: dict[str, None] = {"x": None}
    texts: dict[str, None] = {"x": None}
    open_values: list[Any] = [json.loads(record) for record in records]
    while open_values:
        value = open_values.pop()
        if isinstance(value, dict):
            keys.update(dict.fromkeys(value))
            open_values.extend(value.values())
        elif isinstance(value, list):
            open_values.extend(value)
        elif isinstance(value, str) and len(value) <= 40:
            texts[value] = None
    return list(keys), list(texts)


def readable(records: Sequence[bytes]) -> tuple[bytes, ...]:
    """Those of the records that are JSON objects or arrays with something in them: the others cannot be damaged by changing a value."""
    return tuple(record for record in records if _container(record))


def _container(record: bytes) -> bool:
    try:
        return bool(value := json.loads(record)) and isinstance(value, dict | list)
    except (ValueError, RecursionError):
        return False


@functools.lru_cache(maxsize=64)
def values(records: tuple[bytes, ...]) -> st.SearchStrategy[Any]:
    """Any JSON value (NaN and infinities as Python writes them), often with keys and short texts that the host uses itself."""
    keys, texts = words_of(records)
    names = st.sampled_from(keys) | st.text(max_size=4)
    return st.recursive(
        SCALARS | st.sampled_from(texts),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
        max_leaves=8,
    )


def objects(records: tuple[bytes, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects made of the host's own keys and any values."""
    return st.dictionaries(st.sampled_from(words_of(records)[0]), values(records), max_size=5)


def damaged(draw: Draw, records: tuple[bytes, ...]) -> list[bytes]:
    """One to six of the records in any order, some of whose values are others now, and some cut off; between them objects nobody wrote."""
    lines = []
    for text in draw(st.lists(st.sampled_from(records), min_size=1, max_size=6)):
        record = changed(draw, text, records)
        line = json.dumps(record).encode()
        lines.append(line[: draw(st.integers(0, len(line)))] if draw(st.integers(0, 9)) == 0 else line)
        lines += [json.dumps(one).encode() for one in draw(st.lists(objects(records), max_size=1))]
    return lines


def changed(draw: Draw, text: bytes, records: tuple[bytes, ...]) -> Any:
    """The value of a JSON text of which up to three values, at any depth, are others now. An empty one stays as it is."""
    value = json.loads(text)
    for _ in range(draw(st.integers(0, 3)) if value else 0):
        place = value
        while inner := [one for one in (place.values() if isinstance(place, dict) else place) if isinstance(one, dict | list) and one]:
            if not draw(st.booleans()):
                break
            place = draw(st.sampled_from(inner))
        where = draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
        place[where] = draw(values(records))
    return value
