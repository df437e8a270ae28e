"""A host of the tests: records of one line each, without ids of their own unless one is given, in files whose sessions only their first line names."""

from __future__ import annotations

import json
import pathlib

from afl_core.model.observation import Cut, Denial, Rewound, Said, Speaker, Spot, ToolCalled, ToolReturned
from afl_core.spec.host import HostManifest, HostPlace
from afl_core.spec.transcripts import TranscriptIdentity, TranscriptRoot

NAME = "plain"


class PlainHost:
    name = NAME
    asked = 0
    """How often a head was shown to it."""

    def manifest(self):
        fields = {"session": "session", "prompt": "prompt", "answer": "answer", "cwd": "cwd", "transcript": "transcript"}
        return HostManifest(NAME, "Plain", (), fields, {}, "", None, None)

    def locate(self, home, environ):
        del environ
        return HostPlace(pathlib.Path(home) / "elsewhere", pathlib.Path(home) / "elsewhere/settings", None, present=True)

    def transcript_roots(self, place):
        return (
            TranscriptRoot(place.config_dir / "live", "*/*.jsonl"),
            TranscriptRoot(place.config_dir / "old", "*.jsonl"),
            TranscriptRoot(place.config_dir / "old", "*.jsonl.zst"),
        )

    def identify(self, path, head, beside):
        PlainHost.asked += 1
        first = head.split(b"\n")[0]
        try:
            record = json.loads(first)
        except ValueError:
            return None
        if not isinstance(record, dict) or "session" not in record:
            return None
        if record.get("fails"):
            raise RuntimeError("a defect")
        cwd = record.get("cwd") or (beside("cwd") or b"").decode()
        return TranscriptIdentity(record["session"], cwd or None, by_person=not record.get("child"), started_ms=record.get("start"))

    def wants(self, head):
        del head
        return True

    def parse(self, lines, state):
        found = []
        for line in lines:
            try:
                record = json.loads(line.data)
            except (ValueError, RecursionError):
                continue
            if not isinstance(record, dict):
                continue
            more = {"at_ms": record.get("at"), "native_id": record.get("id")}
            spot, text, who = Spot(line.offset), record.get("text", ""), record.get("who")
            if who in ("person", "agent"):
                found.append(Said(spot, Speaker(who), text, **more))
            elif who == "call":
                found.append(ToolCalled(spot, record["call"], "Bash", text, **more))
            elif who == "result":
                found.append(ToolReturned(spot, record["call"], text, False, denial=Denial.NONE, **more))
            elif who == "cut":
                found.append(Cut(spot, **more))
            elif who == "back":
                found.append(Rewound(spot, at_ms=more["at_ms"]))
        return found, dict(state)

    def owns_command(self, command):
        del command
        return False


class Log:
    """A transcript of that host, written line by line."""

    def __init__(self, path, session="s", *, start=0, at=0, ids="", **header):
        self.path, self.at, self.ids, self.count = pathlib.Path(path), at, ids, 0
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.line({"session": session, "start": start, "cwd": "/x", **header})

    def line(self, body):
        with self.path.open("ab") as file:
            file.write(json.dumps(body).encode() + b"\n")
        return self

    def add(self, who, text="", **more):
        self.at += 1000
        self.count += 1
        own = {"id": f"{self.ids}{self.count}"} if self.ids else {}
        return self.line({"at": self.at, "who": who, "text": text, **own, **more})

    def person(self, text):
        return self.add("person", text)

    def agent(self, text):
        return self.add("agent", text)


def install(world, *, claude=None):
    """Connect this host to a world, and the real one where its configuration directory is given."""
    import os

    from afl_core.files.private import ensure_private_dir, write_private_file

    hosts = {NAME: {"config_dir": f"{world.root}/plain", "settings_path": f"{world.root}/plain/settings"}}
    if claude is not None:
        hosts["claude"] = {"config_dir": str(claude), "settings_path": f"{claude}/settings.json"}
    paths = world.home.paths
    ensure_private_dir(os.path.dirname(paths.current), world.root)
    write_private_file(paths.current, json.dumps({"hosts": hosts}).encode())
    known = world.home.registry.hosts()
    host = PlainHost()
    world.home.registry.hosts = lambda: {**known, NAME: host}
    PlainHost.asked = 0
    return pathlib.Path(world.root) / "plain"
