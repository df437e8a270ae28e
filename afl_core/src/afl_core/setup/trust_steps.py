"""Trust as steps of install and uninstall: what would be done, what was done, and what a person must know when it could not be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.model.errors import AflError
from afl_core.setup.backups import read_backup
from afl_core.setup.doctor_report import counted
from afl_core.setup.edit_journal import EditJournal, EditRecord
from afl_core.setup.edit_target import is_file, look_at, sha256
from afl_core.setup.edits import PlannedEdit, foreign_edit
from afl_core.setup.journal import merged, read_journal, store_journal
from afl_core.setup.selection import Selected, Selection, select_hosts
from afl_core.setup.trust import approving, ask_host, asks_trust, distrusting, looking, place_of, wanted_hooks
from afl_core.spec.host import HostAdapter
from afl_core.spec.trust import TrustReport, TrustState, WantedHook

BAD_STATES = (TrustState.UNAVAILABLE, TrustState.MISSING, TrustState.MODIFIED, TrustState.UNTRUSTED, TrustState.DISABLED)
"""The states in which a hook does not run, or nobody knows; the first that occurs is the one of the whole."""


@attrs.frozen
class TrustWish:
    """One host that shall trust our hooks, or forget them: the line for a person, and who is asked about what."""

    step: str
    one: Selected
    wanted: tuple[WantedHook, ...]


@attrs.frozen
class TrustPlan:
    """What install would have trusted, and what it cannot change; `leaving`: the hosts that are no longer connected and still trust us."""

    wishes: tuple[TrustWish, ...] = ()
    warnings: tuple[str, ...] = ()
    leaving: tuple[TrustWish, ...] = ()

    @property
    def steps(self) -> tuple[str, ...]:
        """Lines for a person."""
        return tuple(wish.step for wish in (*self.leaving, *self.wishes))


def plan_trust(
    home: Home, selection: Selection, edits: Sequence[PlannedEdit], python: str, parting: tuple[TrustWish, ...] = ()
) -> TrustPlan:
    """Which hosts have to be asked. One whose settings change is; one whose settings are in place is looked at now, through its own server.

    `parting`: what `leaving` found.
    """
    changing = {edit.path for edit in edits if edit.changes}
    wishes, warnings = [], []
    for one in selection.selected:
        if asks_trust(one) is None:
            continue
        wanted = wanted_hooks(one, home, python)
        wish = TrustWish(f"let {one.manifest.label} trust our {counted(len(wanted), 'hook')}", one, wanted)
        if not one.present:
            warnings.append(f"{one.manifest.label} runs our hooks only once it trusts them; when it is here, run `afl install` again")
        elif one.settings_path in changing:
            wishes.append(wish)
        else:
            report = ask_host(home, one, wanted, looking).report
            if report.states() & {TrustState.UNTRUSTED, TrustState.MODIFIED}:
                wishes.append(wish)
            else:
                warnings += problems(one, report)
    return TrustPlan(tuple(wishes), tuple(warnings), parting)


def leaving(adapters: Mapping[str, HostAdapter], home: Home, before: Mapping[str, Any], dropped: Sequence[str]) -> tuple[TrustWish, ...]:
    """The hosts that are no longer connected and may still trust our hooks, as the install `before` wrote them."""
    gone = select_hosts(adapters, home.paths, home.environ, before, dropped).selected
    return tuple(_parting(home, one, str(before.get("python", ""))) for one in gone if _may_trust_us(one))


def leave_trust(home: Home, plan: TrustPlan, checkpoint: Callable[[str], None]) -> list[str]:
    """Before our hooks leave the settings of a host: let it forget them. Noted in the journal, so that uninstall still finds the way back.

    Lines of what became of it; what cannot be asked stops nothing.
    """
    said: list[str] = []

    def forget(wish: TrustWish) -> None:
        said.extend(take_trust(home, (wish,)))

    for wish in plan.leaving:
        try:
            _through_host(home, wish, checkpoint, partial(forget, wish))
        except AflError as bad:
            said.append(f"{wish.one.manifest.label} keeps its trust in hooks that are gone now: {bad.sentence}")
    return said


def _parting(home: Home, one: Selected, python: str) -> TrustWish:
    return TrustWish(f"let {one.manifest.label} forget its trust in our hooks", one, wanted_hooks(one, home, python))


def _may_trust_us(one: Selected) -> bool:
    adapter = asks_trust(one)
    return adapter is not None and is_file(adapter.trust_store(place_of(one)))


def give_trust(home: Home, plan: TrustPlan, checkpoint: Callable[[str], None]) -> tuple[set[str], list[str]]:
    """Ask each host; the steps that were not reached, and what a person must do about it. A host that does not trust us is no failed install.

    The steps of hosts that leave count as not reached: `leave_trust` has told what became of them.
    """
    missed, warnings = {wish.step for wish in plan.leaving}, []
    for wish in plan.wishes:
        try:
            report = _trusted(home, wish, checkpoint)
        except AflError as bad:
            missed.add(wish.step)
            warnings.append(f"{wish.one.manifest.label} was not asked to trust our hooks: {bad.sentence}; {bad.hint or 'run: afl doctor'}")
            continue
        if said := problems(wish.one, report):
            warnings += said
            if not report.of(TrustState.TRUSTED):
                missed.add(wish.step)
    return missed, warnings


def _trusted(home: Home, wish: TrustWish, checkpoint: Callable[[str], None]) -> TrustReport:
    reports: list[TrustReport] = []
    _through_host(home, wish, checkpoint, lambda: reports.append(ask_host(home, wish.one, wish.wanted, approving).report))
    return reports[0] if reports else TrustReport(())


def _through_host(home: Home, wish: TrustWish, checkpoint: Callable[[str], None], change: Callable[[], None]) -> None:
    """Do `change`, which lets the host write where it keeps its trust; with a copy of that file, and the journal of it."""
    adapter, paths = asks_trust(wish.one), home.paths
    if adapter is None:
        return
    earlier = read_journal(paths)
    foreign_edit(
        adapter.trust_store(place_of(wish.one)),
        wish.one.name,
        Path(paths.backups),
        home.clock,
        change,
        record=lambda journal: store_journal(paths, merged(earlier, journal)),
        checkpoint=lambda step: checkpoint(f"{wish.one.name}:{step}"),
    )


def problems(one: Selected, report: TrustReport) -> list[str]:
    """One line for each state in which a hook does not run: the state, the hooks, the next step."""
    return [f"{sentence}; {after}" for _state, sentence, after in troubles(one, report)]


def troubles(one: Selected, report: TrustReport) -> list[tuple[TrustState, str, str]]:
    """For each state in which a hook does not run: the state, a sentence with the hooks and the host's reason, and the next step."""
    said, label = [], one.manifest.label
    for state in BAD_STATES:
        if events := report.of(state):
            what, after = WORDS[state]
            told = report.reason if state is not TrustState.DISABLED else ""
            after = "put that right, then run: afl install" if told and state is TrustState.MISSING else after
            sentence = f"{label} {what.format(events=', '.join(events))}" + (f" ({told})" if told else "")
            said.append((state, sentence, after.format(label=label, variable=one.name.upper())))
    return said


WORDS: Mapping[TrustState, tuple[str, str]] = {
    TrustState.UNAVAILABLE: (
        "could not be asked whether it trusts our hook for {events}",
        "put that right (AGENT_FEEDBACK_LOOP_{variable}_COMMAND names its command), then run: afl install",
    ),
    TrustState.MISSING: (
        "does not list our hook for {events}",
        "check that hooks are not switched off in its settings, then run: afl install",
    ),
    TrustState.MODIFIED: ("does not run our hook for {events}: it was changed since it was trusted", "run: afl install"),
    TrustState.UNTRUSTED: ("does not run our hook for {events}: it is not trusted", "run: afl install"),
    TrustState.DISABLED: (
        "does not run our hook for {events}: it was switched off there",
        "switch it on in {label} if that was not meant, then run: afl doctor",
    ),
}
"""What is said of a state, and the next step."""


def plan_distrust(home: Home, selection: Selection, journal: EditJournal | None, python: str) -> tuple[TrustWish, ...]:
    """The hosts that have to be asked to forget us: those whose file was changed since they began to trust us, so that it cannot simply be put back.

    `journal` None: it cannot be read, so that nobody knows.
    """
    wishes = []
    for one in selection.selected:
        adapter = asks_trust(one)
        if adapter is None:
            continue
        store = adapter.trust_store(place_of(one))
        if not is_file(store) or (content := look_at(store).content) is None:
            continue
        records = () if journal is None else tuple(record for record in journal.records if record.through and record.path == str(store))
        if journal is None or not all(_can_be_put_back(record, sha256(content)) for record in records):
            wishes.append(_parting(home, one, python))
    return tuple(wishes)


def take_trust(home: Home, wishes: Sequence[TrustWish]) -> list[str]:
    """Ask each; lines of what became of it. What stays is trust in a command that is no longer configured: it runs nothing."""
    said = []
    for wish in wishes:
        label, report = wish.one.manifest.label, ask_host(home, wish.one, wish.wanted, distrusting).report
        if report.reason or TrustState.TRUSTED in report.states():
            said.append(f"{label} keeps its trust in hooks that are gone now: {report.reason or 'it did not forget them'}")
        elif report.changed:
            said.append(f"{label} forgot its trust in our hooks; the rest of its configuration is as you left it")
        else:
            said.append(f"{label} did not trust our hooks any more")
    return said


def _can_be_put_back(record: EditRecord, now: str) -> bool:
    """As it was before, or as it was left with the bytes from before at hand: then no program needs to be asked."""
    if now == record.sha256_before:
        return True
    backed = not record.existed or (record.backup is not None and read_backup(Path(record.backup), record.sha256_before) is not None)
    return backed and now == record.sha256_after
