"""Tensors as DLPack's capsules."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError
from engine.utils.dlpack import from_dlpack, to_dlpack


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int64", "int32", "uint8", "int8", "complex64"]
)
def test_there_and_back(dtype: str) -> None:
    x = paddle.arange(6).reshape([2, 3]).astype(dtype)
    made = from_dlpack(to_dlpack(x))
    assert made.dtype == x.dtype
    np.testing.assert_array_equal(made.numpy(), x.numpy())


def test_booleans_are_bytes_as_in_paddle() -> None:
    made = from_dlpack(to_dlpack(paddle.to_tensor([True, False])))
    assert made.dtype == paddle.uint8
    assert made.tolist() == [1, 0]


def test_arrays_and_their_capsules() -> None:
    array = np.arange(3.0)
    for source in (array, array.__dlpack__()):
        made = from_dlpack(source)
        assert made.tolist() == [0, 1, 2]
        assert made.stop_gradient
    assert np.shares_memory(from_dlpack(array)._array, array)
    made = from_dlpack(np.broadcast_to(np.float32(1), (2, 2)).copy())
    made += 1
    assert made.tolist() == [[2, 2], [2, 2]]


def test_a_capsule_can_be_written_into() -> None:
    made = from_dlpack(to_dlpack(paddle.zeros([2])))
    made[0] = 5.0
    assert made.tolist() == [5, 0]


def test_used_capsules_and_other_types_are_refused() -> None:
    capsule = to_dlpack(paddle.ones([2]))
    from_dlpack(capsule)
    with pytest.raises(ArgumentError, match="can be taken once"):
        from_dlpack(capsule)
    with pytest.raises(DTypeError, match="must be a Tensor: got list"):
        to_dlpack([1])
    with pytest.raises(TypeError, match="takes a capsule of DLPack: got int"):
        from_dlpack(3)
    with pytest.raises(DTypeError):
        from_dlpack(np.arange(3, dtype="uint32"))
