"""The contract of a reviewer provider as tests: subclass `ReviewerContract`, return your provider from `make`."""

from __future__ import annotations

import abc
import pathlib
from collections.abc import Mapping

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afl_core.spec.reviewer import ProcessResult, Reviewer, ReviewRequest

EVIDENCE = '{"events":[{"redacted_text":"no, use the new one: SENTINEL-42"}]}'
SCHEMA = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"], "additionalProperties": False}


class ReviewerContract(abc.ABC):
    """A provider describes a command and reads its end; evidence goes by standard input only, and every end has a meaning."""

    @abc.abstractmethod
    def make(self) -> Reviewer:
        """Return the provider."""

    @abc.abstractmethod
    def environment(self, directory: pathlib.Path) -> Mapping[str, str]:
        """An environment in which the provider's command is found; make a file that can be executed if need be."""

    def test_without_its_command_it_says_why_it_cannot_be_used(self, tmp_path: pathlib.Path) -> None:
        """In one line."""
        viability = self.make().viable({"HOME": str(tmp_path), "PATH": str(tmp_path)})
        assert not viability.ok
        assert viability.reason
        assert "\n" not in viability.reason

    def test_evidence_is_on_standard_input_only(self, tmp_path: pathlib.Path) -> None:
        """Never in arguments, which every user of the machine can read."""
        environ = self.environment(tmp_path)
        assert self.make().viable(environ).ok
        request = ReviewRequest("judge this: RULES-7", EVIDENCE, SCHEMA, "", tmp_path)
        command = self.make().command(request, environ)
        assert b"SENTINEL-42" in command.stdin
        assert b"RULES-7" in command.stdin
        assert not [part for part in (*command.argv, *command.env.values()) if "SENTINEL-42" in part]

    def test_credentials_are_not_set_by_the_provider(self, tmp_path: pathlib.Path) -> None:
        """They pass only by the person's allowlist."""
        environ = {**self.environment(tmp_path), "SOME_API_KEY": "secret-value-1"}
        command = self.make().command(ReviewRequest("judge", EVIDENCE, SCHEMA, "", tmp_path), environ)
        assert "secret-value-1" not in str(command)

    @settings(suppress_health_check=[HealthCheck.differing_executors])  # inherited by every suite of a run
    @given(
        stdout=st.binary(max_size=300),
        stderr=st.binary(max_size=300),
        code=st.integers(-20, 255),
        timed_out=st.booleans(),
        overflowed=st.booleans(),
    )
    def test_every_end_is_a_receipt_or_a_reason(self, stdout: bytes, stderr: bytes, code: int, timed_out: bool, overflowed: bool) -> None:
        """Nothing raises, and what is no receipt has a reason code."""
        answer = self.make().read(ProcessResult(code, stdout, stderr, timed_out, overflowed))
        assert (answer.receipt is None) == (answer.reason is not None)
        assert len(answer.detail) <= 500

    def test_a_timeout_and_an_overflow_are_named(self) -> None:
        """By the codes core documents."""
        assert self.make().read(ProcessResult(-15, b"", b"", timed_out=True)).reason == "reviewer_timeout"
        assert self.make().read(ProcessResult(-15, b"", b"", overflowed=True)).reason == "reviewer_output_too_large"
