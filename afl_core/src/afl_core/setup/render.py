"""What install writes as text: the command a host runs, the hook's constants, the front's file, the pointer, the policy. Pure: values in, bytes out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from afl_core.model.errors import SetupError
from afl_core.settings.paths import Paths
from afl_core.settings.schema import Policy, Settings
from afl_core.setup.runtime import Runtime
from afl_core.spec.guarded_command import WORD
from afl_core.spec.host import HostManifest
from afl_core.spec.transcripts import TranscriptRoot

OWN_ENV = ("AFL_REPORT_LANGUAGE",)
"""Settings' variables that do not begin as the others do and are forwarded all the same."""


def quoted(text: str) -> str:
    """One word for any POSIX shell: single quotes keep everything as it is, `$(...)` and backslashes included."""
    if "\0" in text:
        raise SetupError("a path holds a NUL character", code="AFL-SETUP-023")
    return "'" + text.replace("'", "'\\''") + "'"


def command_for(hook: str, python: str, host: str, event: str, *, own_shell: bool = False) -> str:
    """The command of one host event. Nothing in it changes from version to version: only another home or another Python makes another command.

    `test -r` because an interpreter without its script exits 2, which blocks prompts; `|| :` because whatever happens must look like success.
    `own_shell`: the host uses the person's shell (fish, csh, nushell), so the whole is one word for `/bin/sh`.
    """
    for word in (host, event):
        if not WORD.fullmatch(word):
            raise SetupError(
                f"{word!r} is no name that can stand in a command", code="AFL-SETUP-023", hint="report this to the plug-in's author"
            )
    command = f"test -r {quoted(hook)} && {quoted(python)} -I -S {quoted(hook)} {host} {event} 2>/dev/null || :"
    return f"/bin/sh -c {quoted(command)}" if own_shell else command


def constants(paths: Paths, runtime: Runtime, manifests: Iterable[HostManifest], allow: Iterable[str], build: str) -> bytes:
    """The hook's `constants.py`: ASCII Python, so that no locale changes what it says."""
    hosts = sorted(manifests, key=lambda one: one.name)
    values: dict[str, object] = {
        "HOME": paths.home,
        "DATA": paths.data,
        "RUN": paths.run,
        "SPOOL": paths.spool,
        "SITE": tuple(runtime.site),
        "PYTHON": runtime.python,
        "BUILD": build,
        "NOOPS": {one.name: one.noop.encode() for one in hosts},
        "KINDS": {one.name: {event.name: event.kind for event in one.events} for one in hosts},
        "FORWARD": {one.name: (*one.routing_env, *OWN_ENV) for one in hosts},
        "ALLOW": tuple(allow),
    }
    lines = ['"""What the hook must know of its home; written by `afl install`, which replaces this file."""', ""]
    lines += [f"{name} = {value!a}" for name, value in values.items()]
    return ("\n".join(lines) + "\n").encode("ascii")


def front_file(
    manifests: Iterable[HostManifest],
    settings: Settings,
    selector_target: str | None,
    *,
    roots: Mapping[str, Sequence[TranscriptRoot]] | None = None,
    scheduled: bool = False,
) -> bytes:
    """What front and daemon must know, as JSON: host manifests, where their transcripts are, the few settings of the prompt path and of the schedule."""
    kept = roots or {}
    body = {
        "hosts": {
            one.name: {**_host(one), "roots": [{"folder": str(root.folder), "pattern": root.pattern} for root in kept.get(one.name, ())]}
            for one in manifests
        },
        "schedule": {
            "installed": scheduled,
            "interval": settings.reconcile_interval,
            "kill_grace_ms": settings.reconcile_kill_grace_ms,
            "reviewer_timeout_ms": settings.reviewer_timeout_ms,
        },
        "memory_enabled": settings.memory_enabled,
        "memory_budget": settings.memory_budget,
        "selector": {"name": settings.selector, "target": selector_target},
    }
    return as_json(body)


def current_file(body: Mapping[str, Any]) -> bytes:
    """The pointer to the selected runtime."""
    return as_json(body)


def policy_file() -> bytes:
    """The default policy of changes, with a comment for each line."""
    lines = ["# Who decides about changes of what agents will be told. This file is yours: an edited one is never overwritten.", ""]
    for field in attrs.fields(Policy):
        lines += [f"# {field.metadata['doc']}", f"{field.name} = {json.dumps(field.default)}"]
    return ("\n".join(lines) + "\n").encode()


def as_json(body: object) -> bytes:
    """JSON for people and for us: sorted, indented, ASCII (paths need not be Unicode)."""
    return (json.dumps(body, indent=2, sort_keys=True, allow_nan=False) + "\n").encode("ascii")


def _host(one: HostManifest) -> dict[str, Any]:
    return {
        "events": [{"name": event.name, "kind": event.kind, "injects": event.injects} for event in one.events],
        "fields": dict(one.fields),
        "envelope": dict(one.envelope),
        "noop": one.noop,
        "limit_chars": one.limit_chars,
        "limit_bytes": one.limit_bytes,
        "machine_prefixes": list(one.machine_prefixes),
        "compaction_sources": list(one.compaction_sources),
        "prepended": [list(pair) for pair in one.prepended],
        "appended": [list(pair) for pair in one.appended],
    }
