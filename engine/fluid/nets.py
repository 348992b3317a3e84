"""``fluid.nets``: groups of layers that networks of fluid's time repeat."""

from __future__ import annotations

from typing import Any

from engine.core.alias.absent import refusing
from engine.core.errors import ArgumentError, ShapeError
from engine.fluid import layers

__all__ = [
    "glu",
    "img_conv_group",
    "scaled_dot_product_attention",
    "sequence_conv_pool",
    "simple_img_conv_pool",
]

__getattr__ = refusing(__name__)


def simple_img_conv_pool(
    input: Any,
    num_filters: int,
    filter_size: Any,
    pool_size: Any,
    pool_stride: Any,
    pool_padding: Any = 0,
    pool_type: str = "max",
    global_pooling: bool = False,
    conv_stride: Any = 1,
    conv_padding: Any = 0,
    conv_dilation: Any = 1,
    conv_groups: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: Any = None,
    use_cudnn: bool = True,
) -> Any:
    """``layers.conv2d`` and then ``layers.pool2d``; only in static mode."""
    out = layers.conv2d(
        input,
        num_filters,
        filter_size,
        conv_stride,
        conv_padding,
        conv_dilation,
        conv_groups,
        param_attr,
        bias_attr,
        use_cudnn,
        act,
    )
    return layers.pool2d(out, pool_size, pool_type, pool_stride, pool_padding, global_pooling)


def img_conv_group(
    input: Any,
    conv_num_filter: Any,
    pool_size: Any,
    conv_padding: Any = 1,
    conv_filter_size: Any = 3,
    conv_act: Any = None,
    param_attr: Any = None,
    conv_with_batchnorm: Any = False,
    conv_batchnorm_drop_rate: Any = 0.0,
    pool_stride: Any = 1,
    pool_type: str = "max",
    use_cudnn: bool = True,
) -> Any:
    """Convolutions with ``conv_num_filter`` filters one after the other, and a pooling; only in static mode.

    Each may have a batch normalization, and after it a dropout. Other arguments are one value for all, or a
    list with one for each. Raises ArgumentError for a list of another length.
    """
    filters = list(conv_num_filter)

    def each(name: str, value: Any) -> list[Any]:
        if not hasattr(value, "__len__"):
            return [value] * len(filters)
        if len(value) != len(filters):
            raise ArgumentError(
                f"img_conv_group: {name} has {len(value)} values for {len(filters)} convolutions; give one "
                "for each, or one for all"
            )
        return list(value)

    out = input
    for count, size, padding, attr, normed, rate in zip(
        filters,
        each("conv_filter_size", conv_filter_size),
        each("conv_padding", conv_padding),
        each("param_attr", param_attr),
        each("conv_with_batchnorm", conv_with_batchnorm),
        each("conv_batchnorm_drop_rate", conv_batchnorm_drop_rate),
        strict=True,
    ):
        act = None if normed else conv_act
        out = layers.conv2d(out, count, size, padding=padding, param_attr=attr, act=act)
        if normed:
            out = layers.batch_norm(out, conv_act)
            if abs(rate) > 1e-5:
                out = layers.dropout(out, rate)
    return layers.pool2d(out, pool_size, pool_type, pool_stride)


def sequence_conv_pool(
    input: Any,
    num_filters: int,
    filter_size: int,
    param_attr: Any = None,
    act: Any = "sigmoid",
    pool_type: str = "max",
    bias_attr: Any = None,
) -> Any:
    """``layers.sequence_conv`` and then ``layers.sequence_pool``: one row for each sequence."""
    out = layers.sequence_conv(
        input, num_filters, filter_size, param_attr=param_attr, bias_attr=bias_attr, act=act
    )
    return layers.sequence_pool(out, pool_type)


def glu(input: Any, dim: int = -1) -> Any:
    """The first half of ``input`` along ``dim`` times the sigmoid of the second half."""
    a, b = layers.split(input, 2, dim)
    return a * layers.sigmoid(b)


def scaled_dot_product_attention(
    queries: Any, keys: Any, values: Any, num_heads: int = 1, dropout_rate: float = 0.0
) -> Any:
    """Attention of ``queries`` [N, length, size] to ``keys`` and ``values`` [N, other length, size].

    With several heads queries, keys and values go through a ``layers.fc`` each, which takes static mode; the
    softmax is taken over the keys. Vaswani et al., Attention is all you need (2017). Raises ShapeError for
    sizes that do not fit each other or the number of heads.
    """
    shapes = [list(x.shape) for x in (queries, keys, values)]
    if any(len(s) != 3 for s in shapes):
        raise ShapeError(
            f"scaled_dot_product_attention: Inputs queries, keys and values should all be 3-D: got {shapes}"
        )
    if shapes[0][-1] != shapes[1][-1] or shapes[1][-2] != shapes[2][-2]:
        raise ShapeError(
            "scaled_dot_product_attention: queries and keys have one size, keys and values one length: got "
            f"{shapes}"
        )
    if shapes[1][-1] % num_heads or shapes[2][-1] % num_heads:
        raise ShapeError(f"scaled_dot_product_attention: {num_heads} heads do not divide the sizes {shapes}")
    if num_heads > 1:
        queries, keys, values = (
            layers.fc(x, s[-1], num_flatten_dims=2)
            for x, s in zip((queries, keys, values), shapes, strict=True)
        )

    def heads(x: Any) -> Any:
        if num_heads == 1:
            return x
        parts = layers.reshape(x, [0, 0, num_heads, int(x.shape[-1]) // num_heads])
        return layers.transpose(parts, [0, 2, 1, 3])

    q, k, v = heads(queries), heads(keys), heads(values)
    scaled = layers.scale(q, (shapes[1][-1] // num_heads) ** -0.5)
    weights = layers.softmax(layers.matmul(scaled, k, transpose_y=True))
    if dropout_rate:
        weights = layers.dropout(weights, dropout_rate)
    out = layers.matmul(weights, v)
    if num_heads == 1:
        return out
    return layers.reshape(layers.transpose(out, [0, 2, 1, 3]), [0, 0, shapes[2][-1]])
