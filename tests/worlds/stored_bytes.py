"""What the files below a folder hold, byte by byte."""

from __future__ import annotations

import os


def files_with(folder, text):
    """Names of files below a folder that hold a text, in order."""
    found = []
    for where, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(where, name), "rb") as handle:
                if text.encode() in handle.read():
                    found.append(name)
    return sorted(found)
