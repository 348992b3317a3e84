"""dtypes, Specs, places and shape inference."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import engine
from engine.core.errors import (
    ArgumentError,
    DeviceError,
    DTypeError,
    EngineError,
    MissingExtraError,
    OutOfRangeError,
    ShapeError,
)
from engine.core.operators.infer import broadcast_shapes, normal_axes, normal_axis, reshaped
from engine.core.place import CPUPlace, CUDAPlace, as_place, require_same_place
from engine.core.values import dtype as dtypes
from engine.core.values.spec import Spec


def test_dtypes_equal_their_names_and_numpys() -> None:
    assert engine.float32 == "float32"
    assert engine.float32 == "paddle.float32"
    assert engine.float32 == np.float32
    assert engine.float32 != np.float64
    assert engine.int64 != "int32"
    assert repr(engine.float32) == "paddle.float32"
    assert len({engine.float32, dtypes.as_dtype("float32"), dtypes.as_dtype(np.dtype("f4"))}) == 1
    assert copy.deepcopy(engine.float32) is engine.float32
    assert pickle.loads(pickle.dumps(engine.int8)) is engine.int8  # the transport between our own processes


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("bool", "bool"),
        (bool, "bool"),
        (int, "int64"),
        (float, "float64"),
        ("float", "float64"),
        ("long", "int64"),
        (complex, "complex128"),
        ("uint16", "bfloat16"),
        (np.uint8, "uint8"),
        (np.dtype(">f8"), "float64"),
    ],
)
def test_as_dtype(value: Any, name: str) -> None:
    assert dtypes.as_dtype(value).name == name


@pytest.mark.parametrize("value", ["float128", "text", np.dtype("U3"), object, None, 3])
def test_an_invalid_dtype_is_refused(value: Any) -> None:
    with pytest.raises(DTypeError):
        dtypes.as_dtype(value)


def test_default_dtype() -> None:
    engine.set_default_dtype("float64")
    try:
        assert engine.to_tensor(1.5).dtype == engine.float64
        with pytest.raises(DTypeError, match="not a floating type"):
            engine.set_default_dtype("int32")
        assert engine.get_default_dtype() == "float64"
    finally:
        engine.set_default_dtype("float32")


def test_specs() -> None:
    spec = Spec([-1, 3], "float32")
    assert repr(spec) == "float32[-1, 3]"
    assert (spec.ndim, spec.known, spec.size) == (2, False, -1)
    assert spec.with_shape([2, 3]).size == 6
    assert spec.with_dtype("int64") == Spec([-1, 3], "int64")
    assert spec != Spec([-1, 3], "float64")
    assert hash(spec) == hash(Spec((-1, 3), "float32"))
    assert Spec([], "bool").size == 1


def test_places() -> None:
    assert as_place("cpu") == CPUPlace()
    assert as_place("gpu") == as_place("cuda:0") == CUDAPlace(0)
    assert repr(as_place("gpu:1")) == "Place(gpu:1)"
    for wrong in ("tpu", "gpu:x", "cpu:1", ""):
        with pytest.raises(ArgumentError, match="is not a device"):
            as_place(wrong)


def test_a_missing_device_leaves_the_current_one() -> None:
    try:
        import cupy

        try:
            there = cupy.cuda.runtime.getDeviceCount() > 97
        except cupy.cuda.runtime.CUDARuntimeError:
            there = False
    except ImportError:
        there = False
    assert not there
    with pytest.raises((MissingExtraError, DeviceError), match="gpu:97"):
        engine.set_device("gpu:97")
    assert engine.get_device() == "cpu"
    with pytest.raises((ImportError, RuntimeError)):  # as a user of Paddle would catch it
        engine.set_device("gpu:97")


def test_arrays_of_two_modules_do_not_mix() -> None:
    other = type("ndarray", (), {})
    other.__module__ = "cupy"
    with pytest.raises(DeviceError, match=r"add: inputs live on different devices: \['cupy', 'numpy'\]"):
        require_same_place("add", [np.ones(1), other()])


def test_errors_are_those_that_users_of_paddle_catch() -> None:
    assert issubclass(ShapeError, ValueError)
    assert issubclass(DTypeError, TypeError)
    assert issubclass(OutOfRangeError, IndexError)
    assert issubclass(ArgumentError, ValueError)
    assert issubclass(ShapeError, EngineError)


@pytest.mark.parametrize(
    ("x", "y", "want"),
    [
        ((2, 3), (3,), (2, 3)),
        ((), (4,), (4,)),
        ((2, 1), (1, 3), (2, 3)),
        ((-1, 3), (1, 3), (-1, 3)),
        ((-1,), (5,), (5,)),
        ((-1, 1), (-1, 4), (-1, 4)),
        ((0, 3), (1, 3), (0, 3)),
    ],
)
def test_broadcasting(x: Any, y: Any, want: Any) -> None:
    assert broadcast_shapes("add", x, y) == want
    assert broadcast_shapes("add", y, x) == want


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(
        ShapeError, match=r"^add: shapes \[2, 3\] and \[4, 3\] do not broadcast: dimension -2 is 2 and 4"
    ):
        broadcast_shapes("add", (2, 3), (4, 3))


@pytest.mark.parametrize(
    ("shape", "target", "want"),
    [
        ((2, 3), (3, 2), (3, 2)),
        ((2, 3), (-1,), (6,)),
        ((2, 3), (0, -1), (2, 3)),
        ((-1, 4, 2), (0, -1), (-1, 8)),
        ((0, 3), (0, 5), (0, 5)),
        ((-1, 4), (-1, 2), (-1, 2)),
        ((), (1,), (1,)),
    ],
)
def test_reshape_resolves(shape: Any, target: Any, want: Any) -> None:
    assert reshaped("reshape", shape, target) == want


@pytest.mark.parametrize(
    ("shape", "target", "words"),
    [
        ((2, 3), (4,), "6 elements"),
        ((2, 3), (-1, 4), "do not fill"),
        ((2, 3), (-1, -1), "more than one -1"),
        ((2,), (2, 0), "keeps a dimension"),
        ((2,), (-2,), "is not a dimension"),
    ],
)
def test_reshape_refuses(shape: Any, target: Any, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        reshaped("reshape", shape, target)


def test_axes() -> None:
    assert [normal_axis("sum", a, 3) for a in (0, 2, -1, -3)] == [0, 2, 2, 0]
    assert normal_axes("sum", [-1, 0], 2) == (0, 1)
    with pytest.raises(OutOfRangeError, match=r"sum: axis 3 is out of range for 3 dimensions; use -3 to 2"):
        normal_axis("sum", 3, 3)
    with pytest.raises(OutOfRangeError, match="twice"):
        normal_axes("sum", [0, -2], 2)
