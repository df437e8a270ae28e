"""The contract of a host adapter: mostly data and pure functions. Core owns files, offsets, edits, processes, deadlines and caps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import attrs

from afl_core.model.observation import Observation

STATE_LIMIT_BYTES = 16 * 1024
"""The largest parse state, as compact JSON. It holds no conversation text."""

CONTEXT_SLOT = "{context}"
"""The leaf of an envelope template that the front replaces by the injected text."""


NETWORK_ENV = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""The variables by which a network is reached, proxies and certificates, whatever the host: a part of `HostManifest.routing_env`."""


@attrs.frozen
class HookEvent:
    """One host event to register. `kind`: prompt, stop, session_start or session_end; `timeout_s` is what the host is told; `injects`: its reply may carry context."""

    name: str
    kind: str
    timeout_s: int
    matcher: str | None = None
    injects: bool = False


SWITCHES: Mapping[str, bool] = {"disableAllHooks": True, "hooksConfig.enabled": False}
"""What hosts call the setting that switches all hooks off: taken where a manifest does not say which of them its host reads."""


@attrs.frozen
class HostManifest:
    """What the hook and the front must know of a host without importing its adapter: rendered into the home at install.

    `fields` maps our names (session, turn, cwd, transcript, prompt, answer, source, reason, agent) to the payload's top-level keys.
    `envelope` is a JSON value per event name in which the string leaf `{context}` is replaced by the injected text.
    `machine_prefixes`: a prompt that starts with one of them was not typed by a person.
    `compaction_sources`: values of `source` that open a new epoch. `routing_env`: names forwarded with every frame (directories, base URLs, proxies, certificates).
    `timeout_unit_ms`: the unit in which the host wants a hook's timeout, in ms (1000: seconds). `own_shell`: the host runs commands through the
    person's own shell, which need not be a POSIX one. `comments`: its settings may hold // and /* */ comments (and no byte order mark).
    `rewrites_settings`: a running session writes its settings back from memory, and what was added to the file meanwhile is lost.
    `switches`: settings by their dotted names, and the value with which each switches every hook of this host off.
    `entry`: more keys of each entry of ours in the settings, such as the name under which the host shows it.
    `prepended`: (start, end) of elements the host puts before a prompt, `appended` those it puts behind one; they are no words of the person's.
    """

    name: str
    label: str
    events: tuple[HookEvent, ...]
    fields: Mapping[str, str]
    envelope: Mapping[str, Any]
    noop: str
    limit_chars: int | None
    limit_bytes: int | None
    machine_prefixes: tuple[str, ...] = ()
    compaction_sources: tuple[str, ...] = ()
    routing_env: tuple[str, ...] = ()
    timeout_unit_ms: int = 1000
    own_shell: bool = False
    comments: bool = False
    prepended: tuple[tuple[str, str], ...] = ()
    appended: tuple[tuple[str, str], ...] = ()
    rewrites_settings: bool = False
    entry: Mapping[str, str] = attrs.field(factory=dict)
    switches: Mapping[str, bool] = attrs.field(factory=lambda: dict(SWITCHES))


@attrs.frozen
class HostPlace:
    """Where a host lives for one person: its configuration directory, the file hooks are written to, its command when found."""

    config_dir: Path
    settings_path: Path
    binary: Path | None
    present: bool


@attrs.frozen
class Line:
    """One complete record of a transcript: byte offset and the bytes without the newline."""

    offset: int
    data: bytes


@runtime_checkable
class HostAdapter(Protocol):
    """What a provider registers through `afl_hosts`."""

    name: str

    def manifest(self) -> HostManifest:
        """The host's events, fields, envelopes and limits."""
        ...

    def locate(self, home: Path, environ: Mapping[str, str]) -> HostPlace:
        """Where this host's files are for `home`, honouring the host's own variables in `environ`. Reads the file system, changes nothing."""
        ...

    def wants(self, head: bytes) -> bool:
        """Whether a record whose first 400 bytes are `head` must be parsed at all (bulk records are skipped unread)."""
        ...

    def parse(self, lines: Sequence[Line], state: Mapping[str, Any]) -> tuple[list[Observation], dict[str, Any]]:
        """Observations in the order of the lines, and the state for the next call. Unknown and broken records are skipped, never an error."""
        ...

    def owns_command(self, command: str) -> bool:
        """Whether a hook command found in the host's settings is one of ours (any version)."""
        ...
