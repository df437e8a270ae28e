"""What `afl.plugins` finds here: one host adapter."""

from __future__ import annotations

from afl_core.spec.host import HostAdapter
from afl_core.spec.marker import hookimpl
from afl_host_sample.host import PebbleHost

AFL_API_VERSION = 1


@hookimpl
def afl_hosts() -> list[HostAdapter]:
    """Pebble."""
    return [PebbleHost()]
