"""Pooling under the names of fluid's arguments, for functions and Layers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.nn import functional

_WINDOWS: dict[tuple[int, str], Any] = {
    (2, "max"): functional.max_pool2d,
    (2, "avg"): functional.avg_pool2d,
    (3, "max"): functional.max_pool3d,
    (3, "avg"): functional.avg_pool3d,
}
ADAPTIVE: dict[tuple[int, str], Any] = {
    (2, "max"): functional.adaptive_max_pool2d,
    (2, "avg"): functional.adaptive_avg_pool2d,
    (3, "max"): functional.adaptive_max_pool3d,
    (3, "avg"): functional.adaptive_avg_pool3d,
}


def pooled(
    input: Any,
    pool_size: Any,
    pool_type: str,
    pool_stride: Any,
    pool_padding: Any,
    global_pooling: bool,
    ceil_mode: bool,
    exclusive: bool,
    data_format: str = "",
) -> Any:
    """The pool2d and pool3d of fluid; the rank is that of ``input``.

    Raises ArgumentError for another ``pool_type``, and for a size of -1 without ``global_pooling``.
    """
    rank = len(input.shape) - 2
    format = data_format or ("NCHW" if rank == 2 else "NCDHW")
    check_type("pool", rank, pool_type)
    if global_pooling:
        pool = ADAPTIVE[rank, pool_type]
        return pool(input, 1) if format[1] == "C" else pool(input, 1, data_format=format)
    if pool_size == -1:
        raise ArgumentError(
            f"pool{rank}d: pool_size is -1 and global_pooling is False: give a size, or take the whole "
            "image with global_pooling=True"
        )
    more = {"exclusive": exclusive} if pool_type == "avg" else {}
    return _WINDOWS[rank, pool_type](
        input,
        tuple_of(pool_size, rank),
        tuple_of(pool_stride, rank),
        pool_padding,
        ceil_mode=ceil_mode,
        data_format=format,
        **more,
    )


def check_type(where: str, rank: int, pool_type: str) -> None:
    """Raise ArgumentError for a pool_type that there is not."""
    if pool_type not in ("max", "avg"):
        raise ArgumentError(f"{where}{rank}d: pool_type must be 'max' or 'avg': got {pool_type!r}")


def tuple_of(size: Any, rank: int) -> list[int]:
    """One number for each dimension, from one for all or from a list."""
    found = list(size) if isinstance(size, (list, tuple)) else [size]
    return [int(each) for each in (found * rank if len(found) == 1 else found)]
