"""Poolings on a GPU, their gradients, and the picks of second derivatives; kernels: ``cuda/pooling*.cu``.

Arrays are read in any memory order, results are contiguous in the order of ``data_format``. An image with as
many elements as 32 bits can't count goes to the default kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import cupy
import numpy as np

from engine.core.operators.opdef import OPS
from engine.core.operators.windows import pads_of
from engine.core.values.spec import Spec
from engine.kernels.cupy.defaults import handed_over
from engine.kernels.cupy.images.strides import COUNTED, as_arguments, strides_of, three
from engine.kernels.cupy.source import FLOATING, blocks, kernel, of_type

_THREADS, _WARPS = 256, 4
_LARGE = 64  # elements of a window that the lanes of a warp share


class _Windows(NamedTuple):
    """The windows of one pooling, and its sizes as the kernels take them."""

    numbers: tuple[Any, ...]
    made: tuple[int, ...]  # the shape of the result
    window: int  # elements
    rank: int
    last: bool


def _windows(name: str, attrs: dict[str, Any], x: Any, *more: Any) -> _Windows | None:
    """The windows of the pooling ``name`` of x; None where the kernels do not serve it."""
    if x.dtype.name not in FLOATING or any(each.dtype != x.dtype for each in more):
        return None
    given = tuple([(key, tuple(v) if isinstance(v, list) else v) for key, v in attrs.items()])
    return _found(name, x.shape, given)


@lru_cache(maxsize=1024)
def _found(name: str, shape: tuple[int, ...], given: tuple[tuple[str, Any], ...]) -> _Windows | None:
    opdef = OPS[name]
    attrs = opdef.with_defaults({key: v for key, v in given if key in opdef.attributes})
    made = opdef.infer_specs([Spec(shape, "float32")], attrs)[0].shape
    if max(math.prod(shape), math.prod(made)) >= COUNTED:
        return None
    last = attrs.get("data_format", "NCHW")[-1] == "C"
    inner = slice(1, -1) if last else slice(2, None)
    size, out = shape[inner], made[inner]
    kernel_, strides, pads = attrs["ksize"], attrs["strides"], [(0, 0)] * len(size)
    ragged = False
    if attrs["global_pooling"]:
        kernel_ = strides = size
    elif attrs["adaptive"]:
        ragged = any(s % o for s, o in zip(size, out, strict=True))
        kernel_ = strides = [-(-s // o) for s, o in zip(size, out, strict=True)]
    else:
        pads = list(pads_of(name, size, kernel_, strides, attrs["paddings"], attrs["padding_algorithm"]))
    numbers = [
        shape[0],
        shape[-1] if last else shape[1],
        *three(size, 1),
        *three(out, 1),
        *three(kernel_, 1),
        *three(strides, 1),
        *three([before for before, _ in pads], 0),
        ragged,
        attrs.get("exclusive", True),
        last,
    ]
    return _Windows(tuple(map(np.int32, numbers)), made, math.prod(kernel_), len(size), last)


def _strided(windows: _Windows, *arrays: Any) -> tuple[list[Any], list[Any]]:
    """Arrays, and their strides as the kernels take them."""
    found = [strides_of(each, windows.rank, windows.last) for each in arrays]
    return [array for array, _ in found], [n for _, strides in found for n in as_arguments(strides)]


def _pooled(windows: _Windows, x: Any, mean: bool, marked: bool = False) -> tuple[Any, Any]:
    """The maximum or mean of each window, and the places of maxima in the image on request."""
    (x,), strides = _strided(windows, x)
    made = cupy.empty(windows.made, x.dtype)
    places = cupy.empty(windows.made if marked else 0, np.int32)
    macros = of_type(x.dtype)
    if windows.window >= _LARGE and not marked:
        code = kernel("pooling_large", "large", **macros)
        grid = (blocks(made.size, _WARPS),)
        code(grid, (_WARPS * 32,), (x, made, np.int32(mean), *windows.numbers, *strides))
    else:
        arguments = (x, made, places, np.int32(mean), np.int32(marked), *windows.numbers, *strides)
        kernel("pooling", "pooled", **macros)((blocks(made.size, _THREADS),), (_THREADS,), arguments)
    return made, places


def _pool(name: str) -> Callable[..., Any]:
    def pool(xp: Any, x: Any, *, pooling_type: str = "max", **attrs: Any) -> Any:
        windows = _windows(name, attrs, x)
        if windows is None:
            return handed_over(name, xp, x, pooling_type=pooling_type, **attrs)
        return _pooled(windows, x, pooling_type == "avg")[0]

    return pool


def _gradient(name: str) -> Callable[..., Any]:
    def gradient(xp: Any, x: Any, y: Any, g_in: Any, *, pooling_type: str = "max", **attrs: Any) -> Any:
        windows = _windows(name, attrs, x, y, g_in)
        if windows is None:
            return handed_over(f"{name}_grad", xp, x, y, g_in, pooling_type=pooling_type, **attrs)
        arrays, strides = _strided(windows, x, y, g_in)
        made = cupy.empty(x.shape, x.dtype)
        kernel("pooling", "gathered", **of_type(x.dtype))(
            (blocks(made.size, _THREADS),),
            (_THREADS,),
            (*arrays, made, np.int32(pooling_type == "avg"), *windows.numbers, *strides),
        )
        return made

    return gradient


def _pick(name: str) -> Callable[..., Any]:
    def pick(xp: Any, x: Any, y: Any, values: Any, **attrs: Any) -> Any:
        windows = _windows(name, attrs, x, y, values)
        if windows is None:
            return handed_over(f"max_{name}_pick", xp, x, y, values, **attrs)
        arrays, strides = _strided(windows, x, y, values)
        made = cupy.empty(windows.made, x.dtype)
        kernel("pooling", "picked", **of_type(x.dtype))(
            (blocks(made.size, _THREADS),), (_THREADS,), (*arrays, made, *windows.numbers, *strides)
        )
        return made

    return pick


def _with_index(name: str) -> Callable[..., Any]:
    def pool(xp: Any, x: Any, **attrs: Any) -> Any:
        windows = _windows(name, attrs, x)
        if windows is None:
            return handed_over(name, xp, x, **attrs)
        return _pooled(windows, x, False, True)

    return pool


pool2d, pool2d_grad, max_pool2d_pick = _pool("pool2d"), _gradient("pool2d"), _pick("pool2d")
pool3d, pool3d_grad, max_pool3d_pick = _pool("pool3d"), _gradient("pool3d"), _pick("pool3d")
max_pool2d_with_index = _with_index("max_pool2d_with_index")
max_pool3d_with_index = _with_index("max_pool3d_with_index")
