"""``paddle.flops``: how many operations a network's forward takes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from engine import nn
from engine.core.errors import ArgumentError
from engine.eager.grad_mode import no_grad
from engine.eager.tensor import Tensor
from engine.jit.switch import Switch
from engine.program.graph.program import Program
from engine.tensor.creation import zeros
from engine.tensor.random import randn

_HEAD = ("Layer Name", "Input Shape", "Output Shape", "Params", "Flops")


def _convolution(layer: Any, x: Any, y: Any) -> int:
    each = layer._in_channels // layer._groups * math.prod(layer._kernel_size)
    return int(math.prod(y.shape) * (each + (layer.bias is not None)))


def _adaptive(layer: Any, x: Any, y: Any) -> int:
    averaged = math.prod(n // m for n, m in zip(x.shape[2:], y.shape[2:], strict=True))
    return int(math.prod(y.shape) * (averaged + 1))


def _nothing(layer: Any, x: Any, y: Any) -> int:
    return 0


# As Paddle counts: a multiplication with the addition that follows is one operation.
_COUNTS: dict[type[nn.Layer], Callable[[Any, Any, Any], int]] = {
    **dict.fromkeys((nn.Conv1D, nn.Conv2D, nn.Conv3D), _convolution),
    **dict.fromkeys((nn.Conv1DTranspose, nn.Conv2DTranspose, nn.Conv3DTranspose), _convolution),
    **dict.fromkeys((nn.AdaptiveAvgPool1D, nn.AdaptiveAvgPool2D, nn.AdaptiveAvgPool3D), _adaptive),
    **dict.fromkeys((nn.AvgPool1D, nn.AvgPool2D, nn.AvgPool3D), lambda layer, x, y: math.prod(y.shape)),
    **dict.fromkeys((nn.BatchNorm, nn.BatchNorm2D), lambda layer, x, y: 2 * math.prod(x.shape)),
    **dict.fromkeys((nn.ReLU, nn.ReLU6, nn.Dropout), _nothing),
    nn.LeakyReLU: lambda layer, x, y: math.prod(x.shape),
    nn.Linear: lambda layer, x, y: math.prod(y.shape) * x.shape[-1],
}


def layer_operations(layer: nn.Layer, x: Tensor, y: Tensor) -> int | None:
    """How many operations a call of ``layer`` took that made ``y`` of ``x``; None for a kind not counted."""
    count = _COUNTS.get(type(layer))
    return None if count is None else int(count(layer, x, y))


# Layers that stand in another module of Paddle: their module or class here, and Paddle's module.
_PLACES = {
    "dropping": "common",
    "padding": "common",
    "norm_groups": "norm",
    "rnn_cells": "rnn",
    "attention": "transformer",
    "loss_classes": "loss",
    "loss_margin": "loss",
    "loss_sequence": "loss",
    "loss_values": "loss",
    "CosineSimilarity": "common",
    "Fold": "common",
    "Unfold": "common",
    "Upsample": "common",
    "UpsamplingBilinear2D": "common",
    "UpsamplingNearest2D": "common",
}


class _Row(NamedTuple):
    """One layer of the table: the shapes of its last call, what it holds, what all its calls took."""

    name: str
    given: str
    made: str
    parameters: int
    operations: int


def flops(
    net: object,
    input_size: Sequence[int],
    custom_ops: Mapping[type[nn.Layer], Callable[[Any, Any, Any], Any]] | None = None,
    print_detail: bool = False,
) -> int:
    """Print and return how many operations a forward of ``net`` takes.

    Differs from Paddle: a static Program is refused; pass the Layer that it was built from.

    Args:
        net: runs once on random numbers, in evaluation. Another thing than a Layer warns and gives -1.
        input_size: the shape of its input.
        custom_ops: how to count kinds of layers: a function of the layer, the tuple of its inputs and its
            output, which adds to ``layer.total_ops``. Others count as nothing, and that is said.
        print_detail: print a table of the layers too.

    Raises:
        ArgumentError: ``net`` is a Program.
    """
    if isinstance(net, Program):
        raise ArgumentError("flops: got a static Program, and only Layers are counted; pass the Layer")
    if not isinstance(net, nn.Layer):
        warnings.warn(
            "Your model must be an instance of paddle.nn.Layer or paddle.static.Program.", stacklevel=2
        )
        return -1
    rows = _rows(net, input_size, dict(custom_ops or {}))
    if print_detail:
        cells = [tuple(map(str, row)) for row in rows]
        print(_table(cells))
    operations, parameters = sum(row.operations for row in rows), sum(row.parameters for row in rows)
    print(f"Total Flops: {operations}     Total Params: {parameters}")
    return operations


def _rows(net: nn.Layer, input_size: Sequence[int], custom: dict[Any, Any]) -> list[_Row]:
    """A row for each layer within ``net`` that has no layers in it and is called."""
    layers = [each for each in net.sublayers(include_self=True) if not each.sublayers()]
    _announce(layers, custom)
    counted = dict.fromkeys(layers, 0)
    calls: dict[nn.Layer, tuple[list[int], list[int]]] = {}

    def note(layer: nn.Layer, inputs: Any, made: Any) -> None:
        x, y = _first(inputs), _first(made)
        calls[layer] = (x.shape, y.shape)
        if type(layer) in custom:
            custom[type(layer)](layer, inputs, made)
        else:
            counted[layer] += layer_operations(layer, x, y) or 0

    own = [layer for layer in layers if type(layer) in custom]
    for layer in own:
        layer.register_buffer("total_ops", zeros([1], "int64"))
    hooks = [layer.register_forward_post_hook(note) for layer in layers]
    modes = [(layer, layer.training) for layer in net.sublayers(include_self=True)]
    net.eval()
    try:
        with no_grad(), Switch.as_written():
            net(randn(list(input_size)))
        counted |= {layer: int(layer.total_ops) for layer in own}
    finally:
        for hook in hooks:
            hook.remove()
        for layer, training in modes:
            layer.training = training
        for layer in own:
            del layer.total_ops
    return [
        _Row(
            layer.full_name(),
            str(list(calls[layer][0])),
            str(list(calls[layer][1])),
            sum(math.prod(p.shape) for p in layer.parameters()),
            counted[layer],
        )
        for layer in layers
        if layer in calls and layer is not net
    ]


def _announce(layers: Sequence[nn.Layer], custom: Mapping[Any, Any]) -> None:
    """Say of each kind of layer how it is counted."""
    for kind in dict.fromkeys(map(type, layers)):
        shown = f"<class '{_paddles_module(kind)}.{kind.__qualname__}'>"
        if kind in custom:
            print(f"Customize Function has been applied to {shown}")
        elif kind in _COUNTS:
            print(f"{shown}'s flops has been counted")
        else:
            print(f"Cannot find suitable count function for {shown}. Treat it as zero FLOPs.")


def _paddles_module(kind: type) -> str:
    """The module's path in Paddle: what scripts print is compared with its."""
    room, _, module = kind.__module__.rpartition(".")
    if room != "engine.nn.layer":
        return kind.__module__
    return f"paddle.nn.layer.{_PLACES.get(kind.__name__) or _PLACES.get(module, module)}"


def _first(value: Any) -> Any:
    """The first Tensor of what a layer is given or gives."""
    if isinstance(value, Tensor):
        return value
    return next(_first(each) for each in (value.values() if isinstance(value, dict) else value))


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[n]) for line in [_HEAD, *rows]) for n in range(len(_HEAD))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"

    def line(words: Sequence[str]) -> str:
        return "|" + "|".join(f" {_centred(w, width)} " for w, width in zip(words, widths, strict=True)) + "|"

    return "\n".join([rule, line(_HEAD), rule, *map(line, rows), rule])


def _centred(word: str, width: int) -> str:
    """A word of even length that can't stand in the middle stands right of it, one of odd length left."""
    excess = width - len(word)
    left = excess // 2 + (excess % 2 and len(word) % 2 == 0)
    return " " * left + word + " " * (excess - left)
