"""Convolutions, transposed ones, and those with a bias that passes fused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.operators.windows import pads_of
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.images.layout import channels_first, padded, padding, unwritable
from engine.onnx.writes.rows import writes


def convolution(
    g: Graph,
    x: Value,
    weight: Value,
    bias: Value | None,
    strides: Sequence[int],
    paddings: Sequence[int],
    padding_algorithm: str,
    dilations: Sequence[int],
    groups: int,
    data_format: str,
    activation: str = "",
) -> Value:
    """A convolution, with a bias and an activation where they are given."""
    same = padding_algorithm == "SAME"  # which is without dilations, as in Paddle

    def write(x: Value) -> Value:
        made = g.Conv(
            x,
            weight,
            bias,
            strides=list(strides),
            dilations=[1] * len(strides) if same else list(dilations),
            group=groups,
            **padding(len(strides), paddings, padding_algorithm),
        )
        return g.Relu(made) if activation == "relu" else made

    return channels_first(g, x, data_format, write)


@writes("conv2d", "conv3d", "depthwise_conv2d")
def _(
    g: Graph,
    x: Value,
    weight: Value,
    *,
    strides: Any,
    paddings: Any,
    padding_algorithm: str,
    dilations: Any,
    groups: int,
    data_format: str,
) -> Value:
    return convolution(
        g, x, weight, None, strides, paddings, padding_algorithm, dilations, groups, data_format
    )


@writes("conv2d_fusion", "conv3d_fusion", "depthwise_conv2d_fusion")
def _(
    g: Graph,
    x: Value,
    weight: Value,
    bias: Value,
    *,
    activation: str,
    strides: Any,
    paddings: Any,
    padding_algorithm: str,
    dilations: Any,
    groups: int,
    data_format: str,
) -> Value:
    return convolution(
        g, x, weight, bias, strides, paddings, padding_algorithm, dilations, groups, data_format, activation
    )


def transposed_convolution(
    g: Graph,
    x: Value,
    weight: Value,
    bias: Value | None,
    output_padding: Sequence[int],
    output_size: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    padding_algorithm: str,
    dilations: Sequence[int],
    groups: int,
    data_format: str,
    activation: str = "",
) -> Value:
    """A transposed convolution. Raises ArgumentError where the result's size decides about the padding and
    the image's size is not known."""
    rank = len(strides)
    dilations = [1] * rank if padding_algorithm == "SAME" else list(dilations)

    def write(x: Value) -> Value:
        size, kernel = x.shape[2:], weight.shape[2:]
        if (output_size or padding_algorithm == "SAME") and -1 in size:
            raise unwritable(
                g,
                f"its padding follows from the size of the image, which is {list(size)}; give the height and "
                "width in the InputSpec",
            )
        pads = pads_of("onnx.export", [max(d, 1) for d in size], kernel, strides, paddings, padding_algorithm)
        extra = list(output_padding) or [0] * rank
        if output_size:
            extra = [
                output_size[n]
                - ((size[n] - 1) * strides[n] - sum(pads[n]) + dilations[n] * (kernel[n] - 1) + 1)
                for n in range(rank)
            ]
        # What is added at the end is what the padding would cut off, and zeros (or the bias) behind it.
        ends = [after - more for (_, after), more in zip(pads, extra, strict=True)]
        behind = [max(-end, 0) for end in ends]
        made = g.ConvTranspose(
            x,
            weight,
            None if any(behind) else bias,
            strides=list(strides),
            dilations=dilations,
            group=groups,
            pads=[before for before, _ in pads] + [max(end, 0) for end in ends],
        )
        if any(behind):
            made = padded(g, Value(made.name, x.spec), [(0, 0), (0, 0), *((0, more) for more in behind)])
            made = made if bias is None else g.Add(made, g.Unsqueeze(bias, [0, *range(2, rank + 2)]))
        return g.Relu(made) if activation == "relu" else made

    return channels_first(g, x, data_format, write)


@writes("conv2d_transpose", "conv3d_transpose", "depthwise_conv2d_transpose")
def _(
    g: Graph,
    x: Value,
    weight: Value,
    *,
    output_padding: Any,
    output_size: Any,
    strides: Any,
    paddings: Any,
    padding_algorithm: str,
    dilations: Any,
    groups: int,
    data_format: str,
) -> Value:
    return transposed_convolution(
        g,
        x,
        weight,
        None,
        output_padding,
        output_size,
        strides,
        paddings,
        padding_algorithm,
        dilations,
        groups,
        data_format,
    )
