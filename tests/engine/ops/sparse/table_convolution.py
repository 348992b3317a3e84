"""Rows of sparse convolution, against a dense one."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.ops.sparse.convolution import rulebook
from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.sparse.references import convolved, dense, places

PLAIN: dict[str, Any] = {
    "shape": [2, 4, 3], "kernel_size": [2, 2], "strides": [1, 1], "paddings": [0, 0], "dilations": [1, 1]
}
STRIDED: dict[str, Any] = {
    "shape": [2, 5, 4], "kernel_size": [3, 2], "strides": [2, 1], "paddings": [1, 1], "dilations": [1, 2]
}
SAME: dict[str, Any] = {**PLAIN, "kernel_size": [3, 3], "paddings": [1, 1], "same_sites": True}
VOLUME: dict[str, Any] = {
    "shape": [1, 3, 3, 3], "kernel_size": [2, 2, 2], "strides": [1] * 3, "paddings": [0] * 3,
    "dilations": [1] * 3
}
INDICES = places((2, 4, 3), 6)


def _check_rules(results: Any, indices: Any, **attrs: Any) -> None:
    """Ones through the rules and a kernel of different numbers give the dense convolution of ones."""
    sites, numbers, sources, targets, counts = results
    kernel = np.arange(1.0, np.prod(attrs["kernel_size"]) + 1).reshape(*attrs["kernel_size"], 1, 1)
    image = dense(np.ones((indices.shape[1], 1)), indices, (*attrs["shape"], 1))
    want = convolved(image, kernel, attrs["strides"], attrs["paddings"], attrs["dilations"])
    if attrs.get("same_sites"):
        want = want * (image != 0)
    values = np.zeros(sites.shape[1])
    np.add.at(values, targets, np.repeat(kernel.reshape(-1), counts))
    np.testing.assert_array_equal(dense(values, sites, want.shape[:-1]), want[..., 0])
    assert (np.diff(numbers) > 0).all()
    assert sources.max() < indices.shape[1]
    if not attrs.get("same_sites"):
        assert sites.shape[1] == (want != 0).sum()


def _rules(attrs: dict[str, Any]) -> tuple[Any, ...]:
    made = rulebook.opdef.kernel(np, INDICES, **attrs)
    return made[2], made[3], made[4], np.zeros(made[0].shape[1])


def _convolved(values, weight, sources, targets, counts, like):  # type: ignore[no-untyped-def]
    offsets = np.repeat(np.arange(len(counts)), counts)
    out = np.zeros((len(like), weight.shape[-1]))
    for offset, a, b in zip(offsets, sources, targets, strict=True):
        out[b] += values[a] @ weight.reshape(-1, *weight.shape[-2:])[offset]
    return out


def _correlated(values, grads, sources, targets, counts, like):  # type: ignore[no-untyped-def]
    offsets = np.repeat(np.arange(len(counts)), counts)
    out = np.zeros((len(counts), *like.shape[-2:]))
    for offset, a, b in zip(offsets, sources, targets, strict=True):
        out[offset] += np.outer(values[a], grads[b])
    return out.reshape(like.shape)


_SOURCES, _TARGETS, _COUNTS, _LIKE = _rules(PLAIN)

CASES: list[Case] = [
    *row(
        "sparse_rulebook",
        None,
        s(INDICES, **PLAIN),
        s(places((2, 5, 4), 7), **STRIDED),
        s(places((2, 4, 3), 6, ordered=False), **SAME),
        s(places((1, 3, 3, 3), 5), **VOLUME),
        check=_check_rules,
        data=True,
    ),
    *row(
        "sparse_conv3d",
        _convolved,
        s(v(6, 2), v(2, 2, 2, 3, seed=1), _SOURCES, _TARGETS, _COUNTS, _LIKE),
        grads="values weight",
    ),
    *row(
        "sparse_conv3d_kernel",
        _correlated,
        s(v(6, 2), v(len(_LIKE), 3, seed=1), _SOURCES, _TARGETS, _COUNTS, np.zeros((2, 2, 2, 3))),
        grads="values grads",
    ),
]
