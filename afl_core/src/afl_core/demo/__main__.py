"""`python -m afl_core.demo`: the recorded story in a temporary home, without network or key."""

from __future__ import annotations

import argparse

from afl_core.demo.story import tell


def main() -> int:
    """Tell it; exit 0 when every stage came true."""
    options = argparse.ArgumentParser(
        prog="afl_core.demo", description="Replay a recorded session through the installed product, stage by stage."
    )
    options.add_argument("--keep", action="store_true", help="keep the temporary home and say where it is")
    options.add_argument("--json", action="store_true", help="print the stages as JSON")
    given = options.parse_args()
    return tell(keep=given.keep, as_json=given.json)


if __name__ == "__main__":
    raise SystemExit(main())
