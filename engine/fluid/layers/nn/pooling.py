"""Pooling of images and volumes, with fluid's arguments."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.fluid.layers.adapting import adapter
from engine.fluid.layers.windows import ADAPTIVE, check_type, pooled, tuple_of


@adapter
def pool2d(
    input: Any,
    pool_size: Any = -1,
    pool_type: str = "max",
    pool_stride: Any = 1,
    pool_padding: Any = 0,
    global_pooling: bool = False,
    use_cudnn: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
    exclusive: bool = True,
    data_format: str = "NCHW",
) -> Any:
    """The largest element or the mean of windows of [N, C, H, W]; of the whole image: global_pooling."""
    return pooled(
        input,
        pool_size,
        pool_type,
        pool_stride,
        pool_padding,
        global_pooling,
        ceil_mode,
        exclusive,
        data_format,
    )


@adapter
def pool3d(
    input: Any,
    pool_size: Any = -1,
    pool_type: str = "max",
    pool_stride: Any = 1,
    pool_padding: Any = 0,
    global_pooling: bool = False,
    use_cudnn: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
    exclusive: bool = True,
    data_format: str = "NCDHW",
) -> Any:
    """pool2d of volumes [N, C, D, H, W]."""
    return pooled(
        input,
        pool_size,
        pool_type,
        pool_stride,
        pool_padding,
        global_pooling,
        ceil_mode,
        exclusive,
        data_format,
    )


@adapter
def adaptive_pool2d(
    input: Any, pool_size: Any, pool_type: str = "max", require_index: bool = False, name: str | None = None
) -> Any:
    """Images pooled to ``pool_size``; with ``require_index`` also where the largest elements stood."""
    return _adaptive(2, input, pool_size, pool_type, require_index)


@adapter
def adaptive_pool3d(
    input: Any, pool_size: Any, pool_type: str = "max", require_index: bool = False, name: str | None = None
) -> Any:
    """Volumes pooled to ``pool_size``; with ``require_index`` also where the largest elements stood."""
    return _adaptive(3, input, pool_size, pool_type, require_index)


def _adaptive(rank: int, input: Any, pool_size: Any, pool_type: str, require_index: bool) -> Any:
    check_type("adaptive_pool", rank, pool_type)
    if require_index and pool_type == "avg":
        raise ArgumentError(f"adaptive_pool{rank}d: require_index=True has a meaning for 'max' only")
    more = {"return_mask": True} if require_index else {}
    return ADAPTIVE[rank, pool_type](input, tuple_of(pool_size, rank), **more)
