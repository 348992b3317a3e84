"""Pooling of images and volumes, with fluid's arguments."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.fluid.layers.windows import ADAPTIVE, check_type, pooled, tuple_of
from engine.fluid.renamed.functions import Fixed, functions, row


def _adaptive(rank: int, input: Any, pool_size: Any, pool_type: str, require_index: bool) -> Any:
    check_type("adaptive_pool", rank, pool_type)
    if require_index and pool_type == "avg":
        raise ArgumentError(f"adaptive_pool{rank}d: require_index=True has a meaning for 'max' only")
    more = {"return_mask": True} if require_index else {}
    return ADAPTIVE[rank, pool_type](input, tuple_of(pool_size, rank), **more)


ADAPTED = "input, pool_size, pool_type: str = 'max', require_index: bool = False, name: str | None = None"
# fmt: off
ROWS = (
    row("pool2d", pooled,
        "input, pool_size=-1, pool_type: str = 'max', pool_stride=1, pool_padding=0, "
        "global_pooling: bool = False, use_cudnn: bool = True, ceil_mode: bool = False, "
        "name: str | None = None, exclusive: bool = True, data_format: str = 'NCHW'",
        "The largest element or the mean of windows of [N, C, H, W]; of the whole image: global_pooling.",
        unused="use_cudnn name"),
    row("pool3d", pooled,
        "input, pool_size=-1, pool_type: str = 'max', pool_stride=1, pool_padding=0, "
        "global_pooling: bool = False, use_cudnn: bool = True, ceil_mode: bool = False, "
        "name: str | None = None, exclusive: bool = True, data_format: str = 'NCDHW'",
        "pool2d of volumes [N, C, D, H, W].", unused="use_cudnn name"),
    row("adaptive_pool2d", _adaptive, ADAPTED,
        "Images pooled to ``pool_size``; with ``require_index`` also where the largest elements stood.",
        {"rank": Fixed(2)}, unused="name"),
    row("adaptive_pool3d", _adaptive, ADAPTED,
        "Volumes pooled to ``pool_size``; with ``require_index`` also where the largest elements stood.",
        {"rank": Fixed(3)}, unused="name"),
)
# fmt: on
globals().update(functions(ROWS, __name__))
