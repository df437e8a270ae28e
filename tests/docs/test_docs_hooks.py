"""Every hook specification and every host event is in the reference with its arguments, kinds, timeouts and replies."""

from __future__ import annotations

import inspect
import json

import pytest

from afl_core.plugins.discovery import read_entry_points
from afl_core.plugins.registry import Registry
from afl_core.spec import hooks

OURS = ("afl-core", "afl-redactors", "afl-providers-claude", "afl-providers-codex", "afl-providers-gemini")


@pytest.fixture
def hooks_page(page):
    return page("docs/reference/hooks.md")


@pytest.fixture(scope="module")
def manifests():
    """The manifests of the hosts that this repository provides."""
    registry = Registry([one for one in read_entry_points() if one.distribution in OURS])
    return {name: adapter.manifest() for name, adapter in registry.hosts().items()}


def test_every_hook_specification_is_documented_in_order_with_its_arguments(hooks_page, code):
    specified = {name: function for name, function in vars(hooks).items() if name.startswith("afl_") and inspect.isfunction(function)}
    told = [code(title)[0] for level, title in hooks_page.headings if level == 3 and title.startswith("`afl_")]
    assert told == [f"{name}({', '.join(inspect.signature(function).parameters)})" for name, function in specified.items()]


def test_every_contract_that_is_named_exists(hooks_page, code):
    named = [text for text in code(hooks_page.text) if text.startswith("afl_core.spec.")]
    assert len(named) > 5
    for dotted in named:
        module, _, attribute = dotted.rpartition(".")
        assert dotted == "afl_core.spec.marker" or hasattr(__import__(module, fromlist=[attribute]), attribute), dotted


def heading_of(manifest):
    return f"{manifest.label}: `{manifest.name}`"


def test_every_event_of_every_host_is_documented_in_order(hooks_page, manifests, code):
    assert manifests
    for manifest in manifests.values():
        rows = [
            row.cells
            for row in hooks_page.table("event", "kind", "timeout in s", "may carry context")
            if row.heading == heading_of(manifest)
        ]
        told = [(code(row["event"])[0], row["kind"], int(row["timeout in s"]), row["may carry context"] == "yes") for row in rows]
        assert told == [(event.name, event.kind, event.timeout_s, event.injects) for event in manifest.events]
        assert all(event.matcher is None for event in manifest.events), "the page says that no entry has a matcher"


def test_every_reply_of_every_host_is_documented_as_it_is(hooks_page, manifests):
    for manifest in manifests.values():
        told = [json.loads(fence.text) for fence in hooks_page.fences if fence.language == "json" and fence.heading == heading_of(manifest)]
        assert told == [*(manifest.envelope[event.name] for event in manifest.events if event.injects), json.loads(manifest.noop)]


def test_fields_limits_prefixes_and_forwarded_names_are_documented(hooks_page, manifests, code):
    for manifest in manifests.values():
        section = hooks_page.section(heading_of(manifest))
        fields = {
            row.cells["our name"]: code(row.cells["field of the payload"])[0]
            for row in hooks_page.rows
            if row.heading == heading_of(manifest) and "our name" in row.cells
        }
        assert fields == dict(manifest.fields)
        assert manifest.limit_chars is None or f"{manifest.limit_chars:,} characters" in section
        assert manifest.limit_bytes is None or f"{manifest.limit_bytes:,} bytes" in section
        assert set(manifest.machine_prefixes) <= set(code(section))
        forwarded = hooks_page.section("What the hook forwards")
        assert set(manifest.routing_env) <= set(code(forwarded))


def test_the_command_in_the_reference_is_the_one_that_install_writes(hooks_page):
    from afl_core.setup.render import command_for

    command = next(fence.text for fence in hooks_page.fences if fence.language == "sh")
    assert command.strip() == command_for("<hook>", "<python>", "claude", "UserPromptSubmit")


def test_the_waits_in_the_reference_are_those_of_the_hook(hooks_page, sources, value):
    import ast

    tree = next(module.tree for module in sources if module.name == "afl_core/hook/client.py")
    waits = {node.targets[0].id: value(node.value, {}) for node in tree.body if isinstance(node, ast.Assign)}
    assert f"{waits['PROMPT_WAIT_S']} s" in hooks_page.section("Host events")
