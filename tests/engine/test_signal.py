"""``paddle.signal`` beyond the recorded calls of Paddle: unknown sizes, converted code, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, ConditionError, DTypeError, ShapeError
from engine.core.values.spec import Spec
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program
from engine.program.run.executor import Executor

SIGNAL = np.random.default_rng(0).standard_normal((2, 30)).astype("float32")
WINDOW = paddle.to_tensor(np.hanning(10)[1:-1].astype("float32"))


def _there_and_back(x: Any) -> Any:
    spectrum = paddle.signal.stft(x, 8, 2, window=WINDOW)
    return paddle.signal.istft(spectrum, 8, 2, window=WINDOW, length=30)


def test_unknown_sizes() -> None:
    program = Program()
    with building(program):
        x = variable(program, "x", Spec((-1, -1), "float32"))
        spectrum = paddle.signal.stft(x, 8, 2, window=WINDOW)
        back = paddle.signal.istft(spectrum, 8, 2, window=WINDOW)
    assert spectrum.spec.shape == (-1, 5, -1)
    got, found = Executor().run(program, {"x": SIGNAL}, [spectrum, back])
    want = paddle.to_tensor(SIGNAL).stft(8, 2, window=WINDOW)
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found, SIGNAL, rtol=1e-5, atol=1e-5)


def test_converted() -> None:
    def loss(x: Any) -> Any:
        return (_there_and_back(x) ** 3).sum() + paddle.abs(x.stft(8)).sum()

    spec = paddle.static.InputSpec([None, 30], "float32")
    first = paddle.to_tensor(SIGNAL, stop_gradient=False)
    second = paddle.to_tensor(SIGNAL, stop_gradient=False)
    loss(first).backward()
    paddle.jit.to_static(loss, input_spec=[spec])(second).backward()
    np.testing.assert_allclose(second.grad.numpy(), first.grad.numpy(), rtol=1e-4, atol=1e-4)


def test_there_and_back_is_the_identity_in_derivatives_too() -> None:
    x = paddle.to_tensor(SIGNAL.astype("float64"), stop_gradient=False)
    window = WINDOW.astype("float64")
    spectrum = x.stft(8, 2, window=window)
    (first,) = paddle.grad(
        (spectrum.istft(8, 2, window=window, length=30) ** 3).sum(), [x], create_graph=True
    )
    np.testing.assert_allclose(first.numpy(), 3 * x.numpy() ** 2, rtol=1e-9)
    (second,) = paddle.grad(first.sum(), [x])
    np.testing.assert_allclose(second.numpy(), 6 * x.numpy(), rtol=1e-9)


@pytest.mark.parametrize("n_fft", [7, 8])
@pytest.mark.parametrize("center", [True, False])
def test_odd_and_even_frames(n_fft: int, center: bool) -> None:
    x = paddle.to_tensor(SIGNAL)
    spectrum = paddle.signal.stft(x, n_fft, 1, center=center)
    back = paddle.signal.istft(spectrum, n_fft, 1, center=center)
    size = back.shape[1]
    assert size >= 29
    np.testing.assert_allclose(back.numpy(), SIGNAL[:, :size], rtol=1e-5, atol=1e-5)


def test_one_signal_has_no_batch_in_programs_either() -> None:
    program = Program()
    with building(program):
        x = variable(program, "x", Spec((30,), "float32"))
        out = x.stft(8)
    (got,) = Executor().run(program, {"x": SIGNAL[0]}, [out])
    want = paddle.to_tensor(SIGNAL[0]).stft(8).numpy()
    assert got.shape == want.shape == (5, 16)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_refusals() -> None:
    x = paddle.to_tensor(SIGNAL)
    with pytest.raises(ConditionError, match="stft: hop_length is at least 1: got 0") as caught:
        paddle.signal.stft(x, 8, 0)
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(DTypeError, match="stft: x must be a Tensor: got ndarray"):
        paddle.signal.stft(SIGNAL, 8)
    with pytest.raises(ShapeError, match="frame: frame_length 31 is more than the 30 elements"):
        paddle.signal.frame(x, 31, 1)
    with pytest.raises(ShapeError, match="overlap_add: hop_length 3 is more than the frames' length 2"):
        paddle.signal.overlap_add(x, 3)
    with pytest.raises(ArgumentError, match="istft: the squares of the windows add up to 0 somewhere"):
        paddle.signal.istft(x.stft(8), 8, window=paddle.zeros([8]))
    with pytest.raises(
        DTypeError, match="frame: x must be int32, int64, float32, float64 or complex: got bool"
    ):
        paddle.signal.frame(paddle.ones([8], "bool"), 4, 2)
