"""What `afl.plugins` finds here."""

from __future__ import annotations

AFL_API_VERSION = 1
