"""Further functions that make their parameters: prelu, bilinear products, spectral norm, row convolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.nn import functional
from engine.nn.functional import conv as conv_functions
from engine.nn.initializer import Constant, Normal
from engine.nn.param_attr import AttrLike, ParamAttr
from engine.ops.arrays import creation, shape
from engine.ops.elementwise import arithmetic, extremes
from engine.ops.linalg.spectral_norm import spectral_norm as normed
from engine.static.nn.common import embedding
from engine.static.nn.helper import Helper, activated, require_variable
from engine.tensor import manipulation
from engine.tensor.tensor_like import AnyTensor


def prelu(
    x: AnyTensor, mode: str, param_attr: AttrLike = None, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """x where positive, else x times a learned slope.

    ``mode``: 'all' (one slope), 'channel' (one per channel) or 'element' (one per element of a sample).
    Slopes start at 0.25. Raises ArgumentError for another mode or format.
    """
    if mode not in ("all", "channel", "element"):
        raise ArgumentError(f"prelu: mode {mode!r} is unknown; use 'all', 'channel' or 'element'")
    if data_format not in ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"):
        raise ArgumentError(f"prelu: data_format {data_format!r} is unknown; use e.g. 'NCHW' or 'NHWC'")
    require_variable("prelu", "x", x)
    helper = Helper("prelu", name)
    first = data_format[1] == "C"
    dims = {
        "all": [1],
        "channel": [1, x.spec.shape[1], *[1] * (x.ndim - 2)]
        if first
        else [1, *[1] * (x.ndim - 2), x.spec.shape[-1]],
        "element": [1, *x.spec.shape[1:]],
    }[mode]
    alpha = helper.parameter(dims, param_attr, x.dtype, default_initializer=Constant(0.25))
    with helper.named():
        if mode == "all":
            return functional.prelu(x, alpha, data_format)
        negative = arithmetic.multiply(
            alpha, extremes.minimum(x, creation.fill(shape=[], value=0.0, dtype=x.dtype.name))
        )
        return arithmetic.add(functional.relu(x), negative)


def bilinear_tensor_product(
    x: AnyTensor,
    y: AnyTensor,
    size: int,
    act: str | None = None,
    name: str | None = None,
    param_attr: AttrLike = None,
    bias_attr: AttrLike = None,
) -> Any:
    """``act(x[n] @ weight[k] @ y[n] + bias[k])`` for x [N, in1] and y [N, in2]; the result is [N, size]."""
    require_variable("bilinear_tensor_product", "x", x)
    require_variable("bilinear_tensor_product", "y", y)
    helper = Helper("bilinear_tensor_product", name)
    weight = helper.parameter([size, x.spec.shape[1], y.spec.shape[1]], param_attr, x.dtype)
    bias = helper.parameter([1, size], bias_attr, x.dtype, is_bias=True)
    with helper.named():
        return activated("bilinear_tensor_product", functional.bilinear(x, y, weight, bias), act)


def spectral_norm(
    weight: AnyTensor, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None
) -> Any:
    """``weight`` divided by its largest singular value, estimated by power iteration from fixed vectors."""
    require_variable("spectral_norm", "weight", weight)
    helper = Helper("spectral_norm", name)
    rows = weight.spec.shape[dim]
    if not weight.spec.known or not rows:
        raise ShapeError(f"spectral_norm: weight is {weight.spec}: all its sizes must be known")
    start = ParamAttr(initializer=Normal(0.0, 1.0), trainable=False)
    u = helper.parameter([rows], start, weight.dtype)
    v = helper.parameter([weight.spec.size // rows], start, weight.dtype)
    with helper.named(form="_generated_var"):
        return normed(weight, u, v, dim=dim, power_iters=power_iters, eps=eps)


def row_conv(
    input: AnyTensor, future_context_size: int, param_attr: AttrLike = None, act: str | None = None
) -> Any:
    """The elementwise weighted sum of each row of ``input`` [N, length, size] and the rows after it.

    A LoD tensor [rows, size] is taken as well; the rows after a row are those of its sequence then.

    The weight is [future_context_size + 1, size]. Wang et al., Lookahead convolution layer for
    unidirectional recurrent neural networks (2016).
    """
    require_variable("row_conv", "input", input)
    from engine.static.nn import sequence_lengths  # with the first call, not with the engine

    found = sequence_lengths.padded(input) if input.ndim == 2 else None
    rows = input if found is None else found[0]
    if rows.ndim != 3 or rows.spec.shape[2] < 0:
        raise ShapeError(f"row_conv: input is {input.spec}: it must be [N, length, size] of a known size")
    helper = Helper("row_conv")
    size, window = rows.spec.shape[2], future_context_size + 1
    weight = helper.parameter([window, size], param_attr, input.dtype)
    with helper.named():
        made = convolved_rows(rows, weight)
        made = made if found is None else sequence_lengths.unpadded(made, found[1])
        return activated("row_conv", made, act)


def convolved_rows(input: AnyTensor, weight: AnyTensor) -> Any:
    """The rows of ``input`` [N, length, size] and those after each, weighted by ``weight`` [window, size]."""
    window, size = (int(n) for n in weight.shape)
    columns = shape.transpose(input, axis=[0, 2, 1])
    padded = functional.pad(columns, [0, window - 1], data_format="NCL")
    kernel = shape.unsqueeze(shape.transpose(weight, axis=[1, 0]), axes=[1])
    return shape.transpose(conv_functions.conv1d(padded, kernel, groups=size), axis=[0, 2, 1])


def sparse_embedding(
    input: AnyTensor,
    size: Sequence[int],
    padding_idx: int | None = None,
    is_test: bool = False,
    entry: object = None,
    table_class: str = "MemorySparseTable",
    param_attr: AttrLike = None,
    dtype: str = "float32",
    slot: object = None,
) -> Any:
    """The rows of a weight at the numbers in ``input`` [..., 1], as in ``embedding``.

    Differs from Paddle: the table is an ordinary parameter of this process. Paddle keeps it in parameter
    servers, which ``entry``, ``table_class`` and ``slot`` configure; they are accepted and have no effect.
    """
    require_variable("sparse_embedding", "input", input)
    if input.ndim < 2 or input.spec.shape[-1] != 1:
        raise ShapeError(
            f"sparse_embedding: input is {input.spec}: its last dimension must be 1; unsqueeze it"
        )
    return embedding(manipulation.squeeze(input, -1), size, True, True, padding_idx, param_attr, dtype)
