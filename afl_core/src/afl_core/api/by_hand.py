"""What a person does with a memory from the command line: which file is meant, how it is opened, and what redaction does to words on their way in."""

from __future__ import annotations

import os
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from itertools import chain as chained
from itertools import count
from typing import Any, NamedTuple

from afl_core.api.home import Home
from afl_core.api.memory import Memory
from afl_core.model.codec import compact, loads
from afl_core.model.errors import ModelError, StoreError
from afl_core.model.grain import DEFAULT_NS, Grain, GrainType
from afl_core.model.grain_text import shown
from afl_core.redaction.chain import Chain
from afl_core.vault.seal import keyed_hash

EVERY_NS = "*"
"""As a namespace to read: every one."""
OURS = frozenset({"hash", "type", "score", "superseded_by", "fields"})
"""What a grain is told with beside its fields."""
FACT = ("subject", "relation", "object")
"""What a fact is made of, in the order in which people say it."""
NOT_TEXT = frozenset(
    {
        *("confidence", "importance", "progress", "proficiency", "practice_count", "duration_ms", "exit_code", "is_error", "revision"),
        *("created_at", "valid_from", "valid_to", "system_valid_from", "system_valid_to", "context", "related_to", "content_refs"),
    }
)
"""Fields whose value is JSON where it is given as `name=value`."""
NAMES = frozenset({"namespace", "derived_from", "run_id", "session_id", "tool_call_id"})
"""Fields that say which one is meant and are kept as they are given, as the addresses in `related_to` are; every other text is redacted."""


class Place(NamedTuple):
    """A memory file. `is_home`: it is the home's own store, which install makes and nobody else."""

    path: str
    is_home: bool


class Safe(NamedTuple):
    """Fields that may be stored, and how many texts redaction changed."""

    fields: dict[str, Any]
    changed: int


def place_of(home: Home, db: str | None, *, named_home: bool = False) -> Place:
    """The file a command is about: `db`, else `AFL_DB` unless a home was named, else the home's store."""
    named = db if db is not None else (None if named_home else home.environ.get("AFL_DB") or None)
    if named is None:
        return Place(home.paths.database, True)
    if not named:
        raise StoreError("--db was given without a file", code="AFL-STORE-040", hint="name a file, or leave --db out for the home's store")
    path = os.path.abspath(named)
    return Place(path, _is_same(path, home.paths.database))


def _is_same(one: str, other: str) -> bool:
    """Whether two paths lead to one file: through other folders, links of folders, or in other letters where those make no difference."""
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other) if "\0" not in one else False


def open_memory(home: Home, place: Place, ns: str = DEFAULT_NS, passphrase: str | None = None, *, makes: bool = False) -> Memory:
    """Open the file. `makes`: one that is not there is made, unless it is the home's store. Raises `StoreError` when it is missing."""
    if place.is_home:
        home.db.execute("SELECT 1")  # missing, older or another program's: said before anything could be made or migrated
        if passphrase is not None:
            raise StoreError(
                "the home's store has no passphrase: what is sealed in it is sealed with the vault's keys",
                code="AFL-STORE-041",
                hint="name a file of its own with --db",
            )
    elif not makes and not os.path.lexists(place.path):
        raise StoreError(f"there is no memory {place.path}", code="AFL-STORE-042", hint="check --db and AFL_DB; afl add makes a new file")
    return Memory(place.path, ns=ns, passphrase=passphrase, clock=home.clock)


def session_of(home: Home, memory: Memory, session: str) -> str:
    """A session as grains name it: a host's own id is looked for under the name of every host."""
    if ":" in session or memory.forget_session(session, dry_run=True):
        return session
    names = [f"{host}:{session}" for host in sorted(home.registry.hosts())]
    return next((name for name in names if memory.forget_session(name, dry_run=True)), session)


def chain_of(home: Home) -> Chain:
    """Redaction: the home's, or where nothing is installed that of the plug-ins that are there. It fails closed like the home's."""
    if home.installed:
        return home.chain
    key = os.urandom(32)
    return Chain(
        home.registry.redactors(), home.guard, lambda secret: keyed_hash(key, "secret", secret.encode("utf-8", "surrogatepass"))[:32]
    )


def fields_of(given: Sequence[tuple[str, str]], whole: str | None) -> dict[str, Any]:
    """Fields from JSON text and from (name, value) pairs, which win; `name:` asks for its value to be read as JSON."""
    fields: dict[str, Any] = {}
    if whole is not None:
        body = loads(whole, "what --json-fields was given")
        if not isinstance(body, dict):
            raise ModelError("what --json-fields was given is not a JSON object", code="AFL-MODEL-002", hint='give it as {"name": "value"}')
        fields.update(body)
    for name, value in given:
        plain = name.removesuffix(":")
        if plain == "tags" and plain == name:
            fields[plain] = [*fields.get(plain, []), *(tag.strip() for tag in value.split(",") if tag.strip())]
        else:
            fields[plain] = loads(value, plain) if plain != name or plain in NOT_TEXT else value
    for name in OURS & fields.keys():
        raise ModelError(f"{name} says which grain it is and is no field", code="AFL-MODEL-002", hint="give the field another name")
    return fields


def safe(chain: Chain, fields: Mapping[str, Any]) -> Safe:
    """Fields with every text redacted, also inside lists and objects and what these call their parts.

    What a field is called, and what a fact relates, is read with its value; what stands in a list or an object is also read as one text, as JSON.
    """
    leads = {"object": str(fields["relation"])} if isinstance(fields.get("relation"), str) else {}
    made = _Redacting(chain)
    done: dict[str, Any] = {}
    for name, value in fields.items():
        kept = made.name(name, done)
        done[kept] = value if name in NAMES else made.field(value, leads.get(name, name), {"hash"} if name == "related_to" else set())
    return Safe(done, made.changed)


class _Redacting:
    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._secrets: tuple[str, ...] = ()
        self.changed = 0

    def field(self, value: Any, lead: str, kept: Collection[str]) -> Any:
        """A field's value. `kept`: names of parts that stay as they are."""
        if isinstance(value, Mapping | list | tuple):  # what belongs together may stand in neighbouring parts: `["--password", "..."]`
            self._known(self._chain.redact(compact(value), self._secrets).secrets)
        return self._value(value, lead, kept)

    def name(self, name: Any, there: Container[str]) -> str:
        """What a part is called; one that is called so already gets a number."""
        found = self._chain.redact(str(name), self._secrets)
        if found.text == name:
            return str(name)
        self._known(found.secrets)
        self.changed += 1
        return next(one for one in chained((found.text,), (f"{found.text} {n}" for n in count(2))) if one not in there)

    def _value(self, value: Any, lead: str, kept: Collection[str]) -> Any:
        if isinstance(value, str):
            return self._text(value, lead)
        if isinstance(value, Mapping):
            done: dict[str, Any] = {}
            for name, item in value.items():
                done[self.name(name, done)] = item if name in kept else self._value(item, str(name), kept)
            return done
        if isinstance(value, list | tuple):
            return [self._value(item, lead, kept) for item in value]
        return value

    def _known(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple(dict.fromkeys((*self._secrets, *secrets)))

    def _text(self, text: str, lead: str) -> str:
        beginning = f"{lead}: "
        named = self._chain.redact(beginning + text, self._secrets)
        kept = named.text.removeprefix(beginning) if named.manifest and named.text.startswith(beginning) else text
        alone = self._chain.redact(kept, self._secrets)
        self._known((*named.secrets, *alone.secrets))
        self.changed += alone.text != text
        return alone.text


def text_of(one: Mapping[str, Any]) -> str:
    """What a grain that `Memory` gave says, for a person."""
    return shown(Grain(GrainType(one["type"]), one, str(one["hash"]), ""))
