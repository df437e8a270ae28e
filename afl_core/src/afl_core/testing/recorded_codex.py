"""Hook payloads and rollouts recorded from the real Codex CLI, and putting a rollout where the host would keep it.

Most are of 0.171.0; those of 0.142.0, which writes an older format, are asked for by `release`. `migrated.*` are rollouts of 0.142.0 after
`codex migrate-rollouts --apply`. Ids, times and order are the host's own; the vendor's long texts are elided.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from afl_core.testing.failure import KitError
from afl_core.testing.recorded import FIXTURES, RECORDED_PROJECT

FOLDER = FIXTURES / "codex"
OLDER = "v0.142.0"


class RecordedCodex:
    """What was recorded; every method raises KitError for a name that does not exist. `release`: '' for the newest, or `OLDER`."""

    @staticmethod
    def names(kind: str, release: str = "") -> list[str]:
        """The names of one kind: hooks or rollouts."""
        return sorted(path.stem for path in (FOLDER / release / kind).iterdir())

    @classmethod
    def rollout(cls, name: str, release: str = "") -> bytes:
        """A whole rollout: JSON lines."""
        return cls._read("rollouts", f"{name}.jsonl", release)

    @classmethod
    def hook(cls, name: str, release: str = "") -> dict[str, Any]:
        """One hook payload, as the host wrote it to the hook's stdin."""
        return dict(cls._recorded(name, release)["stdin"])

    @classmethod
    def hook_context(cls, name: str, release: str = "") -> dict[str, Any]:
        """How that hook was run: `cwd`, `env_names`, `own_session`, `stdin_is_tty`."""
        return {key: value for key, value in cls._recorded(name, release).items() if key != "stdin"}

    @classmethod
    def scene(cls, name: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
        """A scene that was played once: where below the home each of its rollouts belongs (file name -> path), and its hooks in order.

        A hook is told as `t` (s since the epoch), `lines` (path -> complete lines the rollout had then) and `stdin`.
        """
        head, *steps = (json.loads(line) for line in cls._read("scenes", f"{name}.hooks.jsonl", "").splitlines())
        return dict(head["rollouts"]), steps

    @classmethod
    def scene_rollout(cls, file: str) -> bytes:
        """A rollout of a scene, by its file name."""
        return cls._read("scenes", file, "")

    @classmethod
    def config(cls, name: str) -> bytes:
        """A file of the host's directory: `hooks.json`, or `config.toml` before and after trust was given."""
        return cls._read("config", name, "")

    @classmethod
    def _recorded(cls, name: str, release: str) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(cls._read("hooks", f"{name}.json", release))
        return body

    @staticmethod
    def _read(kind: str, name: str, release: str) -> bytes:
        path = FOLDER / release / kind / name
        if not path.is_file():
            known = ", ".join(sorted(one.name for one in path.parent.iterdir())) if path.parent.is_dir() else "none"
            raise KitError(f"no {kind} recording of codex is called {name!r}", hint=f"one of {known}")
        return path.read_bytes()


def place_rollout(name: str, codex_home: Path, project: Path, *, release: str = "", archived: bool = False) -> Path:
    """Put one whole rollout where the host would keep it, about `project`; returns its path. A segment's name ends in its own part."""
    moved = RecordedCodex.rollout(name, release).replace(
        json.dumps(str(RECORDED_PROJECT))[1:-1].encode(), json.dumps(str(project), ensure_ascii=False)[1:-1].encode()
    )
    first = json.loads(moved.split(b"\n", 1)[0])
    day, _, clock = first["payload"]["timestamp"].partition("T")
    segment = f"_{name.rpartition('.segment')[2]}" if first["payload"].get("history_base") and ".segment" in name else ""
    file = f"rollout-{day}T{clock[:8].replace(':', '-')}-{first['payload']['id']}{segment}.jsonl"
    path = codex_home / "archived_sessions" / file if archived else codex_home.joinpath("sessions", *day.split("-"), file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(moved)
    return path
