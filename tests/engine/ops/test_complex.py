"""Operators on complex values: their parts, Fourier transforms, and rules that conjugate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
import engine.nn.functional as F
from engine.core.errors import DTypeError, GradientError, ShapeError
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.eager.backward import grad
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program
from engine.program.run.executor import Executor
from tests.engine.ops.signal.references import TRANSFORMS


def _values(*shape: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def _real(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


# The function over paddle's names, the same over NumPy, and the inputs.
Row = tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]

ROWS: dict[str, Row] = {
    "real": (paddle.real, np.real, (_values(2, 3),)),
    "imag": (paddle.imag, np.imag, (_values(2, 3),)),
    "conj": (paddle.conj, np.conj, (_values(2, 3),)),
    "conj of real": (paddle.conj, np.conj, (_real(3),)),
    "angle": (paddle.angle, lambda x: np.arctan2(x.imag, x.real), (_values(2, 3),)),
    "angle of real": (paddle.angle, lambda x: np.where(x < 0, np.pi, 0.0), (_real(4),)),
    "complex": (paddle.complex, lambda a, b: a + 1j * b, (_real(2, 3), _real(3, seed=1))),
    "complex 0d": (paddle.complex, lambda a, b: a + 1j * b, (_real(), _real(seed=1))),
    "polar": (paddle.polar, lambda r, a: r * np.exp(1j * a), (_real(2, 3), _real(2, 3, seed=1))),
    "as_complex": (paddle.as_complex, lambda x: x[..., 0] + 1j * x[..., 1], (_real(3, 2),)),
    "as_real": (paddle.as_real, lambda x: np.stack([x.real, x.imag], -1), (_values(2, 3),)),
    "abs": (paddle.abs, lambda x: np.hypot(x.real, x.imag), (_values(2, 3),)),
    "sgn": (paddle.sgn, lambda x: x / abs(x), (_values(3),)),
    "add": (paddle.add, np.add, (_values(2, 3), _values(3, seed=1))),
    "subtract": (paddle.subtract, np.subtract, (_values(2, 3), _values(3, seed=1))),
    "multiply": (paddle.multiply, np.multiply, (_values(2, 3), _values(3, seed=1))),
    "multiply by real": (paddle.multiply, np.multiply, (_values(2, 3), _real(3, seed=1))),
    "divide": (paddle.divide, np.divide, (_values(2, 3), _values(3, seed=1))),
    "matmul": (paddle.matmul, np.matmul, (_values(2, 3), _values(3, 2, seed=1))),
    "matmul vectors": (paddle.matmul, np.matmul, (_values(3), _values(3, seed=1))),
    "exp": (paddle.exp, np.exp, (_values(3),)),
    "log": (paddle.log, np.log, (_values(3),)),
    "sqrt": (paddle.sqrt, np.sqrt, (_values(3),)),
    "square": (paddle.square, lambda x: x * x, (_values(3),)),
    "reciprocal": (paddle.reciprocal, lambda x: 1 / x, (_values(3),)),
    "sin": (paddle.sin, np.sin, (_values(3),)),
    "cos": (paddle.cos, np.cos, (_values(3),)),
    "sum": (lambda x: paddle.sum(x, axis=1), lambda x: x.sum(1), (_values(2, 3),)),
    "mean": (paddle.mean, np.mean, (_values(2, 3),)),
    "transpose": (lambda x: x.transpose([1, 0]), np.transpose, (_values(2, 3),)),
    "empty": (paddle.real, np.real, (_values(0, 3),)),
    "pad": (lambda x: F.pad(x, [1, 0, 0, 2]), lambda x: np.pad(x, [(1, 0), (0, 2)]), (_values(2, 3),)),
    **TRANSFORMS,
}
each = pytest.mark.parametrize("name", ROWS)


@each
def test_forward(name: str) -> None:
    function, want, inputs = ROWS[name]
    got = function(*[paddle.to_tensor(x) for x in inputs]).numpy()
    expected = want(*inputs)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@each
def test_single_precision_stays_single(name: str) -> None:
    function, _, inputs = ROWS[name]
    small = [x.astype(np.complex64 if x.dtype.kind == "c" else np.float32) for x in inputs]
    assert function(*[paddle.to_tensor(x) for x in small]).dtype.name in ("float32", "complex64")


@each
def test_static(name: str) -> None:
    function, _, inputs = ROWS[name]
    program = Program()
    with building(program):
        made = [
            variable(program, f"x{n}", Spec([-1, *x.shape[1:]] if x.ndim > 1 else x.shape, x.dtype.name))
            for n, x in enumerate(inputs)
        ]
        out = function(*made)
    feed = {f"x{n}": x for n, x in enumerate(inputs)}
    (got,) = Executor().run(program, feed, [out])
    want = function(*[paddle.to_tensor(x) for x in inputs])
    assert out.dtype is want.dtype
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-12)


def _loss(function: Callable[..., Any], inputs: list[Any]) -> Any:
    """A real number that depends on real and imaginary parts of the result."""
    out = function(*inputs)
    if out.dtype.is_complex:
        out = paddle.as_real(out)
    weight = paddle.to_tensor(np.cos(np.arange(out.size)).reshape(out.shape))
    return (out * weight + out * out * 0.3).sum()


def _slopes(number: Callable[[], float], array: Any) -> Any:
    """Central differences: dL/d(real) + i dL/d(imag), or the plain derivative of a real array."""
    found = np.zeros_like(array)
    step = 1e-6
    for place in np.ndindex(array.shape):
        middle = array[place]
        for unit in (1.0, 1j) if array.dtype.kind == "c" else (1.0,):
            array[place] = middle + step * unit
            above = number()
            array[place] = middle - step * unit
            found[place] += unit * (above - number()) / (2 * step)
        array[place] = middle
    return found


def _first(function: Callable[..., Any], arrays: list[Any], **options: Any) -> list[Any]:
    leaves = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    return [leaves, grad(_loss(function, leaves), leaves, allow_unused=True, **options)]


@each
def test_gradient(name: str) -> None:
    function, _, inputs = ROWS[name]
    arrays = [np.array(x) for x in inputs]
    _, found = _first(function, arrays)
    for array, got in zip(arrays, found, strict=True):
        number = lambda: float(_loss(function, [paddle.to_tensor(a) for a in arrays]))  # noqa: E731
        want = _slopes(number, array)
        assert got.numpy().dtype == array.dtype
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-6, atol=1e-7)


@each
def test_second_order(name: str) -> None:
    function, _, inputs = ROWS[name]
    arrays = [np.array(x) for x in inputs]

    def along(create: bool) -> tuple[list[Any], Any]:
        leaves, found = _first(function, arrays, create_graph=create)
        total = paddle.to_tensor(0.0, "float64")
        for n, g in enumerate(found):
            parts = paddle.as_real(g) if g.dtype.is_complex else g
            weights = np.sin(np.arange(parts.size) + n).reshape(parts.shape)
            total = total + (parts * paddle.to_tensor(weights)).sum()
        return leaves, total

    leaves, total = along(True)
    second = grad(total, leaves, allow_unused=True)
    for array, got in zip(arrays, second, strict=True):
        want = _slopes(lambda: float(along(False)[1]), array)
        value = np.zeros_like(array) if got is None else got.numpy()
        np.testing.assert_allclose(value, want, rtol=2e-5, atol=2e-6)


def test_operators_without_complex_rules_refuse() -> None:
    x = paddle.to_tensor(_values(3), stop_gradient=False)
    out = paddle.as_real(paddle.logit(x)).sum()
    with pytest.raises(GradientError, match="logit: no gradient is defined for complex values"):
        out.backward()


def test_refusals() -> None:
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    for function in (paddle.real, paddle.imag, paddle.as_real):
        with pytest.raises(DTypeError, match="must be complex64 or complex128"):
            function(x)
    with pytest.raises(ShapeError, match="the last dimension holds real and imaginary part"):
        paddle.as_complex(x)
    with pytest.raises(DTypeError, match="must be float32 or float64"):
        paddle.complex(paddle.to_tensor([1]), paddle.to_tensor([2]))


def test_casting_to_real_drops_the_imaginary_part() -> None:
    x = paddle.to_tensor(np.array([1 + 2j]), stop_gradient=False)
    y = x.astype("float64")
    assert y.item() == 1.0
    (g,) = grad(y.sum() * 3.0, [x])
    assert g.numpy().tolist() == [3.0 + 0j]


def test_rows_name_their_operators() -> None:
    transforms = ("fft_c2c", "fft_r2c", "fft_c2r", "fft_r2c_grad", "fft_c2r_grad")
    for op in ("real", "imag", "conj", "angle", "complex", "as_complex", "as_real", *transforms):
        assert op in OPS
        assert op in ROWS
