"""Where the scheduled reconcile starts: `python -I -S schedule.py`. What a service manager runs: the place and the line never change."""

import sys

sys.path.insert(0, __file__.rpartition("/")[0])

import constants  # type: ignore[import-not-found]  # the directory above must be on the path first

del sys.path[0]  # `client` and `seal` are names of that directory only
sys.path.extend(constants.SITE)

# By name, because the hook's files stand alone: nothing here may need the product to be importable before this line.
sys.exit(__import__("afl_core.worker.daemon", fromlist=["main"]).main(constants))
