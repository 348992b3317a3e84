"""Pooling with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.nn.functional.windows import padding_of, pair
from engine.ops import math, pool


def _pool(
    where: str,
    kind: str,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    exclusive: bool,
    data_format: str,
) -> Any:
    if data_format not in ("NCHW", "NHWC"):
        raise ArgumentError(f"{where}: data_format {data_format!r} is none of 'NCHW', 'NHWC'")
    ksize = pair(where, "kernel_size", kernel_size)
    strides = ksize if stride is None else pair(where, "stride", stride)
    paddings, algorithm = padding_of(where, padding, data_format == "NHWC")
    if algorithm == "VALID" and ceil_mode:
        raise ArgumentError(f"{where}: padding='VALID' drops the rest, so ceil_mode must be False: got True")
    return pool.pool2d(
        x,
        pooling_type=kind,
        ksize=ksize,
        strides=strides,
        paddings=paddings,
        global_pooling=False,
        ceil_mode=bool(ceil_mode),
        exclusive=bool(exclusive),
        adaptive=False,
        padding_algorithm=algorithm,
        data_format=data_format,
    )


def max_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The largest element of every window of ``x`` [N, C, H, W] (or [N, H, W, C]).

    ``stride`` is the kernel size by default; ``padding`` has the forms of conv2d's. Raises ArgumentError for
    ``return_mask=True``: positions of the maxima are not computed.
    """
    if return_mask:
        raise ArgumentError(
            "max_pool2d: return_mask=True asks for the positions of the maxima, which this build does not "
            "compute; leave it False"
        )
    return _pool("max_pool2d", "max", x, kernel_size, stride, padding, ceil_mode, True, data_format)


def avg_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The mean of every window of ``x`` [N, C, H, W] (or [N, H, W, C]).

    ``exclusive`` leaves padding out of the count; ``divisor_override`` divides the window's sum by this
    instead.
    """
    if divisor_override is None:
        return _pool("avg_pool2d", "avg", x, kernel_size, stride, padding, ceil_mode, exclusive, data_format)
    if not divisor_override > 0:
        raise ArgumentError(f"avg_pool2d: divisor_override must be positive: got {divisor_override!r}")
    height, width = pair("avg_pool2d", "kernel_size", kernel_size)
    mean = _pool("avg_pool2d", "avg", x, kernel_size, stride, padding, ceil_mode, exclusive, data_format)
    return math.scale(mean, scale=height * width / divisor_override)


def adaptive_avg_pool2d(x: Any, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Means of windows chosen so that the result is ``output_size`` high and wide; None keeps a dimension."""
    if data_format not in ("NCHW", "NHWC"):
        raise ArgumentError(f"adaptive_avg_pool2d: data_format {data_format!r} is none of 'NCHW', 'NHWC'")
    sizes = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size, output_size]
    if len(sizes) == 2 and None in sizes:
        have = x.shape[2:4] if data_format == "NCHW" else x.shape[1:3]
        sizes = [have[n] if s is None else s for n, s in enumerate(sizes)]
    return pool.pool2d(
        x,
        pooling_type="avg",
        ksize=pair("adaptive_avg_pool2d", "output_size", sizes),
        strides=[1, 1],
        paddings=[0, 0],
        global_pooling=False,
        ceil_mode=False,
        exclusive=True,
        adaptive=True,
        padding_algorithm="EXPLICIT",
        data_format=data_format,
    )
