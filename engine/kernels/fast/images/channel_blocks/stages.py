"""The stages of a network: what is computed, with all sizes, since code is compiled for them.

Images between stages are [block of channels][row][column][lane]. The last block may have lanes without a
channel, which hold anything: no stage lets them reach a channel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

# The number of a value of a Finish: 0 the stage's own, n > 0 operand n - 1, n < 0 the result of step -n - 1.
OWN = 0
Around = tuple[int, int, int, int]  # rows above and below, columns before and behind


@dataclass(frozen=True)
class Grid:
    """Images in memory: sizes and zeros around them. ``lanes`` is 1 where planes are not in blocks."""

    channels: int
    rows: int
    columns: int
    lanes: int
    around: Around = (0, 0, 0, 0)

    @property
    def blocks(self) -> int:
        return -(-self.channels // self.lanes)

    @property
    def pixels(self) -> int:
        return self.rows * self.columns

    # -- bytes between columns, rows, blocks and samples; and before the first pixel --
    @property
    def column(self) -> int:
        return 4 * self.lanes

    @property
    def row(self) -> int:
        return self.column * (self.columns + self.around[2] + self.around[3])

    @property
    def block(self) -> int:
        return self.row * (self.rows + self.around[0] + self.around[1])

    @property
    def sample(self) -> int:
        return self.block * self.blocks

    @property
    def start(self) -> int:
        return self.around[0] * self.row + self.around[2] * self.column

    def in_runs(self, runs: int) -> Grid:
        """The same memory as ``runs`` rows, where nothing is around the images."""
        return replace(self, rows=runs, columns=self.pixels // runs)


@dataclass(frozen=True)
class Operand:
    """Another value that a Finish reads: pixel by pixel from a ``grid``; where ``one`` the only pixel of each
    channel; from no grid: constants of the channels, or the number itself."""

    grid: Grid | None = None
    one: bool = False
    number: float | None = None


@dataclass(frozen=True)
class Finish:
    """Elementwise steps over a stage's values before they are stored: (operator, values, attributes)."""

    operands: tuple[Operand, ...] = ()
    steps: tuple[tuple[str, tuple[int, ...], tuple[tuple[str, Any], ...]], ...] = ()


@dataclass(frozen=True)
class Share:
    """How a stage is divided: ``units`` (groups or blocks of channels) into ``across`` parts, rows into
    ``down``. ``units_first``: shards of the same units follow each other, through all samples.

    ``by_samples``: a sample is too little to divide, but all of them are worth several threads."""

    across: int
    down: int
    units_first: bool
    by_samples: bool = False


class _OnTarget:
    """A stage that is divided by the blocks and rows of its target."""

    target: Grid

    @property
    def units(self) -> int:
        return self.target.blocks

    @property
    def rows(self) -> int:
        return self.target.rows


@dataclass(frozen=True)
class Convolution(_OnTarget):
    """Filters over ``groups`` of channels: tiles of ``wide`` blocks of filters times ``tile`` pixels.

    Where a result has one pixel, those of ``together`` samples are computed as if they were one row, so that
    weights are read once for all of them.

    Weights: biases of all filters, then [group][tile of filters][block of channels][row][column][channel]
    [filter].
    """

    source: Grid
    target: Grid
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    before: tuple[int, int]  # rows and columns of padding before the image
    groups: int
    wide: int
    tile: int
    share: Share
    finish: Finish
    together: int = 1

    @property
    def taken(self) -> int:
        """Channels that a filter reads."""
        return self.source.channels // self.groups

    @property
    def entries(self) -> int:
        return self.taken * self.kernel[0] * self.kernel[1]

    @property
    def group_blocks(self) -> int:
        """Blocks of filters of each group."""
        return self.target.blocks // self.groups

    @property
    def units(self) -> int:
        return self.groups * -(-self.group_blocks // self.wide)


@dataclass(frozen=True)
class WinogradImage(_OnTarget):
    """Tiles of 6 by 6 pixels, 4 apart, are transformed: target [entry of the tile][channel], with a pixel for
    each tile."""

    source: Grid
    target: Grid
    before: tuple[int, int]
    share: Share

    @property
    def units(self) -> int:
        return self.source.blocks


@dataclass(frozen=True)
class WinogradResult:
    """Products [entry of the tile][filter] are transformed into tiles of 4 by 4 results. Constants:
    biases."""

    source: Grid
    target: Grid
    share: Share
    finish: Finish

    @property
    def units(self) -> int:
        return self.target.blocks

    @property
    def rows(self) -> int:
        return self.source.rows


@dataclass(frozen=True)
class RowConvolution(_OnTarget):
    """Filters over planes, with columns of a row in the vectors: tiles of ``wide`` vectors times ``tile``
    filters. Source and target have one lane.

    Weights: biases of all filters, then [tile of filters][channel][row][column][filter].
    """

    source: Grid
    target: Grid
    kernel: tuple[int, int]
    strides: tuple[int, int]  # along a row: 1
    dilations: tuple[int, int]
    before: tuple[int, int]
    wide: int
    tile: int
    share: Share
    finish: Finish

    @property
    def units(self) -> int:
        return -(-self.target.channels // self.tile)


@dataclass(frozen=True)
class RowPool(_OnTarget):
    """The largest element, or the mean, of windows of ``high`` rows and two columns in planes, as many steps
    apart as they are wide. It has no constants."""

    source: Grid
    target: Grid
    high: int
    step: int
    largest: bool
    share: Share
    finish: Finish


@dataclass(frozen=True)
class Depthwise(_OnTarget):
    """A filter for each channel. Weights: biases, then [block][row][column][lane]."""

    source: Grid
    target: Grid
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    before: tuple[int, int]
    tile: int
    share: Share
    finish: Finish


@dataclass(frozen=True)
class Pool(_OnTarget):
    """The largest element, or the mean, of each window.

    Constants are 64-bit integers: for each row of results, then for each column, the first element of its
    windows, the one behind the last, and how many count.
    """

    source: Grid
    target: Grid
    largest: bool
    share: Share
    finish: Finish


@dataclass(frozen=True)
class Pointwise(_OnTarget):
    """Elementwise steps alone."""

    source: Grid
    target: Grid
    share: Share
    finish: Finish


@dataclass(frozen=True)
class Enter(_OnTarget):
    """Planes of a caller's array [sample][channel][row][column] are copied into a grid."""

    target: Grid
    share: Share


@dataclass(frozen=True)
class Leave:
    """A grid is copied into a caller's array [sample][channel][row][column]."""

    source: Grid
    share: Share

    @property
    def units(self) -> int:
        return self.source.blocks

    @property
    def rows(self) -> int:
        return self.source.rows


Stage = (
    Convolution
    | WinogradImage
    | WinogradResult
    | RowConvolution
    | Depthwise
    | Pool
    | RowPool
    | Pointwise
    | Enter
    | Leave
)
