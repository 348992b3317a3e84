"""The reverse of max pooling: values are put back to where the maxima were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsInt

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.nn.functional.windows import Padding, Sizes, padding_of, require_rank, sizes
from engine.ops.arrays import shape
from engine.ops.images import unpooling
from engine.program.build.calls import takes_name
from engine.tensor.tensor_like import AnyTensor

_FORMATS = {1: "NCL", 2: "NCHW", 3: "NCDHW"}


def _output_size(
    where: str,
    rank: int,
    x: Any,
    ksize: list[int],
    strides: list[int],
    paddings: list[int],
    output_size: Any,
) -> list[int]:
    """The size that was pooled: as given, or the least that gives x."""
    have = x.shape[2:]
    if output_size is not None and not isinstance(output_size, (list, tuple)):
        raise DTypeError(
            f"{where}: output_size is a list of {rank} numbers: got {output_size!r}; pass e.g. {[4] * rank}"
        )
    unknown = any(d == -1 for d in have)
    if output_size is None and unknown:
        raise ShapeError(
            f"{where}: x has shape {list(x.shape)}: its size is known only when the Program runs; give "
            "output_size, or fix the size in the InputSpec"
        )
    least = [(int(h) - 1) * t + k - 2 * p for h, k, t, p in zip(have, ksize, strides, paddings, strict=True)]
    if output_size is None:
        return least
    wanted = [int(s) for s in output_size]
    if rank == 1 and len(wanted) in (2, 4) and wanted[-2] == 1:  # Paddle asks for the size of an image
        del wanted[-2]
    if len(wanted) == rank + 2:
        wanted = wanted[2:]
    if len(wanted) != rank:
        raise ArgumentError(
            f"{where}: output_size has {rank} numbers, or {rank + 2} with batch and channels: got "
            f"{output_size}"
        )
    fits = all(m - t < w < m + t for m, t, w in zip(least, strides, wanted, strict=True))
    if not unknown and not fits:
        between = [(m - t + 1, m + t - 1) for m, t in zip(least, strides, strict=True)]
        raise ArgumentError(
            f"{where}: output_size {wanted} could not be pooled to x {list(x.shape)} by kernel {ksize}, "
            f"stride {strides} and padding {paddings}; use sizes within {between}"
        )
    return wanted


def _unpool(
    where: str,
    rank: int,
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    data_format: str,
    output_size: Any,
) -> Any:
    if data_format != _FORMATS[rank]:
        raise ArgumentError(f"{where}: data_format must be {_FORMATS[rank]!r}: got {data_format!r}")
    require_rank(where, x, rank + 2, data_format)
    require_rank(where, indices, rank + 2, data_format, "indices")
    ksize = sizes(where, "kernel_size", kernel_size, rank)
    strides = ksize if stride is None else sizes(where, "stride", stride, rank)
    paddings, algorithm = padding_of(where, padding, False, rank)
    if algorithm != "EXPLICIT" or len(paddings) != rank:
        raise ArgumentError(
            f"{where}: padding is a number, or {rank} of them: got {padding!r}; pass what the pool was given"
        )
    wanted = _output_size(where, rank, x, ksize, strides, paddings, output_size)
    if rank == 1:
        x, indices = shape.unsqueeze(x, axes=[2]), shape.unsqueeze(indices, axes=[2])
        ksize, strides, paddings, wanted = [1, *ksize], [1, *strides], [0, *paddings], [1, *wanted]
    operator = unpooling.unpool3d if rank == 3 else unpooling.unpool
    out = operator(
        x,
        indices,
        unpooling_type="max",
        ksize=ksize,
        strides=strides,
        paddings=paddings,
        output_size=wanted,
        data_format="NCHW" if rank == 1 else data_format,
    )
    return shape.squeeze(out, axes=[2]) if rank == 1 else out


@takes_name
def max_unpool1d(
    x: AnyTensor,
    indices: AnyTensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Padding = 0,
    data_format: str = "NCL",
    output_size: Sequence[SupportsInt] | None = None,
    name: str | None = None,
) -> Any:
    """Zeros with the elements of ``x`` [N, C, L] at ``indices``, which max_pool1d(return_mask=True) gave.

    The other arguments are those of max_unpool2d. Differs from Paddle: ``output_size`` may be [L] or
    [N, C, L]; Paddle takes [1, L] and [N, C, 1, L], which are understood too.
    """
    return _unpool("max_unpool1d", 1, x, indices, kernel_size, stride, padding, data_format, output_size)


@takes_name
def max_unpool2d(
    x: AnyTensor,
    indices: AnyTensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Padding = 0,
    data_format: str = "NCHW",
    output_size: Sequence[SupportsInt] | None = None,
    name: str | None = None,
) -> Any:
    """Zeros with the elements of ``x`` [N, C, H, W] at ``indices``, which max_pool2d(return_mask=True) gave.

    kernel_size, stride and padding are the pooling's; ``output_size`` is what was pooled, by default the
    least size that it can have been. Raises OutOfRangeError for an index outside it.
    """
    return _unpool("max_unpool2d", 2, x, indices, kernel_size, stride, padding, data_format, output_size)


@takes_name
def max_unpool3d(
    x: AnyTensor,
    indices: AnyTensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Padding = 0,
    data_format: str = "NCDHW",
    output_size: Sequence[SupportsInt] | None = None,
    name: str | None = None,
) -> Any:
    """Zeros with the elements of ``x`` [N, C, D, H, W] at ``indices``; see max_unpool2d."""
    return _unpool("max_unpool3d", 3, x, indices, kernel_size, stride, padding, data_format, output_size)
