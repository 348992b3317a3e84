"""``paddle.fft`` beyond the recorded calls of Paddle: unknown sizes, converted code, derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program
from engine.program.run.executor import Executor

REAL = np.random.default_rng(0).standard_normal((3, 5, 4)).astype("float32")
COMPLEX = (REAL + 1j * REAL[::-1]).astype("complex64")

CALLS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "fft": (lambda x: paddle.fft.fft(x, axis=1), REAL),
    "fft cut off": (lambda x: paddle.fft.fft(x, 3, axis=1), COMPLEX),
    "fft longer": (lambda x: paddle.fft.fft(x, 9, axis=1), COMPLEX),
    "rfft": (lambda x: paddle.fft.rfft(x, axis=0), REAL),
    "rfft cut off": (lambda x: paddle.fft.rfft(x, 2, axis=0), REAL),
    "ihfft longer": (lambda x: paddle.fft.ihfft(x, 7, axis=0), REAL),
    "irfft": (lambda x: paddle.fft.irfft(x, axis=1), COMPLEX),
    "irfft cut off": (lambda x: paddle.fft.irfft(x, 5, axis=1), COMPLEX),
    "hfft longer": (lambda x: paddle.fft.hfft(x, 11, axis=1), COMPLEX),
    "fftn": (lambda x: paddle.fft.fftn(x, [4, 4], axes=[0, 2]), COMPLEX),
    "irfftn": (lambda x: paddle.fft.irfftn(x, [4, 4, 9]), COMPLEX),
    "fftshift": (paddle.fft.fftshift, REAL),
    "ifftshift": (lambda x: paddle.fft.ifftshift(x, [-1, 0]), REAL),
    "fftshift of one axis": (lambda x: paddle.fft.fftshift(x, 1), COMPLEX),
}
each = pytest.mark.parametrize("name", CALLS)


@each
def test_unknown_sizes(name: str) -> None:
    function, value = CALLS[name]
    program = Program()
    with building(program):
        x = variable(program, "x", Spec((-1, -1, -1), value.dtype.name))
        out = function(x)
    (got,) = Executor().run(program, {"x": value}, [out])
    want = function(paddle.to_tensor(value))
    assert out.dtype is want.dtype
    assert got.shape == tuple(want.shape)
    assert all(a in (-1, b) for a, b in zip(out.spec.shape, want.shape, strict=True))
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-5, atol=1e-5)


@each
def test_converted_with_unknown_batch(name: str) -> None:
    function, value = CALLS[name]

    def loss(x: Any) -> Any:
        return paddle.abs(function(x)).sum()

    spec = paddle.static.InputSpec([None, 5, 4], value.dtype.name)
    converted = paddle.jit.to_static(loss, input_spec=[spec])
    first = paddle.to_tensor(value, stop_gradient=False)
    second = paddle.to_tensor(value, stop_gradient=False)
    loss(first).backward()
    converted(second).backward()
    np.testing.assert_allclose(second.grad.numpy(), first.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_derivatives_of_second_order() -> None:
    """The energy of a transform is n times that of the signal, so its second derivative is 2 n."""
    x = paddle.to_tensor(REAL[0, :, 0].astype("float64"), stop_gradient=False)
    energy = (paddle.abs(paddle.fft.fft(x)) ** 2).sum()
    (first,) = paddle.grad(energy, [x], create_graph=True)
    np.testing.assert_allclose(first.numpy(), 10 * x.numpy())
    (second,) = paddle.grad(first.sum(), [x])
    np.testing.assert_allclose(second.numpy(), np.full(5, 10.0))


def test_saved_and_loaded(tmp_path: Any) -> None:
    class Spectrum(paddle.nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.abs(paddle.fft.fftshift(paddle.fft.rfft2(x)))

    layer = Spectrum()
    path = str(tmp_path / "spectrum")
    paddle.jit.save(layer, path, input_spec=[paddle.static.InputSpec([None, 5, 4], "float32")])
    x = paddle.to_tensor(REAL)
    np.testing.assert_allclose(paddle.jit.load(path)(x).numpy(), layer(x).numpy(), rtol=1e-6)


def _apply(op: str, x: Any, **attrs: Any) -> Any:
    return OPS[op].namespace["__apply__"](paddle.to_tensor(x), **attrs)


def test_refusals() -> None:
    with pytest.raises(DTypeError, match=r"fft_r2c: x must be float32 or float64: got complex64\[3, 5, 4\]"):
        paddle.fft.rfft(paddle.to_tensor(COMPLEX))
    with pytest.raises(DTypeError, match="fft_c2c: x must be complex64 or complex128"):
        paddle.fft.fft(paddle.to_tensor([True, False]))
    with pytest.raises(ShapeError, match=r"fft_c2r: axis 0 of .* is half of a result without elements"):
        paddle.fft.irfft(paddle.ones([1], "complex64"))
    with pytest.raises(ShapeError, match=r"fft_r2c: axis 1 of .* has no elements"):
        paddle.fft.rfft(paddle.zeros([2, 0]))
    with pytest.raises(OutOfRangeError, match="name a dimension twice"):
        paddle.fft.fftn(paddle.to_tensor(COMPLEX), axes=[0, 0])
    with pytest.raises(ArgumentError, match="fft_r2c: axes are empty"):
        paddle.fft.fftn(paddle.to_tensor(1.0))
    with pytest.raises(ArgumentError, match="irfft: sizes are integers of at least 1: got"):
        paddle.fft.irfft(paddle.to_tensor(COMPLEX), n=0)
    with pytest.raises(ShapeError, match="fft_c2r: 8 real values need 5 complex ones along axis 0: got"):
        _apply("fft_c2r", COMPLEX[:, 0, 0], axes=[0], normalization="ortho", forward=True, last_dim_size=8)


def test_shifts_that_are_values() -> None:
    program = Program()
    with building(program):
        x = variable(program, "x", Spec((-1, 4), "float32"))
        by = variable(program, "by", Spec((2,), "int64"))
        out = paddle.roll(x, by, axis=[0, 1])
        with pytest.raises(ArgumentError, match=r"roll: shifts .* for 1 axes"):
            paddle.roll(x, by, axis=[0])
    feed = {"x": REAL[0], "by": np.array([1, -2])}
    (got,) = Executor().run(program, feed, [out])
    np.testing.assert_array_equal(got, np.roll(REAL[0], (1, -2), (0, 1)))
