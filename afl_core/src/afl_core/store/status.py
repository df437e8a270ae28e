"""Small named facts about the running product (last hook seen, last reconcile, next wake): one JSON row a name. The front uses it."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

LIMIT_BYTES = 16 * 1024
"""The largest body of a status row."""


FORGOT_LAST, FORGET_SWEPT = "forget_last", "forget_swept"
"""Names in `meta`: number of the operation that forgot last (older files hold its time behind a colon), and the number up to which all is gone."""
FORGET_ANEW = "forget_anew"
"""Name in `meta`: both files have still to be made anew, though nothing that is known is left to erase."""


def put(db: sqlite3.Connection, name: str, body: dict[str, Any], now: int) -> None:
    """Replace the row, in the caller's transaction. Bodies hold ids, counts and times, never conversation text."""
    text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if len(text.encode("utf-8", "surrogatepass")) > LIMIT_BYTES:
        text = json.dumps({"truncated": True, "bytes": len(text)})
    db.execute(
        "INSERT INTO status (name, body_json, updated_ms) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET body_json = excluded.body_json, updated_ms = excluded.updated_ms",
        (name, text, now),
    )


def get(db: sqlite3.Connection, name: str) -> dict[str, Any] | None:
    """The body, with `updated_ms` added, or None."""
    row = db.execute("SELECT body_json, updated_ms FROM status WHERE name = ?", (name,)).fetchone()
    return None if row is None else {**json.loads(row[0]), "updated_ms": row[1]}


def starting_with(db: sqlite3.Connection, prefix: str) -> dict[str, dict[str, Any]]:
    """All rows whose name starts with `prefix`."""
    rows = db.execute(
        "SELECT name, body_json, updated_ms FROM status WHERE name >= ? AND name < ? ORDER BY name", (prefix, prefix + "\U0010ffff")
    ).fetchall()
    return {row[0]: {**json.loads(row[1]), "updated_ms": row[2]} for row in rows}


def meta(db: sqlite3.Connection, key: str, default: str = "") -> str:
    """A value of `meta`: facts about the store itself."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return default if row is None else str(row[0])


def set_meta(db: sqlite3.Connection, key: str, value: str) -> None:
    """Set a value of `meta`, in the caller's transaction."""
    db.execute("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value))
