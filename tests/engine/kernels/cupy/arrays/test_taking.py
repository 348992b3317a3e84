"""Elements taken by position on a GPU: rows, along an axis, several dimensions; wrong positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import OutOfRangeError
from engine.core.operators.opdef import OPS
from engine.core.place import place_guard
from tests.cupy_stand_in import counts
from tests.engine.kernels.cupy.against_numpy import same


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "bool"])
@pytest.mark.parametrize("kind", ["int64", "int32"])
def test_slices(cupy: Any, dtype: str, kind: str) -> None:
    x = np.arange(24).reshape(4, 3, 2).astype(dtype)
    index = np.array([[1, 2], [2, 0]], kind)
    for axis in (0, 1, -2):
        same(cupy, "gather", x, index, axis=axis)
        same(cupy, "index_select", x, index[0], dim=axis)
    same(cupy, "gather_nd", x, np.array([[3, 2, 1], [0, 0, 1]], kind), launches=2)
    same(cupy, "gather_nd", x, np.array([[3, 2]], kind), launches=2)
    same(cupy, "one_hot_v2", index, depth=3)


def test_rows_of_a_table(cupy: Any) -> None:
    table = np.random.default_rng(0).normal(size=(5, 33)).astype(np.float32)
    ids = np.array([[4, 0, 2], [2, 2, 1]])
    same(cupy, "lookup_table_v2", ids, table)
    same(cupy, "lookup_table_v2", ids, table, padding_idx=2)
    same(cupy, "lookup_table_v2", ids[:0], table, launches=None)


def test_along_an_axis(cupy: Any) -> None:
    x = np.arange(24.0).reshape(4, 3, 2)
    for axis in (0, 1, 2):
        index = np.random.default_rng(axis).integers(0, x.shape[axis], (4, 3, 2))
        same(cupy, "take_along_axis", x, index, axis=axis)
    same(cupy, "take_along_axis", x, np.array([[[1], [0]]]), axis=1, launches=2)  # of the first rows
    same(cupy, "take_along_axis", x, np.array([[[1]]]), axis=1, broadcast=True, launches=None)
    same(cupy, "index_sample", x[:, :, 0].copy(), np.array([[2, 0]] * 4))


_X = np.ones((4, 3), np.float32)
WRONG = {
    "gather": (_X, np.array([1, 7, 9])),
    "index_select": (_X, np.array([7])),
    "lookup_table_v2": (np.array([0, -2]), _X),
    "take_along_axis": (_X, np.full((4, 3), -1)),
    "index_sample": (_X, np.full((4, 1), 3)),
    "gather_nd": (_X, np.array([[0, 3]])),
    "one_hot_v2": (np.array([2, 5]),),
    "scatter": (_X, np.array([4]), _X[:1]),
    "index_add": (_X, np.array([4]), _X[:1]),
    "scatter_nd_add": (_X, np.array([[4]]), _X[:1]),
    "put_along_axis": (_X, np.full((4, 3), 5), _X),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_position_is_reported_when_the_result_is_fetched(cupy: Any, name: str) -> None:
    attrs = {"one_hot_v2": {"depth": 3}}.get(name, {})
    with pytest.raises(OutOfRangeError) as known:
        OPS[name].kernel(np, *WRONG[name], **attrs)
    moved = [cupy.asarray(each) for each in WRONG[name]]
    with counts.counted() as found:
        result = OPS[name].kernel_for("cupy")[0](cupy, *moved, **attrs)
    assert found.waits == 0
    with place_guard("gpu:0"):
        tensor = paddle.Tensor(result)
        with pytest.raises(OutOfRangeError) as raised:
            tensor.numpy()
        assert np.isfinite(tensor.numpy()).all()
    words = str(known.value).partition(" is out of range")[0]  # operator and value, as on the CPU
    assert str(raised.value).startswith(words + " is out of range")
