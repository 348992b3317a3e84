"""Tensors as text, in Paddle's form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.values.bfloat import widen
from engine.core.values.dtype import bfloat16
from engine.eager.tensor import Tensor

if TYPE_CHECKING:
    from engine.eager.sparse import SparseTensor


class PrintOptions:
    """The options of ``set_printoptions``."""

    precision = 8
    threshold = 1000
    edgeitems = 3
    linewidth = 80
    sci_mode = False


options = PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """How tensors print: digits, size from which they are summarised, items at an edge, e-notation, width."""
    numbers = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for key, value in numbers.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer))):
            raise ArgumentError(f"set_printoptions: {key} is an integer: got {value!r}")
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "sci_mode": sci_mode,
        "linewidth": linewidth,
    }
    for key, value in given.items():
        if value is not None:
            setattr(options, key, value)


def _item(value: Any) -> str:
    if isinstance(value, np.floating):
        if options.sci_mode:
            return f"{value:.{options.precision}e}"
        if np.ceil(value) == value:
            return f"{value:.0f}."
        return f"{value:.{options.precision}f}"
    return str(value)


def _padded(value: Any, width: int, signed: bool) -> str:
    text = _item(value)
    if width <= len(text):
        return text
    if signed and not value < 0:
        return " " + text.ljust(width - 1)
    return text.ljust(width)


def _shown(array: Any) -> Any:
    """The elements that a summary shows."""
    edge = options.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * edge:
            array = np.concatenate(
                [array.take(range(edge), axis), array.take(range(size - edge, size), axis)], axis
            )
    return array


def _rows(array: Any, summary: bool, indent: int, width: int, signed: bool) -> str:
    edge = options.edgeitems
    if array.ndim == 0:
        return _padded(array[()], width, signed)
    cut = summary and array.shape[0] > 2 * edge
    parts: list[Any] = [*array[:edge], None, *array[len(array) - edge :]] if cut else list(array)
    if array.ndim == 1:
        per_line = max(1, (options.linewidth - indent) // max(1, width + 2))
        items = ["..." if p is None else _padded(p, width, signed) for p in parts]
        lines = [", ".join(items[n : n + per_line]) for n in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    items = ["..." if p is None else _rows(p, summary, indent + 1, width, signed) for p in parts]
    between = "," + "\n" * int(array.ndim - 1) + " " * (indent + 1)
    return "[" + between.join(items) + "]"


def data_text(array: np.ndarray[Any, Any], indent: int) -> str:
    """The numbers of an array, lines after the first indented."""
    summary = array.size > options.threshold
    shown = _shown(array) if summary else array
    widths = [len(_item(v)) for v in shown.reshape(-1)]
    signed = bool(array.dtype.kind in "ifc" and shown.size and any(v < 0 for v in shown.reshape(-1)))
    width = max(widths, default=0)
    return _rows(array, summary, indent, width, signed)


def tensor_text(tensor: Tensor) -> str:
    """``Tensor(shape=[2], dtype=float32, place=Place(cpu), stop_gradient=True, ...)``."""
    indent = len("Tensor") + 1
    array = tensor.numpy()
    data = data_text(widen(np, array) if tensor.dtype is bfloat16 else array, indent)
    return (
        f"Tensor(shape={tensor.shape}, dtype={tensor.dtype.name}, place={tensor.place}, "
        f"stop_gradient={tensor.stop_gradient},\n{' ' * indent}{data})"
    )


def parameter_text(parameter: Tensor) -> str:
    return f"Parameter containing:\n{tensor_text(parameter)}"


def sparse_text(tensor: SparseTensor) -> str:
    """``Tensor(shape=[2, 3], dtype=paddle.float32, ...)`` with positions and values, in Paddle's form."""
    indent = " " * (len("Tensor") + 1)
    names = ("crows", "cols") if tensor.is_sparse_csr() else ("indices",)
    named = [*zip(names, tensor._pattern, strict=True), ("values", tensor._values)]
    lines = [f"{indent}{name}={data_text(part.numpy(), len(indent) + len(name) + 1)}" for name, part in named]
    head = (
        f"Tensor(shape={list(tensor.shape)}, dtype=paddle.{tensor.dtype.name}, place={tensor.place}, "
        f"stop_gradient={tensor.stop_gradient}"
    )
    return ", \n".join([head, *lines]) + ")"
