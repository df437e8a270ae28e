"""How many megabytes of text the shipped redaction reads in a second of processor time, by kind of text.

    python3 tools/dev.py bench redaction [--megabytes 1] [--only NAME] [--json]

Each kind stands beside parsing the same texts from JSON, to compare machines by. Judges nothing: docs/benchmarks.md says what is wanted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # not there under PYTHONSAFEPATH

from _processes import load
from _words import Words

from afl_core.plugins.isolation import Guard, MemoryLedger
from afl_core.redaction.chain import Chain
from afl_core.vault.seal import keyed_hash
from afl_redactors.redactor import CredentialRedactor

ROUNDS = 3
WORDS = ("token", "key", "pass", "passed")
"""Words that stand in many texts that hold no secret: one kind of text for each."""
SAID = (
    "GET https://api.example.com/v1/items/{0}?page=3 200 {1}ms",
    "tests/unit/test_items.py::test_item_{0} PASSED [{1}%]",
    "task {0} finished in {1}.3s",
    "cache key miss for user {0}",
    "connection pool exhausted; retrying in {1} ms",
    "token refreshed for client {0}",
    "request id {0}e2a-1b7d-4f7e-9f5e-3c1a2b4d5e6f done",
)
"""What the lines of a log say."""


def log(words: Words) -> str:
    """Forty lines with a time in front."""
    draw = words.random
    return "\n".join(
        f"2026-07-14T12:{draw.randrange(60):02d}:{draw.randrange(60):02d}.{draw.randrange(1000):03d}Z {draw.choice(('INFO', 'WARN', 'DEBUG'))} "
        f"[worker-{draw.randrange(9)}] {draw.choice(SAID).format(draw.randrange(1000, 10_000), draw.randrange(100))}"
        for _ in range(40)
    )


def holding(words: Words, word: str) -> str:
    """Some sentences, one of which holds the word."""
    return f"{words.sentences(1, 6)} Now the {word} of it is read first. {words.sentences(1, 6)}"


KINDS: dict[str, Callable[[Words], str]] = {
    "code": lambda words: words.source(6_000),
    "logs": log,
    "chat": lambda words: words.sentences(3, 40),
    "tool output": lambda words: words.output((8.0, 1.0, 8_192), 0.02),
    **{f"each holds {word!r}": lambda words, word=word: holding(words, word) for word in WORDS},  # type: ignore[misc]
    "each shows a secret": lambda words: words.output((8.0, 1.0, 8_192), 1.0),
}


def texts(make: Callable[[Words], str], size: int) -> list[str]:
    """Texts of one kind, together at least `size` characters."""
    words, made, length = Words(size), [], 0
    while length < size:
        made.append(make(words))
        length += len(made[-1])
    return made


def least(step: Callable[[str], object], given: Sequence[str]) -> float:
    """The fewest processor seconds of some rounds over the texts."""
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for one in given:
            step(one)
        rounds.append(time.process_time() - began)
    return min(rounds)


def measured(make: Callable[[Words], str], size: int) -> dict[str, Any]:
    """One kind: with the chain as a reader of transcripts calls it, and with a secret in mind that may be said again."""
    chain = Chain([("bench", CredentialRedactor())], Guard(MemoryLedger()), lambda word: keyed_hash(b"bench", "secret", word.encode()))
    given = texts(make, size)
    megabytes = sum(map(len, given)) / 1e6
    once = least(chain.redact, given)
    again = least(lambda text: chain.redact(text, ("none-of-these-1",)), given)
    parse = least(json.loads, [json.dumps(text) for text in given])
    return {
        "texts": len(given),
        "megabytes": megabytes,
        "mb_per_cpu_s": megabytes / once,
        "mb_per_cpu_s_with_repeats": megabytes / again,
        "x_parsing": once / parse,
        "replaced": sum(sum(chain.redact(text).manifest.values()) for text in given),
    }


def shown(result: dict[str, Any]) -> str:
    """The result for a person."""
    lines = [f"{'':<22}" + "".join(f"{head:>10}" for head in ("texts", "MB", "MB/s", "repeats", "x json", "replaced"))]
    for name, one in result["kinds"].items():
        numbers = [f"{one['texts']}", f"{one['megabytes']:.1f}", f"{one['mb_per_cpu_s']:.1f}", f"{one['mb_per_cpu_s_with_repeats']:.1f}"]
        numbers += [f"{one['x_parsing']:.1f}", f"{one['replaced']}"]
        lines.append(f"{name:<22}" + "".join(f"{number:>10}" for number in numbers))
    machine = result["machine"]
    return "\n".join([*lines, f"Python {machine['python']}, {machine['processors']} processors, load {machine['load']:.1f}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=1.0, help="text of each kind")
    parser.add_argument("--only", help="one kind")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.only not in (None, *KINDS):
        parser.error(f"there is no {options.only!r}; there are: {', '.join(KINDS)}")
    busy, processors = load()
    size = int(options.megabytes * 1_000_000)
    result: dict[str, Any] = {"machine": {"python": sys.version.split()[0], "processors": processors, "load": busy}}
    result["kinds"] = {name: measured(make, size) for name, make in KINDS.items() if options.only in (None, name)}
    print(json.dumps(result, indent=2) if options.json else shown(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
