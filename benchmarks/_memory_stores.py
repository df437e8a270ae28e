"""Our memory and the peer behind the same few calls. Each is imported where it is opened: they live in different environments."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

Given = dict[str, Any]


class Store(Protocol):
    """An open memory file."""

    def add(self, one: Given) -> None:
        """One grain, by the call that its type has."""

    def prepared(self, many: Sequence[Given]) -> Any:
        """What `batch` takes; not measured."""

    def batch(self, prepared: Any) -> None:
        """Many grains in one transaction."""

    def recall(self, subject: str) -> object:
        """The grains about a subject."""

    def search(self, text: str) -> object:
        """The grains that free text finds."""

    def found(self, text: str) -> int:
        """How many grains free text finds; not measured."""

    def about(self, subject: str) -> list[str]:
        """The addresses of the grains about a subject."""

    def forget(self, address: str) -> None:
        """Erase one."""

    def verify(self) -> None:
        """Check the whole file."""

    def flush(self) -> None:
        """Finish the text index."""

    def close(self) -> None:
        """Close the file."""


class Ours:
    """`afl_core.Memory`."""

    def __init__(self, path: str, *, index: bool) -> None:
        from afl_core.api.memory import Memory

        self._memory = Memory(path) if index else Memory(path, index_text=False)
        self.prepared = list[Given]
        self.batch: Callable[[Any], object] = self._memory.add_batch
        self.recall = self._memory.recall
        self.search = self._memory.search
        self.forget: Callable[[str], object] = self._memory.forget
        self.flush = self._memory.flush

    def add(self, one: Given) -> None:
        if one["type"] == "fact":
            self._memory.add_fact(one["subject"], one["relation"], one["object"], one["confidence"], valid_to=one.get("valid_to"))
        elif one["type"] == "tool":
            self._memory.record_tool_call(one["tool_name"], one["content"], one["is_error"])
        else:
            self._memory.add("observation", content=one["content"])

    def found(self, text: str) -> int:
        return len(self._memory.search(text))

    def about(self, subject: str) -> list[str]:
        return [str(one["hash"]) for one in self._memory.recall(subject)]

    def verify(self) -> None:
        if not self._memory.verify()["ok"]:
            raise SystemExit("the memory does not verify")

    def close(self) -> None:
        self._memory.close()


class Peer:
    """`dejadb.DejaDB`. It takes and gives JSON text; making and reading that is not measured."""

    def __init__(self, path: str, *, index: bool) -> None:
        import dejadb

        self._memory = dejadb.DejaDB(path) if index else dejadb.DejaDB(path, index_text=False)
        self.batch = self._memory.add_batch
        self.recall = self._memory.recall
        self.search = self._memory.search
        self.forget = self._memory.forget
        self.verify = self._memory.verify

    def add(self, one: Given) -> None:
        if one["type"] == "fact" and "valid_to" not in one:
            self._memory.add_fact(one["subject"], one["relation"], one["object"], one["confidence"])
        elif one["type"] == "tool":
            self._memory.record_tool_call(one["tool_name"], one["content"], one["is_error"])
        else:
            self._memory.add(one["type"], json.dumps(_fields(one)))

    def prepared(self, many: Sequence[Given]) -> str:
        return json.dumps([{"grain_type": one["type"], "fields": {**_fields(one), "created_at": one["created_at"]}} for one in many])

    def found(self, text: str) -> int:
        return len(json.loads(self._memory.search(text)))

    def about(self, subject: str) -> list[str]:
        return [str(one["hash"]) for one in json.loads(self._memory.recall(subject))]

    def flush(self) -> None:
        """It indexes as it writes."""

    def close(self) -> None:
        del self._memory, self.batch, self.recall, self.search, self.forget, self.verify


def _fields(one: Given) -> Given:
    return {key: value for key, value in one.items() if key not in ("type", "created_at")}


STORES: dict[str, Callable[..., Any]] = {"ours": Ours, "peer": Peer}
