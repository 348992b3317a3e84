"""Elements added by position on a GPU: in their order, so that sums in float32 are bitwise identical to
NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from tests.engine.kernels.cupy.against_numpy import same


def _drawn(shape: tuple[int, ...], dtype: str = "float32") -> Any:
    return (100 * np.random.default_rng(len(shape)).normal(size=shape)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_rows_that_meet_are_added_in_their_order(cupy: Any, dtype: str) -> None:
    draws = np.random.default_rng(3)
    for rows, inner, count in ((5, 3, 300), (40, 1, 260), (3, 70, 9), (4, 2, 0)):
        index = draws.integers(0, rows, count)
        g, x = _drawn((count, inner), dtype), _drawn((rows, inner), dtype)
        launches = 4 if count else None
        for name, inputs in (
            ("gather_grad", (g, x, index)),
            ("lookup_table_v2_grad", (g, index, x)),
            ("index_add", (x, index, g)),
            ("scatter_nd_add", (x, index[:, None], g)),
        ):
            same(cupy, name, *inputs, launches=launches)
            got = OPS[name].kernel_for("cupy")[0](cupy, *map(cupy.asarray, inputs)).get()
            assert got.tobytes() == OPS[name].kernel(np, *inputs).tobytes(), f"{name}: differs from NumPy"
        for overwrite in (True, False):
            same(cupy, "scatter", x, index, g, overwrite=overwrite, launches=launches)


def test_axes_and_several_dimensions(cupy: Any) -> None:
    x = _drawn((3, 4, 5))
    index = np.array([3, 0, 3, 3])
    same(cupy, "index_add", x, index, _drawn((3, 4, 5)), axis=1, launches=4)
    same(cupy, "gather_grad", _drawn((3, 2, 2, 5)), x, index.reshape(2, 2), axis=1, launches=4)
    places = np.array([[2, 1], [0, 3], [2, 1]])
    same(cupy, "scatter_nd_add", x, places, _drawn((3, 5)), launches=4)
    same(cupy, "lookup_table_v2_grad", _drawn((4, 5)), index, x[0], padding_idx=3, launches=4)


def test_half_is_added_in_float(cupy: Any) -> None:
    g = np.full((3000, 1), 1.0, np.float16)
    got = OPS["gather_grad"].kernel_for("cupy")[0](
        cupy, cupy.asarray(g), cupy.zeros((2, 1)), cupy.zeros(3000, np.int64)
    )
    assert got.get().tolist() == [[3000.0], [0.0]]  # in float16 it would stop at 2048


@pytest.mark.parametrize("reduce", ["assign", "add", "mul", "amin", "amax"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_along_an_axis(cupy: Any, reduce: str, dtype: str) -> None:
    x, values = _drawn((3, 4, 5), dtype), _drawn((3, 4, 5), dtype) // 50
    for axis in (0, 1, 2):
        index = np.random.default_rng(axis).integers(0, x.shape[axis], x.shape)
        for include_self in (True, False):
            how = {"axis": axis, "reduce": reduce, "include_self": include_self}
            same(cupy, "put_along_axis", x, index, values, launches=2, **how)
    part = np.zeros((2, 1, 5), np.int64)
    how = {"axis": 1, "reduce": reduce}
    same(cupy, "put_along_axis", x, part, values[:2, :1].copy(), launches=None, **how)
    same(
        cupy,
        "put_along_axis",
        x,
        part[:1, :, :1].copy(),
        values[:1, :1, :1].copy(),
        launches=None,
        broadcast=True,
        **how,
    )


def test_gradients_along_an_axis(cupy: Any) -> None:
    like, g = _drawn((3, 4)), _drawn((3, 6))
    index = np.random.default_rng(0).integers(0, 4, (3, 6))
    same(cupy, "put_along_axis_zeros", g, like, index, axis=1, launches=2)
    same(cupy, "put_along_axis_zeros", g[:2].copy(), like, index[:2].copy(), axis=1, launches=None)


def test_nan_is_added_at_its_position(cupy: Any) -> None:
    g = np.array([[np.nan, 1], [np.inf, 2], [-np.inf, 3]], np.float32)
    same(cupy, "gather_grad", g, np.zeros((3, 2), np.float32), np.array([0, 2, 2]), launches=4)


def test_many_rows_are_sorted(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import engine.kernels.cupy.arrays.adding as adding

    monkeypatch.setattr(adding, "_RANKED", 10)
    index = np.random.default_rng(1).integers(0, 5, 50)
    same(cupy, "gather_grad", _drawn((50, 2)), np.zeros((5, 2), np.float32), index, launches=None)
