"""The contract of a command plug-in: a name and where its click command lives; it is imported only when it is called."""

from __future__ import annotations

import attrs


@attrs.frozen
class CommandSpec:
    """`target` is `module:attribute` of a `click.Command`; `help` is the one line shown in `afl --help`."""

    name: str
    target: str
    help: str
