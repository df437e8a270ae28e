"""What the hook must know of its home. Install replaces this file by a rendered one; as shipped it names no home, and the hook does nothing."""

HOME = ""
"""The home directory this pack was installed for."""

DATA = ""
"""The data root."""

RUN = ""
"""The directory of the socket, the spool key and the marks."""

SPOOL = ""
"""The directory of sealed records that wait for the worker."""

SITE: tuple[str, ...] = ()
"""The entries of `sys.path` that hold afl_core and cryptography."""

PYTHON = ""
"""The interpreter the front and the jobs run in."""

BUILD = ""
"""Which build rendered this file; no spaces."""

NOOPS: dict[str, bytes] = {}
"""What to print for a host when there is nothing to say."""

KINDS: dict[str, dict[str, str]] = {}
"""A host's event names and what they are to us: prompt, stop, session_start or session_end."""

FORWARD: dict[str, tuple[str, ...]] = {}
"""Names of environment variables that say where a host's files and servers are."""

ALLOW: tuple[str, ...] = ()
"""Further names the person allowed to be forwarded."""
