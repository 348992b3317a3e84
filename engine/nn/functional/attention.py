"""Attention without parameters: Vaswani et al., Attention is all you need (2017)."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.nn.functional.dropping import dropout
from engine.ops.activations import softmax
from engine.ops.arrays import creation, shape, triangles
from engine.ops.elementwise import arithmetic, power
from engine.ops.linalg import products as linalg
from engine.program.build.calls import names_results, takes_name
from engine.tensor.tensor_like import AnyTensor, DTypeLike

# What is added where a mask of bools or integers forbids to look: Paddle's number, which leaves a row that
# may look nowhere finite.
FORBIDDEN = -1e9


def additive_mask(mask: AnyTensor | None, dtype: DTypeLike) -> Any:
    """A mask to be added to scores: bools (True may look) and integers (1 may look) become 0 and -1e9."""
    if mask is None or mask.dtype is dtype:
        return mask
    if mask.dtype.name == "bool" or mask.dtype.is_integer:
        return arithmetic.scale(arithmetic.cast(mask, out_dtype=dtype), scale=-FORBIDDEN, bias=FORBIDDEN)
    return arithmetic.cast(mask, out_dtype=dtype)


def scaled(query: AnyTensor) -> Any:
    """The query over the root of its last dimension, which in a Program may be known only when it runs."""
    size = query.shape[-1]
    if isinstance(size, int) and size != -1:
        return arithmetic.scale(query, scale=float(size) ** -0.5)
    size = arithmetic.cast(shape.shape(query)[-1], out_dtype=query.dtype.name)
    return arithmetic.multiply(query, power.rsqrt(size))


@names_results(form="tmp", only="scale")
def attend(
    where: str,
    q: AnyTensor,
    k: AnyTensor,
    v: AnyTensor,
    mask: AnyTensor | None = None,
    share: float = 0.0,
    training: bool = True,
    causal: bool = False,
) -> tuple[Any, Any]:
    """softmax(q @ k.T / sqrt(size) + mask) @ v over [batch, heads, length, size]; the weights too."""
    size, keys = q.shape[-1], k.shape[-1]
    if size != keys and -1 not in (size, keys):
        raise ShapeError(
            f"{where}: a query has size {int(size)} and a key {int(keys)}; they must be equal: got "
            f"{list(q.shape)} and {list(k.shape)}"
        )
    scores = linalg.matmul(scaled(q), k, trans_y=True)
    if mask is not None:
        scores = arithmetic.add(scores, additive_mask(mask, scores.dtype))
    if causal:
        forbidden = creation.fill_like(shape.detach(scores), value=float("-inf"))
        scores = arithmetic.add(scores, triangles.tril_triu(forbidden, diagonal=1, lower=False))
    weights = softmax.softmax(scores, axis=-1)
    if share:
        weights = dropout(weights, share, training=training)
    return linalg.matmul(weights, v), weights


@takes_name
def scaled_dot_product_attention(
    query: AnyTensor,
    key: AnyTensor,
    value: AnyTensor,
    attn_mask: AnyTensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    name: str | None = None,
) -> Any:
    """softmax(query @ key.T / sqrt(size) + mask) @ value, all of shape [batch, length, heads, size].

    ``attn_mask`` broadcasts to [batch, heads, queries, keys]: a float mask is added, a bool or integer one is
    True or 1 where a query may look. ``is_causal`` lets each query look at keys up to its own position.

    Differs from Paddle: masks work on every device, bool ones too, and ``training=False`` drops nothing.
    """
    for label, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim != 4:
            raise ShapeError(
                f"scaled_dot_product_attention: {label} must be [batch, length, heads, size]: got "
                f"{list(x.shape)}"
            )
    if not 0 <= dropout_p <= 1:
        raise ArgumentError(f"scaled_dot_product_attention: dropout_p is a share, 0 to 1: got {dropout_p}")
    q, k, v = (shape.transpose(x, axis=[0, 2, 1, 3]) for x in (query, key, value))
    out, _ = attend(
        "scaled_dot_product_attention", q, k, v, attn_mask, float(dropout_p), training, bool(is_causal)
    )
    return shape.transpose(out, axis=[0, 2, 1, 3])
