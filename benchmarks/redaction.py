"""What the shipped redaction finds, what it changes that it should leave, and how fast it is.

    python3 tools/dev.py bench redaction [CORPUS ...] [--ordinary PATH ...] [--show] [--megabytes 1] [--only NAME] [--json]

Without a CORPUS the own one is read, both halves. A CORPUS is a file of labelled texts, one a line (.jsonl, .csv, .tsv, .txt), a rule file with
`examples` and `negative_examples` (.yml), or a folder of such files, or of samples with a JSON file of expected findings. Ordinary text is
Python's own library, generated logs and generated chat, or what --ordinary names. Speed stands beside parsing the same texts from JSON, to
compare machines by. Judges nothing: docs/benchmarks.md says what is wanted.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # not there under PYTHONSAFEPATH

from _accuracy import Accuracy, Share, ordinary
from _accuracy import measured as measured_accuracy
from _labelled import OWN, CorpusError, read
from _processes import load
from _words import Words

from afl_core.plugins.isolation import Guard, MemoryLedger
from afl_core.redaction.chain import Chain
from afl_core.redaction.repeats import name_of
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


def chain() -> Chain:
    """What every text goes through that is kept."""
    return Chain([("bench", CredentialRedactor())], Guard(MemoryLedger()), lambda word: keyed_hash(b"bench", "secret", word.encode()))


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


def speed(make: Callable[[Words], str], size: int) -> dict[str, Any]:
    """One kind: with the chain as a reader of transcripts calls it, and with a secret in mind that may be said again."""
    redact = chain().redact
    given = texts(make, size)
    megabytes = sum(map(len, given)) / 1e6
    once = least(redact, given)
    again = least(lambda text: redact(text, (name_of("none-of-these-1", str),)), given)
    parse = least(json.loads, [json.dumps(text) for text in given])
    return {
        "texts": len(given),
        "megabytes": megabytes,
        "mb_per_cpu_s": megabytes / once,
        "mb_per_cpu_s_with_repeats": megabytes / again,
        "x_parsing": once / parse,
        "replaced": sum(sum(redact(text).manifest.values()) for text in given),
    }


ORDINARY_MB = 2.0
"""Generated logs and chat, each."""
LARGEST = 4_000_000
"""Bytes of an ordinary file that is read."""


def code(root: pathlib.Path) -> Iterator[str]:
    """Text files of a folder, or one file."""
    for path in [root] if root.is_file() else sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and "site-packages" not in path.parts and path.stat().st_size <= LARGEST:
            data = path.read_bytes()
            if b"\0" not in data[:4096]:
                yield data.decode("utf-8", "replace")


def over_redaction(paths: Sequence[pathlib.Path]) -> dict[str, Share]:
    """Characters changed in ordinary text, by where it comes from."""
    redact = chain().redact
    if paths:
        return {str(path): ordinary(code(path), redact) for path in paths}
    size = int(ORDINARY_MB * 1_000_000)
    library = (text for path in sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")) for text in code(path))
    return {
        "Python's library": ordinary(library, redact),
        "logs": ordinary(texts(log, size), redact),
        "chat": ordinary(texts(KINDS["chat"], size), redact),
    }


def told(share: Share) -> dict[str, Any]:
    """A share for a program."""
    low, high = share.interval
    return {"count": share.count, "of": share.of, "share": share.value, "low": low, "high": high}


def accuracy(path: pathlib.Path) -> tuple[Accuracy, dict[str, Any]]:
    """One corpus."""
    found = measured_accuracy(read(path), chain().redact)
    kinds = sorted(found.found) if len(found.found) <= MANY_KINDS else ()
    body = {"recall": told(found.recall()), "precision": told(found.precision), "negatives_touched": told(found.negatives)}
    return found, {**body, "characters_changed": told(found.over), "recall_by_kind": {kind: told(found.recall(kind)) for kind in kinds}}


MANY_KINDS = 20
"""With more kinds than this only the whole is shown."""


def line(name: str, one: dict[str, Any], *, percent: int = 1) -> str:
    """A share for a person: count, of how many, and the interval."""
    low, high = (f"{100 * one[end]:.{percent}f}" for end in ("low", "high"))
    return f"{name:<44}{one['count']:>9} of {one['of']:<10}{100 * one['share']:>9.{percent + 1}f} %   [{low}, {high}]"


def shown(result: dict[str, Any]) -> str:
    """The result for a person."""
    lines: list[str] = []
    for name, one in result["corpora"].items():
        lines += [f"{name}", line("  recall", one["recall"])]
        lines += [line(f"    {kind}", share) for kind, share in one["recall_by_kind"].items()]
        lines += [line("  precision", one["precision"]), line("  texts without a secret that were changed", one["negatives_touched"])]
        lines += [line("  characters of those changed", one["characters_changed"], percent=3), ""]
    lines += [line(f"ordinary text: {name}", one, percent=4) for name, one in result["ordinary"].items()]
    if result["kinds"]:
        lines += ["", f"{'':<22}" + "".join(f"{head:>10}" for head in ("texts", "MB", "MB/s", "repeats", "x json", "replaced"))]
    for name, one in result["kinds"].items():
        numbers = [f"{one['texts']}", f"{one['megabytes']:.1f}", f"{one['mb_per_cpu_s']:.1f}", f"{one['mb_per_cpu_s_with_repeats']:.1f}"]
        numbers += [f"{one['x_parsing']:.1f}", f"{one['replaced']}"]
        lines.append(f"{name:<22}" + "".join(f"{number:>10}" for number in numbers))
    machine = result["machine"]
    return "\n".join([*lines, f"Python {machine['python']}, {machine['processors']} processors, load {machine['load']:.1f}"])


def show(found: Accuracy) -> None:
    """Each miss and each text changed for nothing, on stderr."""
    for one, secret in found.missed:
        print(f"missed   {one.kind}: {secret!r} in {one.text[:300]!r} ({one.where})", file=sys.stderr)
    for one, done in found.touched:
        parts = [(hit.rule, one.text[hit.start : hit.end][:60]) for hit in done.findings]
        print(f"touched  {one.kind}: {parts} in {one.text[:300]!r} ({one.where})", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", type=pathlib.Path, metavar="CORPUS", help="labelled texts; without any: the own ones")
    parser.add_argument("--ordinary", nargs="+", type=pathlib.Path, default=[], metavar="PATH", help="files and folders without secrets")
    parser.add_argument("--show", action="store_true", help="print what was missed and what was changed for nothing")
    parser.add_argument("--megabytes", type=float, default=1.0, help="text of each kind for the speed; 0 leaves speed out")
    parser.add_argument("--only", help="the speed of one kind only")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.only not in (None, *KINDS):
        parser.error(f"there is no {options.only!r}; there are: {', '.join(KINDS)}")
    if missing := [path for path in (*options.corpora, *options.ordinary) if not path.exists()]:
        parser.error(f"there is no {missing[0]}")
    busy, processors = load()
    size = int(options.megabytes * 1_000_000)
    result: dict[str, Any] = {"machine": {"python": sys.version.split()[0], "processors": processors, "load": busy}, "corpora": {}}
    for path in options.corpora or (OWN / "development", OWN / "held_out"):
        try:
            found, result["corpora"][str(path if options.corpora else path.name)] = accuracy(path)
        except CorpusError as bad:
            parser.error(str(bad))
        if options.show:
            show(found)
    result["ordinary"] = {name: told(share) for name, share in over_redaction(options.ordinary).items()}
    result["kinds"] = {name: speed(make, size) for name, make in KINDS.items() if size and options.only in (None, name)}
    print(json.dumps(result, indent=2) if options.json else shown(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
