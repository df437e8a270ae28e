"""Where things lie for one home. Pack, data and keys are siblings, so that removing the pack never removes memory. Creates nothing.

The front runs through this file: it imports `os` alone.
"""

from __future__ import annotations

import os

STORE = os.path.join("store", "feedback-loop.sqlite3")
"""The one SQLite file, in the data."""
BLOBS = "blobs"
"""Sealed raw evidence, in the data."""


class Paths:
    """Every path of one home, as strings. `data_root` overrides the data directory (`AFL_DATA_ROOT`, remembered at install)."""

    def __init__(self, home: str | os.PathLike[str], data_root: str | None = None) -> None:
        self.home = os.path.abspath(os.fspath(home))
        base = os.path.join(self.home, ".agent")
        self.pack = os.path.join(base, "feedback-loop")
        self.data = os.path.abspath(data_root) if data_root else os.path.join(base, "feedback-loop-data")
        self.keys = os.path.join(base, "feedback-loop-keys")

    # the pack
    @property
    def hook_dir(self) -> str:
        """The copied hook files."""
        return os.path.join(self.pack, "hook")

    @property
    def hook(self) -> str:
        """The script hosts run."""
        return os.path.join(self.hook_dir, "hook.py")

    @property
    def current(self) -> str:
        """Pointer to the selected runtime (JSON)."""
        return os.path.join(self.pack, "current.json")

    @property
    def front_file(self) -> str:
        """What the front must know: host manifests and the few settings of the prompt path (JSON)."""
        return os.path.join(self.pack, "front.json")

    @property
    def prompt_file(self) -> str:
        """The editable reviewer prompt."""
        return os.path.join(self.pack, "prompts", "reviewer.md")

    @property
    def rules_file(self) -> str:
        """The editable rules the reviewer judges by."""
        return os.path.join(self.pack, "rules", "feedback-loop.md")

    @property
    def schema_file(self) -> str:
        """The receipt's JSON schema."""
        return os.path.join(self.pack, "schemas", "receipt.schema.json")

    @property
    def policy_file(self) -> str:
        """The policy of changes (TOML)."""
        return os.path.join(self.pack, "policies", "changes.toml")

    @property
    def manifest(self) -> str:
        """Hashes of the shipped pack files (JSON)."""
        return os.path.join(self.pack, "manifest.json")

    # the data
    @property
    def settings_file(self) -> str:
        """The person's settings (TOML)."""
        return os.path.join(self.data, "settings.toml")

    @property
    def database(self) -> str:
        """The one SQLite file."""
        return os.path.join(self.data, STORE)

    @property
    def backups(self) -> str:
        """Copies of the database made before a migration."""
        return os.path.join(self.data, "backups")

    @property
    def blobs(self) -> str:
        """Sealed raw evidence."""
        return os.path.join(self.data, BLOBS)

    @property
    def contexts(self) -> str:
        """Hand-off files of running reviews."""
        return os.path.join(self.data, "reviewer-contexts")

    @property
    def lasting(self) -> str:
        """Directories that reviewers run in and that keep their path; empty between reviews."""
        return os.path.join(self.data, "reviewer-folders")

    @property
    def run(self) -> str:
        """Socket, locks, spool key, marks."""
        return os.path.join(self.data, "run")

    @property
    def socket(self) -> str:
        """The front's socket; bound and connected by its name relative to `run`."""
        return os.path.join(self.run, "front.sock")

    @property
    def front_lock(self) -> str:
        """Held by the front as long as it lives."""
        return os.path.join(self.run, "front.lock")

    @property
    def reconcile_lock(self) -> str:
        """Held by the daemon of the scheduled reconcile; its time is when that one last looked."""
        return os.path.join(self.run, "reconcile.lock")

    @property
    def spool_key(self) -> str:
        """8 bytes of key id, then the 32-byte key new spool records are sealed with."""
        return os.path.join(self.run, "spool.key")

    @property
    def counts(self) -> str:
        """Failures of the hook, one line a reason: `<reason> <count> <last ms>`."""
        return os.path.join(self.run, "hook.counts")

    @property
    def spool(self) -> str:
        """Sealed records waiting for the worker."""
        return os.path.join(self.data, "spool")

    @property
    def logs(self) -> str:
        """Log directory."""
        return os.path.join(self.data, "logs")

    @property
    def runtime_log(self) -> str:
        """Ids, counts and error messages; never bodies."""
        return os.path.join(self.logs, "runtime.log")

    @property
    def reconcile_log(self) -> str:
        """What the daemon of the scheduled reconcile did."""
        return os.path.join(self.logs, "reconcile.log")

    # the keys
    @property
    def public_key(self) -> str:
        """The vault's X25519 public key, 32 bytes."""
        return os.path.join(self.keys, "vault.pub")

    @property
    def name_key(self) -> str:
        """32 bytes: the key of keyed hashes (blob names, joining sightings)."""
        return os.path.join(self.keys, "names.key")

    @property
    def private_key(self) -> str:
        """The file keystore's secret, 32 bytes."""
        return os.path.join(self.keys, "vault.key")

    @property
    def sealed_private_key(self) -> str:
        """The passphrase keystore's record."""
        return os.path.join(self.keys, "vault.sealed")

    @property
    def plugin_cache(self) -> str:
        """Cached entry points (JSON)."""
        return os.path.join(self.data, "run", "plugins.json")

    def as_dict(self) -> dict[str, str]:
        """All of them by name, for `afl paths`."""
        names = [name for name in dir(type(self)) if isinstance(getattr(type(self), name), property)]
        return {"home": self.home, "pack": self.pack, "data": self.data, "keys": self.keys, **{name: getattr(self, name) for name in names}}
