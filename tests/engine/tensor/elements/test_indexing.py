"""x[index] and x[index] = value against NumPy for random indices, their gradients, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, EngineError, GradientError, OutOfRangeError, ShapeError

SHAPE = (4, 3, 5)
VALUES = np.arange(60, dtype="float64").reshape(SHAPE) + 0.5


def _slice(random: Any, size: int) -> slice:
    step = int(random.choice([-3, -2, -1, 1, 2]))
    bounds = [None if random.random() < 0.3 else int(random.integers(-size - 2, size + 3)) for _ in range(2)]
    return slice(*bounds, None if step == 1 else step)


def _item(random: Any, size: int, advanced: bool) -> Any:
    kind = random.choice(["int", "slice", "slice", *(["tensor", "mask", "list", "array"] * advanced)])
    if kind == "int":
        return int(random.integers(-size, size))
    if kind == "slice":
        return _slice(random, size)
    if kind == "mask":
        return random.random(size) < 0.6
    places = random.integers(-size, size, 3)
    return places.tolist() if kind == "list" else places


def _index(random: Any) -> tuple[Any, ...]:
    """Numbers, slices, None and an ellipsis, with at most one index tensor or mask: as NumPy means it."""
    items: list[Any] = []
    advanced = bool(random.random() < 0.6)
    for axis in range(int(random.integers(0, 4))):
        made = _item(random, SHAPE[axis], advanced)
        advanced = advanced and isinstance(made, (int, slice))
        items.append(made)
    picks = [n for n, i in enumerate(items) if not isinstance(i, (int, slice))]
    if picks:  # NumPy counts numbers next to an index tensor as index tensors too: not so here
        items = [slice(i, i + 1 or None) if isinstance(i, int) else i for i in items]
    if len(items) < 3 and random.random() < 0.3:
        items.append(...)
    if random.random() < 0.3:
        items.insert(int(random.integers(0, len(items) + 1)), None)
    return tuple(items)


def _for_tensors(index: tuple[Any, ...], random: Any) -> Any:
    """The same index with arrays as tensors, or as they are."""
    return tuple(
        paddle.to_tensor(i) if isinstance(i, np.ndarray) and random.random() < 0.7 else i for i in index
    )


@pytest.mark.parametrize("seed", range(150))
def test_like_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    index = _index(random)
    given = _for_tensors(index, random)
    x = paddle.to_tensor(VALUES, stop_gradient=False)
    want = VALUES[index]
    got = x[given]
    np.testing.assert_array_equal(got.numpy(), want)
    weights = random.standard_normal(want.shape)
    (got * paddle.to_tensor(weights)).sum().backward()
    slopes = np.zeros(SHAPE)
    np.add.at(slopes, index, weights)
    np.testing.assert_allclose(x.grad.numpy(), slopes)

    value = random.standard_normal(want.shape[-1:] if random.random() < 0.5 else ())
    changed = VALUES.copy()
    changed[index] = value
    y, v = paddle.to_tensor(VALUES, stop_gradient=False), paddle.to_tensor(value, stop_gradient=False)
    z = y * 1.0
    z[given] = v
    np.testing.assert_array_equal(z.numpy(), changed)
    z.sum().backward()
    covered = np.zeros(SHAPE)
    covered[index] = 1.0
    np.testing.assert_array_equal(y.grad.numpy(), 1.0 - covered)


def test_numbers_are_applied_before_index_tensors() -> None:
    x = paddle.to_tensor(VALUES)
    places = paddle.to_tensor([1, 0])
    np.testing.assert_array_equal(x[0, :, places].numpy(), VALUES[0][:, [1, 0]])
    np.testing.assert_array_equal(x[places, 1, ::2].numpy(), VALUES[:, 1, ::2][[1, 0]])


def test_a_part_is_a_view_and_a_tensor_without_dimensions_a_number() -> None:
    x = paddle.to_tensor(VALUES)
    part = x[1, paddle.to_tensor(2)]
    part[:] = 0.0
    assert float(x[1, 2].sum()) == 0.0
    copied = x[[0, 1]]
    copied[:] = 7.0
    assert float(x[0, 0, 0]) == 0.5
    x[paddle.to_tensor(0), ...] = VALUES[1]
    np.testing.assert_array_equal(x[0].numpy(), VALUES[1])


def test_values_of_another_dtype_are_converted() -> None:
    x = paddle.zeros([3], "int64")
    x[0], x[1], x[2] = 2.7, True, paddle.to_tensor(4.2)
    assert x.tolist() == [2, 1, 4]
    x[x > 1] = np.array([8, 9], "int32")
    assert x.tolist() == [8, 1, 9]


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        (4, OutOfRangeError, "index 4 is out of range for dimension 0"),
        ((0, -4), OutOfRangeError, "index -4 is out of range for dimension 1"),
        ((0, 0, 0, 0), OutOfRangeError, "4 indices"),
        (1.5, ArgumentError, "can't index with float"),
        ("a", ArgumentError, "can't index with str"),
        ([1.5], ArgumentError, "integer or bool: got float"),
        ((..., 0, ...), ArgumentError, "more than one ellipsis"),
        (slice(0, 1.5), ArgumentError, "1.5 is not an integer"),
        (slice(None, None, 0), ArgumentError, "step"),
        ([7], EngineError, "out of bounds"),
        (np.array([True, False]), OutOfRangeError, r"mask of shape \[2\] does not fit"),
        ((slice(None), np.ones((3, 4), bool)), OutOfRangeError, r"\[3, 4\] does not fit .* from dimension 1"),
        (([0, 1], [0, 1, 2]), ShapeError, "do not broadcast"),
    ],
)
def test_refused(index: Any, error: type[EngineError], words: str) -> None:
    x = paddle.to_tensor(VALUES)
    with pytest.raises(error, match=words):
        x[index]
    with pytest.raises(error, match=words):
        x[index] = 1.0
    np.testing.assert_array_equal(x.numpy(), VALUES)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (np.zeros(4), ShapeError, r"\[3, 5\] and \[4\]"),
        (np.zeros((2, 3, 5)), ShapeError, "does not fit the place"),
        ("a", ArgumentError, "can't put str"),
        (None, ArgumentError, "can't put NoneType"),
        (["a"], EngineError, "can't be held by a tensor"),
    ],
)
def test_values_refused(value: Any, error: type[EngineError], words: str) -> None:
    x = paddle.to_tensor(VALUES)
    with pytest.raises(error, match=words):
        x[0] = value
    with pytest.raises(GradientError, match="leaf"):
        paddle.to_tensor(VALUES, stop_gradient=False)[0] = 1.0
