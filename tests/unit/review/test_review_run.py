"""One review from lease to end, with a scripted reviewer run as a real process."""

from __future__ import annotations

import json
import os
import pathlib
import re

import attrs
import pytest

from afl_core.model.errors import RedactionError
from afl_core.review import queue
from afl_core.review.run import Result, run_review
from afl_core.settings.schema import Settings
from afl_core.spec.reviewer import ReviewerAnswer, ReviewerCommand, Usage, Viability
from afl_core.store import lessons as lesson_rows
from afl_core.store import receipts as receipt_rows
from afl_core.store import reviews as review_rows
from afl_core.store import spend as spend_rows
from afl_core.store.connection import writing


@pytest.fixture
def review(db, world):
    return world.waiting_review(db)[0]


@pytest.fixture
def go(db, paths, world, review):
    """Run the waiting review; gives the outcome."""

    def run(settings, *, reviewers=(), environ=None, clock=None, redact=None, review_id=None):
        environ = {"PATH": os.environ["PATH"], "HOME": paths.home} | (environ or {})
        clock = clock or world.Ticking()
        return run_review(db, paths, settings, reviewers, environ, review_id or review, clock, redact or world.same)

    return run


def untouched(db, review) -> bool:
    """Nothing was learnt and the words still wait in the review."""
    tables = ("lessons", "incidents", "receipts", "reports", "effects", "grains", "audit")
    nothing = all(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0 for table in tables)
    return nothing and db.execute("SELECT status, review_id FROM queue").fetchone()[:] == ("pending", review)


def incidents(db) -> list[tuple]:
    """Lesson, family, quote and events of every incident."""
    events = "SELECT group_concat(event_id) FROM (SELECT event_id FROM incident_events e WHERE e.incident_id = i.incident_id ORDER BY 1)"
    rows = db.execute(f"SELECT lesson_id, family_id, quote, ({events}) FROM incidents i ORDER BY lesson_id, family_id")
    return [(*row[:3], tuple(row[3].split(","))) for row in rows]


def test_a_proven_complaint_becomes_a_lesson_in_one_go(db, home, world, review, go):
    with writing(db):
        db.execute("UPDATE projects SET lineage = 'line'")
    outcome = go(world.answering(home, world.receipt(world.lesson())))
    assert (outcome.result, outcome.reason) == (Result.COMPLETED, None)
    row = review_rows.get(db, review)
    assert (row.status.value, row.attempt, row.ended_ms) == ("completed", 1, world.NOW)
    (decision,) = outcome.committed.decisions
    stored = lesson_rows.get(db, decision.lesson_id)
    assert (stored.status, stored.revision, stored.project_id, stored.origin_session) == ("active", 1, world.PROJECT, world.SESSION)
    assert lesson_rows.card_of(db, decision.lesson_id).must_do == "run the tests and read their output first"
    assert world.status_of(db, "said") == "acknowledged"
    (incident,) = incidents(db)
    assert incident == (decision.lesson_id, stored.family_id, "you never ran them", ("act", "said"))
    assert "passing tests" in receipt_rows.report_text(db, row.report_id)
    assert "report_content" not in json.loads(receipt_rows.receipt_body(db, row.receipt_id))
    assert db.execute("SELECT count(*) FROM projection WHERE lesson_id = ?", (decision.lesson_id,)).fetchone()[0] == 1
    actions = [audit[0] for audit in db.execute("SELECT action FROM audit ORDER BY n")]
    assert actions[-1] == "review.commit"
    assert "lesson.add" in actions
    (run,) = spend_rows.of_review(db, review)
    assert (run.reviewer, run.outcome, run.ended_ms) == ("command", "completed", world.NOW)


def test_a_review_without_a_lesson_is_complete_too(db, home, world, review, go):
    outcome = go(world.answering(home, world.receipt()))
    assert outcome.result is Result.COMPLETED
    assert outcome.committed.decisions == ()
    assert world.status_of(db, "said") == "acknowledged"


def test_the_command_gets_four_variables_no_input_and_an_allowlisted_environment(db, home, paths, world, review, go):
    seen = home / "seen.json"
    body = f"""
        import json, os, stat, sys
        context = os.environ["AFL_REVIEW_CONTEXT_FILE"]
        json.dump({{
            "env": dict(os.environ), "stdin": sys.stdin.read(), "cwd": os.getcwd(), "argv": sys.argv[1:],
            "mode": stat.S_IMODE(os.stat(context).st_mode),
            "context": json.load(open(context, encoding="utf-8")),
            "prompt": open(os.environ["AFL_REVIEW_PROMPT_FILE"], encoding="utf-8").read(),
        }}, open({str(seen)!r}, "w"))
        print(json.dumps({world.receipt()!r}))
    """
    settings = Settings(
        reviewer_command=world.script(home, body), reviewer_args_json='["--fast", "a b"]', reviewer_env_allowlist="MY_LOGIN, NOT_SET"
    )
    environ = {"MY_LOGIN": "l", "ANTHROPIC_API_KEY": "k", "AFL_REVIEW_JOB_ID": "other", "AGENT_FEEDBACK_LOOP_DEBUG": "1"}
    assert go(settings, environ=environ).result is Result.COMPLETED
    told = json.loads(seen.read_text("utf-8"))
    env = told["env"]
    assert (env["AFL_REVIEW_JOB_ID"], env["AFL_REVIEW_SUBMIT_PROTOCOL"], env["MY_LOGIN"]) == (review, "stdout_json_receipt", "l")
    assert not {"ANTHROPIC_API_KEY", "NOT_SET", "AGENT_FEEDBACK_LOOP_DEBUG"} & set(env)
    assert (told["stdin"], told["cwd"], told["argv"], told["mode"]) == ("", paths.data, ["--fast", "a b"], 0o600)
    assert {event["role"] for event in told["context"]["events"]} == {"user", "assistant"}
    assert "<afl_evidence>" in told["prompt"]
    assert not os.path.exists(env["AFL_REVIEW_CONTEXT_FILE"])
    assert os.listdir(paths.contexts) == []


@pytest.mark.parametrize(
    "case",
    [
        ("print('no receipt')", "reviewer_output_unreadable", "11 bytes"),
        ("print('{}')", "reviewer_output_unreadable", ""),
        ("import sys; sys.exit('the model is unhappy')", "reviewer_exit", "status 1: the model is unhappy"),
        ("import os; os.kill(os.getpid(), 9)", "reviewer_killed", "signal 9"),
        ("import time; time.sleep(600)", "reviewer_timeout", "stopped after"),
        ("print('x' * 600_000)", "reviewer_output_too_large", ""),
        ("print('{\"review_receipt_id\": 7}')", "receipt_shape", "write_complete: must be true"),
    ],
)
def test_a_failed_reviewer_costs_an_attempt_and_leaves_everything_as_it_was(db, home, paths, world, review, go, case):
    body, reason, detail = case
    settings = Settings(reviewer_command=world.script(home, body), reviewer_timeout_ms=1_000 if reason == "reviewer_timeout" else 60_000)
    outcome = go(settings)
    assert (outcome.result, outcome.reason) == (Result.RETRY, reason)
    assert detail in outcome.detail
    row = review_rows.get(db, review)
    assert (row.status.value, row.attempt, row.reason, row.detail) == ("pending", 1, reason, outcome.detail)
    assert row.next_wake_ms == world.NOW + settings.review_wake_cooldown * 1000
    assert untouched(db, review)
    (run,) = spend_rows.of_review(db, review)
    assert run.outcome == reason
    assert os.listdir(paths.contexts) == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"severity": "Minor"}, "receipt_shape"),
        ({"causal_chain": ["one"]}, "receipt_shape"),
        ({"project_id": "/somebody/else"}, "receipt_project"),
        ({"base_revision": 3, "revision": 4}, "receipt_revision"),
        ({"effectiveness": {"previous_lesson_id": "nobody"}}, "receipt_recurrence"),
        ({"evidence_refs": [{"feedback_quote": "invented"}]}, "receipt_evidence"),
        ({"evidence_refs": [{"feedback_event_id": "ask"}]}, "receipt_evidence"),
    ],
)
def test_a_refused_receipt_writes_nothing_and_says_why(db, home, world, review, go, changes, reason):
    made = world.lesson()
    if "evidence_refs" in changes:
        changes = {"evidence_refs": [made["evidence_refs"][0] | changes["evidence_refs"][0]]}
    if "effectiveness" in changes:
        changes = {"effectiveness": world.effectiveness(previous=changes["effectiveness"]["previous_lesson_id"])}
    outcome = go(world.answering(home, world.receipt(made | changes)))
    assert (outcome.result, outcome.reason) == (Result.RETRY, reason)
    assert outcome.detail.startswith("lessons[0].")
    assert untouched(db, review)


def test_the_own_project_may_be_named(db, home, world, review, go):
    assert go(world.answering(home, world.receipt(world.lesson(project_id=world.PROJECT)))).result is Result.COMPLETED


def test_one_bad_lesson_takes_the_good_one_with_it(db, home, world, review, go):
    bad = world.lesson(lesson_id="b", class_id="other", base_revision=1, revision=2)
    assert go(world.answering(home, world.receipt(world.lesson(), bad))).reason == "receipt_revision"
    assert untouched(db, review)


def test_after_all_attempts_the_review_is_given_up_and_its_words_are_released(db, home, world, review, go):
    settings = Settings(reviewer_command=world.script(home, "raise SystemExit(3)"), review_wake_cooldown=0)
    assert [go(settings).result for _ in range(3)] == [Result.RETRY, Result.RETRY, Result.FAILED]
    row = review_rows.get(db, review)
    assert (row.status.value, row.reason, world.status_of(db, "said")) == ("failed", "retry_exhausted", "exhausted")
    assert go(settings).result is Result.NOT_CLAIMED
    with writing(db):
        queue.retry(db, review, world.NOW)
    assert go(world.answering(home, world.receipt(world.lesson()))).result is Result.COMPLETED


def test_a_success_after_a_failure_clears_the_reason_and_the_reviewer_was_told(db, home, world, review, go):
    settings = attrs.evolve(world.answering(home, world.receipt(world.lesson(confidence="low"))), review_wake_cooldown=0)
    go(settings)
    body = f"""
        import json, os
        job = json.load(open(os.environ["AFL_REVIEW_CONTEXT_FILE"], encoding="utf-8"))["job"]
        assert job["last_rejection"]["reason"] == "receipt_shape", job
        assert "confidence" in job["last_rejection"]["detail"], job
        print(json.dumps({world.receipt(world.lesson())!r}))
    """
    assert go(Settings(reviewer_command=world.script(home, body, "second.py"))).result is Result.COMPLETED
    assert review_rows.get(db, review).reason is None


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (Settings(), "reviewer_missing"),
        (Settings(reviewer_command="/no/such/reviewer"), "reviewer_missing"),
        (Settings(reviewer_command="/bin/true", reviewer_args_json="{"), "reviewer_settings"),
        (Settings(reviewer_command="/bin/true", reviewer_args_json='["a", 7]'), "reviewer_settings"),
        (Settings(reviewer_command="/bin/true", reviews_per_day=0), "reviews_off"),
        (Settings(reviewer_command="/bin/true", reviews_per_day_and_project=0), "cap_project_reviews"),
    ],
)
def test_what_could_not_even_be_tried_is_postponed_and_no_attempt(db, world, review, go, settings, reason):
    outcome = go(settings)
    assert (outcome.result, outcome.reason) == (Result.POSTPONED, reason)
    row = review_rows.get(db, review)
    assert (row.status.value, row.attempt, row.reason) == ("pending", 0, reason)
    assert row.next_wake_ms > world.NOW
    assert untouched(db, review)


def test_a_review_whose_words_were_erased_asks_nobody(db, home, world, review, go):
    with writing(db):
        db.execute("DELETE FROM events WHERE event_id = 'said'")
    outcome = go(world.answering(home, world.receipt()))
    assert (outcome.result, outcome.reason) == (Result.RETRY, "evidence_erased")
    assert spend_rows.of_review(db, review) == []


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: f"```json\n{text}\n```",
        lambda text: json.dumps({"structured_output": json.loads(text)}),
        lambda text: json.dumps({"type": "result", "result": text}),
        lambda text: json.dumps({"response": f"```\n{text}\n```", "stats": {}}),
    ],
)
def test_a_receipt_in_a_fence_or_in_a_hosts_envelope_is_found(db, home, world, review, go, wrap):
    settings = world.answering(home, world.receipt(world.lesson()))
    answer = home / "answer.json"
    answer.write_text(wrap(answer.read_text("utf-8")), "utf-8")
    assert go(settings).result is Result.COMPLETED


def test_five_failures_of_a_reviewer_rest_it_for_everybody(db, home, world, review, go):
    settings = Settings(reviewer_command=world.script(home, "raise SystemExit(3)"), review_wake_cooldown=0, review_max_attempts=9)
    for _ in range(5):
        assert go(settings).result is Result.RETRY
    outcome = go(settings)
    assert (outcome.result, outcome.reason) == (Result.POSTPONED, "breaker")
    assert review_rows.get(db, review).next_wake_ms == world.NOW + 3_600_000


def test_texts_are_redacted_before_they_are_stored_and_quotes_stay_exact(db, home, world, review, go):
    def redact(text: str) -> str:
        return text.replace("hunter2", "[REDACTED:test]").replace("never ran", "[REDACTED:words]")

    made = world.lesson()
    made["card"] = made["card"] | {"why": "hunter2 was in the claim"}
    answer = world.receipt(made, report_content="The agent claimed passing tests and printed hunter2 in its answer.")
    outcome = go(world.answering(home, answer), redact=redact)
    assert outcome.result is Result.COMPLETED
    assert not any("hunter2" in text for text in world.dump(db).values())
    assert incidents(db)[0][2] == "you never ran them"


def test_a_failing_redactor_stores_nothing_and_is_no_attempt(db, home, world, review, go):
    def redact(text: str) -> str:
        raise RedactionError("a redactor broke")

    outcome = go(world.answering(home, world.receipt(world.lesson())), redact=redact)
    assert (outcome.result, outcome.reason, outcome.detail) == (Result.POSTPONED, "redaction_failed", "")
    assert untouched(db, review)


def test_faults_of_two_families_on_the_same_words_are_two_incidents(db, home, world, review, go):
    other = world.lesson(lesson_id="new-2", method_class="communication-handoff", class_id="overstated-result")
    outcome = go(world.answering(home, world.receipt(world.lesson(), other)))
    assert outcome.result is Result.COMPLETED
    stored = [lesson_rows.get(db, decision.lesson_id) for decision in outcome.committed.decisions]
    assert sorted(incidents(db)) == sorted((row.lesson_id, row.family_id, "you never ran them", ("act", "said")) for row in stored)


def test_minor_findings_are_counted_by_family_and_never_lessons(db, home, world, review, go):
    minor = {
        "method_class": "communication-handoff",
        "class_id": "unclear-summary",
        "feedback_event_id": "said",
        "feedback_quote": "Run them before you claim anything.",
        "referent_event_ids": ["act"],
    }
    outcome = go(world.answering(home, world.receipt(minor_findings=[minor])))
    assert (outcome.result, outcome.committed.minor_findings) == (Result.COMPLETED, 1)
    (trend,) = receipt_rows.trends(db, world.PROJECT)
    assert (trend.count, trend.first_ms, trend.last_ms) == (1, world.NOW, world.NOW)
    assert world.count(db, "lessons") == 0


def test_a_minor_finding_with_an_invented_quote_is_refused(db, home, world, review, go):
    minor = {
        "method_class": "communication-handoff",
        "class_id": "x",
        "feedback_event_id": "said",
        "feedback_quote": "invented",
        "referent_event_ids": ["act"],
    }
    outcome = go(world.answering(home, world.receipt(minor_findings=[minor])))
    assert outcome.reason == "receipt_evidence"
    assert untouched(db, review)


def test_the_lease_is_renewed_while_the_child_runs(db, home, paths, world, review, go):
    mark = home / "on"

    class Passing(world.Ticking):
        """Half a lease passes at every look while the child waits for it."""

        def __call__(self) -> int:
            running = os.path.exists(paths.contexts) and os.listdir(paths.contexts)
            if running and self.now < world.NOW + 600_000:
                self.now += 45_000
                if self.now >= world.NOW + 600_000:
                    mark.write_text("go", "utf-8")
            return self.now

    body = f"""
        import json, os, time
        while not os.path.exists({str(mark)!r}):
            time.sleep(0.02)
        print(json.dumps({world.receipt()!r}))
    """
    outcome = go(Settings(reviewer_command=world.script(home, body)), clock=Passing())
    assert outcome.result is Result.COMPLETED


def test_a_review_that_was_taken_over_meanwhile_ends_its_child_and_writes_nothing(db, home, paths, world, review, go):
    pid = home / "pid"
    other = world.open_store(paths)

    class Stolen(world.Ticking):
        def __call__(self) -> int:
            if pid.exists() and pid.read_text("utf-8") and self.now == world.NOW:
                self.now += 60_000
                with writing(other):
                    queue.recover(other, world.NOW + 90_001)
                    assert queue.claim(other, review, "thief", world.NOW + 90_001, 90_000) is not None
            return self.now

    body = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    outcome = go(Settings(reviewer_command=world.script(home, body)), clock=Stolen())
    assert (outcome.result, outcome.reason) == (Result.NOT_CLAIMED, "lease_lost")
    assert not pathlib.Path(f"/proc/{pid.read_text('utf-8')}").exists()
    row = review_rows.get(db, review)
    assert (row.owner, row.status.value) == ("thief", "running")
    other.close()


def test_a_receipt_that_comes_after_the_lease_ended_is_not_committed(db, home, world, review, go):
    class Late(world.Ticking):
        looks = 0

        def __call__(self) -> int:
            if spend_rows.of_review(db, review):
                self.looks += 1
                if self.looks == 1:
                    db.execute("UPDATE reviews SET lease_until_ms = 1")
            return self.now

    outcome = go(world.answering(home, world.receipt(world.lesson())), clock=Late())
    assert (outcome.result, outcome.reason) == (Result.NOT_CLAIMED, "lease_lost")
    assert untouched(db, review)


# ------------------------------------------------------------------------------------------------------------- a provider's reviewer


class Provider:
    """A reviewer as a plug-in gives it, around a scripted command."""

    name = host = "claude"
    label = "Claude"

    def __init__(self, command, *, ok=True, answer=None, broken=None) -> None:
        self.argv, self.ok, self.answer, self.broken, self.requests = (command,), ok, answer, broken, []

    def viable(self, environ):
        if self.broken == "viable":
            raise ZeroDivisionError("oh")
        return Viability(self.ok, "" if self.ok else "the command claude was not found")

    def command(self, request, environ):
        if self.broken == "command":
            raise KeyError("oh")
        self.requests.append(request)
        return ReviewerCommand(self.argv, request.evidence_json.encode(), ("CLAUDE_CONFIG_DIR",), {"SET": "1"})

    def read(self, result):
        if self.broken == "read":
            raise ValueError("oh")
        if self.answer is not None:
            return self.answer
        return ReviewerAnswer(json.loads(result.stdout), usage=Usage(900, 100, 0.01, "small-model"))


READING = """
    import json, os, sys
    evidence = json.loads(sys.stdin.read())
    print(json.dumps(evidence), file=open({seen!r}, "w"))
    print(json.dumps([dict(os.environ), os.getcwd(), os.listdir(".")]), file=open({env!r}, "w"))
    print(json.dumps({answer!r}))
"""


def provider(world, home, printed, **options) -> Provider:
    body = READING.format(seen=str(home / "seen"), env=str(home / "env"), answer=printed)
    return Provider(world.script(home, body), **options)


def test_a_provider_gets_evidence_on_its_input_only_and_its_cost_is_kept(db, home, paths, world, review, go):
    reviewer = provider(world, home, world.receipt(world.lesson()))
    environ = {"CLAUDE_CONFIG_DIR": "/c", "SECRET": "s"}
    assert go(Settings(), reviewers=[reviewer], environ=environ).result is Result.COMPLETED
    assert json.loads((home / "seen").read_text("utf-8"))["feedback_candidate_event_ids"] == ["said"]
    env, cwd, listed = json.loads((home / "env").read_text("utf-8"))
    assert (env["CLAUDE_CONFIG_DIR"], env["SET"], env["AFL_REVIEW_JOB_ID"]) == ("/c", "1", review)
    assert "SECRET" not in env
    assert cwd.startswith(paths.contexts)
    assert listed == []
    (request,) = reviewer.requests
    assert request.model == "haiku"
    assert request.schema["required"][0] == "write_complete"
    (run,) = spend_rows.of_review(db, review)
    assert (run.reviewer, run.model, run.input_tokens, run.output_tokens, run.cost_usd) == ("claude", "small-model", 900, 100, 0.01)


def test_what_a_failed_reviewer_printed_is_kept_as_one_line(db, home, world, review, go):
    said = ReviewerAnswer(None, reason="reviewer_api_error", detail="the service\nsaid no")
    body = 'import sys; sys.stderr.write(\'{\\n  "error": {\\n\\t"message": "no"\\n  }\\n}\\n\')'
    go(Settings(), reviewers=[Provider(world.script(home, body), answer=said)])
    assert review_rows.get(db, review).detail == 'the service said no: { "error": { "message": "no" } }'


def test_a_refused_receipt_of_a_provider_still_costs_what_it_cost(db, home, world, review, go):
    reviewer = provider(world, home, world.receipt(world.lesson(confidence="low")))
    assert go(Settings(), reviewers=[reviewer]).reason == "receipt_shape"
    (run,) = spend_rows.of_review(db, review)
    assert (run.outcome, run.input_tokens) == ("receipt_shape", 900)


def test_the_days_last_review_cannot_be_run_by_two_processes(db, home, paths, world, review, go):
    other = world.open_store(paths)
    began = spend_rows.Run("theirs", "another", "/elsewhere", "command", None, world.NOW, None, None, 0, 0, None)

    class Slow(Provider):
        """Its command is asked for after the first look at the caps; meanwhile somebody else begins."""

        def command(self, request, environ):
            with writing(other):
                spend_rows.begin(other, began)
            return super().command(request, environ)

    reviewer = Slow(world.script(home, READING.format(seen=str(home / "seen"), env=str(home / "env"), answer=world.receipt())))
    outcome = go(Settings(reviews_per_day=1), reviewers=[reviewer])
    other.close()
    assert len(reviewer.requests) == 1
    assert (outcome.result, outcome.reason) == (Result.POSTPONED, "cap_reviews")
    assert spend_rows.of_review(db, review) == []
    row = review_rows.get(db, review)
    assert (row.attempt, row.next_wake_ms) == (0, world.NOW + 1_800_000)
    assert not (home / "seen").exists()


def test_another_hosts_reviewer_never_sees_the_session(db, home, world, review, go):
    reviewer = provider(world, home, world.receipt())
    reviewer.host = "codex"
    outcome = go(Settings(), reviewers=[reviewer])
    assert (outcome.result, outcome.reason, outcome.detail) == (Result.POSTPONED, "reviewer_missing", "no reviewer for claude is installed")
    assert reviewer.requests == []


def test_a_provider_learns_which_command_the_settings_name(db, home, world, review, go):
    reviewer, seen = provider(world, home, world.receipt()), []

    def viable(environ):
        seen.append(environ.get("AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND"))
        return Viability(ok=False, reason="looked")

    reviewer.viable = viable
    go(Settings(claude_command="/opt/claude"), reviewers=[reviewer])
    assert seen == ["/opt/claude"]


def test_a_provider_that_is_not_viable_says_why(db, home, world, review, go):
    outcome = go(Settings(), reviewers=[provider(world, home, world.receipt(), ok=False)])
    assert (outcome.reason, outcome.detail) == ("reviewer_missing", "claude: the command claude was not found")


@pytest.mark.parametrize(
    ("place", "error", "result"),
    [("viable", "ZeroDivisionError", Result.POSTPONED), ("command", "KeyError", Result.POSTPONED), ("read", "ValueError", Result.RETRY)],
)
def test_a_providers_own_error_is_named_and_an_attempt_only_when_its_command_was_started(db, home, world, review, go, place, error, result):
    outcome = go(Settings(), reviewers=[provider(world, home, world.receipt(), broken=place)])
    assert (outcome.result, outcome.reason) == (result, "reviewer_broken")
    assert re.fullmatch(rf"reviewer claude raised {error} at test_review_run\.py:\d+", outcome.detail)
    assert "oh" not in outcome.detail
    assert untouched(db, review)
    assert [run.outcome for run in spend_rows.of_review(db, review)] == (["reviewer_broken"] if place == "read" else [])


def test_a_broken_reviewer_does_not_stand_before_a_whole_one_of_the_same_host(db, home, world, review, go):
    reviewers = [provider(world, home, world.receipt(), broken="viable"), provider(world, home, world.receipt())]
    assert go(Settings(), reviewers=reviewers).result is Result.COMPLETED


@pytest.mark.parametrize(("counts", "result"), [(False, Result.POSTPONED), (True, Result.RETRY)])
def test_a_provider_decides_whether_its_failure_was_an_attempt(db, home, world, review, go, counts, result):
    answer = ReviewerAnswer(None, reason="reviewer_login_missing", counts=counts, detail="Please run /login", usage=Usage(5, 1))
    outcome = go(Settings(), reviewers=[provider(world, home, world.receipt(), answer=answer)])
    assert (outcome.result, outcome.reason, outcome.detail) == (result, "reviewer_login_missing", "Please run /login")
    (run,) = spend_rows.of_review(db, review)
    assert run.input_tokens == 5
