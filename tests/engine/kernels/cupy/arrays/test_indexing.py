"""x[index] on a GPU with index tensors, alone or several, among numbers and slices; and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import OutOfRangeError
from engine.core.place import place_guard
from tests.cupy_stand_in import counts

P, Q = np.array([[2, -1], [0, 2]]), np.array([1, -2])
INDEXES: dict[str, tuple[Any, ...]] = {
    "rows": (P,),
    "behind a slice": (slice(None), P),
    "behind a part": (slice(1, 3), P),
    "behind a number": (1, Q),
    "before a slice": (P, slice(0, 4, 2)),
    "at the end": (..., Q),
    "before the end": (..., P, slice(None)),
    "several": (P, Q),
    "all": (P, Q, np.array([3])),
    "several behind a slice": (slice(None), P, Q),
}
_X = np.random.default_rng(0).normal(size=(4, 3, 5)).astype(np.float32)


def _index(item: Any) -> Any:
    return paddle.to_tensor(item) if isinstance(item, np.ndarray) else item


@pytest.mark.parametrize("name", INDEXES)
def test_parts_and_their_gradients(cupy: Any, name: str) -> None:
    want = _X[INDEXES[name]]
    weights = np.random.default_rng(1).normal(size=want.shape).astype(np.float32)
    slope = np.zeros_like(_X)
    np.add.at(slope, INDEXES[name], weights)
    with place_guard("gpu:0"):
        x = paddle.to_tensor(_X, stop_gradient=False)
        index, weight = tuple(_index(item) for item in INDEXES[name]), paddle.to_tensor(weights)
        with counts.counted() as found:
            y = x[index]
            y.backward(weight)
        assert found.waits == 0, found.lines("waits")
        np.testing.assert_array_equal(y.numpy(), want)
        assert x.grad.numpy().tobytes() == slope.tobytes()


@pytest.mark.parametrize("wrong", [3, -4])
@pytest.mark.parametrize("several", [False, True])
def test_wrong_positions_are_reported_at_the_fetch(cupy: Any, wrong: int, several: bool) -> None:
    with place_guard("gpu:0"):
        x = paddle.to_tensor(_X[:3])
        index = paddle.to_tensor(np.array([0, wrong]))
        y = x[index, index] if several else x[index]
        message = rf"getitem: index {wrong} is out of range for an axis with 3 elements; use -3 to 2"
        with pytest.raises(OutOfRangeError, match=message):
            y.numpy()


def test_masks_are_left_to_cupy(cupy: Any) -> None:
    with place_guard("gpu:0"):
        x = paddle.to_tensor(_X)
        np.testing.assert_array_equal(x[x > 0].numpy(), _X[_X > 0])
