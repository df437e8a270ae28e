"""What the files below a folder hold, byte by byte."""

from __future__ import annotations

import os
import subprocess


def files_with(folder, text):
    """Names of files below a folder that hold a text, in order. Another process looks: one that closes a file gives up its own locks on it."""
    found = subprocess.run(
        ["grep", "-rlaF", "-e", text, "--", str(folder)], capture_output=True, env={**os.environ, "LC_ALL": "C"}, check=False
    )
    assert found.returncode in (0, 1), found.stderr
    return sorted(os.path.basename(os.fsdecode(name)) for name in found.stdout.splitlines())


def gap_of(page):
    """Where a leaf of a table or index holds nothing (from, to), between its list of cells and the cells; none for another page."""
    if page[0] not in (0x0A, 0x0D):
        return None
    cells, begin = int.from_bytes(page[3:5], "big"), int.from_bytes(page[5:7], "big")
    return (8 + 2 * cells, begin) if cells and begin - 8 - 2 * cells > 40 else None


def put_between_cells(path, word):
    """Write a word where SQLite leaves old bytes of rows that it moved to other pages; gives in how many pages."""
    data = bytearray(path.read_bytes())
    size, written = int.from_bytes(data[16:18], "big"), 0
    for start in range(size, len(data), size):
        gap = gap_of(data[start : start + size])
        if gap is not None:
            at = start + gap[0] + 4
            data[at : at + len(word)] = word.encode()
            written += 1
    path.write_bytes(data)
    return written
