"""Functions that arrange, choose and repeat elements, with fluid's arguments."""

from __future__ import annotations

import math as python_math
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.fluid.layers.adapting import activated, adapter, listed, ones_at
from engine.fluid.renamed.functions import Converted, functions, row
from engine.nn import functional
from engine.ops.linalg import products
from engine.tensor import linalg, manipulation, math, search
from engine.tensor.elements import arranging, scattering
from engine.tensor.reductions import reduction

# fmt: off
ROWS = (
    row("transpose", manipulation.transpose, "x, perm, name: str | None = None",
        "The dimensions in the order ``perm``."),
    row("unsqueeze", manipulation.unsqueeze, "input, axes, name: str | None = None",
        "With dimensions of 1 at ``axes`` of the result.", {"x": "input", "axis": "axes"}),
    row("slice", arranging.slice_, "input, axes, starts, ends",
        "The elements from ``starts`` to before ``ends`` along ``axes``; all dimensions stay."),
    row("strided_slice", arranging.strided_slice, "input, axes, starts, ends, strides",
        "Every ``strides``-th element from ``starts`` to before ``ends`` along ``axes``.", {"x": "input"}),
    row("unstack", manipulation.unstack, "x, axis: int = 0, num: int | None = None",
        "A list of the tensors along dimension ``axis``."),
    row("unbind", manipulation.unbind, "input, axis: int = 0",
        "A list of the tensors along dimension ``axis``."),
    row("expand", manipulation.tile, "x, expand_times, name: str | None = None",
        "Each dimension repeated as often as ``expand_times`` says: the modern ``tile``.",
        {"repeat_times": "expand_times"}),
    row("gather_nd", scattering.gather_nd, "input, index, name: str | None = None",
        "What stands at the positions in the last dimension of ``index``.", {"x": "input"}),
    row("scatter", scattering.scatter,
        "input, index, updates, name: str | None = None, overwrite: bool = True",
        "``input`` with ``updates`` in the rows ``index``; without ``overwrite`` their sums.",
        {"x": "input"}),
    row("scatter_nd_add", scattering.scatter_nd_add, "ref, index, updates, name: str | None = None",
        "``ref`` with ``updates`` added at the positions in the last dimension of ``index``.", {"x": "ref"}),
    row("scatter_nd", scattering.scatter_nd, "index, updates, shape, name: str | None = None",
        "Zeros of ``shape`` with ``updates`` added at the positions in the last dimension of ``index``."),
    row("multiplex", math.multiplex, "inputs, index",
        "Row n of the tensor of the list that ``index[n]`` names."),
    row("where", search.nonzero, "condition",
        "The positions of the true elements, int64 [number, rank].", {"x": "condition"}),
    row("shape", manipulation.shape, "input",
        "The sizes of the dimensions, int32."),
    row("rank", manipulation.rank, "input",
        "The number of dimensions, int32 [1]."),
    row("size", manipulation.numel, "input",
        "The number of elements, int64 [1].", {"x": "input"}),
    row("topk", search.topk, "input, k, name: str | None = None",
        "The k largest elements of the last dimension, and their positions.", {"x": "input"}),
    row("sequence_mask", functional.sequence_mask, "x, maxlen=None, dtype='int64', name: str | None = None",
        "Ones at the first ``x`` positions of ``maxlen``, the largest of x where None; then zeros."),
    row("gather_tree", functional.gather_tree, "ids, parents",
        "The whole sequences of a beam search, from the ids and parents of its steps."),
    row("mul", products.mul,
        "x, y, x_num_col_dims: int = 1, y_num_col_dims: int = 1, name: str | None = None",
        "The product of matrices whose rows are the first so many dimensions of x and y.", unused="name"),
    row("scale", math.scale,
        "x, scale=1.0, bias: float = 0.0, bias_after_scale: bool = True, act=None, name: str | None = None",
        "``act(scale * x + bias)``; ``scale * (x + bias)`` without ``bias_after_scale``."),
    row("clip", math.clip, "x, min: float, max: float, name: str | None = None",
        "x limited to ``min`` and ``max``."),
    row("shard_index", arranging.shard_index,
        "input, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1",
        "Numbers within part ``shard_id`` of ``nshards`` of ``index_num``; ``ignore_value`` for other "
        "parts'."),
    row("squeeze", manipulation.squeeze, "input, axes, name: str | None = None",
        "Without the dimensions ``axes``, which are 1; without all of size 1 where the list is empty.",
        {"x": "input", "axis": Converted(lambda axes: axes if axes != [] else None, "axes")}),
    row("stack", manipulation.stack, "x, axis: int = 0, name: str | None = None",
        "Tensors of one shape along a new dimension ``axis``; a single tensor counts as a list of one.",
        {"x": Converted(listed, "x")}),
)
# fmt: on
globals().update(functions(ROWS, __name__))


@adapter
def reshape(
    x: Any,
    shape: Any,
    actual_shape: Any = None,
    act: Any = None,
    inplace: bool = False,
    name: str | None = None,
) -> Any:
    """The elements in another shape; 0 keeps a dimension, -1 is computed.

    ``actual_shape``, a Variable, goes before ``shape``. ``inplace`` is accepted: the result is a value of its
    own.
    """
    return activated(manipulation.reshape(x, shape if actual_shape is None else actual_shape, name), act)


@adapter
def flatten(x: Any, axis: int = 1, name: str | None = None) -> Any:
    """A matrix whose rows are the dimensions before ``axis``."""
    rank = len(x.shape)
    if not 0 <= axis <= rank:
        raise ArgumentError(f"flatten: axis is {axis} for a tensor of {rank} dimensions: use 0 to {rank}")
    if axis == 0:
        return manipulation.reshape(x, [1, -1], name)
    inner = [int(d) for d in x.shape[axis:]]
    if -1 not in inner:
        return manipulation.reshape(x, [-1, python_math.prod(inner)], name)
    outer = [int(d) for d in x.shape[:axis]]
    return manipulation.reshape(x, [python_math.prod(outer) if -1 not in outer else -1, -1], name)


@adapter
def split(input: Any, num_or_sections: Any, dim: Any = -1, name: str | None = None) -> Any:
    """A list of parts along ``dim``: so many equal ones, or of the sizes in a list."""
    return list(manipulation.split(input, num_or_sections, dim, name))


@adapter
def expand_as(x: Any, target_tensor: Any, name: str | None = None) -> Any:
    """Each dimension repeated until it has the size of that of ``target_tensor``."""
    sizes = list(zip(target_tensor.shape, x.shape, strict=True))
    if any(a < 0 or b <= 0 or a % b for a, b in sizes):
        raise ShapeError(
            f"expand_as: x is {list(x.shape)}, target_tensor {list(target_tensor.shape)}: each size must be "
            "known and a multiple of x's"
        )
    return manipulation.tile(x, [a // b for a, b in sizes], name)


@adapter
def gather(input: Any, index: Any, overwrite: bool = True) -> Any:
    """The rows of ``input`` at the numbers in ``index``, [N] or [N, 1]."""
    if len(index.shape) == 2:
        index = manipulation.reshape(index, [-1])
    return scattering.gather(input, index)


@adapter
def one_hot(input: Any, depth: Any, allow_out_of_range: bool = False) -> Any:
    """Rows of zeros with a one at each class: [N, 1] gives [N, depth].

    Without a last dimension of 1 the rows are a new dimension. With ``allow_out_of_range`` numbers
    outside the classes give rows of zeros.
    """
    if len(input.shape) > 1 and input.shape[-1] == 1:
        input = manipulation.squeeze(input, -1)
    return ones_at(input, depth, allow_out_of_range)


@adapter
def matmul(
    x: Any,
    y: Any,
    transpose_x: bool = False,
    transpose_y: bool = False,
    alpha: float = 1.0,
    name: str | None = None,
) -> Any:
    """``alpha`` times the matrix product."""
    out = linalg.matmul(x, y, transpose_x, transpose_y, name)
    return out if alpha == 1.0 else math.scale(out, alpha)


@adapter
def clip_by_norm(x: Any, max_norm: float, name: str | None = None) -> Any:
    """x, made shorter where its 2-norm is above ``max_norm``."""
    norm = linalg.norm(x, 2)
    return x * (max_norm / math.maximum(norm, reduction.max(norm * 0.0 + max_norm)))


@adapter
def l2_normalize(x: Any, axis: int | None, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """``x / sqrt(sum(x * x) + epsilon)``, the sum along ``axis``, 1 where None."""
    along = 0 if len(x.shape) == 1 else 1 if axis is None else axis
    return x * ((x * x).sum(along, keepdim=True) + epsilon).rsqrt()


@adapter
def pad(x: Any, paddings: Any, pad_value: float = 0.0, name: str | None = None) -> Any:
    """``pad_value`` before and after each dimension: two numbers for each, the first dimension first."""
    return functional.pad(x, list(paddings), "constant", pad_value, name=name)


@adapter
def pad2d(
    input: Any,
    paddings: Any = (0, 0, 0, 0),
    mode: str = "constant",
    pad_value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Images with ``paddings`` [top, bottom, left, right] in ``mode`` 'constant', 'reflect' or 'edge'."""
    if mode not in ("constant", "reflect", "edge"):
        raise ArgumentError(f"pad2d: mode must be 'constant', 'reflect' or 'edge': got {mode!r}")
    top, bottom, left, right = paddings
    modern = "replicate" if mode == "edge" else mode
    return functional.pad(input, [left, right, top, bottom], modern, pad_value, data_format, name)


@adapter
def pad_constant_like(x: Any, y: Any, pad_value: float = 0.0, name: str | None = None) -> Any:
    """``y`` with ``pad_value`` at the end of each dimension until it has the shape of ``x``."""
    pads = [number for a, b in zip(x.shape, y.shape, strict=True) for number in (0, int(a) - int(b))]
    return functional.pad(y, pads, "constant", pad_value, name=name)


@adapter
def crop(x: Any, shape: Any = None, offsets: Any = None, name: str | None = None) -> Any:
    """The part of ``shape`` (a list, or that of a Variable) that begins at ``offsets``, zeros where None."""
    wanted = shape if isinstance(shape, (list, tuple)) else [int(d) for d in shape.shape]
    return arranging.crop(x, list(wanted), offsets, name)


crop_tensor = crop
