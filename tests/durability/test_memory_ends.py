"""A memory that is closed, or forked, while others are in the middle of using it: nobody's process ends, and nothing is left locked."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from afl_core import Memory
from afl_core.model.errors import AflError, StoreError

CLOSED = """
import sys, threading, time
from afl_core import Memory
from afl_core.model.errors import AflError

codes, began = set(), threading.Barrier(7)

def work(memory, name):
    n = 0
    began.wait()
    try:
        while True:
            n += 1
            memory.add_fact(f"{name}-{n}", "is", f"value {n}")
            memory.recall(f"{name}-{n}")
            memory.search(f"value {n}")
            memory.stats()
            if n % 5 == 0:
                memory.record_tool_call("t", "r", thread=str(name), call_id=str(n))
                memory.forget_session(str(name))
    except AflError as bad:
        codes.add(bad.code)

for _ in range(6):
    memory = Memory(sys.argv[1], telemetry="full")
    threads = [threading.Thread(target=work, args=(memory, name)) for name in range(6)]
    for thread in threads:
        thread.start()
    began.wait()
    time.sleep(0.2)
    memory.close()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert memory._files._all == []
assert codes == {"AFL-STORE-033"}, codes
with Memory(sys.argv[1]) as memory:
    assert memory.verify()["ok"]
"""


def test_a_memory_that_is_closed_while_threads_use_it_ends_their_calls_and_no_process(tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "error", "-c", CLOSED, str(tmp_path / "m.afl")], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_call_that_is_under_way_goes_on_to_its_end(tmp_path):
    memory = Memory(tmp_path / "m.afl", telemetry="off")
    memory.add_batch({"type": "fact", "subject": f"s{n}", "relation": "is", "object": "here"} for n in range(2_000))
    inside, closed = threading.Event(), threading.Event()
    ended = []

    def progress(_done):
        inside.set()
        assert closed.wait(30)

    thread = threading.Thread(target=lambda: ended.append(memory.verify(progress=progress)))
    thread.start()
    assert inside.wait(30)
    memory.close()
    closed.set()
    thread.join()
    assert ended[0]["ok"]
    assert memory._files._all == []
    with pytest.raises(StoreError, match="was closed"):
        memory.verify()


def test_closing_it_in_the_middle_of_its_own_call_closes_it_afterwards(tmp_path):
    memory = Memory(tmp_path / "m.afl", telemetry="off")
    memory.add_fact("acme", "is", "here")
    assert memory.verify(progress=lambda _done: memory.close())["ok"]
    assert memory._files._all == []


def test_two_that_forget_the_same_at_once_both_succeed(tmp_path):
    failed, both = [], threading.Barrier(4)
    with Memory(tmp_path / "m.afl", telemetry="off") as memory:
        for n in range(30):
            memory.record_tool_call("t", "xylophone", thread="s", call_id=str(n))
            memory.add_fact("pat#a", f"r{n}", "xylophone")

        def forget():
            try:
                both.wait()
                memory.forget_session("s")
                memory.forget_subject("pat")
            except AflError as bad:
                failed.append(bad.code)

        threads = [threading.Thread(target=forget) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        stats = memory.stats()
        assert (stats["grains"], stats["forgotten"], stats["unswept"]) == (0, 60, 0)
        assert memory.forget_session("s") == []


FORKED = """
import os, sys, threading, time
from afl_core import Memory

memory = Memory(sys.argv[1])
memory.add_fact("parent", "is", "here")
inside = threading.Event()

def write():
    with memory._files.writer():
        inside.set()
        time.sleep(0.5)

thread = threading.Thread(target=write)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    memory.forget(memory.add_fact("child", "secret", "zugzwang"))
    memory.add_fact("child", "is", "here")
    memory.close()
    os._exit(0)
thread.join()
memory.add_fact("parent", "is", "still here")
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert memory.latest("child", "is")["object"] == "here"
assert memory.verify()["ok"]
memory.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_that_is_forked_in_the_middle_of_another_threads_write_can_write(tmp_path):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED, str(tmp_path / "m.afl")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


FORKED_TWICE = """
import os, threading, time

second = threading.Event()

def taken():
    # Every lock is taken. Whoever forks first goes on giving back while the second one has them all.
    if calls.pop():
        second.set()
        time.sleep(0.3)

calls = [True, False]
os.register_at_fork(before=taken)  # what is registered first is called last

from afl_core.store import inherited

class Turn:
    def __init__(self):
        self.lock, self.waits = threading.RLock(), threading.Event()

    def acquire(self, timeout):
        self.waits.set()
        return self.lock.acquire(timeout=timeout)

    def release(self):
        self.lock.release()
        second.wait(0.3)

def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

turn = Turn()
inherited.held_at_fork(turn)
turn.lock.acquire()
threads = [threading.Thread(target=fork) for _ in range(2)]
for thread in threads:
    turn.waits.clear()
    thread.start()
    assert turn.waits.wait(30)
turn.lock.release()
for thread in threads:
    thread.join()
assert turn.lock.acquire(timeout=1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_two_threads_that_fork_at_once_each_give_back_what_they_took():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED_TWICE], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


FORKED_WHILE_OPENED = """
import os, sys, threading
from afl_core.store import inherited

sys.setswitchinterval(1e-6)  # threads take turns within a loop
many, done = [threading.RLock() for _ in range(2_000)], threading.Event()
for lock in many:
    inherited.held_at_fork(lock)

def opens():
    while not done.is_set():
        some = [threading.RLock() for _ in range(500)]
        for lock in some:
            inherited.held_at_fork(lock)

opener = threading.Thread(target=opens)
opener.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
done.set()
opener.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_files_may_be_opened_while_another_thread_forks():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED_WHILE_OPENED], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


FORKED_WHILE_ASKED = """
import os, signal, sys, threading
from afl_core import Memory

path, does = sys.argv[1:]
memory, done = Memory(path, telemetry="off"), threading.Event()
memory.add_fact("a", "b", "c")

def opens():
    Memory(path + ".other", telemetry="off").close()

ask = {
    "recall": lambda: memory.recall("a"),
    "search": lambda: memory.search("c"),
    "add": lambda: memory.add_fact("a", "b", "c"),
    "batch": lambda: memory.add_batch([{"type": "observation", "content": str(os.urandom(8))}] * 20),
    "open": opens,
}[does]

def asks():
    while not done.is_set():
        ask()

asker = threading.Thread(target=asks)
asker.start()
for number in range(60):
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # one that hangs is killed
        memory.add_fact(f"child {number}", "says", "hello")
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended:
        done.set()
        sys.exit(f"child {number} ended with {ended}")
done.set()
asker.join()
assert all(memory.latest(f"child {number}", "says") for number in range(60))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("does", ["recall", "search", "add", "batch", "open"])
def test_a_child_that_is_forked_while_another_thread_asks_can_write(tmp_path, does):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED_WHILE_ASKED, str(tmp_path / "m.afl"), does], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


FORKED_IN_A_FORK = """
import os, signal, threading, time
from afl_core.store import inherited

free, busy, held = threading.RLock(), threading.RLock(), threading.Event()
inherited.held_at_fork(free)
inherited.held_at_fork(busy, turn=1)

def holds():
    with busy:
        held.set()
        time.sleep(0.5)

def fork(*_signal):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)

holder = threading.Thread(target=holds)
holder.start()
held.wait()
signal.signal(signal.SIGALRM, fork)
signal.setitimer(signal.ITIMER_REAL, 0.1)  # in the middle of the wait for the lock that is busy
fork()
holder.join()
found = []
looks = threading.Thread(target=lambda: found.extend([free.acquire(timeout=1), busy.acquire(timeout=1), inherited.CALLS.acquire(timeout=1)]))
looks.start()
looks.join()
assert found == [True] * 3, found
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_signal_that_forks_in_the_middle_of_a_fork_leaves_no_lock_taken():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED_IN_A_FORK], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


FORKED_WHILE_NOTED = """
import os, sys, threading
from afl_core.memory.telemetry import Telemetry
from afl_core.store.telemetry import Recalled

inside, ended = threading.Event(), threading.Event()

def forgotten():
    # Asked in the middle of the transaction; the other thread goes on when the fork waits for it.
    inside.set()
    ended.wait(1)
    return 0

one = Recalled(5, "shared", "acme", None, None, (), 1)
telemetry = Telemetry(sys.argv[1], "full", lambda: 10, forgets=forgotten)
telemetry.recalled(one)
thread = threading.Thread(target=telemetry.flush)
thread.start()
assert inside.wait(30)
child = os.fork()
if child == 0:
    ended.set()
    telemetry.recalled(one)
    os._exit(0 if telemetry.flush() else 3)
ended.set()
thread.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
telemetry.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_that_is_forked_while_telemetry_is_written_can_write_it_too(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED_WHILE_NOTED, str(tmp_path / "m.afl-telemetry")], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


FORKED_IN_VAIN = """
import os, sys, threading
from afl_core import Memory
from afl_core.api.connections import Connections
from afl_core.store import inherited

Memory(sys.argv[1], telemetry="off").close()
inherited.WAIT_S = 0.05
files = Connections(sys.argv[1])
inside, let_go = threading.Event(), threading.Event()

def hold():
    with files.writer():
        inside.set()
        let_go.wait(30)

thread = threading.Thread(target=hold)
thread.start()
assert inside.wait(30)
child = os.fork()
if child == 0:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert thread.is_alive()
let_go.set()
thread.join()
with files.writer():
    pass
files.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_goes_on_when_a_lock_does_not_come_free(tmp_path):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED_IN_VAIN, str(tmp_path / "m.afl")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
