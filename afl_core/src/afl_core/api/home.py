"""One home, opened: its paths, settings, store, plug-ins, redaction and vault, each made when it is first needed. The CLI, the jobs and the doctor stand on it."""

from __future__ import annotations

import functools
import os
import sqlite3
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from afl_core.api.ledger import StoreLedger
from afl_core.api.remember import paths_of, remembered
from afl_core.files.private import check_components
from afl_core.model.clock import Clock, now_ms
from afl_core.model.errors import SettingsError
from afl_core.plugins.discovery import discover
from afl_core.plugins.isolation import Guard, Mark, MemoryLedger
from afl_core.plugins.registry import Registry
from afl_core.redaction.chain import Chain
from afl_core.redaction.options import known_options, option_names, with_options
from afl_core.settings.load import load_policy, load_settings
from afl_core.settings.schema import VARIABLES, Policy, Settings, for_reviewers
from afl_core.spec.keystore import Keystore
from afl_core.store.connection import connect
from afl_core.vault.blobs import Blobs
from afl_core.vault.keys import Opener, PublicHalf, Writer, load_public
from afl_core.vault.keystores import holding
from afl_core.vault.seal import keyed_hash

__all__ = ["Home", "paths_of", "remembered"]


class Home:
    """Use as a context manager. `mark`: jobs only; lets a kernel timer end the process when a plug-in hangs."""

    def __init__(
        self, home: str | None = None, environ: Mapping[str, str] | None = None, *, clock: Clock = now_ms, killable: bool = False
    ) -> None:
        self.environ = dict(os.environ if environ is None else environ)
        self.paths = paths_of(home, self.environ)
        self.clock = clock
        self._killable = killable
        self._db: sqlite3.Connection | None = None
        self._chain: Chain | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        if self._db is not None:
            self._db.close()
            self._db = None

    @property
    def installed(self) -> bool:
        """Whether there is a database."""
        return os.path.exists(self.paths.database)

    @property
    def db(self) -> sqlite3.Connection:
        """The store, opened once. Raises `StoreError` when it is missing, foreign, newer or older."""
        if self._db is None:
            check_components(os.path.dirname(self.paths.database), self.paths.data)
            self._db = connect(self.paths.database)
        return self._db

    @functools.cached_property
    def settings(self) -> Settings:
        """Defaults, settings file, environment."""
        return load_settings(self.paths.settings_file, self.environ)

    def listen(self, variables: Mapping[str, str]) -> None:
        """Read the settings again, with a session's own variables over this process's.

        Raises `SettingsError` for a value that is none; the settings then stay as they were.
        """
        own = {name: value for name, value in variables.items() if name in VARIABLES}
        self.__dict__["settings"] = load_settings(self.paths.settings_file, {**self.environ, **own})

    @property
    def reviewer_environ(self) -> dict[str, str]:
        """The environment a reviewer's command is found with: what a person set in the settings file counts like the variable."""
        return {**self.environ, **for_reviewers(self.settings)}

    @functools.cached_property
    def policy(self) -> Policy:
        """Who decides about changes."""
        return load_policy(self.paths.policy_file)

    @functools.cached_property
    def guard(self) -> Guard:
        """Isolation of plug-ins; counts in the store when there is one."""
        ledger = StoreLedger(self.db) if self.installed else MemoryLedger()
        return Guard(ledger, clock=self.clock, mark=Mark(os.path.join(self.paths.run, "plugin.mark")) if self._killable else None)

    @functools.cached_property
    def registry(self) -> Registry:
        """All plug-ins."""
        return Registry(discover(self.paths.plugin_cache), self.guard)

    @functools.cached_property
    def half(self) -> PublicHalf:
        """The vault's public half: enough for writing."""
        return load_public(self.paths)

    @property
    def chain(self) -> Chain:
        """Redaction: every redactor that was there at install must be there now, or nothing is kept.

        Raises `SettingsError` when `redact_options` names what no redactor has.
        """
        options = self._redact_options()
        if self._chain is None or self._chain.missing or self._chain.options != options:
            name_key = self.half.name_key
            self._chain = self._new_chain(
                options, lambda secret: keyed_hash(name_key, "secret", secret.encode("utf-8", "surrogatepass"))[:32]
            )
        return self._chain

    @functools.cached_property
    def judge(self) -> Chain:
        """The same redactors for text that is only looked at: no secret gets a name, so nothing has to be installed."""
        return self._new_chain(self._redact_options(), lambda _secret: "")

    def _new_chain(self, options: tuple[str, ...], hasher: Callable[[str], str]) -> Chain:
        expected = remembered(self.paths).get("redactors")
        missing = self.registry.missing_redactors(map(str, expected) if isinstance(expected, list) else ())
        return Chain(with_options(self.registry.redactors(), options, self.guard), self.guard, hasher, missing, options)

    def _redact_options(self) -> tuple[str, ...]:
        """What redactors are asked for. Where the settings cannot be read it is all they have: too much is hidden rather than too little."""
        try:
            return option_names(self.settings.redact_options)
        except SettingsError:
            return tuple(sorted(known_options(self.registry.redactors())))

    @functools.cached_property
    def writer(self) -> Writer:
        """Seals raw evidence."""
        return Writer(self.half, "blob", clock=self.clock)

    @functools.cached_property
    def blobs(self) -> Blobs:
        """Sealed raw evidence."""
        return Blobs(self.paths.blobs, self.paths.data)

    @functools.cached_property
    def keystore(self) -> Keystore:
        """The keystore that holds this vault's private key."""
        return holding(self.registry.keystores(self.paths.keys), self.half.home_id, self.settings.keystore)

    @functools.cached_property
    def opener(self) -> Opener:
        """Opens sealed records; raises only when a record is really opened and the keystore cannot."""
        return Opener(self.half, self.keystore, self.db)

    def redact(self, text: str) -> str:
        """Safe text for whatever is stored, shown or sent."""
        return self.chain.redact(text).text
