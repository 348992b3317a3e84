"""Checks of a public function: values, gradients to second order, dtypes, the same in a Program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import engine as paddle
from engine.core.values.dtype import from_numpy
from engine.core.values.spec import Spec
from engine.eager.backward import grad
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program
from engine.program.run.executor import Executor

STEP = 1e-6


def _results(value: Any) -> list[Any]:
    return [v for v in value if v is not None] if isinstance(value, (tuple, list)) else [value]


def _floating(results: Sequence[Any]) -> list[Any]:
    return [r for r in results if r.dtype.is_floating_point and not r.stop_gradient]


def _loss(results: Sequence[Any]) -> Any:
    """One number that depends on every floating result, each element weighted by another number."""
    total = paddle.zeros([], "float64")
    for n, r in enumerate(results):
        weight = np.cos(1.3 * np.arange(r.size) + n).reshape(r.shape)
        total = total + (r.astype("float64") * paddle.to_tensor(weight)).sum()
    return total


def check_values(function: Callable[..., Any], want: Any, *arrays: Any, tolerance: float = 1e-10) -> None:
    """The results equal ``want`` (one array, or several), in value, shape and kind of dtype."""
    got = _results(function(*[paddle.to_tensor(a) for a in arrays]))
    expected = list(want) if isinstance(want, (tuple, list)) else [want]
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        b = np.asarray(b)
        assert tuple(a.shape) == b.shape
        assert a.numpy().dtype.kind == b.dtype.kind
        np.testing.assert_allclose(a.numpy(), b, rtol=tolerance, atol=tolerance)


def _forward(function: Callable[..., Any], arrays: Sequence[Any]) -> tuple[list[Any], Any]:
    leaves = [paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    return [x for x in leaves if not x.stop_gradient], _loss(_floating(_results(function(*leaves))))


def _slopes(number: Callable[[], float], array: Any) -> Any:
    found = np.zeros(array.shape)
    for place in np.ndindex(array.shape):
        middle = array[place]
        array[place] = middle + STEP
        above = number()
        array[place] = middle - STEP
        found[place] = (above - number()) / (2 * STEP)
        array[place] = middle
    return found


def check_gradients(function: Callable[..., Any], *inputs: Any, second: bool = True) -> None:
    """First (and second) derivatives of every floating input against central differences, in float64."""
    arrays = [np.array(a) for a in inputs]
    floats = [a for a in arrays if a.dtype.kind == "f"]
    leaves, loss = _forward(function, arrays)
    first = grad(loss, leaves, create_graph=second, allow_unused=True)
    for array, got in zip(floats, first, strict=True):
        want = _slopes(lambda: float(_forward(function, arrays)[1]), array)
        value = np.zeros(array.shape) if got is None else got.numpy()
        assert value.shape == array.shape
        np.testing.assert_allclose(value, want, rtol=1e-5, atol=2e-6)
    if not second:
        return

    def along() -> float:
        leaves, loss = _forward(function, arrays)
        found = grad(loss, leaves, allow_unused=True)
        return float(_loss([g for g in found if g is not None]))

    moving = [g for g in first if g is not None]
    again = grad(_loss(moving), leaves, allow_unused=True) if any(not g.stop_gradient for g in moving) else []
    for array, got in zip(floats, again or [None] * len(floats), strict=True):
        value = np.zeros(array.shape) if got is None else got.numpy()
        np.testing.assert_allclose(value, _slopes(along, array), rtol=1e-4, atol=1e-5)


def check_single(function: Callable[..., Any], *arrays: Any, tolerance: float = 2e-3) -> None:
    """float32 in gives float32 out, near the values of float64."""
    small = [a.astype(np.float32) if a.dtype == np.float64 else a for a in arrays]
    double = _results(function(*[paddle.to_tensor(a) for a in arrays]))
    single = _results(function(*[paddle.to_tensor(a) for a in small]))
    for a, b in zip(single, double, strict=True):
        if b.dtype.name == "float64":
            assert a.dtype.name == "float32"
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=tolerance, atol=tolerance)


def check_static(function: Callable[..., Any], *arrays: Any, unknown: Sequence[int] = ()) -> None:
    """A Program gives the eager values; inputs numbered ``unknown`` have a first dimension of -1."""
    program = Program()
    with building(program):
        made = []
        for n, array in enumerate(arrays):
            shape = [-1, *array.shape[1:]] if n in unknown else list(array.shape)
            made.append(variable(program, f"x{n}", Spec(shape, from_numpy(array.dtype))))
        outputs = _results(function(*made))
    got = Executor().run(program, {f"x{n}": a for n, a in enumerate(arrays)}, outputs)
    want = _results(function(*[paddle.to_tensor(a) for a in arrays]))
    assert len(got) == len(want)
    for out, a, b in zip(outputs, got, want, strict=True):
        assert len(out.shape) == b.ndim
        assert all(d in (-1, e) for d, e in zip(out.spec.shape, b.shape, strict=True))
        assert out.dtype is b.dtype
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-9, atol=1e-9)


def check(
    function: Callable[..., Any],
    want: Any,
    *arrays: Any,
    gradients: bool = True,
    second: bool = True,
    single: bool = True,
    unknown: Sequence[int] = (),
) -> None:
    """All of the above."""
    check_values(function, want, *arrays)
    if single:
        check_single(function, *arrays)
    check_static(function, *arrays)
    if unknown:
        check_static(function, *arrays, unknown=unknown)
    if gradients:
        check_gradients(function, *arrays, second=second)
