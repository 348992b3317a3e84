"""The walk over a pickle's opcodes, and its writer, against Python's own pickle."""

from __future__ import annotations

import collections
import os
import pickle
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DTypeError, FormatError
from engine.files.paddle import pickles
from engine.files.paddle.pickle_arrays import PADDLE
from engine.files.paddle.pickle_writer import named_array, pickled
from engine.files.paddle.pickles import read_first_pickle, read_pickle
from tests.engine.files.paddle.compare import assert_same

PROTOCOLS = (2, 3, 4)
NEST: dict[str, Any] = {
    "by columns": np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3)),
    "big endian": np.arange(3, dtype=">i4"),
    "long": np.arange(900.0),
    "empty": np.zeros((0, 3)),
    "flags": np.array([True, False]),
    "none": np.array(3, "i1"),
    "complex": np.ones(2, "c8"),
    "scalar": np.float32(2.5),
    "values": (None, True, 1, -5, 300, 70000, -(1 << 40), 2.5, "é", b"\x80\xff", []),
    "long text": "x" * 2000,
    "long bytes": bytes(range(256)) * 9,
    "set": {1, "a"},
    "ordered": collections.OrderedDict(b=1, a=2),
}


def read(data: bytes) -> Any:
    return read_pickle(data, "w.pdparams", PADDLE)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickles_of_python_are_read(protocol: int) -> None:
    shared = [1, 2]
    nest = {**NEST, "shared": [shared, shared]}
    assert_same(read(pickle.dumps(nest, protocol)), nest)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_written_pickles_are_read_by_python_and_by_the_walk(protocol: int) -> None:
    written = b"".join(pickled(NEST, protocol))
    assert_same(pickle.loads(written), NEST)
    assert_same(read(written), NEST)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_named_array_is_a_tuple(protocol: int) -> None:
    written = b"".join(pickled([named_array("w_0", np.ones(2))], protocol))
    assert_same(pickle.loads(written), [("w_0", np.ones(2))])
    assert_same(read(written), [("w_0", np.ones(2))])


def test_arrays_that_are_read_are_writable_and_apart() -> None:
    first = np.zeros(600)
    found = read(pickle.dumps([first, first.copy()], 2))
    found[0][0] = 1
    assert found[1][0] == 0


def test_lod_tensor_is_read_without_eval() -> None:
    """Paddle reduces a LoDTensor to ``eval('data', {'data': array})``."""
    array = pickle.dumps(np.ones(2), 2)[2:-1]
    start, names = b"\x80\x02c__builtin__\neval\n", b"X\x04\0\0\0data}X\x04\0\0\0data"
    assert_same(read(start + names + array + b"s\x86R."), np.ones(2))
    for text in (b"open", b"1+ 1"):
        with pytest.raises(FormatError, match=r"'builtins\.eval', which is refused"):
            read(start + names.replace(b"data", text, 1) + array + b"s\x86R.")


def test_several_pickles_follow_one_another() -> None:
    data = pickle.dumps([1], 4) + pickle.dumps("a", 2)
    first, end = read_first_pickle(data, "f", PADDLE)
    assert (first, read(data[end:])) == ([1], "a")
    with pytest.raises(FormatError, match="bytes follow the end"):
        read(data)


def contains_itself() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def nested(levels: int, twice: bool) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = [found, found] if twice else [found]
    return found


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (os.system, r"it names '(posix|nt)\.system', which is refused"),
        (eval, r"it holds '\w+\.eval' itself"),
        (NotImplemented, "is refused"),
        (np.array([1, "a"], object), "an array holds Python objects, which are refused"),
        (np.array(["a"]), "dtype 'U1', which holds no numbers"),
        ({(1, 2): 3}, "a key of a dict is neither a text nor an integer"),
        ({1.5: 3}, "a key of a dict is neither a text nor an integer"),
        (1 << 400, "an integer of 51 bytes"),
        (contains_itself(), "a value contains itself"),
        (nested(101, twice=False), "values are nested over 100 levels"),
    ],
    ids=range(10),
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_values_outside_the_vocabulary_are_refused(value: Any, reason: str, protocol: int) -> None:
    with pytest.raises(FormatError, match=reason) as caught:
        read(pickle.dumps(value, protocol))
    assert str(caught.value).startswith("w.pdparams: not loaded: byte ")


def test_values_that_repeat_endlessly_are_refused() -> None:
    with pytest.raises(FormatError, match="it repeats values to over 1000000"):
        read(pickle.dumps(nested(60, twice=True), 4))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no pickle of protocol 2 to 4"),
        (pickle.dumps(1, 0), "no pickle of protocol 2 to 4"),
        (pickle.dumps(1, 5), "protocol 5 where 2 to 4 are read"),
        (b"\x80\x04N", "it ends before its last opcode"),
        (b"\x80\x04.", "it ends with 0 values"),
        (b"\x80\x04(N.", "it ends with 1 values"),
        (b"\x80\x04K", "truncated or damaged"),
        (b"\x80\x04X\xff\xff\xff\xffa.", "4294967295 bytes are announced"),
        (b"\x80\x04\x8c\x01\xff.", "a text in it is damaged"),
        (b"\x80\x04h\x07.", "value 7 is used before it is stored"),
        (b"\x80\x04}(K\x01K\x02K\x01K\x03u.", "a dict has the key 1 twice"),
        (b"\x80\x04}(K\x01u.", "a dict has a key without a value"),
        (b"\x80\x04NNb.", "it adds values to something that takes none"),
        (b"\x80\x04K\x01)R.", "it calls something that is not a global"),
        (b"\x80\x02cnumpy\nndarray\n)R.", "it calls 'numpy.ndarray', which is refused"),
        (b"\x80\x02cnumpy", "the name of a global has no end"),
        (b"\x80\x04i", "opcode 0x69 is not one of those for plain values"),
        (b"\x80\x04\x95\xff\0\0\0\0\0\0\0N.", "a frame is longer than the rest"),
        (b"\x80\x04K\x01Q.", "it refers to a value outside the pickle"),
    ],
    ids=range(19),
)
def test_damaged_pickles_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        read(data)


def test_memory_is_counted_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dict takes 64 times its opcode; with the true limit that is found after 600,000 of them."""
    monkeypatch.setattr(pickles, "SLACK", 1 << 20)
    with pytest.raises(FormatError, match="more memory than its size explains"):
        read(b"\x80\x04" + b"}" * 100_000)


def test_shape_must_fit_the_bytes() -> None:
    data = pickle.dumps(np.zeros((2, 3), "f4"), 4)
    with pytest.raises(FormatError, match=r"an array float32\[2, 9\] has 24 bytes of numbers"):
        read(data.replace(b"K\x02K\x03\x86", b"K\x02K\x09\x86"))


@pytest.mark.parametrize(
    ("value", "error", "reason"),
    [
        (object(), ArgumentError, "object can't be stored in Paddle's format"),
        (np.array([None]), DTypeError, "dtype object can't be stored"),
        (nested(120, twice=False), ArgumentError, "nested deeper than 100 levels"),
    ],
    ids=["object", "array", "nest"],
)
def test_values_that_paddle_could_not_read_are_not_written(
    value: Any, error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        list(pickled(value))
