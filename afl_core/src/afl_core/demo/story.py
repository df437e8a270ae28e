"""The story: a person stops and corrects the agent; the product learns a card from it and gives it back in the next session, and proves that it arrived.

Everything but the model is real: the installed hook command, the worker, the store, the review with its checks. The model's answer is a script (`reviewer.py`).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from afl_core.api import lessons as lesson_views
from afl_core.api import reviews as review_views
from afl_core.api.home import Home
from afl_core.demo.host import ReplayedHost
from afl_core.demo.stages import Teller
from afl_core.model.clock import now_ms
from afl_core.model.errors import WorkerError
from afl_core.model.event import Event
from afl_core.store import events

CASE = "interrupted_text"
EVENTS_OF_CASE = 4
NEXT_SESSION = "5e551011-0000-4000-8000-000000000002"
NEXT_PROMPT = "please rewrite the client module so that it calls the new API everywhere"
PATIENCE_S = 45.0

T = TypeVar("T")


def tell(*, keep: bool, as_json: bool) -> int:
    """Tell it in a temporary home; 0 when every stage came true."""
    home = Path(tempfile.mkdtemp(prefix="afl-demo-"))
    teller = Teller(as_json)
    try:
        complete = _tell(home, teller)
    finally:
        _stop_worker(home)
        if not keep:
            shutil.rmtree(home, ignore_errors=True)
    teller.end(complete=complete)
    if keep:
        sys.stderr.write(f"kept: {home}\n")
    return 0 if complete else 1


def _tell(root: Path, teller: Teller) -> bool:
    project = root / "project"
    for folder in (project, root / ".claude"):
        folder.mkdir(mode=0o700)
    subprocess.run(["git", "init", "-q", str(project)], check=False, capture_output=True) if shutil.which("git") else (
        project / ".git"
    ).mkdir()
    environment = _environment(root)
    host = ReplayedHost(root, project, environment)
    _install(root, environment, teller, host)
    with Home(str(root), environment) as home:
        session, prompt, cut = _replay(host, home, teller)
        _signal(home, session, teller)
        lesson_id = _review(home, teller)
        card = _next_session(host, teller)
        proved = _proof(home, card, teller)
    return bool(prompt and cut and lesson_id and card and proved)


def _environment(root: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR") if name in os.environ}
    reviewer = Path(__file__).with_name("reviewer.py")
    return {
        **kept,
        "HOME": str(root),
        "AGENT_FEEDBACK_LOOP_REVIEWER_COMMAND": sys.executable,
        "AGENT_FEEDBACK_LOOP_REVIEWER_ARGS_JSON": json.dumps(["-I", str(reviewer)]),
        "AFL_REPORT_LANGUAGE": "en",
    }


def _install(root: Path, environment: dict[str, str], teller: Teller, host: ReplayedHost) -> None:
    from afl_core.setup.install import apply_install, plan_install

    with Home(str(root), environment) as home:
        apply_install(plan_install(home))
    teller.stage(
        "Install",
        "A temporary home with Claude Code's settings file. `afl install` wrote one hook for each of four events; this is the command the host will run:",
        quote=host.commands("UserPromptSubmit")[0],
        commands={event: host.commands(event) for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")},
    )


def _replay(host: ReplayedHost, home: Home, teller: Teller) -> tuple[str, str, str]:
    words: list[str] = []
    session = ""
    for moment in host.replayed(CASE, now_ms()):
        host.run_hooks(moment.payload)
        session = str(moment.payload["session_id"])
        if moment.event == "UserPromptSubmit":
            words.append(str(moment.payload["prompt"]))
    home_session = f"claude:{session}"

    def whole() -> list[Event] | None:
        got = events.of_session(home.db, home_session)
        return got if len(got) >= EVENTS_OF_CASE else None

    found = _until(whole, "the session's events")
    said = [(event.role.value, event.text, event.completeness) for event in found]
    agent = next(text for role, text, how in said if role == "assistant" and how == "partial")
    teller.stage(
        "The words",
        "A recorded session of the real Claude Code, replayed hook by hook through that command while its transcript grows. The person stopped the agent in the middle of a sentence:",
        quote=f"person: {words[0]}\nagent:  {agent[:75]}… (cut off)\nperson: {words[1]}",
        session=home_session,
        words=words,
    )
    return home_session, words[0], agent


def _signal(home: Home, session: str, teller: Teller) -> None:
    def found() -> Any:
        for event in events.of_session(home.db, session):
            signal_ = events.signal_of(home.db, event.event_id)
            if signal_ is not None:
                return signal_, event, events.get(home.db, signal_.referent_id)
        return None

    signal_, event, referent = _until(found, "the signal")
    teller.stage(
        "The signal",
        f"No model looked at the words. What happened is enough: a turn was interrupted and the next message followed within the window, so this is an {signal_.kind.value}. "
        "It points at what the agent had said, and asks for a review at once. Raw text is sealed; the index holds it redacted.",
        quote=f"…{event.event_id[-8:]} “{event.text}”\n  points at …{referent.event_id[-8:]} “{referent.text[:60]}…”",
        signal=signal_.kind.value,
        event=event.event_id,
        referent=referent.event_id,
    )


def _review(home: Home, teller: Teller) -> str:
    def done() -> Any:
        rows = review_views.listed(home, None, 5)
        ended = [row for row in rows if row["status"] in ("completed", "failed")]
        return review_views.shown(home, ended[0]["review_id"]) if ended else None

    review = _until(done, "the review", lambda: str(review_views.listed(home, None, 5)))
    teller.stage(
        "The review",
        "In the background, a short-lived reviewer read a bounded redacted hand-off. (Here a script answers where a model would; the checks are the real ones: its quotes must be in the evidence, word for word.) Its report:",
        quote=str(review["report"]),
        review=review["review_id"],
        status=review["status"],
    )
    lessons = lesson_views.listed(home, None, every=True)
    if not lessons:
        return ""
    lesson = lesson_views.shown(home, lessons[0]["lesson_id"])
    card = lesson["card"]
    teller.stage(
        "The card",
        f"{lesson['severity']} · {lesson['short_id']}, learnt from the person's own words “{lesson['evidence'][0]['feedback_quote']}”:",
        quote="\n".join(
            f"{label}: {card[key]}"
            for label, key in (("When", "when"), ("Must do", "must_do"), ("Must not", "must_not"), ("Verify", "verify"))
        ),
        lesson=lesson["lesson_id"],
        severity=lesson["severity"],
    )
    return str(lesson["lesson_id"])


def _next_session(host: ReplayedHost, teller: Teller) -> str:
    common = {"session_id": NEXT_SESSION, "transcript_path": str(host.transcript_of(NEXT_SESSION)), "cwd": str(host.project)}
    host.run_hooks({**common, "hook_event_name": "SessionStart", "source": "startup"})
    printed = host.run_hooks({**common, "hook_event_name": "UserPromptSubmit", "prompt": NEXT_PROMPT, "prompt_id": "turn-1"})
    answer = json.loads(printed[0] or "{}")
    injected = str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))
    teller.stage(
        "The next session",
        f"Later, in a new session, the person asks: “{NEXT_PROMPT}”. The hook answers without a model and hands the host this:",
        quote=injected or "(nothing)",
        injected=bool(injected),
    )
    if injected:
        host.write(
            NEXT_SESSION,
            {
                "type": "user",
                "promptId": "turn-1",
                "message": {"role": "user", "content": NEXT_PROMPT},
                "origin": {"kind": "human"},
                "promptSource": "typed",
            },
            {
                "type": "attachment",
                "attachment": {
                    "type": "hook_additional_context",
                    "content": [injected],
                    "hookName": "UserPromptSubmit",
                    "hookEvent": "UserPromptSubmit",
                },
            },
        )
        time.sleep(0.01)
        host.write(
            NEXT_SESSION,
            {
                "type": "assistant",
                "message": {
                    "id": "msg_2",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "I will call the new API everywhere."}],
                },
            },
        )
        host.run_hooks(
            {
                **common,
                "hook_event_name": "Stop",
                "prompt_id": "turn-1",
                "stop_hook_active": False,
                "last_assistant_message": "I will call the new API everywhere.",
            }
        )
    return injected


def _proof(home: Home, injected: str, teller: Teller) -> bool:
    if not injected:
        return False
    nonce = re.findall(r"nonce=([0-9a-f]{16})", injected)[-1]

    def reached() -> Any:
        told = lesson_views.explained(home, f"claude:{NEXT_SESSION}")
        return told if any(one["state"] == "reached" for one in told["given"]) else None

    told = _until(reached, "the proof of delivery")
    given = next(one for one in told["given"] if one["state"] == "reached")
    lesson = lesson_views.shown(home, given["lesson_id"])
    teller.stage(
        "The proof",
        f"The host's transcript of that session holds the injection's random nonce {nonce}: the card was in the model's context, so the delivery is no longer “emitted” but “reached”. "
        f"From now on the lesson's record counts whether the fault comes back: {lesson['effect']['words']}.",
        state=given["state"],
        nonce=nonce,
    )
    return True


def _until(found: Callable[[], T | None], what: str, detail: Callable[[], str] = lambda: "") -> T:
    """Wait for something to come true; raise `WorkerError` when it does not."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        got = found()
        if got:
            return got
        time.sleep(0.05)
    raise WorkerError(
        f"{what} did not appear within {PATIENCE_S:.0f} s {detail()}",
        code="AFL-WORKER-010",
        hint="run the demo with --keep and read .agent/feedback-loop-data/logs/runtime.log in its home",
    )


def _stop_worker(home: Path) -> None:
    """End the worker of the temporary home and everything it started."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.fsencode(home) in (folder / "cmdline").read_bytes():
                os.kill(int(folder.name), signal.SIGTERM)
