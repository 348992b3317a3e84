"""Helpers of convolutions and poolings: padding in its three forms, sizes, and the order of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError
from engine.core.place import Array

Pads = tuple[tuple[int, int], ...]

AXES = {1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}
_FIRST = {1: "NCL", 2: "NCHW", 3: "NCDHW"}
_LAST = {1: "NLC", 2: "NHWC", 3: "NDHWC"}


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Padding before and after that gives ``ceil(size / stride)`` outputs; the odd one comes after."""
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def explicit_padding(where: str, paddings: Sequence[int], rank: int) -> Pads:
    """A number for each dimension, or one before and one after each, as pairs."""
    if len(paddings) == rank:
        return tuple([(p, p) for p in paddings])
    if len(paddings) == 2 * rank:
        return tuple(zip(paddings[0::2], paddings[1::2], strict=True))
    raise ArgumentError(
        f"{where}: paddings are {rank} numbers ({', '.join(AXES[rank])}) or {2 * rank} (before and after "
        f"each): got {list(paddings)}"
    )


def pads_of(
    where: str,
    size: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    algorithm: str,
) -> Pads:
    """Padding before and after in each dimension of an image, for image and kernel sizes."""
    if algorithm == "EXPLICIT":
        return explicit_padding(where, paddings, len(strides))
    if algorithm == "VALID":
        return ((0, 0),) * len(strides)
    if algorithm == "SAME":
        return tuple([same_padding(*each) for each in zip(size, kernel, strides, strict=True)])
    raise ArgumentError(f"{where}: padding_algorithm {algorithm!r} is not one of EXPLICIT, SAME, VALID")


def is_last(where: str, data_format: str, rank: int = 2) -> bool:
    """True where the channels come last (NHWC), False where they come second (NCHW)."""
    if data_format == "NHWC" or data_format == _LAST[rank]:
        return True
    if data_format not in ("NCHW", "AnyLayout", _FIRST[rank]):
        raise ArgumentError(f"{where}: data_format {data_format!r} is not {_FIRST[rank]} or {_LAST[rank]}")
    return False


def layout(rank: int, last: bool) -> str:
    """The name of an order of dimensions, as messages use it."""
    return (_LAST if last else _FIRST)[rank]


def channel_first(x: Array) -> Any:
    """[N, ..., C] as [N, C, ...]; a view."""
    return x.transpose(0, x.ndim - 1, *range(1, x.ndim - 1))


def channel_last(x: Array) -> Any:
    """[N, C, ...] as [N, ..., C]; a view."""
    return x.transpose(0, *range(2, x.ndim), 1)
