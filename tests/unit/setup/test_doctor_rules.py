"""The rules of health, over every combination of what can be found of hosts, schedule and live check."""

from __future__ import annotations

import itertools

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.setup.doctor_host_rules import REFUSED, Standing, judge_host
from afl_core.setup.doctor_report import Part, fail, merged, report, warn
from afl_core.setup.doctor_rules import judge
from afl_core.spec.health import Health
from afl_core.spec.trust import TrustState

STATES = [state.value for state in TrustState]


def event(kind, **changes):
    return {"kind": kind, "configured": True, "asWritten": True, "problem": "", "trust": None, **changes}


def host(**changes):
    body = {
        "selected": True,
        "provided": True,
        "absent": False,
        "settingsProblem": "",
        "switchedOffIn": "",
        "events": {"Ask": event("prompt"), "End": event("stop")},
        "reviewerAvailable": True,
        "reviewerReason": "",
    }
    return {**body, **changes}


def with_event(**changes):
    return host(events={"Ask": event("prompt", **changes), "End": event("stop")})


WORKING = host()
IMPAIRED = {
    "no_plugin": host(provided=False),
    "not_configured": with_event(configured=False, asWritten=None, problem=None),
    "unavailable": with_event(trust="unavailable"),
    "not_found": host(absent=True),
    "reviewer_unavailable": host(reviewerAvailable=False, reviewerReason="no login"),
    "not_as_written": with_event(asWritten=False),
    "not_examined": host(events={}),
}
BROKEN = {
    "settings_unusable": host(settingsProblem="line 3 is no JSON"),
    "switched_off": host(switchedOffIn="/h/settings.json"),
    "not_runnable": with_event(problem="it ended with status 2"),
    **{state: with_event(trust=state) for state in REFUSED},
}
UNSELECTED = host(selected=False, absent=True, events={}, reviewerAvailable=False)


def judged(**hosts):
    return judge({"clis": hosts}, installed=True)


@pytest.mark.parametrize("status", [*IMPAIRED, *BROKEN])
def test_whatever_is_wrong_with_a_host_is_named_in_one_word_and_a_sentence(status):
    verdict = judge_host({**IMPAIRED, **BROKEN}[status])
    assert verdict.status == status
    assert verdict.reasons
    assert verdict.standing is (Standing.BROKEN if status in BROKEN else Standing.IMPAIRED)


@pytest.mark.parametrize("status", IMPAIRED)
def test_a_selected_host_that_does_not_work_degrades_a_home_in_which_another_works(status):
    verdict = judged(one=WORKING, two=IMPAIRED[status])
    assert (verdict.healthy, verdict.degraded, verdict.word) == (True, True, "degraded")
    assert {reason.about for reason in verdict.reasons} == {"two"}


@pytest.mark.parametrize("status", BROKEN)
def test_a_selected_hook_that_cannot_run_makes_the_home_unhealthy_although_another_works(status):
    verdict = judged(one=WORKING, two=BROKEN[status])
    assert verdict.word == "unhealthy"
    assert [reason.about for reason in verdict.reasons if reason.health is Health.FAIL] == ["two"]


@pytest.mark.parametrize("status", [name for name in IMPAIRED if name not in ("not_as_written", "not_found")])
def test_when_no_selected_host_works_the_home_is_unhealthy(status):
    verdict = judged(two=IMPAIRED[status], three=UNSELECTED)
    assert verdict.word == "unhealthy"
    assert verdict.reasons[0].sentence == f"no selected host works: two ({verdict.hosts['two'].reasons[0]})"


def test_a_host_that_was_not_selected_changes_nothing_and_is_absent():
    assert judged(one=WORKING) == attrs.evolve(judged(one=WORKING, two=UNSELECTED), hosts=judged(one=WORKING).hosts)
    assert judge_host(UNSELECTED).status == judge_host(UNSELECTED).standing.value == "absent"


def test_words_of_trust_are_those_of_the_hosts_side():
    verdict = judge_host(host(events={"Ask": event("prompt", trust="trusted"), "End": event("stop", trust="modified")}))
    document = verdict.document()
    assert (document["promptTrustStatus"], document["backstopTrustStatus"], document["status"]) == ("trusted", "modified", "modified")
    assert (document["promptConnected"], document["backstopConnected"], document["connected"]) == (True, False, False)
    trusted = judge_host(host(events={"Ask": event("prompt", trust="trusted"), "End": event("stop", trust="trusted")}))
    assert (trusted.status, trusted.operational) == ("trusted", True)


def test_trust_told_by_kind_counts_as_trust_told_by_event():
    told = judge_host(host(promptTrustStatus="untrusted", backstopTrustStatus="trusted", reason="ignored"))
    assert (told.status, told.standing, told.prompt.trust, told.backstop.trust) == ("untrusted", Standing.BROKEN, "untrusted", "trusted")
    unknown = judge_host(host(promptTrustStatus="unavailable", backstopTrustStatus="unavailable", reason="it did not answer"))
    assert (unknown.status, unknown.standing, unknown.connected) == ("unavailable", Standing.IMPAIRED, False)
    assert "it did not answer" in unknown.reasons[0]


def test_one_hook_that_its_settings_switch_off_cannot_run():
    off = judge_host(with_event(disabled=True))
    assert (off.status, off.standing, off.prompt.connected, off.backstop.connected) == ("disabled", Standing.BROKEN, False, True)


def test_a_schedule_that_is_not_there_as_it_was_written_counts_as_none():
    body = {"clis": {"one": WORKING}, "scheduler": {"required": True, "configured": False, "active": True}}
    assert judge(body, installed=True).word == "unhealthy"


EVENTS = st.builds(
    lambda configured, written, problem, trust: event(
        "prompt", configured=configured, asWritten=written if configured else None, problem=problem if configured else None, trust=trust
    ),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "", "it ended with status 1"]),
    st.sampled_from([None, None, *STATES]),
)
HOSTS = st.fixed_dictionaries(
    {"selected": st.booleans()},
    optional={
        "provided": st.booleans(),
        "absent": st.booleans(),
        "settingsProblem": st.sampled_from(["", "", "broken"]),
        "switchedOffIn": st.sampled_from(["", "", "/x"]),
        "events": st.tuples(EVENTS, EVENTS).map(lambda pair: {"Ask": pair[0], "End": {**pair[1], "kind": "stop"}}),
        "reviewerAvailable": st.sampled_from([True, True, False, None]),
        "reviewerReason": st.text(max_size=5),
    },
)
BODIES = st.fixed_dictionaries(
    {"clis": st.dictionaries(st.sampled_from(["codex", "claude", "gemini"]), HOSTS)},
    optional={
        "scheduler": st.fixed_dictionaries(
            {}, optional={name: st.booleans() for name in ("required", "active", "configured", "supported")}
        ),
        "reconciliation": st.fixed_dictionaries(
            {}, optional={"status": st.sampled_from([None, "completed", "completed_with_errors"]), "fresh": st.booleans()}
        ),
        "live": st.sampled_from([{"status": "healthy"}, {"status": "skipped"}, {"status": "unhealthy", "reason": "x"}]),
        "files": st.dictionaries(st.sampled_from(["prompt", "coreHook"]), st.booleans()),
    },
)


def is_broken(facts):
    there = [one for one in facts.get("events", {}).values() if one["configured"]]
    refused = any(one["trust"] in REFUSED or one["problem"] for one in there)
    return bool(
        facts["selected"] and facts.get("provided") is not False and (facts.get("settingsProblem") or facts.get("switchedOffIn") or refused)
    )


def works(facts):
    events = facts.get("events", {}).values()
    hooks = bool(events) and all(one["configured"] and one["problem"] == "" and one["trust"] in (None, "trusted") for one in events)
    usable = not facts.get("settingsProblem") and not facts.get("switchedOffIn") and facts.get("provided") is not False
    return facts["selected"] and usable and hooks and facts.get("reviewerAvailable") is True


@given(BODIES)
def test_the_rules_hold_for_every_combination(body):
    verdict, clis = judge(body, installed=True), body["clis"]
    scheduler, reconciliation = body.get("scheduler", {}), body.get("reconciliation", {})
    required = scheduler.get("required", False)
    must_fail = (
        any(is_broken(facts) for facts in clis.values())
        or not any(works(facts) for facts in clis.values())
        or (required and not (scheduler.get("active") and scheduler.get("configured", True)))
        or (
            "reconciliation" in body
            and required
            and not (reconciliation.get("status") == "completed" and reconciliation.get("fresh") is True)
        )
        or body.get("live", {}).get("status") == "unhealthy"
        or False in body.get("files", {}).values()
    )
    assert verdict.healthy is not must_fail
    assert verdict.degraded is bool(verdict.reasons)
    assert verdict.healthy or verdict.degraded
    document = verdict.document()
    assert document["operational"]["readyClis"] == [name for name, facts in clis.items() if works(facts)]
    for name, facts in clis.items():
        one = verdict.hosts[name]
        said = [reason for reason in verdict.reasons if reason.about == name]
        if not facts["selected"]:
            assert (one.standing, said, one.operational) == (Standing.ABSENT, [], False)
        elif not works(facts):
            assert said, "a selected host that does not work is named"
            assert one.document()["reason"]
            assert name in document["operational"]["unavailableClis"]
        assert not one.connected or (one.configured and one.runnable)
        assert (one.standing is Standing.BROKEN) is is_broken(facts)


@given(BODIES, st.data())
def test_unselected_hosts_never_matter(body, data):
    more = {f"other-{number}": {**facts, "selected": False} for number, facts in enumerate(data.draw(st.lists(HOSTS, max_size=2)))}
    with_more = judge({**body, "clis": {**body["clis"], **more}}, installed=True)
    assert with_more.reasons == judge(body, installed=True).reasons


@given(BODIES, st.sampled_from(["scheduler", "reconciliation", "live", "files"]))
def test_what_is_not_known_is_no_fault(body, name):
    known = judge(body, installed=True)
    unknown = judge({key: value for key, value in body.items() if key != name}, installed=True)
    assert {reason.about for reason in unknown.reasons} <= {reason.about for reason in known.reasons}
    assert unknown.healthy or not known.healthy


@pytest.mark.parametrize(
    ("required", "active", "status", "fresh"),
    list(itertools.product([True, False], [True, False], [None, "completed", "completed_with_errors"], [True, False])),
)
def test_a_schedule_counts_where_one_is_required(required, active, status, fresh):
    verdict = judge(
        {
            "clis": {"one": WORKING},
            "scheduler": {"required": required, "active": active, "configured": active},
            "reconciliation": {"status": status, "fresh": fresh},
        },
        installed=True,
    )
    assert verdict.healthy is (not required or (active and status == "completed" and fresh))
    assert verdict.scheduler_ready is (active or not required)
    assert verdict.degraded is (not verdict.healthy or status == "completed_with_errors")


def test_an_installed_schedule_that_does_not_run_degrades_where_none_is_required():
    body = {"clis": {"one": WORKING}, "scheduler": {"required": False, "configured": True, "active": False}}
    assert judge(body, installed=True).word == "degraded"


def test_a_later_part_adds_to_what_an_earlier_one_said_of_a_host():
    trust = Part({"clis": {"one": {"hostCommand": "/bin/one", "events": {"Ask": {"trust": "disabled"}}}}})
    found = report("/h", {"hosts": Part({"clis": {"one": WORKING}}), "trust": trust}, installed=True).as_json()
    assert found["clis"]["one"]["status"] == "disabled"
    assert found["clis"]["one"]["hostCommand"] == "/bin/one"
    assert found["clis"]["one"]["events"]["Ask"]["configured"] is True
    assert found["healthy"] is False


def test_lines_of_a_part_that_is_judged_by_its_body_only_explain_and_those_of_others_count():
    hosts = Part({"clis": {"one": WORKING}}, (fail("host one", "an explanation"),))
    assert report("/h", {"hosts": hosts}, installed=True).healthy
    assert not report("/h", {"hosts": Part(lines=hosts.lines)}, installed=True).healthy
    assert report("/h", {"hosts": hosts, "disk": Part(lines=(warn("disk", "nearly full"),))}, installed=True).degraded
    assert not report("/h", {"hosts": hosts, "disk": Part(lines=(fail("disk", "full"),))}, installed=True).healthy


def test_a_home_without_an_install_says_that_first():
    verdict = judge({"clis": {"one": UNSELECTED}}, installed=False)
    assert [reason.sentence for reason in verdict.reasons] == ["nothing is installed"]
    assert not verdict.healthy


@given(st.dictionaries(st.text(max_size=2), st.integers()), st.dictionaries(st.text(max_size=2), st.integers()))
def test_merging_flat_bodies_is_what_it_is_for_dictionaries(one, other):
    assert merged(one, other) == {**one, **other}
