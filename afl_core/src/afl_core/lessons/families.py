"""What makes two faults the same kind. Pure."""

from __future__ import annotations

import hashlib


def family_id(method_class: str, class_id: str) -> str:
    """64 hex digits: SHA-256 of the method class and the class id joined by NUL, so that every reviewer's answer leads to the same family."""
    return hashlib.sha256(f"{method_class}\0{class_id}".encode("utf-8", "surrogatepass")).hexdigest()
