"""Twenty prompts at the same moment in a home where nothing runs, through the command exactly as it was installed."""

from __future__ import annotations

import json
import subprocess

COUNT = 20


def test_twenty_cold_prompts_are_kept_once_each_by_one_front_and_one_jobs_process(make):
    product = make(direct=True)
    [command] = product.host.commands("UserPromptSubmit")
    started = []
    for number in range(COUNT):
        session = f"5e551011-0000-4000-8000-0000000001{number:02d}"
        payload = {
            **product.common(session),
            "hook_event_name": "UserPromptSubmit",
            "prompt": f"prompt {number}",
            "prompt_id": f"turn-{number}",
        }
        hook = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=product.environment)
        started.append((hook, json.dumps(payload).encode()))
    for hook, payload in started:
        hook.stdin.write(payload)
        hook.stdin.close()
    for hook, _ in started:
        assert hook.stdout.read() == b"{}"
        hook.stdout.close()
        assert hook.wait(60) == 0

    product.until(lambda: product.one("SELECT count(*) FROM intake") == COUNT, "twenty rows")
    product.until(lambda: not product.spooled(), "an empty spool")
    assert sorted(row[0] for row in product.rows("SELECT turn FROM intake")) == sorted(f"turn-{number}" for number in range(COUNT))
    product.until(lambda: len(product.pids("front")) == len(product.pids("jobs")) == 1, "one front and one jobs process")
    fronts = {line.split(" afl.front ")[1].split()[2] for line in product.log().splitlines() if " serves, build " in line}
    assert len(fronts) == 1
