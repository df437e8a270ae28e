"""One review from lease to end: viability, caps, hand-off, child, receipt, commit. Whatever stops it, the review goes on later or is given up.

The lease is short and renewed while the child runs, so a killed process costs a minute and a half and not the whole timeout of a reviewer.
"""

from __future__ import annotations

import contextlib
import enum
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs

from afl_core.model.clock import Clock
from afl_core.model.errors import AflError, ReviewError, StoreError
from afl_core.model.ids import new_id
from afl_core.processes import run as processes
from afl_core.processes.environment import allowlisted, child_environment
from afl_core.review import handoff, operator, prompt, queue, reasons, spend, trouble, workdir
from afl_core.review.answers import checked, named
from afl_core.review.cleaning import cleaned
from afl_core.review.commit import Committed, commit_review
from afl_core.review.context import ReviewFiles, review_files
from afl_core.review.due import Lease, claimable
from afl_core.review.handoff import Handoff
from afl_core.review.receipt import parse_receipt
from afl_core.settings.load import load_policy
from afl_core.settings.paths import Paths
from afl_core.settings.schema import Settings, for_reviewers
from afl_core.spec.reviewer import ProcessResult, Reviewer, ReviewerAnswer, ReviewerCommand, ReviewRequest, Usage
from afl_core.store import reviews as review_rows
from afl_core.store import spend as spend_rows
from afl_core.store.connection import writing
from afl_core.store.reviews import DETAIL_CHARS, ReviewStatus
from afl_core.store.spend import Run

LEASE_MS = 90_000
"""How long a lease lasts that is not renewed."""

RENEW_MS = 30_000
"""How often a lease is renewed while the child runs."""

RENEW_AGAIN_MS = 5_000
"""When it is tried again after the store was busy."""

STDERR_CHARS = 300
"""Characters of what a failed child wrote to stderr, its end, that are stored with the review."""

JOB_VARIABLE = "AFL_REVIEW_JOB_ID"
"""Set for every reviewer: our hooks inside of it stay silent."""


class Result(enum.Enum):
    """How one call ended for the review. NOT_CLAIMED: it was not open, not due, or somebody else has it."""

    COMPLETED = "completed"
    RETRY = "retry"
    FAILED = "failed"
    POSTPONED = "postponed"
    NOT_CLAIMED = "not_claimed"


@attrs.frozen
class Outcome:
    """What became of a review. `reason`: a code of `reasons.py`; `detail` is redacted."""

    review_id: str
    result: Result
    reason: str | None = None
    detail: str = ""
    committed: Committed | None = None


def run_review(
    db: sqlite3.Connection,
    paths: Paths,
    settings: Settings,
    reviewers: Sequence[Reviewer],
    environ: Mapping[str, str],
    review_id: str,
    clock: Clock,
    redact: Callable[[str], str],
) -> Outcome:
    """Run one review to its end. `environ`: what is known of the session's environment; only allowed names of it reach the child.

    Opens its own transactions. A missing login, binary, network or budget, and trouble of the disk or the store, postpone the review and are
    no attempt; every other end is one, an error nobody thought of included. Raises only when how it ended cannot be stored either
    (`StoreError`); the lease then ends by itself.
    """
    owner = f"{os.getpid()}-{new_id()}"
    with writing(db):
        row = review_rows.get(db, review_id)
        now = clock()
        if row is None or not claimable(row, now):
            return Outcome(review_id, Result.NOT_CLAIMED)
        if row.attempt >= settings.review_max_attempts:
            queue.give_up(db, row, now)
            return Outcome(review_id, Result.FAILED, "retry_exhausted", row.detail or "")
        lease = queue.claim(db, review_id, owner, now, LEASE_MS)
    if lease is None:
        return Outcome(review_id, Result.NOT_CLAIMED)
    work = _Work(db, paths, settings, reviewers, {**environ, **for_reviewers(settings)}, clock, redact, lease)
    try:
        return Outcome(review_id, Result.COMPLETED, committed=work.review())
    except Exception as bad:  # noqa: BLE001 - every end of a review has a reason, whoever raised
        return work.ended_by(bad)
    except (KeyboardInterrupt, SystemExit):
        with contextlib.suppress(AflError):
            work.stopped("stopped", "")
        raise


def postpone_unready(db: sqlite3.Connection, review_id: str, reason: str, detail: str, clock: Clock) -> Outcome:
    """End a review that its caller could not even prepare (`reviewer_settings`, say) as a postponed one, in one transaction of its own.

    It waits for the default wake cooldown: the settings cannot be asked. `detail` is redacted already. Raises `StoreError`.
    """
    with writing(db):
        now = clock()
        lease = queue.claim(db, review_id, f"{os.getpid()}-{new_id()}", now, LEASE_MS)
        if lease is None:
            return Outcome(review_id, Result.NOT_CLAIMED)
        told = detail[:DETAIL_CHARS]
        queue.postpone(db, lease, reason, told, now + Settings().review_wake_cooldown * 1000, now)
        return Outcome(review_id, Result.POSTPONED, reason, told)


@attrs.frozen
class _Way:
    """A usable reviewer: its name in the ledger, how it is run and where, and how its answer is read."""

    name: str
    command: Callable[[ReviewFiles, str, str], ReviewerCommand]
    read: Callable[[ProcessResult], ReviewerAnswer]
    in_workdir: bool


@attrs.define
class _Work:
    """One lease at work; the run's row and the lease change as it goes on."""

    db: sqlite3.Connection
    paths: Paths
    settings: Settings
    reviewers: Sequence[Reviewer]
    environ: Mapping[str, str]
    clock: Clock
    redact: Callable[[str], str]
    lease: Lease
    run: Run | None = None
    usage: Usage = attrs.field(factory=Usage)
    counts: bool | None = None
    wake_ms: int | None = None
    renew_at: int = 0

    def review(self) -> Committed:
        """All of it; raises what stops it."""
        way = self.choose()
        self.check_budget(way.name, self.clock())
        told = prompt.instructions(self.paths, self.settings.report_language)
        policy = load_policy(self.paths.policy_file)  # before money is spent on what it would refuse
        row = review_rows.get(self.db, self.lease.review_id)
        if row is None:
            raise ReviewError(f"review {self.lease.review_id} is gone", reason="lease_lost")
        handed = handoff.collect(self.db, row, self.settings.report_language)
        if not handed.queued:
            raise ReviewError(reasons.explain("evidence_erased").sentence, reason="evidence_erased")
        evidence = handoff.serialise(handed)
        with review_files(self.paths, self.lease.review_id, self.lease.fence, evidence, told) as files:
            answer = self.ask(way, files, told, evidence)
        if answer.receipt is None:
            self.counts = answer.counts
            raise ReviewError(answer.detail, reason=answer.reason or "reviewer_output_unreadable")
        receipt = parse_receipt(cleaned(answer.receipt, self.redact, _known_ids(handed)))
        return commit_review(
            self.db,
            lease=self.lease,
            receipt=receipt,
            run=self.ended(spend.COMPLETED),
            policy=policy,
            actor=f"reviewer:{way.name}",
            clock=self.clock,
        )

    def choose(self) -> _Way:
        """The command of the settings, else the first usable reviewer of the session's own host; never another host's."""
        if self.settings.reviewer_command:
            return _Way(
                operator.NAME,
                lambda files, _told, _evidence: operator.command(self.settings, self.lease.review_id, files),
                operator.read,
                in_workdir=False,
            )
        problems, reason = [], "reviewer_missing"
        for reviewer in self.reviewers:
            if reviewer.host != self.lease.host:
                continue
            try:
                with named(reviewer.name):
                    viability = reviewer.viable(self.environ)
                    if viability.ok:
                        return _Way(reviewer.name, self.request_of(reviewer), _reading(reviewer), in_workdir=True)
                    problems.append(f"{reviewer.name}: {viability.reason}")
            except ReviewError as bad:  # another reviewer of this host may be whole
                problems.append(bad.sentence)
                reason = bad.reason
        raise ReviewError("; ".join(problems) or f"no reviewer for {self.lease.host} is installed", reason=reason)

    def request_of(self, reviewer: Reviewer) -> Callable[[ReviewFiles, str, str], ReviewerCommand]:
        """How a provider is asked for its command."""

        def command(files: ReviewFiles, told: str, evidence: str) -> ReviewerCommand:
            model = str(getattr(self.settings, f"reviewer_model_{reviewer.host}", ""))
            request = ReviewRequest(told, evidence, prompt.schema(), model, Path(files.workdir))
            with named(reviewer.name):
                return reviewer.command(request, self.environ)

        return command

    def check_budget(self, reviewer: str, now: int) -> None:
        """Stop before any money is spent when a cap is met or the reviewer rests. Asked early, and again in the transaction that begins the run."""
        cap = spend.cap_reached(self.db, self.lease.project_id, self.settings, now)
        if cap is not None:
            self.wake_ms = now + spend.CAP_RECHECK_MS
            raise ReviewError(reasons.explain(cap).sentence, reason=cap)
        until = spend.rests_until(self.db, reviewer, now)
        if until is not None:
            self.wake_ms = until
            raise ReviewError(reasons.explain("breaker").sentence, reason="breaker")

    def ask(self, way: _Way, files: ReviewFiles, told: str, evidence: str) -> ReviewerAnswer:
        """Run the child, its row in the ledger before and its cost kept after."""
        command = way.command(files, told, evidence)
        names = (*command.env_names, *allowlisted(self.settings.reviewer_env_allowlist))
        environment = child_environment(self.environ, names, {**command.env, JOB_VARIABLE: self.lease.review_id})
        now = self.clock()
        self.run = Run(new_id(), self.lease.review_id, self.lease.project_id, way.name, None, now, None, None, 0, 0, None)
        self.renew_at = now + RENEW_MS
        with writing(self.db):
            queue.held(self.db, self.lease, now)
            self.check_budget(way.name, now)  # another process may have begun the day's last run since the first look
            spend_rows.begin(self.db, self.run)
        lasting = os.path.join(self.paths.lasting, way.name)
        with workdir.opened(files.workdir, command, lasting) if way.in_workdir else contextlib.nullcontext(self.paths.data) as folder:
            result = processes.run(
                command.argv,
                environment=environment,
                cwd=folder,
                deadline_seconds=self.settings.reviewer_timeout_ms / 1000,
                stdin=command.stdin,
                on_tick=self.renew,
            )
        result = attrs.evolve(result, outputs=workdir.outputs(files.workdir, command))
        answer = way.read(result)
        self.usage = answer.usage
        if answer.receipt is not None:
            return answer
        # Redacted before it is cut: half a secret is no pattern.
        printed = self.redacted(processes.detail(result))[-STDERR_CHARS:]
        return attrs.evolve(answer, detail=": ".join(part for part in (answer.detail, printed) if part))

    def renew(self) -> None:
        """Keep the lease; a busy store is asked again while the lease still holds."""
        now = self.clock()
        if now < self.renew_at:
            return
        self.renew_at = now + RENEW_MS
        try:
            with writing(self.db):
                self.lease = queue.renew(self.db, self.lease, now, LEASE_MS)
        except StoreError:
            if now > self.lease.until_ms - RENEW_AGAIN_MS:
                raise
            self.renew_at = now + RENEW_AGAIN_MS

    def ended(self, outcome: str, detail: str | None = None) -> Run:
        """The run as it goes into the ledger."""
        if self.run is None:
            raise ReviewError("nothing was run", reason="reviewer_broken")
        return attrs.evolve(
            self.run,
            ended_ms=self.clock(),
            outcome=outcome,
            detail=detail,
            model=self.usage.model,
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
            cost_usd=self.usage.cost_usd,
        )

    def ended_by(self, bad: Exception) -> Outcome:
        """Record what was raised; the error itself when that cannot be stored because of the same trouble."""
        reason, detail = trouble.cause(bad)
        if isinstance(bad, ReviewError) and reason == "reviewer_broken" and self.run is None:
            self.counts = False  # a plug-in that cannot even be asked: nothing was tried
        try:
            return self.stopped(reason, detail)
        except StoreError:
            if not isinstance(bad, StoreError):
                raise
        raise bad  # it says more than that the store still cannot be written

    def stopped(self, reason: str, detail: str) -> Outcome:
        """Record why it stopped; the review is tried again, waits, or is given up."""
        review_id, told = self.lease.review_id, self.redacted(detail)[:DETAIL_CHARS]
        counts = reasons.explain(reason).counts if self.counts is None else self.counts
        now = self.clock()
        with writing(self.db):
            if self.run is not None:
                spend_rows.finish(self.db, self.ended(reason, told or None))
            try:
                if counts:
                    status = queue.fail(self.db, self.lease, reason, told, self.settings, now)
                    return Outcome(review_id, Result.RETRY if status is ReviewStatus.PENDING else Result.FAILED, reason, told)
                wake = self.wake_ms if self.wake_ms is not None else now + self.settings.review_wake_cooldown * 1000
                queue.postpone(self.db, self.lease, reason, told, now if reason == "stopped" else wake, now)
            except ReviewError as lost:  # somebody else has it by now: nothing of it is ours to change
                return Outcome(review_id, Result.NOT_CLAIMED, lost.reason, told)
        return Outcome(review_id, Result.POSTPONED, reason, told)

    def redacted(self, detail: str) -> str:
        """A detail as it may be stored, in one line; nothing when it cannot be redacted, whatever the redactor raised."""
        whole = detail.encode("utf-8", "replace").decode("utf-8")  # a name in an answer may hold half a character
        try:
            return " ".join(self.redact(whole).split()) if whole else ""  # first redacted: a key in several lines is a pattern
        except Exception:  # noqa: BLE001 - the reason is stored; only its detail stays out
            return ""


def _reading(reviewer: Reviewer) -> Callable[[ProcessResult], ReviewerAnswer]:
    def read(result: ProcessResult) -> ReviewerAnswer:
        with named(reviewer.name):
            return checked(reviewer.read(result))

    return read


def _known_ids(handed: Handoff) -> frozenset[str]:
    ids = {event.event_id for event in handed.events}
    for lesson in handed.lessons:
        ids |= {lesson.row.lesson_id, *(delivery.delivery_id for delivery in lesson.deliveries)}
    return frozenset(ids)
