"""Windows of convolutions and poolings: paddings, and their elements as strided slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from engine.nn import functional as F
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import NeedsKnown, Unreadable
from engine.tensor.tensor_like import AnyTensor


def spatial(x: AnyTensor) -> list[int]:
    """The sizes of an image's dimensions, -1 where unknown."""
    return [int(d) if int(d) >= 0 else -1 for d in x.shape[2:]]


def known_sizes(x: AnyTensor) -> list[int]:
    """The sizes of an image's dimensions. Raises NeedsKnown."""
    found = spatial(x)
    if any(d < 0 for d in found):
        raise NeedsKnown("height and width must be known when the model is read")
    return found


def each(value: Sequence[int] | np.ndarray | None, rank: int, default: int = 1) -> list[int]:
    """A number for each dimension. Raises Unreadable."""
    found = [default] * rank if value is None or len(value) == 0 else [int(v) for v in value]
    if len(found) != rank:
        raise Unreadable(f"{len(found)} numbers for {rank} dimensions")
    return found


def paddings(
    x: AnyTensor,
    auto_pad: str,
    pads: Sequence[int] | np.ndarray | None,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[tuple[int, int]]:
    """What is added before and after each dimension."""
    rank = len(kernel)
    if auto_pad in ("NOTSET", ""):
        given = each(pads, 2 * rank, 0)
        return list(zip(given[:rank], given[rank:], strict=True))
    if auto_pad == "VALID":
        return [(0, 0)] * rank
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        raise Unreadable(f"auto_pad {auto_pad!r:.40}")
    found = []
    for size, k, s, d in zip(known_sizes(x), kernel, strides, dilations, strict=True):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        small, large = total // 2, total - total // 2
        found.append((small, large) if auto_pad == "SAME_UPPER" else (large, small))
    return found


def padded(x: AnyTensor, pairs: Sequence[tuple[int, int]], value: float) -> Any:
    """``x`` with a value around its image."""
    if not any(map(any, pairs)):
        return x
    return F.pad(x, [0, 0, 0, 0, *(n for pair in pairs for n in pair)], value=value)


def counts(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    ceil_mode: bool,
) -> list[int]:
    """How many windows each dimension has. With ``ceil_mode`` the last one may reach beyond the end."""
    found = []
    for size, k, s, d, (before, after) in zip(sizes, kernel, strides, dilations, pairs, strict=True):
        room = size + before + after - ((k - 1) * d + 1)
        count = (-(-room // s) if ceil_mode else room // s) + 1
        if ceil_mode and (count - 1) * s >= size + before:
            count -= 1
        found.append(max(count, 0))
    return found


def slices(
    x: AnyTensor,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    ceil_mode: bool,
    filling: float,
) -> Iterator[Any]:
    """For each element of the window, what it reads in all windows. Raises NeedsKnown, Unreadable."""
    sizes = known_sizes(x)
    made = counts(sizes, kernel, strides, dilations, pairs, ceil_mode)
    total = 1
    for k in kernel:
        total *= k
    if total > 4096:
        raise Unreadable(f"a window of {total} elements")
    ends = []
    for size, k, s, d, (before, after), count in zip(
        sizes, kernel, strides, dilations, pairs, made, strict=True
    ):
        ends.append((before, max(after, (count - 1) * s + (k - 1) * d + 1 - size - before)))
    around = padded(x, ends, filling)
    for offsets in product(*map(range, kernel)):
        starts = [o * d for o, d in zip(offsets, dilations, strict=True)]
        index = [slice(b, b + (n - 1) * s + 1, s) for b, n, s in zip(starts, made, strides, strict=True)]
        yield around[(slice(None), slice(None), *index)]


def offsets_of(kernel: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The places in a window, in the order of ``slices``."""
    return product(*map(range, kernel))


def stacked(parts: Iterator[Any]) -> Any:
    """Slices along a new first dimension."""
    return T.stack(list(parts), axis=0)
