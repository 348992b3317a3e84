"""Pooling with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError
from engine.nn.functional.windows import Padding, Sizes, is_last, padding_of, require_rank, sizes
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic
from engine.ops.images import pooling, unpooling
from engine.program.build.calls import takes_name
from engine.program.graph.unknown import known_operand
from engine.tensor.arguments.sizes import items
from engine.tensor.tensor_like import AnyTensor, IntegersLike

_FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def _windows(
    where: str,
    rank: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    data_format: str,
) -> dict[str, Any]:
    """The attributes that describe the windows of a pooling."""
    last = is_last(where, data_format, *_FORMATS[rank])
    require_rank(where, x, rank + 2, data_format)
    ksize = sizes(where, "kernel_size", kernel_size, rank)
    strides = ksize if stride is None else sizes(where, "stride", stride, rank)
    paddings, algorithm = padding_of(where, padding, last, rank)
    if algorithm == "VALID" and ceil_mode:
        raise ArgumentError(f"{where}: padding='VALID' drops the rest, so ceil_mode must be False: got True")
    return {
        "ksize": ksize,
        "strides": strides,
        "paddings": paddings,
        "global_pooling": False,
        "ceil_mode": bool(ceil_mode),
        "padding_algorithm": algorithm,
    }


def _pool(
    where: str,
    rank: int,
    kind: str,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    exclusive: bool,
    data_format: str,
) -> Any:
    windows = _windows(where, rank, x, kernel_size, stride, padding, ceil_mode, data_format)
    operator = pooling.pool3d if rank == 3 else pooling.pool2d
    if rank == 1:
        x, windows = _as_image(x, windows)
        data_format = "NCHW"
    out = operator(
        x,
        pooling_type=kind,
        exclusive=bool(exclusive),
        adaptive=False,
        data_format=data_format,
        **windows,
    )
    return shape.squeeze(out, axes=[2]) if rank == 1 else out


def _as_image(x: Any, windows: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """[N, C, L] as an image of one row, with windows of one row."""
    paddings = windows["paddings"]
    changed = {
        "ksize": [1, *windows["ksize"]],
        "strides": [1, *windows["strides"]],
        "paddings": [0, *paddings] if len(paddings) == 1 else [0, 0, *paddings],
    }
    return shape.unsqueeze(x, axes=[2]), windows | changed


def _max_pool(
    where: str,
    rank: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    return_mask: bool,
    ceil_mode: bool,
    data_format: str,
) -> Any:
    if not return_mask:
        return _pool(where, rank, "max", x, kernel_size, stride, padding, ceil_mode, True, data_format)
    if data_format != _FORMATS[rank][0]:
        raise ArgumentError(
            f"{where}: return_mask=True counts positions in a channel's image, so data_format must be "
            f"{_FORMATS[rank][0]!r}: got {data_format!r}; transpose x"
        )
    windows = _windows(where, rank, x, kernel_size, stride, padding, ceil_mode, data_format)
    if rank == 1:
        x, windows = _as_image(x, windows)
    operator = unpooling.max_pool3d_with_index if rank == 3 else unpooling.max_pool2d_with_index
    found = operator(x, adaptive=False, **windows)
    return tuple([shape.squeeze(f, axes=[2]) for f in found]) if rank == 1 else found


@takes_name
def max_pool1d(
    x: AnyTensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """The largest element of every window of ``x`` [N, C, L]; with ``return_mask`` also where it is.

    ``stride`` is the kernel size by default; ``padding`` has the forms of conv1d's.
    """
    return _max_pool("max_pool1d", 1, x, kernel_size, stride, padding, return_mask, ceil_mode, "NCL")


@takes_name
def max_pool2d(
    x: AnyTensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The largest element of every window of ``x`` [N, C, H, W] (or [N, H, W, C]).

    ``stride`` is the kernel size by default; ``padding`` has the forms of conv2d's. ``return_mask`` gives
    also the position of each maximum in its image, counted row by row (NCHW only).

    Differs from Paddle: with ``return_mask`` too, ``ceil_mode`` and the padding 'SAME' count; a window larger
    than the padded image is refused; the maximum of minus infinities is minus infinity.
    """
    return _max_pool("max_pool2d", 2, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


@takes_name
def max_pool3d(
    x: AnyTensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The largest element of every window of ``x`` [N, C, D, H, W] (or [N, D, H, W, C]); see max_pool2d."""
    return _max_pool("max_pool3d", 3, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


@takes_name
def avg_pool1d(
    x: AnyTensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Padding = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """The mean of every window of ``x`` [N, C, L]; ``exclusive`` leaves padding out of the count."""
    return _pool("avg_pool1d", 1, "avg", x, kernel_size, stride, padding, ceil_mode, exclusive, "NCL")


@takes_name
def avg_pool2d(
    x: AnyTensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Padding = 0,
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
    return _avg_pool(
        "avg_pool2d", 2, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format
    )


@takes_name
def avg_pool3d(
    x: AnyTensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The mean of every window of ``x`` [N, C, D, H, W] (or [N, D, H, W, C]); see avg_pool2d."""
    return _avg_pool(
        "avg_pool3d", 3, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format
    )


def _avg_pool(
    where: str,
    rank: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    exclusive: bool,
    divisor_override: float | None,
    data_format: str,
) -> Any:
    mean = _pool(where, rank, "avg", x, kernel_size, stride, padding, ceil_mode, exclusive, data_format)
    if divisor_override is None:
        return mean
    number = isinstance(divisor_override, (int, float)) and not isinstance(divisor_override, bool)
    if not number or divisor_override == 0:
        raise ArgumentError(
            f"{where}: divisor_override is a number other than 0: got {divisor_override!r}; pass what the "
            "sum of a window is divided by"
        )
    elements = 1
    for k in sizes(where, "kernel_size", kernel_size, rank):
        elements *= k
    # Paddle scales the mean, so a window at the border counts its own elements.
    return arithmetic.scale(mean, scale=elements / divisor_override)


def _adaptive_size(where: str, rank: int, x: Any, output_size: Any, last: bool) -> list[int]:
    """The size of an adaptive pooling's result; None keeps that of x."""
    given = [output_size] * rank if type(output_size) is int else output_size
    if isinstance(given, (list, tuple)) and len(given) == rank and {*map(type, given)} == {int}:
        return sizes(where, "output_size", given, rank)  # plain numbers, as most calls have them
    if modes.is_symbolic(output_size) and output_size.ndim:
        output_size = items(where, output_size)
    elif hasattr(output_size, "tolist") and not modes.is_symbolic(output_size):
        output_size = output_size.tolist()
    wanted = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * rank
    wanted = [known_operand(s) for s in wanted]
    if any(map(modes.is_symbolic, wanted)):  # only the running Program knows it
        return wanted
    wanted = [int(s) if hasattr(s, "item") else s for s in wanted]
    if len(wanted) == rank and None in wanted and rank > 1:
        have = x.shape[1:-1] if last else x.shape[2:]
        if any(s is None and h == -1 for s, h in zip(wanted, have, strict=True)):
            raise ArgumentError(
                f"{where}: output_size {output_size!r} keeps a dimension of x {list(x.shape)} that is known "
                "only when the Program runs; give its size, or fix it in the InputSpec"
            )
        wanted = [h if s is None else s for s, h in zip(wanted, have, strict=True)]
    return sizes(where, "output_size", wanted, rank)


def _adaptive_avg(where: str, rank: int, x: Any, output_size: Any, data_format: str) -> Any:
    last = is_last(where, data_format, *_FORMATS[rank])
    require_rank(where, x, rank + 2, data_format)
    ksize = _adaptive_size(where, rank, x, output_size, last)
    if rank == 1:
        x, ksize, data_format = shape.unsqueeze(x, axes=[2]), [1, *ksize], "NCHW"
    operator = pooling.pool3d if rank == 3 else pooling.pool2d
    out = operator(
        x,
        pooling_type="avg",
        ksize=ksize,
        strides=[1] * len(ksize),
        paddings=[0] * len(ksize),
        global_pooling=False,
        ceil_mode=False,
        exclusive=True,
        adaptive=True,
        padding_algorithm="EXPLICIT",
        data_format=data_format,
    )
    return shape.squeeze(out, axes=[2]) if rank == 1 else out


@takes_name
def adaptive_avg_pool1d(x: AnyTensor, output_size: IntegersLike, name: str | None = None) -> Any:
    """Means of windows chosen so that [N, C, L] becomes [N, C, output_size]."""
    return _adaptive_avg("adaptive_avg_pool1d", 1, x, output_size, "NCL")


@takes_name
def adaptive_avg_pool2d(
    x: AnyTensor, output_size: IntegersLike | None, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """Means of windows chosen so that the result is ``output_size`` high and wide; None keeps a dimension."""
    return _adaptive_avg("adaptive_avg_pool2d", 2, x, output_size, data_format)


@takes_name
def adaptive_avg_pool3d(
    x: AnyTensor, output_size: IntegersLike | None, data_format: str = "NCDHW", name: str | None = None
) -> Any:
    """Means of windows chosen so that the result has ``output_size``; None keeps a dimension."""
    return _adaptive_avg("adaptive_avg_pool3d", 3, x, output_size, data_format)


def _adaptive_max(where: str, rank: int, x: Any, output_size: Any, return_mask: bool) -> Any:
    require_rank(where, x, rank + 2, _FORMATS[rank][0])
    ksize = _adaptive_size(where, rank, x, output_size, False)
    if rank == 1:
        x, ksize = shape.unsqueeze(x, axes=[2]), [1, *ksize]
    operator = unpooling.max_pool3d_with_index if rank == 3 else unpooling.max_pool2d_with_index
    found = operator(
        x,
        ksize=ksize,
        strides=[1] * len(ksize),
        paddings=[0] * len(ksize),
        global_pooling=False,
        adaptive=True,
        ceil_mode=False,
        padding_algorithm="EXPLICIT",
    )
    if rank == 1:
        found = tuple([shape.squeeze(f, axes=[2]) for f in found])
    return found if return_mask else found[0]


@takes_name
def adaptive_max_pool1d(
    x: AnyTensor, output_size: IntegersLike, return_mask: bool = False, name: str | None = None
) -> Any:
    """Maxima of windows chosen so that [N, C, L] becomes [N, C, output_size]; see adaptive_max_pool2d."""
    return _adaptive_max("adaptive_max_pool1d", 1, x, output_size, return_mask)


@takes_name
def adaptive_max_pool2d(
    x: AnyTensor, output_size: IntegersLike | None, return_mask: bool = False, name: str | None = None
) -> Any:
    """Maxima of windows of [N, C, H, W] chosen so that the result has ``output_size``; None keeps a size.

    ``return_mask`` gives also the position of each maximum in its image, counted row by row.
    """
    return _adaptive_max("adaptive_max_pool2d", 2, x, output_size, return_mask)


@takes_name
def adaptive_max_pool3d(
    x: AnyTensor, output_size: IntegersLike | None, return_mask: bool = False, name: str | None = None
) -> Any:
    """Maxima of windows of [N, C, D, H, W] chosen so that the result has ``output_size``."""
    return _adaptive_max("adaptive_max_pool3d", 3, x, output_size, return_mask)
