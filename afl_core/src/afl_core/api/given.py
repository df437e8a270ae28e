"""What callers of `Memory` give: arguments of a wrong kind are named before anything is done, and what SQLite says becomes an error of ours."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import os
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from afl_core.model.errors import ModelError
from afl_core.model.grain import Grain, GrainType, make
from afl_core.model.grain_type import TYPES
from afl_core.store.trouble import explain

F = TypeVar("F", bound=Callable[..., Any])

_CODE = "AFL-MODEL-010"


def text(value: Any, name: str) -> None:
    """Refuse what is no text, or text that no file can hold."""
    words(value, name)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as bad:
            raise ModelError(f"{name} holds half of a surrogate pair", code=_CODE, hint="correct the argument") from bad


def words(value: Any, name: str) -> None:
    """Refuse what is no text. A question is only compared, so it may hold anything, as what hosts pass on may."""
    if not isinstance(value, str):
        raise ModelError(f"{name} is not text but {type(value).__name__}", code=_CODE, hint="correct the argument")


def storable(question: str) -> str:
    """A question without what no file can hold: telemetry keeps it."""
    return question if question.isascii() else question.encode("utf-8", "replace").decode()


def composed(name: str) -> str:
    """A text as grains hold it (NFC), so that what was stored is found under the very words it was stored with."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def fields_of(fields: Any, more: dict[str, Any], name: str = "fields") -> dict[str, Any]:
    """Fields of a grain given as a mapping, by name, or both."""
    if fields is None:
        return more
    if not isinstance(fields, Mapping):
        raise ModelError(f"{name} is not a mapping but {type(fields).__name__}", code=_CODE, hint="correct the argument")
    return {**fields, **more}


def shaped(type: Any, fields: Mapping[str, Any], now: int, ns: str) -> Grain:
    """A grain of a type, given by its name. Raises `ModelError` naming the field that is wrong."""
    kind = TYPES.get(type) if isinstance(type, str) else type
    if not isinstance(kind, GrainType):
        raise ModelError(f"{type!r} is no type of a grain; there are {', '.join(TYPES)}", code="AFL-MODEL-003", hint="choose one of them")
    return make(kind, fields, now, ns)


def texts(value: Any, name: str) -> list[str]:
    """A list of what somebody gave as several texts; one text is not several."""
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Iterable):
        raise ModelError(f"{name} is not a list of texts but {type(value).__name__}", code=_CODE, hint="correct the argument")
    given = list(value)
    for one in given:
        text(one, name)
    return given


def whole(value: Any, name: str) -> None:
    """Refuse what is no whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ModelError(f"{name} is not a whole number", code=_CODE, hint="correct the argument")


def amount(value: Any, name: str) -> float:
    """A finite number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            if math.isfinite(value):
                return float(value)
    raise ModelError(f"{name} is not a finite number", code=_CODE, hint="correct the argument")


def file_named(path: Any) -> str:
    """What somebody calls a file, as text."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise ModelError(f"path is not a path but {type(path).__name__}", code=_CODE, hint="correct the argument")
    return os.fsdecode(path)


def path_of(path: Any) -> str:
    """The whole path of a file, as text."""
    named = file_named(path)
    if "\0" in named:
        raise ModelError("path holds a NUL", code=_CODE, hint="correct the argument")
    if not named:
        raise ModelError("path is empty", code=_CODE, hint="name a file")
    text(named, "path")  # SQLite takes UTF-8 only
    return os.path.abspath(named)


_KINDS: dict[str, Callable[[Any, str], object]] = {
    **dict.fromkeys(("subject", "relation", "ns", "run_id", "tool_name", "tool_call_id", "session_id", "because", "type"), text),
    "query": words,
    **dict.fromkeys(("hash", "old", "loser", "winner"), text),
    **dict.fromkeys(("k", "budget", "limit", "days"), whole),
}
"""Arguments by their name, which means the same wherever it stands."""


def used(method: F) -> F:
    """A method of an open memory as one call: a file that is closed meanwhile is closed for it when it ends."""

    @functools.wraps(method)
    def asked(self: Any, /, *arguments: Any, **named: Any) -> Any:
        files = self._files
        files.enter()
        try:
            return method(self, *arguments, **named)
        except sqlite3.Error as bad:
            raise explain(bad, self.path) from bad
        finally:
            files.leave()

    return cast("F", asked)


def checked(method: F) -> F:
    """The same, with its arguments checked by their names, and texts as grains hold them. One that may be left out may be None."""
    call = used(method)
    given = list(inspect.signature(method).parameters.values())[1:]
    order = [one.name for one in given]
    checks = {one.name: (_KINDS[one.name], one.default is None) for one in given if one.name in _KINDS}

    @functools.wraps(method)
    def asked(self: Any, /, *arguments: Any, **named: Any) -> Any:
        for name, value in (*zip(order, arguments, strict=False), *named.items()):
            check, may_be_none = checks.get(name, _NO_CHECK)
            if check is not None and not (may_be_none and value is None):
                check(value, name)
        return call(self, *map(_composed, arguments), **{name: _composed(value) for name, value in named.items()})

    return cast("F", asked)


def _composed(value: Any) -> Any:
    return composed(value) if type(value) is str else value


_NO_CHECK: tuple[None, bool] = (None, True)
