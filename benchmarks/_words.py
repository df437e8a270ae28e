"""Words, source code and times that generated transcripts are made of, drawn from a fixed seed."""

from __future__ import annotations

import pathlib
import random
import sysconfig
import time
import uuid
from datetime import UTC, datetime

SEED = 20_240_229
LASTED_S = 7_200
"""The session ends now and began this long ago."""

MODULES = ("argparse", "ast", "asyncio/base_events", "configparser", "dataclasses", "difflib", "email/message", "inspect", "json/decoder", "locale", "shutil", "tarfile", "typing")  # fmt: skip
WORDS = """
    the a this that we it tests test function module file class value error result call request response handler parser config
    build cache reads writes returns raises fails passes now before after because when while only first last new old same other
    should must can will rename remove add change move check run look fix keep use instead in on of to from with without for and
    but so then also still
    """.split()  # noqa: SIM905 - a list literal of a hundred words is not readable


class Words:
    """What one session draws from. `written`: bytes so far, by which time goes on; the session ends when `size` is written."""

    def __init__(self, size: int) -> None:
        self.random = random.Random(SEED)
        self.size, self.written = size, 0
        self.began = time.time() - LASTED_S
        self.lines = _source_lines()

    def moment(self) -> str:
        """Time goes on evenly with what is written."""
        at = self.began + LASTED_S * min(1.0, self.written / (1.15 * self.size))
        return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def id(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def word(self) -> str:
        return self.random.choice(WORDS)

    def sentences(self, least: int, most: int) -> str:
        made = (" ".join(self.random.choices(WORDS, k=self.random.randint(5, 22))) for _ in range(self.random.randint(least, most)))
        return " ".join(one[0].upper() + one[1:] + "." for one in made)

    def source(self, size: int) -> str:
        start = self.random.randrange(len(self.lines))
        found: list[str] = []
        length = 0
        for line in [*self.lines[start:], *self.lines]:
            found.append(line)
            length += len(line) + 1
            if length >= size:
                break
        return "\n".join(found)[:size]

    def output(self, chars: tuple[float, float, int], shows_secret: float) -> str:
        """What a tool prints: mean and deviation of the logarithm of its size, the most, and how often a credential stands in front."""
        mean, deviation, most = chars
        text = self.source(min(most, int(self.random.lognormvariate(mean, deviation))))
        return f"API_TOKEN={self.random.getrandbits(160):040x}\n{text}" if self.random.random() < shows_secret else text


def _source_lines() -> list[str]:
    library = pathlib.Path(sysconfig.get_paths()["stdlib"])
    return [line for name in MODULES for line in (library / f"{name}.py").read_text("utf-8").splitlines()]
