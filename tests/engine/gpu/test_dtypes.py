"""Operators in float16 and bfloat16 on a GPU: the results of the CPU, to the rounding of the dtype.

By default one row of the table for each operator, with CuPy's functions; with ``--long`` all rows, and with
the kernels of ``engine/kernels/cupy``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import EngineError
from engine.core.operators import traits
from engine.core.operators.opdef import OPS
from engine.core.values.bfloat import BFloat16Array, adopt, narrow, plain, widen
from engine.kernels.choice import kernels
from tests.each import each
from tests.engine.one_stream import one_stream
from tests.engine.ops.case import Case
from tests.engine.ops.test_table import BY_OP, _copies, _run

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
STEPS = {"float16": 4e-3, "bfloat16": 3e-2}
# Errors for operators that the CPU does not compute in these dtypes: fft, linalg, and a few more.
REFUSED = (EngineError, TypeError, ValueError)


@pytest.fixture(autouse=True)
def same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    one_stream(monkeypatch)


@pytest.fixture(params=["numpy", "auto"] if LONG else ["numpy"])
def choice(request: pytest.FixtureRequest) -> Iterator[str]:
    return request.param


def _low(value: Any, dtype: str) -> Any:
    """float64 as ``dtype``; other values unchanged."""
    if isinstance(value, list):
        return [_low(v, dtype) for v in value]
    if value is None or value.dtype != np.float64:
        return value
    return value.astype(dtype) if dtype == "float16" else narrow(np, value.astype(np.float32))


def _on(cupy: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_on(cupy, v) for v in value]
    return None if value is None else cupy.asarray(plain(np.asarray(value)))


def _numbers(array: Any) -> Any:
    wide = widen(np, array) if isinstance(array, BFloat16Array) else array
    return wide.astype(np.complex128 if wide.dtype.kind == "c" else np.float64)


def _floating(case: Case) -> bool:
    flat = [v for each in case.sample.inputs for v in (each if isinstance(each, list) else [each])]
    return any(v is not None and v.dtype == np.float64 for v in flat) and OPS[case.op] not in traits.moves


@pytest.mark.parametrize("dtype", STEPS)
def test_results_are_those_of_the_cpu(dtype: str, choice: str, cupy: Any) -> None:
    compared: list[str] = []

    def check(case: Case) -> None:
        inputs = [_low(v, dtype) for v in _copies(case.sample.inputs)]
        paddle.set_device("cpu")
        try:
            want = _run(case, _copies(inputs))
        except REFUSED:
            return
        paddle.set_device("gpu:0")
        with kernels.guard(choice):
            got = _run(case, [_on(cupy, v) for v in inputs])
        for a, b in zip(got, want, strict=True):
            if b is not None:
                assert isinstance(a, cupy.ndarray)
                assert a.dtype == b.dtype
                wanted = _numbers(b)
                finite = np.abs(wanted[np.isfinite(wanted)])
                step = STEPS[dtype] * max(1.0, float(finite.max(initial=0.0)))
                np.testing.assert_allclose(_numbers(adopt(a.get())), wanted, rtol=STEPS[dtype], atol=step)
        compared.append(case.op)

    rows = [
        case for cases in BY_OP.values() for case in [c for c in cases if _floating(c)][: None if LONG else 1]
    ]
    each(rows, lambda case: case.id, check)
    assert len(compared) > 400


@pytest.mark.parametrize("place", ["cpu", "gpu:0"])
def test_a_sum_over_broadcast_dimensions_is_one_of_numbers(place: str) -> None:
    paddle.set_device(place)
    x = paddle.ones([3, 4]).astype("bfloat16")
    row = paddle.ones([4]).astype("bfloat16")
    row.stop_gradient = False
    x[1:] = row * 2
    x.sum().backward()
    assert row.grad.astype("float32").tolist() == [4.0] * 4
