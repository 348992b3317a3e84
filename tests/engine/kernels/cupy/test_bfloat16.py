"""bfloat16 on a GPU: kernels take its bits, compute in float32 and round once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from engine.core.values import bfloat
from tests.cupy_stand_in import counts

_DRAWS = np.random.default_rng(0)


def _low(*shape: int) -> Any:
    """Numbers that bfloat16 has."""
    return bfloat.cut(np, _DRAWS.normal(size=shape).astype(np.float32))


def _bits(x: Any) -> Any:
    return bfloat.plain(bfloat.narrow(np, x))


X, LABEL, ROW, EACH = _low(4, 6), np.array([[1], [5], [0], [-100]]), _low(6), _low(4, 1)
CASES: dict[str, tuple[Any, ...]] = {
    "softmax": (X,),
    "log_softmax": (X,),
    "softmax_grad": (X, X),
    "softmax_with_cross_entropy": (X, LABEL),
    "softmax_with_cross_entropy_grad": (EACH, X, LABEL),
    "pick_class": (X, LABEL),
    "pick_class_grad": (EACH, LABEL, X),
    "layer_norm": (X, ROW, ROW),
    "layer_norm_grad": (X, X, EACH[:, 0], EACH[:, 0] ** 2, ROW),
    "reduce_sum": (X,),
    "reduce_mean": (X,),
    "reduce_max": (X,),
    "sum_to_like": (X, EACH),
    "logsumexp": (X,),
    "p_norm": (X,),
    "gather": (X, np.array([3, 0])),
    "lookup_table_v2": (np.array([3, 0]), X),
    "take_along_axis": (X, LABEL % 6),
    "gather_grad": (X, X, np.array([3, 0, 0, 1])),
    "put_along_axis": (X, LABEL % 4, EACH),
}


def _several(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


@pytest.mark.parametrize("name", CASES)
def test_bits_are_converted_both_ways(cupy: Any, name: str) -> None:
    want = _several(OPS[name].kernel(np, *CASES[name]))
    plain = [cupy.asarray(each) for each in CASES[name]]
    low = [
        cupy.asarray(bfloat.plain(bfloat.narrow(np, a)) if a.dtype.kind == "f" else a) for a in CASES[name]
    ]
    with counts.counted() as of_float:
        OPS[name].kernel_for("cupy")[0](cupy, *plain)
    with counts.counted() as of_low:
        got = _several(bfloat.apply(OPS[name], cupy, low, {}, {}))
    assert (of_low.launches, of_low.waits) == (of_float.launches, 0)
    for found, wanted in zip(got, want, strict=True):
        assert found.dtype == np.uint16
        numbers = bfloat.widen(cupy, found).get()
        np.testing.assert_allclose(numbers, wanted, rtol=1e-2, atol=1e-2)


def test_statistics_of_batches_stay_in_float(cupy: Any) -> None:
    x, one = _low(8, 3), np.ones(3, np.float32)
    want = OPS["batch_norm"].kernel(np, x, one, one, one, one)
    bits = cupy.asarray(_bits(x))
    numbers = [cupy.asarray(one) for _ in range(4)]
    y, *rest = bfloat.apply(OPS["batch_norm"], cupy, [bits, *numbers], {}, {})
    np.testing.assert_allclose(bfloat.widen(cupy, y).get(), want[0], rtol=1e-2, atol=1e-2)
    for found, wanted in zip(rest, want[1:], strict=True):
        np.testing.assert_allclose(found.get(), wanted, rtol=1e-5)


def test_operators_without_a_kernel_are_computed_in_float(cupy: Any) -> None:
    bits = cupy.asarray(_bits(_low(2, 3, 2, 3, 2)))
    wide = bfloat.widen(cupy, bits).get()
    got = bfloat.apply(OPS["reduce_sum"], cupy, [bits], {"axis": (0, 2, 4)}, {})
    np.testing.assert_allclose(bfloat.widen(cupy, got).get(), wide.sum((0, 2, 4)), rtol=1e-2, atol=1e-2)
