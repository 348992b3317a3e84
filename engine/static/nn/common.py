"""Fully connected layers and embeddings that make their parameters."""

from __future__ import annotations

import math as python_math
from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.values.dtype import as_dtype
from engine.nn import functional
from engine.nn.param_attr import AttrLike
from engine.ops.elementwise import arithmetic
from engine.ops.linalg import products as products_ops
from engine.static.nn.helper import Helper, activated, require_variable
from engine.tensor.tensor_like import AnyTensor, DTypeLike


def fc(
    x: AnyTensor | Sequence[AnyTensor],
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: AttrLike | Sequence[AttrLike] = None,
    bias_attr: AttrLike = None,
    activation: str | None = None,
    name: str | None = None,
) -> Any:
    """``activation(x @ weight + bias)``, with x as a matrix whose rows are its first ``num_flatten_dims``
    dimensions.

    ``x`` may be a list of Variables, each with its own weight; their products are added. The result has
    the first ``num_flatten_dims`` dimensions of x and ``size``. Raises ShapeError where a dimension that the
    weight needs is unknown.
    """
    inputs: list[Any] = list(x) if isinstance(x, (list, tuple)) else [x]
    for value in inputs:
        require_variable("fc", "x", value)
    helper = Helper("fc", name)
    attrs: Sequence[Any] = (
        weight_attr if isinstance(weight_attr, (list, tuple)) else [weight_attr] * len(inputs)
    )
    products = []
    for value, attr in zip(inputs, attrs, strict=True):
        dims = num_flatten_dims if num_flatten_dims >= 0 else value.ndim + num_flatten_dims
        if not 0 < dims < value.ndim:
            raise ArgumentError(
                f"fc: num_flatten_dims is {num_flatten_dims} for x {value.spec}: 1 to {value.ndim - 1} "
                "leading dimensions can be the rows"
            )
        inner = value.spec.shape[dims:]
        if -1 in inner:
            raise ShapeError(
                f"fc: x is {value.spec}: the weight needs known dimensions after the first {dims}; "
                "give them in static.data(), or raise num_flatten_dims"
            )
        weight = helper.parameter([python_math.prod(inner), size], attr, value.dtype)
        with helper.named():
            products.append(products_ops.mul(value, weight, x_num_col_dims=dims, y_num_col_dims=1))
    with helper.named():
        total = products[0] if len(products) == 1 else arithmetic.add_n(products)
        bias = helper.parameter([size], bias_attr, inputs[0].dtype, is_bias=True)
        if bias is not None:
            total = arithmetic.add(total, bias, axis=dims)
        return activated("fc", total, activation)


def embedding(
    input: AnyTensor,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: AttrLike = None,
    dtype: DTypeLike = "float32",
) -> Any:
    """The rows at the numbers in ``input`` of a weight of shape ``size``, [number of rows, row length].

    Row ``padding_idx`` gives zeros and gets no gradient. ``is_sparse`` and ``is_distributed`` are accepted:
    gradients are dense here.
    """
    require_variable("embedding", "input", input)
    helper = Helper("embedding")
    rows, length = (int(n) for n in size)
    weight = helper.parameter([rows, length], param_attr, as_dtype(dtype))
    with helper.named():
        return functional.embedding(input, weight, padding_idx=padding_idx)
