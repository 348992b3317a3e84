"""Convolutions on a GPU, and their two gradients: which kernel computes one, and how it is launched.

The kernels are ``cuda/convolution*.cu``. Arrays are [N, C, ...] or, ``last``, [N, ..., C], of two or
three dimensions, in any memory order; results are contiguous. Which kernel, which tiles and how many parts
follows from the sizes alone.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import cupy
import numpy as np

from engine.kernels.cupy.images.strides import COUNTED, Triple, as_arguments, strides_of
from engine.kernels.cupy.source import Kernel, blocks, kernel, of_type

_GRID = 1 << 16
_CACHED = 1024  # launches that are cached, each of one convolution


class Convolution(NamedTuple):
    """The sizes of one convolution; those of images have a depth of 1.

    x [samples, channels, *image] with filters [filters, taken, *kernel] gives [samples, filters, *made].
    ``pads`` are those before.
    """

    samples: int
    channels: int
    image: Triple
    filters: int
    taken: int
    kernel: Triple
    made: Triple
    strides: Triple
    pads: Triple
    dilations: Triple
    groups: int
    rank: int
    last: bool

    def shape(self, channels: int, size: Triple) -> tuple[int, ...]:
        """The shape of an image, or of a result, of that many channels."""
        inner = size[3 - self.rank :]
        return (self.samples, *inner, channels) if self.last else (self.samples, channels, *inner)


class Tile(NamedTuple):
    """Sizes of a block: rows x columns, ``depth`` terms of the sums at a time; and of a thread's sums."""

    rows: int
    columns: int
    depth: int
    per_row: int
    per_column: int
    resident: int  # blocks that share a multiprocessor: bounds the registers of a thread

    def macros(self, dtype: Any) -> dict[str, int]:
        found = {name.upper(): value for name, value in self._asdict().items()}
        if dtype == np.float64:  # takes two registers each
            found["RESIDENT"] = max(self.resident // 2, 1)
        return found

    @property
    def threads(self) -> int:
        return self.rows // self.per_row * (self.columns // self.per_column)


# Rows are channels of the result, columns its places.
WIDE, EVEN, FLAT = Tile(128, 128, 8, 8, 8, 2), Tile(64, 64, 8, 4, 4, 4), Tile(16, 128, 8, 4, 4, 8)
# Rows are filters, columns entries of one filter.
EVEN_FILTERS, FEW_FILTERS = Tile(64, 64, 16, 4, 4, 3), Tile(16, 32, 32, 2, 2, 6)
DIRECT = 128  # threads of a block that has no tile
_FEW = 4  # rows that a thread computes directly
_FLAT_ROWS, _WIDE_ROWS = 32, 96
_MANY = 256  # blocks from which on larger ones keep a GPU busy
_IDLE, _FULL = 64, 128  # tiles below which blocks share them, and how many blocks there are then
_STRETCH = 256  # terms of a sum that a block that shares a tile has at least
_PARTS = 512  # blocks that the gradient by the filters is cut into, where there are places enough
_LEAST, _LEAST_DIRECT = 256, 1024  # places of a part
_WASTE = 8  # a tile that holds fewer sums than one in this many is left to `entries`


class Launch(NamedTuple):
    """A kernel with all of its arguments but the arrays."""

    kernel: Kernel
    grid: Triple
    threads: int
    arguments: tuple[Any, ...]
    parts: int  # how many blocks give a part of the same sums, which are added then


def serves(sizes: Convolution) -> bool:
    """Whether indices of 32 bits and the grid reach; else the default kernel computes."""
    image, made = math.prod(sizes.image), math.prod(sizes.made)
    entries = sizes.filters * sizes.taken * math.prod(sizes.kernel)
    samples = max(sizes.channels * image, sizes.filters * made)
    most = max(sizes.samples * max(image, made), entries, samples)
    rows = blocks(max(sizes.taken, sizes.filters // sizes.groups), min(FLAT.rows, FEW_FILTERS.rows))
    return most < COUNTED and max(rows, sizes.groups * math.prod(sizes.strides)) < _GRID


def forward(sizes: Convolution, x: Any, weight: Any, bias: Any = None, rectified: bool = False) -> Any:
    """The convolution, plus ``bias`` [filters] and with negative values replaced by zero on request."""
    return _gathered(sizes, False, x, weight, bias, rectified)


def input_gradient(sizes: Convolution, g: Any, weight: Any) -> Any:
    """The gradient of the image from that of the result; a transposed convolution is this, too."""
    return _gathered(sizes, True, g, weight, None, False)


def _gathered(
    sizes: Convolution, backward: bool, source: Any, weight: Any, bias: Any, rectified: bool
) -> Any:
    source, strides = strides_of(source, sizes.rank, sizes.last)
    channels, size = (sizes.channels, sizes.image) if backward else (sizes.filters, sizes.made)
    made = cupy.empty(sizes.shape(channels, size), source.dtype)
    if not made.size:
        return made
    launch = _gathering(sizes, backward, source.dtype, strides, bias is not None, rectified)
    weight = cupy.ascontiguousarray(weight)
    added = weight if bias is None else cupy.ascontiguousarray(bias)
    parts = _parts(launch, made)
    launch.kernel(launch.grid, (launch.threads,), (source, weight, added, made, parts, *launch.arguments))
    if launch.parts > 1:
        apart = 1 if sizes.last else math.prod(size)
        _add(parts, made, launch.parts, added, channels, apart, bias is not None, rectified)
    return made


def _parts(launch: Launch, made: Any) -> Any:
    """Memory for the parts of sums; empty if there is one part."""
    wide = np.float64 if made.dtype == np.float64 else np.float32
    return cupy.empty(launch.parts * made.size, wide) if launch.parts > 1 else _nothing(wide)


@lru_cache(maxsize=2)
def _nothing(dtype: Any) -> Any:
    return cupy.empty(0, dtype)


def _add(
    parts: Any,
    made: Any,
    count: int,
    bias: Any,
    channels: int = 1,
    apart: int = 1,
    biased: bool = False,
    rectified: bool = False,
) -> None:
    """Write the sum of several parts, plus a bias for each channel, which are ``apart`` in memory."""
    kernel("convolution_sums", "sums", **of_type(made.dtype))(
        (blocks(made.size, 32),),
        (256,),
        (
            parts,
            bias,
            made,
            np.int64(made.size),
            np.int32(count),
            np.int32(channels),
            np.int64(apart),
            np.int32(biased),
            np.int32(rectified),
        ),
    )


@lru_cache(maxsize=_CACHED)
def _gathering(
    sizes: Convolution, backward: bool, dtype: Any, strides: tuple[int, ...], biased: bool, rectified: bool
) -> Launch:
    s = sizes
    each, taps = s.filters // s.groups, math.prod(s.kernel)
    rows, channels = (s.taken, each) if backward else (each, s.taken)
    made, size = (s.image, s.made) if backward else (s.made, s.image)
    phases = math.prod(s.strides) if backward else 1
    most = [-(-n // t) for n, t in zip(made, s.strides, strict=True)] if backward else made
    places = s.samples * math.prod(most)
    tile = _tile(rows, places, s.groups * phases, dtype)
    macros: dict[str, Any] = {**of_type(dtype), "DEEP": s.rank == 3, "BACKWARD": backward}
    if tile is None:
        filters = 1 if rows == 1 else _FEW
        code = kernel("convolution_direct", "direct", **macros, FILTERS=filters)
        grid, threads = (blocks(places, DIRECT), blocks(rows, filters)), DIRECT
        parts = 1
    else:
        code = kernel("convolution", "products", **macros, **tile.macros(dtype))
        grid, threads = (blocks(places, tile.columns), blocks(rows, tile.rows)), tile.threads
        parts = _shares(grid[0] * grid[1] * s.groups * phases, channels * taps // phases)
    by_row, by_channel = (taps, s.taken * taps) if backward else (s.taken * taps, taps)
    numbers = [s.samples, rows, channels, *made, *size, *s.kernel, *s.strides, *s.pads, *s.dilations]
    last = [each * s.taken * taps, by_row, by_channel]
    result = _contiguous(sizes, rows * s.groups, made)
    arguments = (
        *map(np.int32, numbers),
        *as_arguments(strides),
        *map(np.int64, result),
        *map(np.int32, last),
        np.int32(biased),
        np.int32(rectified),
        np.int64(s.samples * rows * s.groups * math.prod(made)),
        np.int32(parts),
    )
    return Launch(code, (*grid, s.groups * phases * parts), threads, arguments, parts)


def _shares(tiles: int, length: int) -> int:
    """How many blocks share a tile whose sums have that many terms: several where tiles are too few."""
    if tiles >= _IDLE or length < 2 * _STRETCH:
        return 1
    return min(_FULL // tiles, length // _STRETCH)


def _tile(rows: int, places: int, times: int, dtype: Any) -> Tile | None:
    """The tile for a number of rows, places and repetitions; None: directly."""
    if rows <= _FEW:
        return None
    if rows <= _FLAT_ROWS:
        return FLAT
    wide = blocks(rows, WIDE.rows) * blocks(places, WIDE.columns) * times
    return WIDE if rows >= _WIDE_ROWS and wide >= _MANY and dtype != np.float64 else EVEN


def filter_gradient(sizes: Convolution, x: Any, g: Any) -> Any:
    """The gradient of the filters [filters, taken, *kernel] from the image and the gradient of the result."""
    x, strides = strides_of(x, sizes.rank, sizes.last)
    g, g_strides = strides_of(g, sizes.rank, sizes.last)
    inner = sizes.kernel[3 - sizes.rank :]
    made = cupy.empty((sizes.filters, sizes.taken, *inner), x.dtype)
    if not made.size:
        return made
    launch = _filtering(sizes, x.dtype, strides, g_strides)
    parts = _parts(launch, made)
    launch.kernel(launch.grid, (launch.threads,), (x, g, parts, made, *launch.arguments))
    if launch.parts > 1:
        _add(parts, made, launch.parts, made)
    return made


@lru_cache(maxsize=_CACHED)
def _filtering(
    sizes: Convolution, dtype: Any, strides: tuple[int, ...], g_strides: tuple[int, ...]
) -> Launch:
    s = sizes
    each, entries = s.filters // s.groups, s.taken * math.prod(s.kernel)
    places = s.samples * math.prod(s.made)
    macros: dict[str, Any] = {**of_type(dtype), "DEEP": s.rank == 3}
    tile = FEW_FILTERS if each <= FEW_FILTERS.rows or entries <= FEW_FILTERS.columns else EVEN_FILTERS
    held = blocks(each, tile.rows) * tile.rows * blocks(entries, tile.columns) * tile.columns
    if held > _WASTE * each * entries and each * entries < COUNTED:
        code, grid, threads = kernel("convolution_entries", "entries", **macros), (each * entries, 1), DIRECT
        least, step = _LEAST_DIRECT, DIRECT
    else:
        code, threads = kernel("convolution_filters", "filters", **macros, **tile.macros(dtype)), tile.threads
        grid, least, step = (blocks(entries, tile.columns), blocks(each, tile.rows)), _LEAST, tile.depth
    wanted = min(blocks(_PARTS, grid[0] * grid[1] * s.groups), blocks(places, least), (_GRID - 1) // s.groups)
    length = max(blocks(blocks(places, max(wanted, 1)), step) * step, step)
    parts = max(blocks(places, length), 1)
    numbers = [s.samples, each, s.taken, *s.made, *s.image, *s.kernel, *s.strides, *s.pads, *s.dilations]
    arguments = (
        *map(np.int32, numbers),
        *as_arguments(strides),
        *as_arguments(g_strides),
        np.int32(s.groups),
        np.int32(length),
    )
    return Launch(code, (*grid, s.groups * parts), threads, arguments, parts)


def _contiguous(sizes: Convolution, channels: int, size: Triple) -> tuple[int, ...]:
    """The strides of a contiguous result: sample, channel, depth, row, column."""
    d, h, w = size
    if sizes.last:
        return channels * d * h * w, 1, channels * h * w, channels * w, channels
    return channels * d * h * w, d * h * w, h * w, w, 1
