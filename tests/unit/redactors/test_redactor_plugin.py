"""The plug-in module registers the redactor through the hook marker and states its contract version."""

from __future__ import annotations

import pluggy

from afl_core.spec.marker import API_VERSION, PROJECT
from afl_redactors import plugin
from afl_redactors.redactor import CredentialRedactor


def test_the_plugin_states_the_version_it_was_written_for() -> None:
    assert plugin.AFL_API_VERSION == API_VERSION


def test_the_hook_returns_the_redactor() -> None:
    manager = pluggy.PluginManager(PROJECT)
    manager.register(plugin)
    assert plugin.__dict__["afl_redactors"].afl_impl
    assert [type(redactor) for redactor in plugin.afl_redactors()] == [CredentialRedactor]
