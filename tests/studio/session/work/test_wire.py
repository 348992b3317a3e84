"""The pipe: what passes, and what is refused with a sentence."""

from __future__ import annotations

import json
import math
import multiprocessing
import pickle
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resources.typed_values import WireError
from studio.session.work import wire
from studio.session.work.wire import decode, encode


def passed(value: Any) -> Any:
    (found,) = decode(encode(value))
    return found


def frame(document: Any, arrays: bytes = b"") -> bytes:
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    return struct.pack("<QQ", len(text), len(arrays)) + text + arrays


def test_plain_values_pass_unchanged() -> None:
    value = {"a": [1, 2.5, None, True, "\ud800 \0 ü"], "b": {}, "big": 2**70}
    assert passed(value) == value
    assert passed((1, (2,))) == [1, [2]]


def test_nan_and_infinities_pass() -> None:
    nan, above, below = passed([math.nan, math.inf, np.float64(-math.inf)])
    assert math.isnan(nan)
    assert (above, below) == (math.inf, -math.inf)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", ">f8", "c16"])
@pytest.mark.parametrize("shape", [(), (0, 3), (4,), (2, 3, 4)])
def test_arrays_pass_bit_for_bit(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    found = passed({"x": [array, array.T]})["x"]
    for one, other in zip(found, (array, array.T), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == np.ascontiguousarray(other).tobytes()
        assert one.flags.writeable


def test_numpy_scalars_become_numbers() -> None:
    found = passed([np.float32(0.5), np.int64(3), np.bool_(True)])
    assert [type(each) for each in found] == [float, int, bool]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (object(), "object can't be sent"),
        (Path("a"), "Path can't be sent"),
        ({1, 2}, "set can't be sent"),
        (b"bytes", "bytes can't be sent"),
        (np.array([object()]), "dtype object"),
        (np.array(["text"]), "dtype <U4"),
        (np.array(["2020"], "M8[Y]"), "dtype datetime64"),
        ({(1, 2): 3}, "keys must be"),
        ({"\0array": ["<f8", [1]]}, "reserved for arrays"),
    ],
)
def test_unsendable_values_are_named(value: Any, said: str) -> None:
    with pytest.raises(WireError, match=said.replace("(", r"\(")):
        encode({"x": value})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x80\x04", "incomplete: 2 bytes"),
        (pickle.dumps([{"event": "steps"}] * 9, 4), "incomplete"),
        (struct.pack("<QQ", 1 << 62, 0) + b"{}", "incomplete"),
        (frame({})[:-1], "incomplete"),
        (frame(b"{"), "not JSON"),
        (frame(b"\xff\xff"), "not JSON"),
        (frame(b"1" * 5000), "not JSON"),
        (frame(b"[" * 200 + b"]" * 200), "nested deeper than 100"),
        (frame(b"[" * 200_000), "nested deeper|too many values|not JSON"),
        (frame(b"[[]" + b",[]" * 500_000 + b"]"), "too many values for its length"),
        (frame({}, b"12345678"), "8 bytes belong to no array"),
        (frame({"x": {"\0array": ["<f8", [2]]}}, b"12345678"), "has 8 bytes"),
        (frame({"x": {"\0array": ["<f8", [1 << 62]]}}, b"12345678"), "has 8 bytes"),
        (frame({"x": {"\0array": ["<f8", [-1]]}}, b"12345678"), "invalid shape"),
        (frame({"x": {"\0array": ["<f8", [True]]}}, b"12345678"), "invalid shape"),
        (frame({"x": {"\0array": ["<f8", [1] * 33]}}, b"12345678"), "invalid shape"),
        (frame({"x": {"\0array": ["<f8", 1]}}, b"12345678"), "invalid shape"),
        (frame({"x": {"\0array": ["|O", [1]]}}, b"12345678"), "not numeric: '|O'"),
        (frame({"x": {"\0array": ["<M8[s]", [1]]}}, b"12345678"), "not numeric"),
        (frame({"x": {"\0array": ["nothing", [1]]}}, b"12345678"), "not an array"),
        (frame({"x": {"\0array": [3, [1]]}}, b"12345678"), "not numeric"),
        (frame({"x": {"\0array": 7}}), "not an array"),
    ],
)
def test_hostile_bytes_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(WireError, match=said.replace("|O", r"\|O")):
        list(decode(data))


def test_a_message_over_the_limit_is_refused_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = multiprocessing.Pipe()
    long = encode({"x": np.zeros(3000)})

    def send() -> None:
        with suppress(OSError):  # the receiver closes the pipe after the first message
            wire.send(theirs, [long, encode(1)])

    sender = threading.Thread(target=send)
    monkeypatch.setattr(wire, "MOST_BYTES", 20_000)
    with pytest.raises(WireError, match="too long: 0 MB"):
        encode({"x": np.zeros(3000)})
    sender.start()
    with pytest.raises(WireError, match="message: longer than 0 MB"):
        wire.receive(ours)
    ours.close()
    sender.join()
    theirs.close()


def test_frames_share_messages_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = multiprocessing.Pipe()
    frames = [encode(["x" * 100, at]) for at in range(5)]
    monkeypatch.setattr(wire, "MOST_BYTES", 2 * len(frames[0]) + 1)
    wire.send(theirs, frames)
    received = [wire.receive(ours) for _ in range(3)]
    assert [[each[1] for each in message] for message in received] == [[0, 1], [2, 3], [4]]
    ours.close()
    theirs.close()
