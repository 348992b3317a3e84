"""Cross entropy on a GPU: class numbers and distributions as labels, ignored ones, ones that do not exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import OutOfRangeError
from engine.core.place import place_guard
from tests.cupy_stand_in import counts
from tests.engine.kernels.cupy.against_numpy import same

FORWARD, BACK = "softmax_with_cross_entropy", "softmax_with_cross_entropy_grad"
SHAPES = [((4, 10), 1), ((3, 1), -1), ((2, 33), 1), ((2, 1025), 1), ((2, 5, 9), 1), ((0, 3), 1)]


def _each(shape: tuple[int, ...], axis: int) -> list[int]:
    return [1 if n == axis % len(shape) else d for n, d in enumerate(shape)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["int64", "int32", "uint8"])
def test_class_numbers(cupy: Any, dtype: str, kind: str) -> None:
    draws = np.random.default_rng(1)
    for shape, axis in SHAPES if kind == "int64" else SHAPES[:1]:
        logits = draws.normal(size=shape).astype(dtype)
        label = draws.integers(0, shape[axis], _each(shape, axis)).astype(kind)
        g = draws.normal(size=label.shape).astype(dtype)
        once = None if not logits.size or kind == "uint8" else 1
        ignored = int(label.flat[0]) if label.size and kind == "int64" else -100
        how = {"ignore_index": ignored, "axis": axis}
        same(cupy, FORWARD, logits, label, launches=once, **how)
        same(cupy, BACK, g, logits, label, launches=once, **how)
        same(cupy, "pick_class", logits, label, launches=once, **how)
        same(cupy, "pick_class_grad", g, label, logits, launches=once, **how)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distributions(cupy: Any, dtype: str) -> None:
    draws = np.random.default_rng(2)
    for shape, axis in SHAPES:
        logits, label = (draws.uniform(size=shape).astype(dtype) for _ in range(2))
        g = draws.normal(size=_each(shape, axis)).astype(dtype)
        if shape == (4, 10):  # no loss for a class that the labels lack
            logits[:, 1], label[:, 1] = -np.inf, 0
        once = 1 if logits.size else None
        same(cupy, FORWARD, logits, label, soft_label=True, axis=axis, launches=once)
        same(cupy, BACK, g, label, label, soft_label=True, axis=axis, launches=once)


def test_nan_and_infinity(cupy: Any) -> None:
    logits = np.zeros((4, 5), np.float32)
    logits[0, 1], logits[1], logits[2, 0] = np.nan, -np.inf, np.inf
    same(cupy, FORWARD, logits, np.arange(4)[:, None])
    same(cupy, FORWARD, logits, np.full((4, 1), -100))
    same(cupy, BACK, np.ones((4, 1), np.float32), logits, np.full((4, 1), -100))


@pytest.mark.parametrize("wrong", [10, -1, 2**40])
def test_a_wrong_label_is_reported_when_the_loss_is_fetched(cupy: Any, wrong: int) -> None:
    with place_guard("gpu:0"):
        weight = paddle.to_tensor(np.ones((3, 10), np.float32), stop_gradient=False)
        x = paddle.to_tensor(np.eye(4, 3, dtype=np.float32))

        def step(label: Any) -> Any:
            return paddle.nn.functional.softmax_with_cross_entropy(paddle.matmul(x, weight), label)

        labels = [paddle.to_tensor(np.array([[1], [2], [last], [3]])) for last in (wrong, 3)]
        with counts.counted() as found:
            loss = step(labels[0])
        assert found.waits == 0
        message = rf"label {wrong} is not a class number: there are 10 classes, 0 to 9"
        with pytest.raises(OutOfRangeError, match=message) as raised:
            loss.numpy()
        assert "element 2" in str(raised.value)
        assert loss.numpy()[2] == 0  # reported once, and skipped
        loss = step(labels[1])
        loss.sum().backward()
        assert np.isfinite(loss.numpy()).all()
        assert np.isfinite(weight.grad.numpy()).all()


def test_shapes_that_do_not_fit_are_refused_at_once(cupy: Any) -> None:
    with place_guard("gpu:0"), pytest.raises(ValueError, match="label must have shape"):
        paddle.nn.functional.softmax_with_cross_entropy(paddle.ones([2, 3]), paddle.zeros([2, 2], "int64"))
