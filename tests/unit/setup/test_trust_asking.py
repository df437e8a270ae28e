"""Asking a host about our hooks: the next server only before the first answer, a plug-in's error is a reason, and what install, doctor and uninstall make of it."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from afl_core.api.home import Home
from afl_core.plugins.registry import Registry
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.journal import read_journal
from afl_core.setup.selection import Selected
from afl_core.setup.trust import ask_host, looking
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall
from afl_core.spec.health import Health
from afl_core.spec.host import HookEvent, HostManifest, HostPlace
from afl_core.spec.trust import Ask, TrustFinding, TrustReport, TrustState, WantedHook

SERVER = """
import json, os, sys
store, log = sys.argv[1], sys.argv[2]
open(log, "a").write(sys.argv[3] + "\\n")
if sys.argv[3] == "silent":
    sys.exit(0)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "hello":
        print(json.dumps({"id": asked["id"], "home": os.environ.get("HOME"), "extra": os.environ.get("OTHER_DIR")}), flush=True)
        if sys.argv[3] == "short":
            sys.exit(0)
        continue
    held = json.load(open(store)) if os.path.exists(store) else {}
    if asked["method"] == "trust":
        held.update({event: "trusted" for event in asked["events"] if held.get(event) != "disabled"})
    if asked["method"] == "forget":
        held = {event: state for event, state in held.items() if state != "trusted"}
    if asked["method"] != "look":
        json.dump(held, open(store, "w"))
        os.chmod(store, 0o600)
    print(json.dumps({"id": asked["id"], "held": held}), flush=True)
"""


class WaryHost:
    """A host that runs a hook only after it was told to its server."""

    name = "wary"
    kinds = ("whole",)
    broken = False

    def __init__(self, home):
        self.home = home
        self.log = home / "log"
        (home / "server.py").write_text(SERVER)

    def manifest(self):
        return HostManifest(
            name="wary",
            label="Wary",
            events=(HookEvent("Ask", "prompt", 5, injects=True), HookEvent("End", "stop", 5)),
            fields={"session": "id", "prompt": "text", "answer": "said"},
            envelope={"Ask": {"extra": "{context}"}},
            noop="{}",
            limit_chars=None,
            limit_bytes=9000,
        )

    def locate(self, home, environ):
        folder = Path(home) / ".wary"
        return HostPlace(folder, folder / "hooks.json", None, present=folder.is_dir())

    def owns_command(self, command):
        return "/feedback-loop/hook/hook.py" in command and " wary " in command

    def trust_store(self, place):
        return place.config_dir / "trust.json"

    def trust_environment(self, place, environ):
        return {"OTHER_DIR": str(place.config_dir)}

    def trust_commands(self, place, environ):
        script, store = str(self.home / "server.py"), str(self.trust_store(place))
        return tuple(
            (sys.executable, "-I", "-S", script, store, str(self.log), kind) if kind != "missing" else ("/no/such/server",)
            for kind in self.kinds
        )

    def trust_dialogue(self, wanted, cwd, *, approve):
        return self.talk(wanted, "trust" if approve else "look")

    def distrust_dialogue(self, wanted, cwd):
        return self.talk(wanted, "forget")

    def talk(self, wanted: tuple[WantedHook, ...], method):
        if self.broken:
            raise ValueError("SECRET")
        events = [hook.event for hook in wanted]
        hello = yield Ask({"method": "hello", "id": 1}, 1)
        assert hello["extra"].endswith(".wary")
        before = (yield Ask({"method": "look", "id": 2}, 2))["held"]
        pending = [event for event in events if (before.get(event) == "trusted") != (method == "trust")] if method != "look" else []
        held = (yield Ask({"method": method, "id": 3, "events": events}, 3))["held"] if pending else before
        return TrustReport(tuple(TrustFinding(event, TrustState(held.get(event, "untrusted"))) for event in events), changed=held != before)

    def servers(self):
        return self.log.read_text().split() if self.log.exists() else []


@pytest.fixture
def wary(home, monkeypatch):
    host = WaryHost(home)
    (home / ".wary").mkdir()
    monkeypatch.setattr(Registry, "hosts", lambda _self: {"wary": host})
    return host


@pytest.fixture
def environ(home):
    return {"HOME": str(home), "PATH": os.defpath}


@pytest.fixture
def do(home, environ, wary):
    """Run install, uninstall or doctor; `dry` only plans."""

    def act(what, dry=False):
        with Home(str(home), environ) as opened:
            if what == "doctor":
                return doctor(opened)
            plan, apply = (plan_install, apply_install) if what == "install" else (plan_uninstall, apply_uninstall)
            return plan(opened) if dry else apply(plan(opened))

    return act


STEP = "let Wary trust our 2 hooks"
FORGET = "let Wary forget its trust in our hooks"


def asked(home, environ, host):
    place = host.locate(home, environ)
    one = Selected(host, host.manifest(), place.config_dir, place.settings_path, None, present=True)
    with Home(str(home), environ) as opened:
        return ask_host(opened, one, (WantedHook("Ask", "x", place.settings_path),), looking)


@pytest.mark.parametrize(
    ("kinds", "tried"), [(("missing", "silent", "whole", "whole"), ["silent", "whole"]), (("whole", "missing"), ["whole"])]
)
def test_the_next_server_is_tried_only_before_the_first_answer(home, environ, wary, kinds, tried):
    wary.kinds = kinds
    assert asked(home, environ, wary).report.states() == {TrustState.UNTRUSTED}
    assert wary.servers() == tried


def test_a_server_that_ends_after_its_first_answer_has_the_last_word(home, environ, wary):
    wary.kinds = ("short", "whole")
    told = asked(home, environ, wary)
    assert (told.report.states(), told.command) == ({TrustState.UNAVAILABLE}, sys.executable)
    assert "ended before it answered" in told.report.reason
    assert wary.servers() == ["short"]


def test_without_any_server_the_reasons_are_told(home, environ, wary):
    wary.kinds = ("missing",)
    told = asked(home, environ, wary)
    assert (told.report.states(), told.command) == ({TrustState.UNAVAILABLE}, "")
    assert "/no/such/server" in told.report.reason


def test_an_error_of_the_plug_in_is_a_reason_without_its_words(home, environ, wary):
    wary.broken = True
    told = asked(home, environ, wary)
    assert "ValueError" in told.report.reason
    assert "SECRET" not in told.report.reason


def test_install_trusts_and_the_next_one_changes_nothing(do, home):
    assert do("install", dry=True).steps[-1] == STEP
    assert not (home / ".wary/trust.json").exists()
    assert STEP in do("install").done
    assert json.loads((home / ".wary/trust.json").read_text()) == {"Ask": "trusted", "End": "trusted"}
    assert do("install").changed is False
    (home / ".wary/trust.json").write_text("{}")
    assert do("install", dry=True).steps == (STEP,)
    assert do("install").done == (STEP,)


def test_what_the_person_switched_off_stays_off_and_is_told(do, home):
    (home / ".wary/trust.json").write_text('{"End": "disabled"}')
    done = do("install")
    assert STEP in done.done
    assert any("Wary does not run our hook for End: it was switched off there" in warning for warning in done.warnings)
    again = do("install")
    assert again.changed is False
    assert any("switched off" in warning for warning in again.warnings)


def test_a_host_that_cannot_be_asked_is_no_failed_install(do, home, wary):
    wary.kinds = ("missing",)
    done = do("install")
    assert STEP not in done.done
    assert any("AGENT_FEEDBACK_LOOP_WARY_COMMAND" in warning for warning in done.warnings)
    assert (home / ".wary/hooks.json").exists()
    lines = [line for line in do("doctor").lines if line.name == "trust wary"]
    assert [(line.health, "/no/such/server" in line.sentence) for line in lines] == [(Health.WARN, True)]


def test_uninstall_puts_the_store_back_with_its_mode(do, home):
    store = home / ".wary/trust.json"
    store.write_bytes(b'{ "mine": "x" }')
    store.chmod(0o644)
    do("install")
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    do("uninstall")
    assert store.read_bytes() == b'{ "mine": "x" }'
    assert stat.S_IMODE(store.stat().st_mode) == 0o644


def test_uninstall_removes_a_store_that_trust_alone_made(do, home):
    do("install")
    do("uninstall")
    assert not (home / ".wary/trust.json").exists()


def test_where_somebody_wrote_since_the_host_is_asked_to_forget(do, home):
    do("install")
    store = home / ".wary/trust.json"
    store.write_text(json.dumps({**json.loads(store.read_text()), "mine": "x"}))
    assert "let Wary forget its trust in our hooks" in do("uninstall", dry=True).steps
    done = do("uninstall").done
    assert json.loads(store.read_text()) == {"mine": "x"}
    assert any(line.startswith("Wary forgot its trust") for line in done)
    assert do("uninstall").changed is False


@pytest.mark.parametrize("mine", [None, b'{ "mine": "x" }'])
def test_a_host_that_is_no_longer_connected_forgets_us_and_uninstall_still_finds_the_way_back(home, environ, do, mine):
    store = home / ".wary/trust.json"
    if mine is not None:
        store.write_bytes(mine)
        store.chmod(0o644)
    do("install")
    with Home(str(home), environ) as opened:
        plan = plan_install(opened, hosts=[])
        assert FORGET in plan.steps
        done = apply_install(plan)
        assert any(line.startswith("Wary forgot its trust") for line in done.done)
        assert FORGET not in done.done
        assert not plan_install(opened, hosts=[]).trust.leaving
    assert json.loads(store.read_text()) == json.loads(mine or b"{}")
    do("uninstall")
    assert (store.read_bytes() if store.exists() else None) == mine
    assert mine is None or stat.S_IMODE(store.stat().st_mode) == 0o644


def test_a_host_that_leaves_and_cannot_be_asked_keeps_the_install_from_nothing(home, environ, do, wary):
    do("install")
    wary.kinds = ("missing",)
    with Home(str(home), environ) as opened:
        assert any("keeps its trust" in line for line in apply_install(plan_install(opened, hosts=[])).done)
    assert not (home / ".wary/hooks.json").exists() or "feedback-loop" not in (home / ".wary/hooks.json").read_text()


def test_a_host_that_cannot_be_asked_to_forget_does_not_stop_uninstall(do, home, wary):
    do("install")
    store = home / ".wary/trust.json"
    store.write_text('{"Ask": "trusted", "mine": "x"}')
    wary.kinds = ("missing",)
    assert any("keeps its trust" in line for line in do("uninstall").done)
    assert not (home / ".wary/hooks.json").exists()


def test_install_over_trust_that_is_there_still_undoes_to_the_beginning(do, home):
    store = home / ".wary/trust.json"
    store.write_bytes(b'{ "mine": "x" }')
    do("install")
    (home / ".wary/hooks.json").write_text("{}")
    do("install")
    do("uninstall")
    assert store.read_bytes() == b'{ "mine": "x" }'


def test_a_process_that_was_killed_while_the_host_wrote_leaves_a_journal_that_undoes_it(home, environ, do):
    class KilledError(BaseException):
        pass

    store = home / ".wary/trust.json"
    store.write_bytes(b'{ "mine": "x" }')

    def kill(at):
        def checkpoint(step):
            if step == at:
                raise KilledError

        return checkpoint

    with Home(str(home), environ) as opened, pytest.raises(KilledError):
        apply_install(plan_install(opened), kill("trust:wary:recorded"))
    with Home(str(home), environ) as opened:
        [record] = [one for one in read_journal(opened.paths).records if one.through]
        assert (record.sha256_after, record.through) == (None, "wary")
    store.write_text(json.dumps({"mine": "x", "Ask": "trusted", "End": "trusted"}))  # the host wrote, nobody noted it
    do("uninstall")
    assert json.loads(store.read_text()) == {"mine": "x"}
    assert do("uninstall").changed is False


def test_doctor_names_the_state_and_a_hook_that_does_not_run_is_not_connected(do, home):
    do("install")
    body = do("doctor").as_json()["clis"]["wary"]
    assert (body["promptTrustStatus"], body["backstopTrustStatus"], body["hostAvailable"], body["changed"]) == (
        "trusted",
        "trusted",
        True,
        False,
    )
    assert body["inspectionScope"] == "spawned_app_server"
    assert body["promptConnected"]
    (home / ".wary/trust.json").write_text('{"Ask": "modified", "End": "trusted"}')
    report = do("doctor")
    body = report.as_json()["clis"]["wary"]
    assert (body["promptTrustStatus"], body["backstopTrustStatus"], body["status"]) == ("modified", "trusted", "modified")
    assert (body["runnable"], body["promptConnected"], body["backstopConnected"], report.healthy) == (False, False, True, False)
    [line] = [line for line in report.lines if line.name == "trust wary"]
    assert (line.health, line.hint) == (Health.FAIL, "run: afl install")
