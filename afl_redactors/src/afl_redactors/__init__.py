"""Secret and credential redactors, found through the entry-point group `afl.plugins`."""
