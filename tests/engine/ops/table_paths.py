"""Rows of masks, paths through beams and trees, samples of classes, and states for a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s, v


def _mask(x: Any, most: Any = None, maxlen: int = -1, out_dtype: str = "int64") -> Any:
    size = int(most.reshape(-1)[0]) if most is not None else maxlen if maxlen > 0 else int(x.max())
    result = np.zeros((*x.shape, size), out_dtype)
    for place in np.ndindex(x.shape):
        result[place][: x[place]] = 1
    return result


def _tree(ids: Any, parents: Any) -> Any:
    time, batch, beams = ids.shape
    result = np.zeros_like(ids)
    for b, k in np.ndindex(batch, beams):
        beam = k
        for t in reversed(range(time)):
            result[t, b, k], beam = ids[t, b, beam], parents[t, b, beam]
    return result


def _check_paths(results: Any, label: Any, num_classes: int) -> None:
    """Each way leads from a leaf of the heap 1, 2 3, 4 5 6 7, ... to the root, and no two are the same."""
    nodes, turns, inside = results
    for n, number in enumerate(label.reshape(-1)):
        place = int(number) + num_classes
        for node, turn, used in zip(nodes[n], turns[n], inside[n], strict=True):
            if place > 1:
                assert used
                assert turn == bool(place % 2)
                place //= 2
                assert node == place - 1  # inner node 1 is the root
            else:
                assert not used
                assert node == 0


def _csr(offset: Any, columns: Any, like: Any) -> Any:
    result = np.zeros(like.shape, bool)
    for b, h, n in np.ndindex(like.shape[:3]):
        for column in columns[b, h, offset[b, h, n] : offset[b, h, n + 1]]:
            result[b, h, n, column] = True
    return result


def _check_sample(results: Any, label: Any, num_classes: int, num_samples: int) -> None:
    remapped, sampled = results
    np.testing.assert_array_equal(sampled[remapped], label)
    present = np.unique(label)
    np.testing.assert_array_equal(sampled[: len(present)], present)
    assert len(sampled) == len(set(sampled.tolist())) == max(num_samples, len(present))
    assert sampled.min() >= 0
    assert sampled.max() < num_classes


def _batch(
    like: Any, shape: Any, value: float = 0.0, dtype: str = "float32", input_dim_idx: int = 0,
    output_dim_idx: int = 0,
) -> Any:  # fmt: skip
    dims = list(shape)
    dims[output_dim_idx] = like.shape[input_dim_idx]
    return np.full(dims, value, dtype)


PARENTS = np.array([[[0, 0], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]])
OFFSET = np.array([[[0, 2, 3, 3], [0, 1, 2, 4]]])
COLUMNS = np.array([[[0, 2, 1, 0], [0, 1, 0, 2]]])

CASES: list[Case] = [
    *row("sequence_mask", _mask, s(np.array([1, 3, 0]), None, maxlen=4),
    s(ints(2, 3), None, maxlen=2, out_dtype="float64"),
         s(np.array(2), None, maxlen=3, out_dtype="bool"), s(ints(0, 2), None, maxlen=3)),
    *row("sequence_mask", _mask, s(np.array([1, 3, 0]), None), s(ints(2, 2), np.array([5])), data=True),
    *row("gather_tree", _tree, s(ints(3, 2, 2, high=9), PARENTS), s(ints(0, 2, 2), ints(0, 2, 2))),
    *row("complete_tree_paths", None, s(np.arange(5), num_classes=5),
    s(np.arange(8)[:, None], num_classes=8),
         s(np.array([0, 1]), num_classes=2), s(ints(0), num_classes=3), check=_check_paths),
    *row("csr_mask", _csr, s(OFFSET, COLUMNS, v(1, 2, 3, 3)), s(OFFSET[:0], COLUMNS[:0], v(0, 2, 3, 3))),
    *row("class_center_sample", None, s(np.array([3, 7, 3, 9]), num_classes=20, num_samples=6),
         s(np.array([3, 7, 3, 9]), num_classes=20, num_samples=2),
         s(np.array([1]), num_classes=3, num_samples=3),
         s(ints(0), num_classes=3, num_samples=2), check=_check_sample, data=True),
    *row("fill_constant_batch_size_like", _batch, s(v(3, 2), shape=[-1, 4], value=0.5),
         s(v(3, 2), shape=[2, -1], dtype="int64", input_dim_idx=1, output_dim_idx=1),
         s(v(0, 2), shape=[-1, 4])),
]  # fmt: skip
