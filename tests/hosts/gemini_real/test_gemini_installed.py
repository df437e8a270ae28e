"""What install really writes into commented settings, run by the real CLI: hooks arrive, and uninstall gives the bytes back."""

from __future__ import annotations

import contextlib
import json
import shutil
import time

import pytest

from afl_core.api.home import Home
from afl_core.settings.paths import Paths
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import stop_front
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall
from afl_core.spec.health import Health
from afl_core.testing.gemini_api import MockGemini
from afl_core.testing.gemini_cli import base

pytestmark = pytest.mark.real_cli


@pytest.fixture
def environ(home, gemini_bin):
    yield {"HOME": str(home), "PATH": "/usr/bin:/bin", "AGENT_FEEDBACK_LOOP_GEMINI_COMMAND": gemini_bin}
    with contextlib.suppress(Exception):
        stop_front(Paths(home))


def test_installed_hooks_arrive_from_the_real_cli_and_go_without_a_trace(gemini, home, environ):
    with MockGemini(["First.", "Second.", "Third."]) as api:
        sandbox = gemini(api)
        before = f"/* mine */ {json.dumps(base(), indent=4)} // the end\n".encode().replace(b"{\n", b"{ // all of it\n", 1)
        sandbox.settings_path.write_bytes(before)
        with Home(str(home), environ) as opened:
            apply_install(plan_install(opened, hosts=["gemini"]))
        assert sandbox.settings_path.read_bytes() != before

        assert sandbox.headless("say hello").response == "First."
        wanted, deadline = {"BeforeAgent", "AfterAgent"}, time.monotonic() + 60
        while True:
            with Home(str(home), environ) as opened:
                report = doctor(opened)
            seen = report.as_json()["clis"]["gemini"]["lastSeen"]
            if wanted <= set(seen) or time.monotonic() > deadline:
                break
            time.sleep(0.2)
        assert wanted <= set(seen)
        assert [line.sentence for line in report.lines if line.health is Health.FAIL] == []
        assert [seen.last_user_text for seen in api.requests][-1].count("say hello") == 1

        shutil.rmtree(Paths(home).hook_dir)
        assert sandbox.headless("and now").response == "Second."
        assert len(api.requests) == 2

        with Home(str(home), environ) as opened:
            apply_uninstall(plan_uninstall(opened))
        assert sandbox.settings_path.read_bytes() == before
        assert sandbox.headless("and at last").response == "Third."
