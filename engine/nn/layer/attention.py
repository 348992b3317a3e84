"""Multi-head attention: Vaswani et al., Attention is all you need (2017)."""

from __future__ import annotations

import collections
from typing import Any, TypeAlias

from engine.core.errors import ArgumentError, ArgumentTypeError, ShapeError
from engine.nn.functional.attention import attend
from engine.nn.layer.common import Linear
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import AttrLike
from engine.ops.arrays import creation, shape
from engine.tensor.tensor_like import AnyTensor


class MultiHeadAttention(Layer):
    """Attention of several heads, each on its share of ``embed_dim``.

    query [batch, queries, embed_dim], key [batch, keys, kdim], value [batch, keys, vdim]; key and value are
    the query where omitted. ``attn_mask`` broadcasts to [batch, heads, queries, keys]: a float mask is added
    to the scores, a bool (int) one is True (1) where a query may look. The result is [batch, queries,
    embed_dim]; with ``need_weights`` a tuple with the weights [batch, heads, queries, keys] after dropout,
    and with a ``cache`` that too.

    A ``Cache`` holds keys and values of earlier steps, which are put before those of this call; a
    ``StaticCache`` holds those of a memory, used instead. ``gen_cache`` makes either.
    """

    Cache = collections.namedtuple("Cache", ["k", "v"])
    StaticCache = collections.namedtuple("StaticCache", ["k", "v"])

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ArgumentError(
                f"MultiHeadAttention: embed_dim must be a multiple of num_heads, both above 0: got "
                f"{embed_dim} and {num_heads}"
            )
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.num_heads = num_heads
        self.dropout = dropout
        self.need_weights = need_weights
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def _heads(self, x: Any) -> Any:
        """[batch, length, embed_dim] as [batch, heads, length, size]."""
        parted = shape.reshape(x, shape=[0, 0, self.num_heads, self.head_dim])
        return shape.transpose(parted, axis=[0, 2, 1, 3])

    def compute_kv(self, key: AnyTensor, value: AnyTensor) -> tuple[Any, Any]:
        """The projected heads of key and value."""
        k, v = self.k_proj(key), self.v_proj(value)
        return self._heads(k), self._heads(v)

    def gen_cache(
        self, key: AnyTensor, value: AnyTensor | None = None, type: type[AnyCache] = Cache
    ) -> AnyCache:
        """A StaticCache of key and value, or a Cache: an empty one, or of projected ``key`` and ``value``."""
        if type == MultiHeadAttention.StaticCache:
            if value is None:
                raise ArgumentTypeError("gen_cache: a StaticCache needs value too: got None; pass key, value")
            return self.StaticCache(*self.compute_kv(key, value))
        if value is not None:
            return self.Cache(key, value)

        def empty() -> Any:
            dims = [-1, self.num_heads, 0, self.head_dim]
            return creation.fill_batch(key, shape=dims, value=0.0, dtype=key.dtype.name)

        return self.Cache(empty(), empty())

    def forward(
        self,
        query: AnyTensor,
        key: AnyTensor | None = None,
        value: AnyTensor | None = None,
        attn_mask: AnyTensor | None = None,
        cache: AnyCache | None = None,
    ) -> Any:
        key = query if key is None else key
        value = query if value is None else value
        for name, x in (("query", query), ("key", key), ("value", value)):
            if x.ndim != 3:
                raise ShapeError(
                    f"MultiHeadAttention: {name} must be [batch, length, size]: got {list(x.shape)}"
                )
        q = self._heads(self.q_proj(query))
        if isinstance(cache, self.StaticCache):
            k, v = cache
        else:
            k, v = self.compute_kv(key, value)
        if isinstance(cache, self.Cache):
            k, v = shape.concat([cache.k, k], axis=2), shape.concat([cache.v, v], axis=2)
            cache = self.Cache(k, v)
        out, weights = attend("MultiHeadAttention", q, k, v, attn_mask, self.dropout, self.training)
        out = shape.reshape(shape.transpose(out, axis=[0, 2, 1, 3]), shape=[0, 0, self.embed_dim])
        results = [self.out_proj(out)]
        if self.need_weights:
            results.append(weights)
        if cache is not None:
            results.append(cache)
        return results[0] if len(results) == 1 else tuple(results)


# What ``gen_cache`` makes.
AnyCache: TypeAlias = MultiHeadAttention.Cache | MultiHeadAttention.StaticCache
