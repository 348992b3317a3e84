"""Stages with all sizes, and their constants: what ``Planned.made`` calls once grids are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.kernels.fast.images.channel_blocks import sizes, stages, weights
from engine.kernels.fast.target import registers
from engine.program.run.frozen.blocks_draft import Array


def convolved(
    weight: Array,
    bias: Array | None,
    samples: int,
    shape: Mapping[str, Any],
    groups: int,
    source: stages.Grid,
    target: stages.Grid,
    finish: stages.Finish,
    width: int,
) -> tuple[stages.Stage, Array]:
    blocks = target.blocks // groups
    one = target.pixels == 1 and not any(target.around) and all(o.grid is None for o in finish.operands)
    together = samples if one else 1
    wide, across = sizes.tile(blocks, target.columns * together, registers())
    units = groups * -(-blocks // wide)
    work = target.pixels * weight.size * together
    share = sizes.share(units, target.rows, samples // together, 4 * weight.size, work)
    stage = stages.Convolution(
        source,
        target,
        **shape,
        groups=groups,
        wide=wide,
        tile=across,
        share=share,
        finish=finish,
        together=together,
    )
    return stage, weights.of_convolution(stage, width, weight, bias)


def convolved_in_rows(
    weight: Array,
    bias: Array | None,
    samples: int,
    shape: Mapping[str, Any],
    source: stages.Grid,
    target: stages.Grid,
    finish: stages.Finish,
    width: int,
) -> tuple[stages.Stage, Array]:
    vectors = -(-target.columns // sizes.row_lanes(target.columns, width))
    wide, filters = sizes.tile(vectors, len(weight), registers())
    work = target.pixels * weight.size
    share = sizes.share(-(-len(weight) // filters), target.rows, samples, work=work)
    stage = stages.RowConvolution(
        source, target, **shape, wide=wide, tile=filters, share=share, finish=finish
    )
    return stage, weights.of_row_convolution(stage, weight, bias)


def depthwise(
    weight: Array,
    bias: Array | None,
    samples: int,
    shape: Mapping[str, Any],
    groups: int,
    source: stages.Grid,
    target: stages.Grid,
    finish: stages.Finish,
    width: int,
) -> tuple[stages.Stage, Array]:
    across = sizes.depthwise_tile(target.columns, shape["kernel"][1], registers())
    share = sizes.share(target.blocks, target.rows, samples, work=target.pixels * weight.size)
    stage = stages.Depthwise(source, target, **shape, tile=across, share=share, finish=finish)
    return stage, weights.of_depthwise(stage, width, weight, bias)


def pooled(
    windows: Array,
    largest: bool,
    samples: int,
    source: stages.Grid,
    target: stages.Grid,
    finish: stages.Finish,
    width: int,
) -> tuple[stages.Stage, Array]:
    work = source.pixels * source.channels
    share = sizes.share(target.blocks, target.rows, samples, work=work)
    return stages.Pool(source, target, largest, share, finish), windows


def pooled_in_rows(
    high: int,
    step: int,
    largest: bool,
    samples: int,
    source: stages.Grid,
    target: stages.Grid,
    finish: stages.Finish,
    width: int,
) -> tuple[stages.Stage, None]:
    work = source.pixels * source.channels
    share = sizes.share(target.channels, target.rows, samples, work=work)
    return stages.RowPool(source, target, high, step, largest, share, finish), None


def pointwise(
    samples: int, source: stages.Grid, target: stages.Grid, finish: stages.Finish, width: int
) -> tuple[stages.Stage, None]:
    share = sizes.share(target.blocks, target.rows, samples, work=target.pixels * target.channels)
    return stages.Pointwise(source, target, share, finish), None
