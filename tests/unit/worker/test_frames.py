"""The wire between hook and front."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.model.errors import WorkerError
from afl_core.worker.frames import Frame, decode, encode, spool_body, spool_head

words = st.text("abcXYZ09-_.", min_size=1, max_size=20)
frames = st.builds(
    lambda ident, host, event, build, more, env, payload: Frame(ident.hex(), host, event, build, len(payload) + more, env, payload),
    st.binary(min_size=16, max_size=16), words, words, words, st.integers(0, 10**9), st.binary(max_size=200), st.binary(max_size=2000),
)  # fmt: skip


@given(frames)
def test_a_frame_comes_out_as_it_went_in(frame):
    assert decode(encode(frame)) == frame


@given(frames, st.data())
def test_a_frame_that_is_not_whole_yet_is_no_frame_and_no_error(frame, data):
    whole = encode(frame)
    assert decode(whole[: data.draw(st.integers(0, len(whole) - 1))]) is None


@given(st.binary(max_size=700))
def test_any_bytes_are_a_frame_or_wait_or_are_refused_with_our_own_error(junk):
    try:
        found = decode(junk)
    except WorkerError as refused:
        found = refused
    assert found is None or isinstance(found, Frame) or found.code == "AFL-WORKER-002"


@pytest.mark.parametrize("sizes", ["1048577 1048577 0", "5 4 0", "-1 0 0", "0 0 65537", "1 1", "1 1 1 1", "a 1 1"])
def test_a_header_with_impossible_sizes_is_refused_before_anything_is_waited_for(sizes):
    with pytest.raises(WorkerError):
        decode(f"AFL1 {'0' * 32} claude Stop b {sizes}\n".encode())


@pytest.mark.parametrize("record", [b"", b"AFLP1", b"AFLP1 xx claude Stop 1 1\n", b"AFLP2 " + b"0" * 32 + b" claude Stop 1 1\nx"])
def test_a_spool_record_with_another_first_line_is_refused(record):
    with pytest.raises(WorkerError) as caught:
        spool_head(record)
    assert caught.value.code == "AFL-WORKER-003"


def test_a_spool_record_that_is_shorter_than_it_says_is_refused():
    head, _ = spool_head(f"AFLP1 {'0' * 32} claude Stop 7 9\nrest".encode())
    assert (head.received_ms, head.total_bytes) == (7, 9)
    with pytest.raises(WorkerError):
        spool_body(head, (5).to_bytes(4, "big") + b"1234")
