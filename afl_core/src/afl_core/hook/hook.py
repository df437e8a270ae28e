"""What a host runs at each of its events: `python -I -S hook.py <host> <Event>`. All it does is in `client`, which Python keeps compiled."""

import sys

sys.path.insert(0, __file__.rpartition("/")[0])

import client  # type: ignore[import-not-found]  # the directory above must be on the path first

client.main()
