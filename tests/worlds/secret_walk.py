"""Texts with secrets in them walk the whole way of the product, from a hook to the next session's card; what came out of it anywhere is told."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
import random
import re
import string

import attrs
import capture_world
import review_world

from afl_core.cli.main import main
from afl_core.redaction.options import known_options
from afl_core.review.run import Result, run_review
from afl_core.settings.schema import Settings
from afl_core.store import lessons
from afl_redactors.packs import Spec
from afl_redactors.redactor import CredentialRedactor

MARKS = ("⟦", "⟧")
SHOWING = (("memory", "list"), ("memory", "changes"), ("review", "list"), ("doctor",), ("redact", "scan", "--store"))
"""What a person may ask afterwards."""

REVIEWER = r"""
import json, os, sys
context = open(os.environ["AFL_REVIEW_CONTEXT_FILE"], encoding="utf-8").read()
open({seen!r}, "a", encoding="utf-8").write(context + open(os.environ["AFL_REVIEW_PROMPT_FILE"], encoding="utf-8").read())
told = json.loads(open({told!r}, encoding="utf-8").read())
print(told["says"], file=sys.stderr)
if told["fails"]:
    raise SystemExit(3)
body = json.loads(context)
texts = {{one["event_uid"]: one["redacted_text"] for one in body["events"]}}
signal = next(one for one in body["signals"] if one["event_id"] in body["queued_event_ids"])
said, act = signal["event_id"], signal["referent_event_id"]
answer = told["answer"]
ref = answer["lessons"][0]["evidence_refs"][0]
ref.update(feedback_event_id=said, feedback_quote=texts[said][:400], referent_event_ids=[act], referent_quote=texts[act][:400])
answer["lessons"][0]["card"]["source_ids"] = [said]
print(json.dumps(answer))
"""


@attrs.frozen
class Planted:
    """A text and the values in it that must not come out anywhere."""

    rule: str
    text: str
    values: tuple[str, ...]


def plant(one: Spec, example: str, seed: int) -> Planted:
    """An example of a rule with other characters of the same class where the rule does not fix them. Where that breaks its form, it stays."""
    example = example.replace("¦", "")
    made = _planted(one, _varied(one, example, random.Random(seed)))
    return made if _is_found(made) else _planted(one, example)


def _varied(one: Spec, example: str, chance: random.Random) -> str:
    """Inside the marks, the longer runs of letters and digits; what a keyword spells, and short words such as names, are kept."""
    fixed = [True] * len(example)
    for run in re.finditer(r"[A-Za-z0-9]{8,}", example):
        fixed[run.start() : run.end()] = [False] * len(run.group())
    for word in one.keywords:
        at = example.lower().find(word)
        while at >= 0:
            fixed[at : at + len(word)] = [True] * len(word)
            at = example.lower().find(word, at + 1)
    inside, made = False, []
    for char, is_fixed in zip(example, fixed, strict=True):
        inside = char == MARKS[0] or (inside and char != MARKS[1])
        pool = next((kind for kind in (string.digits, string.ascii_lowercase, string.ascii_uppercase) if char in kind), "")
        made.append(chance.choice(pool) if inside and pool and not is_fixed else char)
    return "".join(made)


def _planted(one: Spec, example: str) -> Planted:
    parts = example.split(MARKS[0])
    values = tuple(part.split(MARKS[1])[0] for part in parts[1:])
    return Planted(one.id, example.replace(MARKS[0], "").replace(MARKS[1], ""), values)


def _is_found(made: Planted) -> bool:
    judge = CredentialRedactor()
    safe = judge.with_options(judge.options).redact(made.text).text
    return not [value for value in made.values if value in safe]


def told_apart(value: str) -> list[str]:
    """What of a value is looked for: its pieces that nothing else can be, or the whole."""
    pieces = [piece for piece in value.split() if len(piece) >= 12 and any(char.isdigit() for char in piece)]
    whole = [value] if len(value) >= 8 and any(char.isdigit() for char in value) else []
    return pieces + whole


def walk(home: pathlib.Path, planted: list[Planted], before: str, after: str) -> dict[str, str]:
    """Every text through hook, transcript, review, report and card; gives what was sent or shown on the way, by where."""
    world = capture_world.World(home)
    world.home.environ["AGENT_FEEDBACK_LOOP_REDACT_OPTIONS"] = ",".join(known_options(world.home.registry.redactors()))
    texts = [f"{before}\n{one.text}\n{after}" for one in planted]
    tape = capture_world.Tape(home / "t.jsonl")
    try:
        sent = [_take(world, tape, "UserPromptSubmit", prompt=texts[0])]
        for number, text in enumerate(texts):
            tape.person(text).agent(f"I read: {text}").call(f"c{number}", command=text).result(f"c{number}", text, number % 2 == 0)
        tape.agent(f"I did it the wrong way: {texts[-1]}").cut().person(f"no, that is wrong, as it says {texts[-1]}")
        sent.append(_take(world, tape, "Stop", last_assistant_message=texts[-1]))
        world.now = tape.start + tape.at + 60_000
        done = world.absorb("claude:s-1")
        assert done.reviews, done
        context = _reviewed(world, home, done.reviews[-1], texts)
        (row,) = lessons.every(world.db)
        world.home.db.execute("UPDATE sessions SET ended_ms = NULL")
        sent.append(_take(world, tape, "UserPromptSubmit", session="s-2", prompt="about to say that the tests of a change pass"))
        assert row.lesson_id
    finally:
        world.close()
    return {"context": context, "replies": "\n".join(sent), "shown": _shown(home)}


def _take(world, tape, event, *, session="s-1", **fields) -> str:
    payload = {"session_id": session, "cwd": str(world.root), "transcript_path": str(tape.path), "hook_event_name": event, **fields}
    if session != "s-1":
        payload["transcript_path"] = str(tape.path.with_name(f"{session}.jsonl"))
    world.now += 1
    return world.take(event, payload).decode()


def _reviewed(world, home, review_id, texts) -> str:
    """First a reviewer that fails and prints it all, then one that repeats it all."""
    lesson = review_world.lesson(causal_chain=["claimed", *texts[:4], "a", "b", "c", "d"][:9])
    short = next((text for text in texts if len(text) < 500 and "\n" not in text.strip()), "")
    lesson["card"]["must_do"] = f"read the output first {short}".strip()
    answer = review_world.receipt(lesson, report_content="\n\n".join(texts))
    seen, told = home / "seen.txt", home / "told.json"
    command = review_world.script(home, REVIEWER.format(seen=str(seen), told=str(told)))
    settings = Settings(reviewer_command=command, review_cooldown=0, review_wake_cooldown=0)
    outcome = None
    for fails in (True, False):
        told.write_text(json.dumps({"says": texts[0], "fails": fails, "answer": answer}), "utf-8")
        world.now += 3_600_000
        outcome = run_review(
            world.db, world.home.paths, settings, (), {"PATH": os.environ["PATH"]}, review_id, lambda: world.now, world.home.redact
        )
        if fails:
            assert outcome.result is Result.RETRY, outcome
    assert outcome is not None
    assert outcome.result is Result.COMPLETED, outcome
    return seen.read_text("utf-8")


def _shown(home) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        for command in SHOWING:
            main([*command, "--home", str(home), "--verbose"])
            main([*command, "--home", str(home), "--json"])
    return out.getvalue() + err.getvalue()


def survivors(home: pathlib.Path, planted: list[Planted], outgoing: dict[str, str]) -> list[tuple[str, str, str]]:
    """(rule, where, what) of every value that came out: in a byte of the data directory, or in what was sent or shown."""
    kept = {}
    for folder, _, names in os.walk(home / ".agent"):
        for name in names:
            path = pathlib.Path(folder, name)
            kept[str(path.relative_to(home))] = path.read_bytes() if path.is_file() else b""
    places = {**kept, **{where: text.encode("utf-8", "surrogatepass") for where, text in outgoing.items()}}
    found = []
    for one in planted:
        for value in dict.fromkeys(piece for whole in one.values for piece in told_apart(whole)):
            spelled = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
            found += [(one.rule, where, value) for where, data in places.items() if any(each.encode() in data for each in spelled)]
    return found
