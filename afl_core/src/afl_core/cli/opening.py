"""The options of commands about grains, and the memory they open: the home's store, `--db FILE` or `$AFL_DB`; a sealed one with its passphrase."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import click

from afl_core.cli.options import Answer, taking
from afl_core.cli.standard_input import is_terminal
from afl_core.model.errors import StoreError
from afl_core.model.grain import DEFAULT_NS

if TYPE_CHECKING:
    from afl_core.api.by_hand import Place
    from afl_core.api.home import Home
    from afl_core.api.memory import Memory

F = TypeVar("F", bound=Callable[..., Any])

PASSPHRASE_BYTES = 65_536
"""A longer first line is no passphrase."""
SEALED = "AFL-STORE-034"


class Opened:
    """An open memory with the home whose redactors and plug-ins serve it. `ns`: what was asked for, None where nothing was."""

    def __init__(self, memory: Memory, home: Home, place: Place, ns: str | None) -> None:
        self.memory, self.home, self.place, self.ns = memory, home, place, ns

    @property
    def redacts(self) -> bool:
        """Whether what is stored is redacted without being asked: in the store of a home, however it was named."""
        return self.place.is_home or self.memory.is_a_homes()

    def now(self) -> int:
        """The time that ages are counted from, ms since the epoch."""
        return self.home.clock()


class Asked:
    """How to answer, and which memory is asked for."""

    def __init__(self, answer: Answer, db: str | None, ns: str | None, passphrase_file: str | None) -> None:
        self.answer, self.ns = answer, ns
        self._db, self._passphrase_file = db, passphrase_file

    @property
    def same_memory(self) -> str:
        """What another command is given to be about the same memory."""
        home = "" if self.answer.home is None else f" --home {quote(self.answer.home)}"
        return home if self._db is None else f"{home} --db {quote(self._db)}"

    @contextlib.contextmanager
    def home(self) -> Iterator[tuple[Home, Place]]:
        """The home and the file, before anything is opened."""
        from afl_core.api.by_hand import place_of
        from afl_core.api.home import Home

        with Home(self.answer.home) as home:
            yield home, place_of(home, self._db, named_home=self.answer.home is not None)

    @contextlib.contextmanager
    def memory(self, *, makes: bool = False, one_ns: bool = False, tries: bool = False) -> Iterator[Opened]:
        """Open it. `makes`: a file that is not there is made; `tries`: in a place that goes away. `one_ns`: every namespace is none here."""
        if self.ns is not None and not self.ns.strip():
            raise click.UsageError("--ns was given without a name", click.get_current_context())
        if one_ns and self.ns == "*":
            raise click.UsageError("this command works in one namespace: give its name with --ns", click.get_current_context())
        with self.home() as (home, named), contextlib.ExitStack() as stack:
            place = named
            if tries and not place.is_home and not os.path.lexists(place.path):
                place = place._replace(path=os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "tried"))
            memory = stack.enter_context(self.opened(home, place, makes=makes or tries))
            yield Opened(memory, home, place, self.ns)

    def opened(self, home: Home, place: Place, *, makes: bool = False) -> Memory:
        """The memory; a sealed one asks for its passphrase on a terminal when no file holds it."""
        from afl_core.api.by_hand import open_memory

        ns = DEFAULT_NS if self.ns in (None, "*") else str(self.ns)
        passphrase = None if self._passphrase_file is None else _passphrase_in(self._passphrase_file)
        try:
            return open_memory(home, place, ns, passphrase, makes=makes)
        except StoreError as bad:
            if bad.code != SEALED:
                raise
            if not is_terminal():
                raise StoreError(bad.sentence, code=SEALED, hint="give its passphrase with --passphrase-file FILE") from bad
        return open_memory(home, place, ns, click.prompt("passphrase", hide_input=True, err=True), makes=makes)


def on_memory(function: F) -> F:
    """Add --db, --ns, --passphrase-file and the common options; passes an `Asked` first."""
    return on_memory_taking(())(function)


NS = f"The namespace; default: {DEFAULT_NS}. Where grains are read, `*` is every one."


def on_memory_taking(formats: Sequence[str], ns_help: str | None = NS) -> Callable[[F], F]:
    """The same for a command whose --format also says what a file is in, passed as `file_format`. `ns_help`: None for one about the whole file."""

    def decorate(function: F) -> F:
        @click.option("--db", metavar="FILE", help="Use this memory file instead of the home's store; also $AFL_DB.")
        @_named(ns_help)
        @click.option("--passphrase-file", metavar="FILE", help="The first line of this file is the passphrase of a sealed memory.")
        @taking(formats)
        @functools.wraps(function)
        def wrapped(answer: Answer, /, db: str | None, passphrase_file: str | None, ns: str | None = None, **arguments: Any) -> Any:
            said = click.get_current_context().find_root().params.get("db")
            return function(Asked(answer, db if db is not None else said, ns, passphrase_file), **arguments)

        return wrapped  # type: ignore[return-value]

    return decorate


def _named(ns_help: str | None) -> Callable[[F], F]:
    return click.option("--ns", metavar="NAME", help=ns_help) if ns_help is not None else lambda function: function


def _passphrase_in(path: str) -> str:
    with open(path, "rb") as file:
        raw = file.readline(PASSPHRASE_BYTES + 1)
    if len(raw) > PASSPHRASE_BYTES:
        raise click.UsageError(f"the first line of {path} is longer than {PASSPHRASE_BYTES} bytes", click.get_current_context())
    try:
        line = raw.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as bad:
        raise click.UsageError(f"the first line of {path} is not UTF-8 text", click.get_current_context()) from bad
    if not line:
        raise click.UsageError(f"the first line of {path} is empty: it has to be the passphrase", click.get_current_context())
    return line
