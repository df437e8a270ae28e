"""What a purge would write of one project: every text of it judged again, without a lock. Reads only."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections import Counter
from typing import Any

import attrs

from afl_core.memory.signatures import signature
from afl_core.memory.write import MAX_ERROR, MAX_INPUT
from afl_core.model.codec import canonical
from afl_core.model.grain import Grain, GrainType, formed
from afl_core.redaction.chain import Chain
from afl_core.redaction.places import Places
from afl_core.redaction.rewriting import Rewriter
from afl_core.redaction.strings import parsed, strings
from afl_core.spec.redactor import Finding
from afl_core.store import events, grains, rewrites
from afl_core.store.rewrites import EventText

PLAIN = ("incidents.quote", "reports.text", "lessons.class_id", "effects.corrective_action", "reviews.detail", "review_runs.detail")
JSON = ("receipts.body_json", "deliveries.match_json")
"""Columns of a project's rows, beside events and grains."""

SHARED_PLAIN = ("reports.text", "lessons.class_id", "effects.corrective_action", "plugin_ledger.last_error")
SHARED_JSON = (*JSON, "status.body_json")
"""Columns of rows that belong to no project."""


@attrs.frozen
class EventChange:
    """An event that is rewritten; `places` of its text."""

    before: EventText
    places: Places
    tool_name: str | None
    rules: Counter[str]


@attrs.frozen
class TextChange:
    """A row of a column, `grains.fields_json` and audit texts aside, that is rewritten."""

    where: str
    key: str
    before: str
    text: str
    rules: Counter[str]


@attrs.frozen
class GrainChange:
    """A grain that another takes the place of."""

    address: str
    before: str
    grain: Grain
    signature: str | None
    rules: Counter[str]


@attrs.define
class Plan:
    """Everything one transaction writes. `project_id` None: what belongs to no project. `erased`: audit texts, by hash; `secrets`: by session."""

    project_id: str | None
    events: list[EventChange] = attrs.field(factory=list)
    texts: list[TextChange] = attrs.field(factory=list)
    grains: list[GrainChange] = attrs.field(factory=list)
    erased: dict[str, Counter[str]] = attrs.field(factory=dict)
    secrets: dict[str, list[str]] = attrs.field(factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (self.events or self.texts or self.grains or self.erased)

    def rows(self) -> list[tuple[str, str, Counter[str]]]:
        """(column, key, rules) of every row that is rewritten."""
        return [
            *(("events.text", one.before.event_id, one.rules) for one in self.events),
            *((one.where, one.key, one.rules) for one in self.texts),
            *(("grains.fields_json", one.address, one.rules) for one in self.grains),
            *(("audit_texts.text", address, rules) for address, rules in self.erased.items()),
        ]


def plan(db: sqlite3.Connection, chain: Chain, project_id: str | None) -> Plan:
    """Judge a project's texts, and with what they show those that belong to no project. Raises `RedactionError`: then nothing is known of any."""
    return _Planner(db, Rewriter(chain), Plan(project_id)).run()


@attrs.define
class _Planner:
    """One project at work."""

    db: sqlite3.Connection
    rewriter: Rewriter
    made: Plan
    first: dict[str, tuple[Finding, ...]] = attrs.field(factory=dict)
    names: dict[str, str] = attrs.field(factory=dict)
    changed: dict[str, tuple[str, Places]] = attrs.field(factory=dict)
    calls: dict[tuple[str, str, str], tuple[str, str]] = attrs.field(factory=dict)
    moved: dict[str, str] = attrs.field(factory=dict)
    quotes: set[str] = attrs.field(factory=set)

    def run(self) -> Plan:
        """First read all, then rewrite all."""
        project = self.made.project_id
        if project is not None:
            self.read_events(project)
            self.read_others(project)
            self.change_events(project)
            self.change_quotes(project)
            self.change_others(project, PLAIN, JSON)
            self.change_grains(project)
        else:
            self.read_others(None)
        if project is None or self.rewriter.knows:
            self.change_others(None, SHARED_PLAIN, SHARED_JSON)
            self.change_grains(None)
            self.erase()
        return self.made

    def read_events(self, project: str) -> None:
        """Learn what the events show; only what is found is kept."""
        for event in rewrites.events(self.db, project):
            done = self.rewriter.read(event.text)
            if done.findings:
                self.first[event.event_id] = done.findings
                self.made.secrets.setdefault(event.session_id, []).extend(done.secrets)
            if event.tool_name and event.tool_name not in self.names:
                self.names[event.tool_name] = ""
                self.rewriter.read(event.tool_name)

    def read_others(self, project: str | None) -> None:
        """Learn what everything else shows."""
        scope = rewrites.OF_NONE if project is None else rewrites.OF_PROJECT
        for where, column in rewrites.COLUMNS.items():
            if column.table in scope:
                for _, text in rewrites.texts(self.db, where, project):
                    for inside in strings(parsed(text)) if column.is_json else (text,):
                        self.rewriter.read(inside)

    def change_events(self, project: str) -> None:
        """Replace what was found in events, and its repeats."""
        self.names = {name: self.rewriter.rewrite(name).text for name in self.names}
        for event in rewrites.events(self.db, project):
            places = self.rewriter.places(event.text, self.first.get(event.event_id, ()))
            name = self.names.get(event.tool_name, event.tool_name) if event.tool_name else event.tool_name
            if places is None and name == event.tool_name:
                continue
            places = places or Places(event.text)
            rules = Counter(found.rule for found in places.findings)
            self.made.events.append(EventChange(event, places, name, rules or Counter({"tool-name": 1})))
            self.changed[event.event_id] = (event.text, places)
            if event.call_id:
                self.calls[(event.session_id, event.call_id, event.kind)] = (event.text, places.text)

    def change_quotes(self, project: str) -> None:
        """Incidents quote events: the quotes change as their events do."""
        for incident_id, event_id, quote in rewrites.incident_quotes(self.db, project):
            if quote not in (self._text_of(event_id) or ""):
                continue  # its event is gone: it is judged alone, below
            self.quotes.add(incident_id)
            if event_id in self.changed:
                new = self.rewriter.quoted(quote, *self.changed[event_id])
                if new != quote:
                    self.made.texts.append(TextChange("incidents.quote", incident_id, quote, new, Counter({"quote": 1})))
        for _, text in rewrites.texts(self.db, "receipts.body_json", project):  # so that reports, read before them, know their quotes
            self.rewriter.evidence(parsed(text), self.changed, self._text_of, Counter())

    def change_others(self, project: str | None, plain: tuple[str, ...], json: tuple[str, ...]) -> None:
        """Rewrite the rows of these columns."""
        for where in (*plain, *json):
            for key, text in rewrites.texts(self.db, where, project):
                if where == "incidents.quote" and key in self.quotes:
                    continue
                rules: Counter[str] = Counter()
                new = self._json(text, rules) if where in json else self._plain(text, rules)
                if new != text:
                    self.made.texts.append(TextChange(where, key, text, new, rules))

    def change_grains(self, project: str | None) -> None:
        """Make the grains that take the place of those that hold something."""
        for address, text in rewrites.texts(self.db, "grains.fields_json", project):
            fields = parsed(text)
            rules: Counter[str] = Counter()
            kind = self._type(address)
            new = self._tool(fields, rules) if kind is GrainType.TOOL else fields
            new = self.rewriter.evidence(new, self.changed, self._text_of, rules)
            if new.get("derived_from") in self.moved:
                new = {**new, "derived_from": self.moved[new["derived_from"]]}
            if new == fields:
                continue
            grain = formed(kind, new, new["created_at"])
            error = str(new.get("error") or "")
            signed = signature(error) if kind is GrainType.TOOL and error else None
            self.moved[address] = grain.hash
            self.made.grains.append(GrainChange(address, text, grain, signed, rules))

    def erase(self) -> None:
        """Audit texts are erased, not rewritten."""
        for address, text in rewrites.texts(self.db, "audit_texts.text", None):
            rules: Counter[str] = Counter()
            if self._json(text, rules) != text and rules:
                self.made.erased[address] = rules

    def _text_of(self, event_id: str) -> str | None:
        if event_id in self.changed:
            return self.changed[event_id][0]
        found = events.get(self.db, event_id)
        return None if found is None else found.text

    def _type(self, address: str) -> GrainType:
        return GrainType(grains.type_of(self.db, address))

    def _tool(self, fields: dict[str, Any], rules: Counter[str]) -> dict[str, Any]:
        """A tool grain holds the beginning of an event's text: where that text changes, it is cut anew, so that no half of a value is left."""
        changed = dict(fields)
        for name, kind, size in (("input", "tool_call", MAX_INPUT), ("error", "tool_result", MAX_ERROR)):
            before, after = self.calls.get((str(fields.get("session_id")), str(fields.get("tool_call_id")), kind), ("", ""))
            told = fields.get(name)
            if isinstance(told, str) and told and unicodedata.normalize("NFC", before).startswith(told):
                changed[name] = after[:size]
                rules["quote"] += changed[name] != told
        return changed

    def _plain(self, text: str, rules: Counter[str]) -> str:
        done = self.rewriter.rewrite(text)
        rules.update(done.rules)
        return done.text

    def _json(self, text: str, rules: Counter[str]) -> str:
        value = parsed(text)
        if isinstance(value, str):
            return self._plain(value, rules)
        new = self.rewriter.evidence(value, self.changed, self._text_of, rules)
        return text if new == value else canonical(new)
