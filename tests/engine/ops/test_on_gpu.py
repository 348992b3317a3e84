"""Every operator on a GPU: on CuPy where there is one, else on a stand-in that refuses what CuPy refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from engine.core.place import place_guard
from engine.core.random import default_generator
from engine.eager.backward import grad
from engine.eager.tensor import Tensor
from tests.cupy_stand_in.module import gpu, installed
from tests.each import each
from tests.engine.ops.case import Case
from tests.engine.ops.test_table import (
    BY_OP,
    SMOOTH,
    _assert_equal,
    _call,
    _copies,
    _differentiable,
    _gradients,
    _leaves,
    _run,
    _tensors,
    _weights,
)


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with nullcontext() if gpu() else installed():
        import cupy

        yield cupy


def _moved(cupy: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_moved(cupy, v) for v in value]
    return None if value is None else cupy.asarray(np.asarray(value))


@pytest.mark.parametrize("op", BY_OP)
def test_results_equal_those_of_numpy(op: str, cupy: Any) -> None:
    def check(case: Case) -> None:
        want = _run(case, _copies(case.sample.inputs))
        with place_guard("gpu:0"):
            got = _run(case, [_moved(cupy, i) for i in case.sample.inputs])
        for a, b in zip(got, want, strict=True):
            if b is not None:
                assert isinstance(a, cupy.ndarray)
                assert a.dtype == b.dtype
                _assert_equal(a.get(), b, 1e-9)

    each(BY_OP[op], lambda case: case.id, check)


@pytest.mark.parametrize("op", SMOOTH)
def test_gradients_equal_those_of_numpy(op: str, cupy: Any) -> None:
    def check(case: Case) -> None:
        inputs = _copies(case.sample.inputs)
        results = _run(case, _copies(inputs))
        through = _differentiable(case, results)
        weights = _weights(results, through)
        want = _gradients(case, inputs, through, weights)
        with place_guard("gpu:0"):
            tensors = _tensors(case, [_moved(cupy, i) for i in inputs])
            default_generator().manual_seed(5)
            outputs = _call(case, tensors)
            found = grad(
                [outputs[n] for n in through],
                _leaves(case, tensors),
                [Tensor(cupy.asarray(w)) for w in weights],
                allow_unused=True,
            )
        for a, b in zip(found, want, strict=True):
            if a is None:
                assert not b.any()
            else:
                assert isinstance(a._array, cupy.ndarray)
                _assert_equal(a._array.get(), b, 1e-9)

    each(SMOOTH[op], lambda case: case.id, check)
