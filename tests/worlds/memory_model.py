"""What a memory should hold, in a few dictionaries: the simplest thing that could be right, to compare the real one with."""

from __future__ import annotations

import attrs

WITHDRAWN = "withdrawn"


@attrs.define
class Kept:
    """A grain as the model knows it."""

    fields: dict
    by: str | None = None


@attrs.define
class Model:
    """Facts, what took whose place, and the heads of each (subject, relation)."""

    facts: dict[str, Kept] = attrs.Factory(dict)
    heads: dict[tuple[str, str], set[str]] = attrs.Factory(dict)
    buried: set[tuple[str, str, str]] = attrs.Factory(set)

    def key(self, address):
        fields = self.facts[address].fields
        return fields["subject"], fields["relation"]

    def live(self, key=None):
        return [one for one, kept in self.facts.items() if kept.by is None and key in (None, self.key(one))]

    def newest(self, addresses):
        return max(addresses, key=lambda one: (self.facts[one].fields["created_at"], one), default=None)

    def of(self, key):
        return self.heads.get(key, set())

    def leave(self, key, address):
        """A head goes; without others the newest live one becomes it."""
        if address in self.of(key):
            left = self.heads[key] - {address}
            elected = self.newest([one for one in self.live(key) if one != address])
            self.heads[key] = left or ({elected} if elected else set())

    def add(self, address, fields):
        if address not in self.facts:
            self.facts[address] = Kept(fields)
        elif self.facts[address].by == WITHDRAWN:
            self.facts[address].by = None
        else:
            return
        self.heads[self.key(address)] = {address}

    def supersede(self, old, address, fields):
        if address in self.facts and self.facts[address].by is None:
            self.link(old, address)
            return
        before = set(self.of(self.key(old)))
        self.facts.setdefault(address, Kept(fields)).by = None
        self.facts[old].by = address
        mine, other = self.key(old), self.key(address)
        self.leave(mine, old)
        self.heads[other] = (before - {old} if mine == other and old in before else set()) | {address}

    def link(self, loser, winner):
        key = self.key(loser)
        was_head = loser in self.of(key)
        self.facts[loser].by = winner
        if was_head:
            left = self.heads[key] - {loser} | ({winner} if self.key(winner) == key else set())
            elected = self.newest(self.live(key))
            self.heads[key] = left or ({elected} if elected else set())

    def retract(self, address):
        self.facts[address].by = WITHDRAWN
        self.leave(self.key(address), address)

    def forget(self, address):
        key, by = self.key(address), self.facts[address].by
        was_head = address in self.of(key)
        del self.facts[address]
        for kept in self.facts.values():
            if kept.by == address:
                kept.by = by or WITHDRAWN
        if was_head:
            left = self.heads[key] - {address}
            elected = self.newest(self.live(key))
            self.heads[key] = left or ({elected} if elected else set())

    def merge(self, key, address, fields):
        for tip in self.of(key):
            self.facts[tip].by = address
        self.facts[address] = Kept(fields)
        self.heads[key] = {address}

    def said(self, key):
        """Every grain of a thing, and what one of them took the place of."""
        found = {one for one in self.facts if self.key(one) == key}
        while more := {one for one, kept in self.facts.items() if kept.by in found} - found:
            found |= more
        return found
