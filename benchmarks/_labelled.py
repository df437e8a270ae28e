"""Labelled texts from files: which parts of each are secret, or that it holds one somewhere, or none."""

from __future__ import annotations

import csv
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import attrs

OWN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "corpora" / "redaction"
BREAK = "¦"
"""Stands inside of our own made-up keys, so that scanners of a repository do not take them for real ones."""

YES = frozenset({"1", "true", "yes", "y", "t", "secret", "positive", "pos", "leak", "credential", "password"})
NO = frozenset({"0", "false", "no", "n", "f", "none", "negative", "neg", "clean", "benign", "not_secret", "non-secret", "other"})
LABELS, TEXTS, PARTS = (
    ("label", "is_secret", "class", "target", "y"),
    ("text", "line", "code", "content", "example"),
    ("secrets", "secret", "value"),
)
TEXT_FILE_BYTES = 2_000_000


@attrs.frozen
class Example:
    """One text. `secrets`: what must go; empty where `holds` says that something must go but not what."""

    text: str
    secrets: tuple[str, ...]
    holds: bool
    kind: str
    where: str


class CorpusError(ValueError):
    """A file that is no labelled corpus; says where and what was expected."""


def read(path: pathlib.Path) -> list[Example]:
    """The examples of a file or folder; the way to read it follows from what it is."""
    if path.is_dir():
        expected = [found for found in sorted(path.glob("*.json")) if _findings(found) is not None]
        if expected:
            return [one for found in expected for one in _samples(path, found)]
        found = [one for below in sorted(path.rglob("*")) if below.is_file() and below.suffix in READERS for one in read(below)]
        if not found:
            raise CorpusError(f"{path} holds neither a JSON file of expected findings nor a file ending in {', '.join(READERS)}")
        return found
    if path.suffix not in READERS:
        raise CorpusError(f"{path}: its ending is none of {', '.join(READERS)}")
    return READERS[path.suffix](path)


def _json_lines(path: pathlib.Path) -> list[Example]:
    """Objects with a text, and the secrets in it or a label."""
    made = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip():
            try:
                made.append(_of_fields(json.loads(line), f"{path}:{number}", path.stem))
            except (ValueError, TypeError, AttributeError) as bad:
                raise CorpusError(f"{path}:{number}: {bad}") from bad
    return made


def _table(path: pathlib.Path) -> list[Example]:
    """Comma- or tab-separated, with or without a line of names: a text and a label, in any order."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",") if row]
    names = [cell.strip().casefold() for cell in rows[0]] if rows else []
    if any(name in TEXTS for name in names) and any(name in LABELS + PARTS for name in names):
        return [_of_fields(dict(zip(names, row, strict=False)), f"{path}:{at}", path.stem) for at, row in enumerate(rows[1:], 2)]
    return [_of_pair(row, f"{path}:{at}", path.stem) for at, row in enumerate(rows, 1)]


def _lines(path: pathlib.Path) -> list[Example]:
    """A label and a text a line, parted by a tab, a comma or white space; the label may stand at either end."""
    made = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip():
            parts = line.split("\t") if "\t" in line else [line.split(None, 1)[0].strip(",:"), *line.split(None, 1)[1:]]
            made.append(_of_pair(parts, f"{path}:{number}", path.stem))
    return made


def _rules(path: pathlib.Path) -> list[Example]:
    """A rule file: `examples` hold something that must go, `negative_examples` nothing."""
    import yaml

    made: list[Example] = []

    def walk(node: Any, name: str) -> None:
        if isinstance(node, dict):
            name = str(node.get("id") or node.get("name") or name)
            for key, holds in (("examples", True), ("negative_examples", False)):
                given = node.get(key)
                texts = [text for text in given if isinstance(text, str)] if isinstance(given, list) else []
                made.extend(Example(text, (), holds, path.stem, f"{path}:{name}") for text in texts)
            for value in node.values():
                walk(value, name)
        elif isinstance(node, list):
            for one in node:
                walk(one, name)

    try:
        walk(yaml.safe_load(path.read_text("utf-8")), path.stem)
    except yaml.YAMLError as bad:
        raise CorpusError(f"{path}: {bad}") from bad
    return made


def _findings(path: pathlib.Path) -> list[dict[str, Any]] | None:
    """A list of findings, each with the path of a sample; None for any other JSON."""
    try:
        body = json.loads(path.read_text("utf-8"))
    except ValueError:
        return None
    body = next((value for value in body.values() if isinstance(value, list)), None) if isinstance(body, dict) else body
    if not isinstance(body, list) or not body or not all(isinstance(one, dict) for one in body):
        return None
    flat = [one for entry in body for one in _flat(entry)]
    return flat if flat and all("path" in one or "file" in one for one in flat) else None


def _flat(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    inner = entry.get("line_data_list")
    if isinstance(inner, list):
        yield from ({"rule": entry.get("rule"), **one} for one in inner if isinstance(one, dict))
    else:
        yield entry


def _samples(folder: pathlib.Path, expected: pathlib.Path) -> Iterator[Example]:
    """One example a finding, in its whole file; a file without a finding is one that holds none."""
    told: dict[pathlib.Path, list[dict[str, Any]]] = {}
    missing = 0
    for one in _findings(expected) or ():
        name = str(one.get("path") or one.get("file"))
        if file := _located(folder, name):
            told.setdefault(file, []).append(one)
        else:
            missing += 1
    for file in sorted(
        found for found in folder.rglob("*") if (found.is_file() and found != expected and found.suffix != ".json") or found in told
    ):
        data = file.read_bytes()[:TEXT_FILE_BYTES]
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue  # no text: not for a redactor
        if file not in told:
            yield Example(text, (), holds=False, kind="no finding", where=str(file))
        for one in told.get(file, ()):
            value = one.get("value") or one.get("secret") or one.get("match")
            if isinstance(value, str) and value and value in text:
                yield Example(text, (value,), holds=True, kind=str(one.get("rule") or "finding"), where=f"{file}:{one.get('line_num', '')}")


def _located(folder: pathlib.Path, name: str) -> pathlib.Path | None:
    parts = pathlib.PurePosixPath(name).parts
    return next((found for at in range(len(parts)) if (found := folder.joinpath(*parts[at:])).is_file()), None)


def _of_fields(fields: dict[str, Any], where: str, kind: str) -> Example:
    text = next((fields[name] for name in TEXTS if isinstance(fields.get(name), str)), None)
    if text is None:
        raise CorpusError(f"{where}: no text; one of the fields {', '.join(TEXTS)} is expected")
    given = next((fields[name] for name in PARTS if fields.get(name) is not None), None)
    secrets = tuple(given) if isinstance(given, list) else (given,) if given else ()
    label = next((fields[name] for name in LABELS if name in fields), None)
    if given is None and label is None:
        raise CorpusError(f"{where}: neither secrets nor a label")
    text = text.replace(BREAK, "") if OWN in pathlib.Path(where).resolve().parents else text
    holds = bool(secrets) if label is None else _truth(label, where)
    return Example(text, tuple(one for one in secrets if one in text) if holds else (), holds, str(fields.get("kind", kind)), where)


def _of_pair(cells: list[str], where: str, kind: str) -> Example:
    if len(cells) > 1 and (first := _label(cells[0])) is not None:
        return Example("\t".join(cells[1:]), (), first, kind, where)
    if len(cells) > 1 and (last := _label(cells[-1])) is not None:
        return Example("\t".join(cells[:-1]), (), last, kind, where)
    raise CorpusError(f"{where}: a label ({', '.join(sorted(YES | NO))}) at the beginning or the end of the line is expected")


def _truth(label: object, where: str) -> bool:
    told = label if isinstance(label, bool) else _label(str(label))
    if told is None:
        raise CorpusError(f"{where}: label {label!r} is none of {', '.join(sorted(YES | NO))}")
    return bool(told)


def _label(cell: str) -> bool | None:
    word = cell.strip().casefold().removeprefix("__label__").strip("\"'[]():")
    return True if word in YES else False if word in NO else None


READERS = {".jsonl": _json_lines, ".csv": _table, ".tsv": _table, ".txt": _lines, ".yml": _rules, ".yaml": _rules}
