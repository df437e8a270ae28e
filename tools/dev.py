"""Prepare .venv-dev once, then run something of this repository in it.

python3 tools/dev.py demo          the recorded story, told stage by stage
python3 tools/dev.py test [ARG..]  ruff, mypy, import-linter, then pytest with the arguments given
python3 tools/dev.py bench NAME    benchmarks/NAME.py, with the arguments that follow

Needs Python 3.11 or newer and, the first time, a network connection. `test` also runs the real coding agents named in
requirements/hosts.json when npm is there to install them (about 930 MB, outside this folder); AFL_NO_REAL_HOSTS=1 leaves them out.
"""

from __future__ import annotations

import os
import sys

# This file is read by whatever Python somebody has: up to `main` it keeps to what old ones understand, so that they can say what is wrong.


def demo(arguments: list[str]) -> int:
    """Tell the recorded story; gives the exit status."""
    import environment

    environment.prepare()
    return environment.run(["-m", "afl_core.demo", *arguments])


def bench(arguments: list[str]) -> int:
    """Run one benchmark by name; gives the exit status."""
    import environment

    names = sorted(path.stem for path in (environment.ROOT / "benchmarks").glob("[!_]*.py"))
    if not arguments or arguments[0] not in names:
        sys.exit("bench takes the name of a benchmark; there are: " + (", ".join(names) or "none yet"))
    environment.prepare()
    return environment.run(["benchmarks/" + arguments[0] + ".py", *arguments[1:]])


def test(arguments: list[str]) -> int:
    """Run every check, then pytest, whatever failed before; gives 0 only if all of them passed.

    pytest comes last and nothing is printed after it, so that its own closing line is the last one.
    """
    import environment
    import hosts

    environment.prepare()
    checks = {
        "ruff check": ["-m", "ruff", "check", "--output-format", "concise", "."],
        "ruff format": ["-m", "ruff", "format", "--check", "--output-format", "concise", "."],
        "mypy": ["-m", "mypy"],
        "import-linter": [
            "-c",
            "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())",
            "--no-logo",
        ],
    }
    failed = []
    for name, command in checks.items():
        heading(name)
        if environment.run(command) != 0:
            failed.append(name)
    heading("real coding agents")
    found = hosts.install()
    heading("pytest" + (" (already failed: " + ", ".join(failed) + ")" if failed else ""))
    return environment.run(["-m", "pytest", *workers(arguments), *arguments], found) or (1 if failed else 0)


def workers(arguments: list[str]) -> list[str]:
    """Parallel by default: one worker a core, between 2 and 8, and a test file stays with one worker because its fixtures do."""
    if any(argument.startswith(("-n", "--numprocesses", "--dist", "--pdb", "--trace", "no:xdist")) for argument in arguments):
        return []
    return ["-n", str(min(8, max(2, os.cpu_count() or 2))), "--dist", "loadfile"]


def heading(text: str) -> None:
    """A line that says what comes next, printed before any child's output."""
    print("\n--- " + text, flush=True)


def main(arguments: list[str]) -> int:
    """Run the command named first; gives the exit status."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older one gets this far, and this sentence
        sys.exit("Python 3.11 or newer is needed; this is Python {}.{} ({})".format(*sys.version_info[:2], sys.executable))
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(__doc__)
        return 0
    commands = {"demo": demo, "test": test, "bench": bench}
    if arguments[0] not in commands:
        sys.exit("there is no command " + repr(arguments[0]) + "; there are: " + ", ".join(commands))
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # not there under PYTHONSAFEPATH
    try:
        return commands[arguments[0]](arguments[1:])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
