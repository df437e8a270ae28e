"""Stand-ins for systemctl, launchctl and schtasks: real programs on a PATH of their own that keep their state in files and write down what they are asked."""

from __future__ import annotations

import json
import os
import pathlib
import sys

STAND_IN = """#!{python} -IS
import json, os, sys
folder = {folder!r}
name = os.path.basename(sys.argv[0])
words = sys.argv[1:]
def read(what, default=""):
    try:
        return open(os.path.join(folder, what)).read()
    except OSError:
        return default
def write(what, text):
    open(os.path.join(folder, what), "w").write(text)
def gone(what):
    if os.path.exists(os.path.join(folder, what)):
        os.unlink(os.path.join(folder, what))
with open(os.path.join(folder, "calls"), "a") as log:
    log.write(json.dumps([name, *words]) + "\\n")
if name in read("unreachable").split():
    sys.exit("cannot be reached")
told = " ".join(words)
for line in read("failing").splitlines():
    pattern, _, times = line.partition("|")
    if pattern in told:
        done = int(read("failed", "0"))
        if done < int(times):
            write("failed", str(done + 1))
            sys.exit("it does not want to")
if name == "systemctl":
    if "restart" in words:
        write("running", words[-1])
    elif "enable" in words:
        write("enabled", words[-1])
    elif "disable" in words:
        gone("running"), gone("enabled")
    elif "--property=LoadState,ActiveState" in words:
        print("LoadState=" + ("loaded" if read("enabled") == words[-1] else "not-found"))
        print("ActiveState=" + ("active" if read("running") == words[-1] else "inactive"))
if name == "launchctl":
    if words[0] == "bootstrap":
        write("loaded", words[-1])
    elif words[0] == "kickstart":
        write("running", words[-1])
    elif words[0] == "bootout":
        gone("running"), gone("loaded")
    elif words[0] == "print" and words[1].count("/") > 1:
        if not read("loaded"):
            sys.exit(113)
        print("\\tstate = " + ("running" if read("running") else "not running"))
if name == "schtasks":
    if words[0] == "/Create":
        write("loaded", "x")
    elif words[0] == "/Run":
        write("running", "x")
    elif words[0] in ("/Delete", "/End"):
        gone("running")
        if words[0] == "/Delete":
            gone("loaded")
    elif words[0] == "/Query" and "/TN" in words:
        if not read("loaded"):
            sys.exit(1)
        print('"task","N/A","' + ("Running" if read("running") else "Ready") + '"')
"""


class ServiceManagers:
    """The stand-ins. `environ` finds them; `calls` are the words they were called with."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir(parents=True)
        for name in ("systemctl", "launchctl", "schtasks"):
            program = folder / "bin" / name
            program.write_text(STAND_IN.format(python=os.path.realpath(sys.executable), folder=str(folder)), "utf-8")
            program.chmod(0o700)
        self.environ = {"PATH": f"{folder / 'bin'}:{os.defpath}", "XDG_CONFIG_HOME": str(folder / "config")}
        self.units = folder / "config" / "systemd" / "user"

    def calls(self) -> list[list[str]]:
        """What was asked so far."""
        try:
            return [json.loads(line) for line in (self.folder / "calls").read_text("utf-8").splitlines()]
        except FileNotFoundError:
            return []

    def changing(self) -> list[str]:
        """The calls that change something, as text."""
        return [" ".join(call[1:]) for call in self.calls() if not {"show", "print", "/Query"} & set(call)]

    def forget(self) -> None:
        """Begin anew with the calls."""
        (self.folder / "calls").unlink(missing_ok=True)

    def say(self, name: str, text: str) -> None:
        """Set a state: `unreachable` (program names), `failing` (`words|times`)."""
        (self.folder / name).write_text(text, "utf-8")

    def is_running(self) -> bool:
        """Whether the job runs."""
        return (self.folder / "running").exists()
