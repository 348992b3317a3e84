"""``paddle.summary``: a table of a network's layers, with shapes and numbers of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from engine.core.errors import ArgumentError
from engine.eager.grad_mode import no_grad
from engine.eager.tensor import Tensor
from engine.jit.input_spec import InputSpec
from engine.jit.switch import Switch
from engine.nn import Layer, LayerList, Sequential
from engine.nn.layer.rnn import RNNBase
from engine.program.graph.variable import Variable
from engine.tensor.random import rand
from engine.tensor.tensor_like import AnyTensor, DTypeLike

_HEAD = ("Layer (type)", "Input Shape", "Output Shape", "Param #")
_LEAST = (15, 20, 20, 15)
_MEGABYTE = 1024.0**2
# The shape of an input, or a list of several.
SizeLike: TypeAlias = int | InputSpec | AnyTensor | Sequence[Any]
_NUMBER = 4  # bytes: the table counts every number as float32


class _Row(NamedTuple):
    """What a layer was given and gave in its last call, and what it holds itself."""

    given: Any
    made: Any
    parameters: int
    trainable: int


def summary(
    net: Layer,
    input_size: SizeLike | None = None,
    dtypes: DTypeLike | Sequence[DTypeLike] | None = None,
    input: Any = None,
) -> dict[str, int]:
    """Print a table of the layers that a forward of ``net`` calls; return the numbers of parameters.

    Args:
        net: runs once, in evaluation and without gradients.
        input_size: the shape of what it takes, a tuple, InputSpec or integer; for several inputs a
            list of those. -1 and None stand for 1. What is fed is random.
        dtypes: of the inputs: one for all, or a list; float32 by default.
        input: what ``net`` is called with instead, as its only argument.

    Returns:
        ``{"total_params": ..., "trainable_params": ...}``: of the layers in the table.

    Raises:
        ArgumentError: neither ``input_size`` nor ``input``, or a dimension that is not positive.
    """
    if input is None:
        if input_size is None:
            raise ArgumentError(
                "summary: input_size and input cannot be None at the same time; pass e.g. (1, 3, 224, 224)"
            )
        several = isinstance(input_size, list) or (
            isinstance(input_size, tuple)
            and any(isinstance(getattr(n, "shape", n), (list, tuple)) for n in input_size)
        )
        sizes: Any = input_size if several else [input_size]
        shapes = [_shape(each) for each in sizes]
        kinds = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes] * len(shapes)
        given = [rand(shape).astype(kind or "float32") for shape, kind in zip(shapes, kinds, strict=False)]
    else:
        given = [input]
    rows = _rows(net, given)
    print(_table(rows, sum(_numbers(_shapes(each)) for each in given)))
    return {
        "total_params": sum(row.parameters for row in rows.values()),
        "trainable_params": sum(row.trainable for row in rows.values()),
    }


def _shape(size: Any) -> list[int]:
    """An input's shape as it is fed."""
    size = getattr(size, "shape", size)
    shape = [1 if n is None or n == -1 else n for n in (size if isinstance(size, (list, tuple)) else [size])]
    for n in shape:
        if not isinstance(n, int) or n <= 0:
            raise ArgumentError(
                f"summary: Expected element in input size greater than zero, but got {n}; -1 stands for 1"
            )
    return shape


def _rows(net: Layer, given: Sequence[Any]) -> dict[str, _Row]:
    """A row for each layer that is called, in the order in which their first calls end."""
    rows: dict[str, _Row] = {}

    def noting(name: str) -> Callable[..., None]:
        def note(layer: Layer, inputs: Any, made: Any) -> None:
            held = [p for p in layer._parameters.values() if p is not None]
            sizes = [(math.prod(p.shape), p.trainable and not p.stop_gradient) for p in held]
            rows[name] = _Row(
                [_shapes(each) for each in inputs],
                _shapes(made),
                sum(size for size, _ in sizes),
                sum(size for size, trains in sizes if trains),
            )

        return note

    layers = [layer for layer in net.sublayers(include_self=True) if _has_row(layer, net)]
    hooks = [layer.register_forward_post_hook(noting(_name(layer))) for layer in layers]
    modes = [(layer, layer.training) for layer in net.sublayers(include_self=True)]
    net.eval()
    try:
        with no_grad(), Switch.as_written():
            net(*given)
    finally:
        for hook in hooks:
            hook.remove()
        for layer, training in modes:
            layer.training = training
    return rows


def _has_row(layer: Layer, net: Layer) -> bool:
    """Containers only pass on, and a network that consists of layers is what the table is about."""
    if isinstance(layer, RNNBase):  # a list of cells that computes by itself
        return True
    return not isinstance(layer, (Sequential, LayerList)) and (layer is not net or not net.sublayers())


def _name(layer: Layer) -> str:
    """The class, and how many of it were made up to this one."""
    number = layer.full_name().rpartition("_")[2]
    return f"{type(layer).__name__}-{int(number) + 1 if number.isdigit() else number}"


def _shapes(value: Any) -> Any:
    """The shape of a Tensor or Variable, those of a list or tuple; of anything else nothing."""
    if isinstance(value, (Tensor, Variable)):
        return list(value.shape)
    return [_shapes(each) for each in value] if isinstance(value, (list, tuple)) else []


def _numbers(shapes: Any) -> int:
    """How many numbers Tensors of these shapes hold."""
    if all(isinstance(n, int) for n in shapes):
        return math.prod(shapes)
    return sum(_numbers(each) for each in shapes)


def _table(rows: dict[str, _Row], given: int) -> str:
    cells = [(name, str(row.given), str(row.made), f"{row.parameters:,}") for name, row in rows.items()]
    widths = [max(least, *(len(line[n]) for line in [_HEAD, *cells])) for n, least in enumerate(_LEAST)]

    def line(words: Sequence[str]) -> str:
        return " ".join(f"{word:^{width}}" for word, width in zip(words, widths, strict=True))

    length = sum(widths) + 5
    total = sum(row.parameters for row in rows.values())
    trainable = sum(row.trainable for row in rows.values())
    # A number that is computed forward is counted again for its gradient.
    sizes = [
        given * _NUMBER / _MEGABYTE,
        2 * sum(_numbers(row.made) for row in rows.values()) * _NUMBER / _MEGABYTE,
        total * _NUMBER / _MEGABYTE,
    ]
    lines = [
        "-" * length,
        line(_HEAD),
        "=" * length,
        *map(line, cells),
        "=" * length,
        f"Total params: {total:,}",
        f"Trainable params: {trainable:,}",
        f"Non-trainable params: {total - trainable:,}",
        "-" * length,
        f"Input size (MB): {sizes[0]:.2f}",
        f"Forward/backward pass size (MB): {sizes[1]:.2f}",
        f"Params size (MB): {sizes[2]:.2f}",
        f"Estimated Total Size (MB): {sum(sizes):.2f}",
        "-" * length,
        "",
    ]
    return "\n".join(lines)
