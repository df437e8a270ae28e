"""What an import would do: it is done, in a copy of the memory that nobody else sees and that is gone with its connection."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial

import attrs

from afl_core.exchange.access import Access
from afl_core.store.connection import writing
from afl_core.store.copies import copied


@contextlib.contextmanager
def trial(access: Access) -> Iterator[Access]:
    """The same memory, to be changed at will."""
    with copied(access.reader()) as db:
        yield attrs.evolve(
            access, reader=lambda: db, writer=partial(writing, db), finish_forgetting=lambda: None, forgetting=contextlib.nullcontext
        )
