"""The part of a host's contract that is about reading: whatever a transcript holds, and however its lines come, parsing gives the same and never fails."""

from __future__ import annotations

import abc
import json
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afl_core.model.observation import Observation
from afl_core.spec.host import STATE_LIMIT_BYTES, HostAdapter, Line
from afl_core.testing.conformance.damage import changed, damaged, readable, values

ANYWHERE = settings(
    deadline=None, suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow, HealthCheck.data_too_large]
)
"""Every suite of a run inherits the same tests, and a slow or busy machine is no reason to fail."""


class ParsingContract(abc.ABC):
    """Parsing is a pure function of lines and state."""

    @abc.abstractmethod
    def make(self) -> HostAdapter:
        """Return the adapter."""

    @abc.abstractmethod
    def records(self) -> list[bytes]:
        """Recorded transcript records of this host, in order, without newlines; at least one."""

    def _lines(self) -> list[Line]:
        return lines_of(self.records())

    def _wanted(self) -> tuple[bytes, ...]:
        adapter = self.make()
        return readable([record for record in self.records() if adapter.wants(record[:400])])

    def test_reading_in_pieces_is_reading_the_whole(self) -> None:
        """Any split of the records gives the same observations."""
        lines = self._lines()
        whole, _state = self.make().parse(lines, {})
        assert whole, "the recorded records hold nothing this adapter understands"
        for size in (1, 2, 3, 7):
            assert through(self.make(), lines, range(0, len(lines), size))[0] == whole

    @settings(ANYWHERE, max_examples=20)
    @given(cuts=st.lists(st.integers(0, 60), max_size=8))
    def test_reading_in_any_pieces_leaves_the_same_state(self, cuts: list[int]) -> None:
        """The state goes through JSON in between, its keys in another order."""
        assert through(self.make(), self._lines(), cuts) == through(self.make(), self._lines(), [])

    @ANYWHERE
    @given(data=st.lists(st.binary(max_size=300), max_size=5))
    def test_it_never_raises_on_what_a_file_holds(self, data: list[bytes]) -> None:
        """Broken records are skipped."""
        self.make().parse([Line(number, line) for number, line in enumerate(data)], {})

    @settings(ANYWHERE, max_examples=20)
    @given(data=st.data())
    def test_any_damage_to_real_records_is_survived_and_pieces_change_nothing(self, data: st.DataObject) -> None:
        """Values of other types, lines that are cut off, objects never seen before, records in another order. Of records that are JSON."""
        if not (records := self._wanted()):
            return
        lines = lines_of(damaged(data.draw, records))
        whole, state = through(self.make(), lines, [])
        assert through(self.make(), lines, data.draw(st.lists(st.integers(0, len(lines)), max_size=4))) == (whole, state)
        assert len(json.dumps(state)) <= STATE_LIMIT_BYTES
        assert all(self.make().wants(line.data[:400]) in (True, False) for line in lines)

    @settings(ANYWHERE, max_examples=20)
    @given(data=st.data())
    def test_a_state_that_is_not_its_own_is_survived(self, data: st.DataObject) -> None:
        """One of another version, or damaged: its own keys with other values, and values changed at any depth."""
        lines, records = self._lines(), self._wanted()
        own = self.make().parse(lines[: data.draw(st.integers(0, len(lines)))], {})[1]
        foreign = data.draw(st.dictionaries(st.sampled_from([*own, "x"]), values(records)))
        for stored in (foreign, {**own, **foreign}, changed(data.draw, json.dumps(own).encode(), records)):
            _found, kept = self.make().parse(lines[:6], stored)
            assert len(json.dumps(kept)) <= STATE_LIMIT_BYTES

    def test_its_state_is_small_and_holds_no_words(self) -> None:
        """Under the limit, and no text that was said."""
        observations, state = self.make().parse(self._lines(), {})
        told = json.dumps(state)
        assert len(told) <= STATE_LIMIT_BYTES
        words = [text for seen in observations if len(text := getattr(seen, "text", "")) > 20]
        assert not [text for text in words if text[:20] in told]

    def test_records_it_does_not_want_hold_nothing(self) -> None:
        """Skipping unread never loses an observation."""
        adapter = self.make()
        skipped = [line for line in self._lines() if not adapter.wants(line.data[:400])]
        assert adapter.parse(skipped, {})[0] == []


def lines_of(records: Iterable[bytes]) -> list[Line]:
    """The records as they lie one after the other in a file."""
    lines, offset = [], 0
    for record in records:
        lines.append(Line(offset, record))
        offset += len(record) + 1
    return lines


def through(adapter: HostAdapter, lines: Sequence[Line], cuts: Iterable[int]) -> tuple[list[Observation], dict[str, Any]]:
    """What comes of the lines in pieces that end at `cuts`; between them the state goes through JSON with sorted keys."""
    found: list[Observation] = []
    state: dict[str, Any] = {}
    start = 0
    for end in [*sorted(min(cut, len(lines)) for cut in cuts), len(lines)]:
        some, state = adapter.parse(lines[start:end], state)
        state = json.loads(json.dumps(state, sort_keys=True))
        found, start = found + some, end
    return found, state
