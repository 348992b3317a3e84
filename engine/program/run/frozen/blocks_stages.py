"""Stages with all sizes, and their constants: what ``Planned.made`` calls once grids are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.kernels.fast.images.channel_blocks import sizes, stages, weights
from engine.kernels.fast.images.channel_blocks.winograd_code import POINTS, between
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


def winograd(
    weight: Array,
    bias: Array | None,
    samples: int,
    before: tuple[int, int],
    source: stages.Grid,
    target: stages.Grid,
    finish: stages.Finish,
    width: int,
) -> list[tuple[stages.Stage, Array | None]]:
    """The three stages of a convolution of 3 by 3 with transforms."""
    image, product = between(source, target)
    work = image.pixels * image.channels
    entering = stages.WinogradImage(
        source, image, before, sizes.share(source.blocks, image.rows, samples, work=work)
    )
    runs = sizes.runs_of(image.pixels)
    one = {"kernel": (1, 1), "strides": (1, 1), "dilations": (1, 1), "before": (0, 0)}
    multiplied = convolved(
        weights.of_winograd(weight),
        None,
        samples,
        one,
        POINTS**2,
        image.in_runs(runs),
        product.in_runs(runs),
        stages.Finish(),
        width,
    )
    work = product.pixels * product.channels
    share = sizes.share(target.blocks, product.rows, samples, work=work)
    leaving = stages.WinogradResult(product, target, share, finish)
    return [(entering, None), multiplied, (leaving, weights.of_biases(bias, target.channels, width))]


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
