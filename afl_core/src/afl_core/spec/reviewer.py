"""The contract of a reviewer provider: it describes an isolated command and reads its answer; core runs the process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import attrs


@attrs.frozen
class Viability:
    """Whether a provider or keystore can be used here; `reason` says why not (or how), in one line for a person."""

    ok: bool
    reason: str = ""


@attrs.frozen
class ReviewRequest:
    """One review: `instructions` is the whole prompt, `evidence_json` the bounded hand-off, `schema` the receipt's JSON schema, `model` the setting or ''."""

    instructions: str
    evidence_json: str
    schema: Mapping[str, Any]
    model: str
    workdir: Path


@attrs.frozen
class ReviewerCommand:
    """What to run. Evidence goes to `stdin` only, never to `argv`. `env_names` are passed through from the session's known environment; `env` is set.

    `files`: what core writes into the request's `workdir` before (relative path -> content; private, gone with the run). `outputs`: relative paths
    there that the command writes; core reads them back, capped, into `ProcessResult.outputs`. `folder`: the directory in `workdir` the command
    runs in, made by core ('' is `workdir` itself). `lasting`: let `folder` be a directory of core's own that has the same path in every review
    of this provider (for a host that keeps something in the person's home for each directory it runs in); files below `folder/` are written
    there, and it is emptied before and after. While another review is in it, `folder` lies in `workdir` as ever. Outputs are always in `workdir`.
    """

    argv: tuple[str, ...]
    stdin: bytes
    env_names: tuple[str, ...] = ()
    env: Mapping[str, str] = attrs.field(factory=dict)
    files: Mapping[str, bytes] = attrs.field(factory=dict)
    outputs: tuple[str, ...] = ()
    folder: str = ""
    lasting: bool = False


@attrs.frozen
class ProcessResult:
    """How a child ended. `seconds` is wall time; stdout and stderr are capped. `outputs`: the files of `ReviewerCommand.outputs` that are there."""

    returncode: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    overflowed: bool = False
    seconds: float = 0.0
    outputs: Mapping[str, bytes] = attrs.field(factory=dict)


@attrs.frozen
class Usage:
    """What a review cost, as the host reports it. `cost_usd` None: no money reported."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    model: str | None = None


@attrs.frozen
class ReviewerAnswer:
    """`receipt` when the model answered in shape; otherwise a `reason` code. `counts`: the failure is an attempt (a missing login, binary or network is not)."""

    receipt: Mapping[str, Any] | None
    reason: str | None = None
    counts: bool = True
    detail: str = ""
    usage: Usage = attrs.field(factory=Usage)


@runtime_checkable
class Reviewer(Protocol):
    """What a provider registers through `afl_reviewers`. `host` names the host whose sessions it may see."""

    name: str
    host: str
    label: str

    def viable(self, environ: Mapping[str, str]) -> Viability:
        """Whether its command can be found with this environment; starts nothing."""
        ...

    def command(self, request: ReviewRequest, environ: Mapping[str, str]) -> ReviewerCommand:
        """The isolated command for one review."""
        ...

    def read(self, result: ProcessResult) -> ReviewerAnswer:
        """Understand how the command ended. Pure."""
        ...
