"""Every operator on a GPU: on CuPy where there is one, else on a stand-in that refuses what CuPy refuses.

Each row runs with CuPy's own functions, and once more with the kernels of ``engine/kernels/cupy`` where one
of them serves it: in the row's dtype, and in float32 where the row is of float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from engine.core.operators import traits
from engine.core.operators.opdef import OPS
from engine.core.place import place_guard
from engine.core.random.generator import default_generator
from engine.eager.backward import grad
from engine.eager.tensor import Tensor
from engine.kernels.choice import kernels
from tests.cupy_stand_in.module import gpu, installed
from tests.each import each
from tests.engine.one_stream import one_stream
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


@pytest.fixture(scope="module")
def served(cupy: Any) -> Iterator[set[str]]:
    """The operators that were called and have a kernel of ours, since it was cleared."""
    from engine.kernels.cupy.overrides import Override

    found: set[str] = set()
    plain = Override.__call__

    def call(self: Override, *values: Any, **named: Any) -> Any:
        found.add(self.name)
        return plain(self, *values, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Override, "__call__", call)
        yield found


def _moved(cupy: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_moved(cupy, v) for v in value]
    return None if value is None else cupy.asarray(np.asarray(value))


def _single(value: Any) -> Any:
    """float64 as float32."""
    if isinstance(value, list):
        return [_single(v) for v in value]
    return value.astype(np.float32) if getattr(value, "dtype", None) == np.float64 else value


@pytest.fixture(autouse=True)
def same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    one_stream(monkeypatch)


def _compare(
    cupy: Any, case: Case, served: set[str], on: Callable[[Case, Any], Any], want: Callable[[Any], Any]
) -> None:
    """Compare ``on(case, inputs)`` on the device with ``want(inputs)`` on the CPU."""

    def check(inputs: Any, tolerance: float) -> None:
        expected = want(inputs)
        with place_guard("gpu:0"):
            got = on(case, [_moved(cupy, i) for i in inputs])
        for a, b in zip(got, expected, strict=True):
            if a is None:
                assert b is None or not b.any()
            else:
                assert isinstance(a, cupy.ndarray) or OPS[case.op] in traits.moves
                assert a.dtype == b.dtype
                _assert_equal(cupy.asnumpy(a), b, max(tolerance, 1e-6 if b.dtype == np.float32 else 0))

    served.clear()
    inputs = _copies(case.sample.inputs)
    check(inputs, 1e-9)
    if served:
        with kernels.guard("auto"):
            check(inputs, 1e-9)
            check(_single(inputs), 1e-4)


@pytest.mark.parametrize("op", BY_OP)
def test_results_equal_those_of_numpy(op: str, cupy: Any, served: set[str]) -> None:
    def check(case: Case) -> None:
        _compare(cupy, case, served, _run, lambda inputs: _run(case, _copies(inputs)))

    each(BY_OP[op], lambda case: case.id, check)


@pytest.mark.parametrize("op", SMOOTH)
def test_gradients_equal_those_of_numpy(op: str, cupy: Any, served: set[str]) -> None:
    def check(case: Case) -> None:
        results: list[Any] = []

        def expected(inputs: Any) -> Any:
            results[:] = _run(case, _copies(inputs))
            through = _differentiable(case, results)
            return _gradients(case, inputs, through, _weights(results, through))

        def on(case: Case, inputs: Any) -> Any:
            through = _differentiable(case, results)
            tensors = _tensors(case, inputs)
            default_generator().manual_seed(5)
            outputs = _call(case, tensors)
            found = grad(
                [outputs[n] for n in through],
                _leaves(case, tensors),
                [Tensor(cupy.asarray(w)) for w in _weights(results, through)],
                allow_unused=True,
            )
            return [None if each is None else each._array for each in found]

        _compare(cupy, case, served, on, expected)

    each(SMOOTH[op], lambda case: case.id, check)
