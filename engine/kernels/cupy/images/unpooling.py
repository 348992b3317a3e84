"""Unpooling on a GPU, and the gradient of maxima with places: one launch each, see ``cuda/unpooling.cu``.

Places that do not exist are skipped, and raised when results are fetched (``faults.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.kernels.cupy import faults
from engine.kernels.cupy.defaults import handed_over
from engine.kernels.cupy.source import FLOATING, TYPES, kernel, of_type

_THREADS = 256


def _serves(values: Any, places: Any, planes: int, size: int, count: int) -> bool:
    return (
        values.dtype.name in FLOATING
        and places.dtype.name in ("int32", "int64")
        and values.shape == places.shape
        and planes * max(size, count) < 1 << 31
    )


def _launch(xp: Any, name: str, function: str, values: Any, places: Any, shape: Any, scratches: int) -> Any:
    """An array of ``shape`` [N, C, ...] with the values [N, C, ...] put to their places of each plane."""
    made = xp.empty(shape, values.dtype)
    count = math.prod(values.shape[2:])
    if not made.size:
        return made
    scratch = [xp.empty(made.size, np.int32) for _ in range(scratches)]
    arrays = xp.ascontiguousarray(values), xp.ascontiguousarray(places)
    size = math.prod(shape[2:])
    kernel("unpooling", function, **of_type(values.dtype), L=TYPES[places.dtype.name][0])(
        (math.prod(shape[:2]),),
        (_THREADS,),
        (*arrays, made, *scratch, np.int32(size), np.int32(count), faults.code(name), faults.record()),
    )
    return made


def _unpool(name: str, rank: int) -> Callable[..., Any]:
    def unpool(xp: Any, x: Any, indices: Any, *, output_size: Any, **attrs: Any) -> Any:
        planes, size, count = math.prod(x.shape[:2]), math.prod(output_size), math.prod(x.shape[2:])
        if x.ndim != rank + 2 or not _serves(x, indices, planes, size, count):
            return handed_over(name, xp, x, indices, output_size=output_size, **attrs)
        return _launch(xp, name, "unpooled", x, indices, (*x.shape[:2], *output_size), 1)

    return unpool


def _gradient(name: str) -> Callable[..., Any]:
    def gradient(xp: Any, x: Any, mask: Any, g_in: Any) -> Any:
        planes, size, count = math.prod(x.shape[:2]), math.prod(x.shape[2:]), math.prod(mask.shape[2:])
        if not _serves(g_in, mask, planes, size, count):
            return handed_over(name, xp, x, mask, g_in)
        return _launch(xp, name, "added_up", g_in, mask, x.shape, 2)

    return gradient


unpool, unpool3d = _unpool("unpool", 2), _unpool("unpool3d", 3)
max_pool2d_with_index_grad = _gradient("max_pool2d_with_index_grad")
max_pool3d_with_index_grad = _gradient("max_pool3d_with_index_grad")
