"""One measurement of one memory in this process; prints its numbers as JSON. Run by memory.py, by our interpreter or by the peer's."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import pathlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # not there under -P and -I

from _memory_stores import STORES, Store
from _memory_workload import WORKLOADS, batches, questions, subjects
from _processes import memory

BATCH = 500
RECALLS, SEARCHES, FORGOTTEN = 2_000, 300, 5
WARM_UP = 20
"""Calls before those that count."""

Numbers = dict[str, float]


def singles(open_store: Callable[[], Store], options: argparse.Namespace) -> Numbers:
    """One call for each grain into a new file."""
    store, given = open_store(), list(WORKLOADS["mixed"](options.grains))
    began, wall = time.process_time(), time.perf_counter()
    for one in given:
        store.add(one)
    told = {"cpu_s": time.process_time() - began, "wall_s": time.perf_counter() - wall}
    store.close()
    return told


def load(open_store: Callable[[], Store], options: argparse.Namespace) -> Numbers:
    """Batches into a new file, and then the rest of the text index."""
    store, cpu, wall = open_store(), 0.0, 0.0
    for batch in batches(WORKLOADS[options.workload](options.grains), BATCH):
        prepared = store.prepared(batch)
        began, started = time.process_time(), time.perf_counter()
        store.batch(prepared)
        cpu, wall = cpu + time.process_time() - began, wall + time.perf_counter() - started
    began, started = time.process_time(), time.perf_counter()
    if options.index:
        store.flush()
    told = {"cpu_s": cpu + time.process_time() - began, "wall_s": wall + time.perf_counter() - started}
    store.close()
    return {**told, "bytes": size(options.path), "bytes_a_grain": size(options.path) / options.grains}


def size(path: str) -> int:
    """Bytes of the file and everything beside it that bears its name."""
    return sum(one.stat().st_size for one in pathlib.Path(path).parent.rglob("*") if one.is_file())


def opened(open_store: Callable[[], Store], options: argparse.Namespace) -> Numbers:
    """Until the file is open, its code being imported already, and until its first answer."""
    if options.side == "ours":
        import afl_core.api.memory  # noqa: F401
    else:
        import dejadb  # noqa: F401
    began = time.perf_counter()
    store = open_store()
    is_open = time.perf_counter()
    store.recall("entity-0")
    told = {"open_ms": (is_open - began) * 1_000, "first_recall_ms": (time.perf_counter() - began) * 1_000}
    store.close()
    return told


def recall(open_store: Callable[[], Store], options: argparse.Namespace) -> Numbers:
    """Structural recalls of single subjects."""
    store = open_store()
    told = spread(store.recall, subjects(options.grains, RECALLS))
    store.close()
    return told


def search(open_store: Callable[[], Store], options: argparse.Namespace) -> Numbers:
    """Free texts of one kind, and to how many of a hundred there was any answer."""
    store, asked = open_store(), questions(options.questions, options.grains, SEARCHES)
    told = spread(store.search, asked)
    answered = sum(bool(store.found(one)) for one in asked)
    store.close()
    return {**told, "answered": 100 * answered / len(asked)}


def spread(call: Callable[[str], object], asked: Sequence[str]) -> Numbers:
    """What single calls take, in microseconds: of the processor, in this thread; and on the wall."""
    for one in asked[:WARM_UP]:
        call(one)
    cpu, wall = [], []
    for one in asked:
        began, started = time.thread_time_ns(), time.perf_counter_ns()
        call(one)
        cpu.append(time.thread_time_ns() - began)
        wall.append(time.perf_counter_ns() - started)
    return {f"{name}_p{part}_us": share(times, part) / 1_000 for name, times in (("cpu", cpu), ("wall", wall)) for part in (50, 95)}


def share(times: list[int], part: int) -> int:
    """The time that so many of a hundred calls kept to."""
    return sorted(times)[min(len(times) - 1, len(times) * part // 100)]


def forget(open_store: Callable[[], Store], options: argparse.Namespace) -> Numbers:
    """Erasing single grains, one after the other; those that an earlier round erased are gone."""
    store = open_store()
    cpu, wall = [], []
    there = (found for one in subjects(options.grains, RECALLS) for found in store.about(one)[:1])
    for address in itertools.islice(dict.fromkeys(there), FORGOTTEN):
        began, started = time.process_time(), time.perf_counter()
        store.forget(address)
        cpu.append(time.process_time() - began)
        wall.append(time.perf_counter() - started)
    store.close()
    return {"cpu_ms": min(cpu) * 1_000, "wall_ms": min(wall) * 1_000, "first_cpu_ms": cpu[0] * 1_000}


def verify(open_store: Callable[[], Store], _options: argparse.Namespace) -> Numbers:
    """Checking the whole file."""
    store = open_store()
    began, started = time.process_time(), time.perf_counter()
    store.verify()
    told = {"cpu_s": time.process_time() - began, "wall_s": time.perf_counter() - started}
    store.close()
    return told


STEPS: dict[str, Callable[[Callable[[], Store], argparse.Namespace], Numbers]] = {
    "singles": singles, "load": load, "open": opened, "recall": recall, "search": search, "forget": forget, "verify": verify,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=STORES)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("path")
    parser.add_argument("--grains", type=int, required=True)
    parser.add_argument("--index", action="store_true")
    parser.add_argument("--workload", default="mixed", choices=WORKLOADS)
    parser.add_argument("--questions", default="rare")
    options = parser.parse_args()
    told: dict[str, Any] = dict(STEPS[options.step](lambda: STORES[options.side](options.path, index=options.index), options))
    held = memory(os.getpid())
    print(json.dumps({**told, "peak_mb": held.peak if held else 0.0}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
