"""What the demo says: one stage after another, as text or collected as JSON. Colour only where a terminal is."""

from __future__ import annotations

import json
import os
import sys
import textwrap

import attrs

WIDTH = 100


@attrs.define
class Teller:
    """Prints stages as they come true."""

    as_json: bool
    told: list[dict[str, object]] = attrs.field(factory=list)

    def stage(self, title: str, *lines: str, quote: str = "", **facts: object) -> None:
        """One stage: a title, sentences, words quoted as they are, and the facts for programs."""
        self.told.append({"stage": len(self.told) + 1, "title": title, **facts})
        if self.as_json:
            return
        bold, dim, end = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() and "NO_COLOR" not in os.environ else ("", "", "")
        sys.stdout.write(f"{bold}{len(self.told)}. {title}{end}\n")
        for line in lines:
            sys.stdout.write(textwrap.fill(line, WIDTH, initial_indent="   ", subsequent_indent="   ") + "\n")
        for line in quote.splitlines():
            sys.stdout.write(f"   {dim}|{end} {line}\n")
        sys.stdout.write("\n")
        sys.stdout.flush()

    def end(self, *, complete: bool) -> None:
        """The last line, or all of it as JSON."""
        if self.as_json:
            json.dump({"complete": complete, "stages": self.told}, sys.stdout, ensure_ascii=False, indent=2)
            sys.stdout.write("\n")
        else:
            sys.stdout.write("The loop is closed.\n" if complete else "The loop was not closed.\n")
