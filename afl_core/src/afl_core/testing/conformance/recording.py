"""What a provider's author gives for one scenario: the transcripts, the hooks in their order, and the words that matter. Does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

Texts = str | tuple[str, ...]
"""One text, or several that were said one after the other."""


@attrs.frozen
class Hook:
    """One hook the host ran. `payload`: what it wrote to the hook's standard input; `at_ms`: when; `sizes`: bytes of each transcript that existed then."""

    event: str
    payload: Mapping[str, Any]
    at_ms: int
    sizes: Mapping[str, int]


@attrs.frozen
class Thread:
    """A session and one of its transcripts, as a path below the recording's home. A session that goes on in another file has two."""

    native_id: str
    path: str


@attrs.frozen
class Recording:
    """One scenario as the host left it.

    `home`: the home directory it was recorded in, absolute; wherever it stands in a payload it becomes the suite's own. `transcripts`: every
    file the host wrote, path below that home -> all of its bytes, subagents' included. `threads`: the sessions whose transcripts are to be
    read, in the order in which they began. `words`: the texts the scenario's rule asks for, by name, as the person typed them.
    """

    home: str
    transcripts: Mapping[str, bytes]
    threads: tuple[Thread, ...]
    hooks: tuple[Hook, ...]
    words: Mapping[str, Texts]

    def texts(self, name: str) -> tuple[str, ...]:
        """The text or texts of one name. KeyError when the recording does not say."""
        told = self.words[name]
        return (told,) if isinstance(told, str) else told


@attrs.frozen
class CannotTell:
    """The host offers no such thing, or leaves no trace of it. `reason`: a sentence for people."""

    reason: str
