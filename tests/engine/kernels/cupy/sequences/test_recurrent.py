"""Recurrent layers on a GPU: steps in one launch against NumPy's kernel, lengths, large states, no waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from engine.core.errors import OutOfRangeError
from engine.core.operators.opdef import OPS
from engine.kernels.choice import kernels
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.module import gpu, installed

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
TIME, BATCH, FEATURES, SIZE = 4, 17, 3, 35  # over a tile of 16 samples, two of units, and one of depth 32


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with nullcontext() if gpu() else installed(), kernels.guard("auto"):
        import cupy

        import engine.kernels.cupy

        assert engine.kernels.cupy.xp is cupy
        yield cupy


def _inputs(mode: str, dtype: str = "float64", state: bool = True, lengths: Any = None) -> list[Any]:
    rng = np.random.default_rng(3)

    def made(*shape: int) -> Any:
        return (rng.standard_normal(shape) * 0.4).astype(dtype)

    rows = GATES[mode] * SIZE
    h0 = made(BATCH, SIZE) if state else None
    c0 = made(BATCH, SIZE) if state and mode == "LSTM" else None
    given = [made(TIME, BATCH, FEATURES), made(rows, FEATURES), made(rows, SIZE), made(rows), made(rows)]
    return [*given, h0, c0, lengths]


def _both(inputs: list[Any], results: Any) -> list[Any]:
    """The inputs of the gradient, with one of each output."""
    x, w_ih, w_hh, *rest = inputs
    y, h, c, gates, cells = results
    rng = np.random.default_rng(4)
    flows = [rng.standard_normal(a.shape).astype(a.dtype) for a in (y, h, c)]
    return [x, w_ih, w_hh, y, gates, cells, *rest, *flows]


def _moved(cupy: Any, values: list[Any]) -> list[Any]:
    return [None if v is None else cupy.asarray(v) for v in values]


def _on(cupy: Any, name: str, values: list[Any], **attrs: Any) -> list[Any]:
    """The results of our kernel, fetched; a second run gives the same bits."""
    kernel, _ = OPS[name].kernel_for("cupy")
    first, second = (kernel(cupy, *_moved(cupy, values), **attrs) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        assert a is b is None or a.get().tobytes() == b.get().tobytes()
    return [None if a is None else a.get() for a in first]


def _check(cupy: Any, inputs: list[Any], near: float = 1e-9, **attrs: Any) -> None:
    results = OPS["rnn"].kernel(np, *inputs, **attrs)
    found = _on(cupy, "rnn", inputs, **attrs)
    for got, want in zip(found[:3], results[:3], strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, near, near)
    given = _both(inputs, results)
    for got, want in zip(
        _on(cupy, "rnn_grad", given, **attrs), OPS["rnn_grad"].kernel(np, *given, **attrs), strict=True
    ):
        assert (got is None) == (want is None)
        if want is not None:
            np.testing.assert_allclose(got, want, near * 10, near * 10)


@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize("is_reverse", [False, True])
def test_steps_beyond_a_tile(cupy: Any, mode: str, is_reverse: bool) -> None:
    lengths = np.arange(BATCH) % (TIME + 1)
    _check(cupy, _inputs(mode), mode=mode, is_reverse=is_reverse)
    _check(cupy, _inputs(mode, lengths=lengths), mode=mode, is_reverse=is_reverse)
    _check(cupy, _inputs(mode, state=False, lengths=lengths), mode=mode, is_reverse=is_reverse)


@pytest.mark.parametrize("mode", GATES)
def test_large_states_have_a_product_of_their_own(
    cupy: Any, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.kernels.cupy.sequences import recurrent

    monkeypatch.setattr(recurrent, "OWN", 0)
    _check(cupy, _inputs(mode), mode=mode)
    _check(cupy, _inputs(mode, lengths=np.arange(BATCH) % (TIME + 1)), mode=mode, is_reverse=True)


@pytest.mark.parametrize(("dtype", "near"), [("float32", 2e-5), ("float16", 2e-2)])
def test_narrow_dtypes(cupy: Any, dtype: str, near: float) -> None:
    _check(cupy, _inputs("LSTM", dtype), near, mode="LSTM")


def test_a_step_is_one_launch_and_nothing_waits(cupy: Any) -> None:
    lengths = np.arange(BATCH) % (TIME + 1)
    kernel, _ = OPS["rnn"].kernel_for("cupy")
    given = _moved(cupy, _inputs("LSTM", lengths=lengths))
    kernel(cupy, *given, mode="LSTM")  # fills the caches for all steps
    with counted() as counts:
        results = kernel(cupy, *given, mode="LSTM")
    assert (counts.waits, counts.to_device, counts.to_host) == (0, 0, 0), counts.lines("waits")
    assert counts.launches <= TIME + 3  # the product with x, and the copies of both last states
    back, _ = OPS["rnn_grad"].kernel_for("cupy")
    x, w_ih, w_hh, *rest = given
    y, h, c, gates, cells = results
    with counted() as counts:
        back(cupy, x, w_ih, w_hh, y, gates, cells, *rest, y, h, c, mode="LSTM")
    assert (counts.waits, counts.to_device, counts.to_host) == (0, 0, 0), counts.lines("waits")


def test_a_length_beyond_the_steps_is_reported_when_results_are_fetched(cupy: Any) -> None:
    from engine.kernels.cupy import faults

    kernel, _ = OPS["rnn"].kernel_for("cupy")
    for wrong in (TIME + 1, -1):
        lengths = np.full(BATCH, TIME)
        lengths[5] = wrong
        kernel(cupy, *_moved(cupy, _inputs("GRU", lengths=lengths)), mode="GRU")
        with pytest.raises(
            OutOfRangeError, match=f"sequence_length {wrong} is not .* of 4 steps; use 0 to 4"
        ):
            faults.look()


def test_more_samples_than_one_axis_of_the_grid_has_blocks(cupy: Any) -> None:
    from engine.kernels.cupy.sequences.recurrent import _Layer

    x, one = cupy.broadcast_to(cupy.zeros((1, 1, 1)), (1, 16 * 65535 + 1, 1)), cupy.zeros((1, 1))
    blocks = _Layer("RNN_TANH", x, one, None, False).grid
    assert blocks == (65536, 1)  # of the first axis there may be 2**31 - 1, of the second 65535


def test_nothing_to_walk_over(cupy: Any) -> None:
    inputs = _inputs("LSTM")
    inputs[0], inputs[5], inputs[6] = inputs[0][:, :0], inputs[5][:0], inputs[6][:0]
    _check(cupy, inputs, mode="LSTM")
