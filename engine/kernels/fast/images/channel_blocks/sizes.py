"""How stages are cut: tiles that stay in registers, and shards that threads take."""

from __future__ import annotations

from functools import lru_cache

from engine.kernels.fast.images.channel_blocks.stages import Share
from engine.kernels.fast.target import MANY

# Sums that must be independent for a core to be busy: an addition waits for the one before it.
_INDEPENDENT = 8
_MOST_PIXELS = 14
_MOST_BLOCKS = 8
_READ_AHEAD = 4  # registers that LLVM takes for values of the next products, where there are many
# Bytes of weights from which on those of one unit are used for all rows, so that they are read once.
_HEAVY = 1 << 17
# Products that one thread computes in some 10 us: waking another one takes as long.
_ALONE = 1 << 18
_LEAST_PIXELS = 150  # of all samples of a convolution with transforms
_SHARDS = 16  # at least, where there is so much to divide


@lru_cache(maxsize=1024)
def tile(blocks: int, columns: int, registers: int) -> tuple[int, int]:
    """Blocks of filters and pixels of a tile: as few instructions as possible for all of ``blocks`` times
    ``columns``, and within the registers: sums, a vector of weights for each block, one value."""
    best = None
    for wide in range(1, min(blocks, _MOST_BLOCKS) + 1):
        # With one pixel, weights are read where they are multiplied.
        room = registers - 1 - wide - (_READ_AHEAD if registers == MANY else 0)
        most = max(int(wide < registers - 2), min(columns, _MOST_PIXELS, room // wide))
        for across in range(1, most + 1):
            cost = sum(
                many * each * _cost(w, p)
                for many, w in _parts(blocks, wide)
                for each, p in _parts(columns, across)
            )
            kinds = len(_parts(blocks, wide)) * len(_parts(columns, across))  # of code
            key = (cost * (1 + 0.002 * kinds), -wide)
            if best is None or key < best[0]:
                best = key, (wide, across)
    assert best is not None
    return best[1]


def _parts(count: int, most: int) -> list[tuple[int, int]]:
    """How many tiles of which size."""
    whole, left = divmod(count, most)
    return [(n, size) for n, size in ((whole, most), (1, left)) if n and size]


def _cost(wide: int, pixels: int) -> float:
    """Of one value of each pixel: products, loads of weights and values."""
    return max(wide * pixels, _INDEPENDENT) + 0.5 * (wide + pixels)


def transforms_pay(
    channels: int, filters: int, rows: int, columns: int, samples: int, kernel: tuple[int, ...], lanes: int
) -> bool:
    """Whether Winograd's convolution is faster: there are enough pixels for filters four times as large."""
    full = channels % lanes == filters % lanes == 0 and min(channels, filters) >= 32
    enough = rows * columns * samples >= _LEAST_PIXELS and min(rows, columns) >= 4
    return kernel == (3, 3) and full and enough


def row_lanes(columns: int, lanes: int) -> int:
    """Lanes of vectors along rows of ``columns``: no more than these."""
    while lanes > columns:
        lanes //= 2
    return lanes


def rows_pay(filters: int, columns: int, lanes: int) -> bool:
    """Whether a convolution takes fewer instructions with columns in the vectors than with filters."""
    along = row_lanes(columns, lanes)
    return along >= 4 and filters * -(-columns // along) < 0.9 * columns * -(-filters // lanes)


def depthwise_tile(columns: int, width: int, registers: int) -> int:
    """Pixels of a tile of a depthwise convolution with filters of ``width`` columns."""
    most = max(1, min(columns, _MOST_PIXELS // 2 + 1, registers - width - 2))
    return -(-columns // -(-columns // most))


def share(units: int, rows: int, samples: int, weights: int = 0, work: int = 1 << 30) -> Share:
    """How a stage of ``units`` with so many bytes of weights is divided; not at all where ``work``, the
    products of a sample, is small for all of them."""
    if work * samples < _ALONE:
        return Share(1, 1, False)
    if work < _ALONE and weights <= _HEAVY and samples > 1:
        return Share(1, 1, False, by_samples=True)
    if weights > _HEAVY:
        across = units
        down = min(rows, max(1, -(-_SHARDS // (across * samples))))
        return Share(across, down, True)
    across = min(units, max(1, -(-_SHARDS // (rows * samples))))
    return Share(across, rows, False)


def runs_of(pixels: int, least: int = 24) -> int:
    """The number of rows that ``pixels`` without zeros around them are taken for: as many as there may be of
    at least so many columns."""
    return next(n for n in range(max(1, pixels // least), 0, -1) if pixels % n == 0)
