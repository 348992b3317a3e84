"""Rows of random numbers. Seeds are those of the process: a model draws other numbers than elsewhere."""

from __future__ import annotations

from typing import Any

from engine.onnx.reads.elementwise import dtype_name
from engine.onnx.reads.rows import reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import require_size, sizes_of


def _kind(x: Any, dtype: int | None) -> str:
    return str(x.dtype.name) if dtype is None else dtype_name(dtype)


@reads("RandomNormal", pure=False)
def _(*, shape: list[int], dtype: int = 1, mean: float = 0.0, scale: float = 1.0, seed: float = 0.0) -> Any:
    require_size(shape)
    return T.cast(T.add(T.multiply(T.randn(shape), T.full([], scale)), T.full([], mean)), dtype_name(dtype))


@reads("RandomUniform", pure=False)
def _(*, shape: list[int], dtype: int = 1, low: float = 0.0, high: float = 1.0, seed: float = 0.0) -> Any:
    require_size(shape)
    return T.cast(T.uniform(shape, "float32", low, high), dtype_name(dtype))


@reads("RandomNormalLike", pure=False)
def _(
    input: Any, *, dtype: int | None = None, mean: float = 0.0, scale: float = 1.0, seed: float = 0.0
) -> Any:
    made = T.randn(sizes_of(input))
    return T.cast(T.add(T.multiply(made, T.full([], scale)), T.full([], mean)), _kind(input, dtype))


@reads("RandomUniformLike", pure=False)
def _(input: Any, *, dtype: int | None = None, low: float = 0.0, high: float = 1.0, seed: float = 0.0) -> Any:
    return T.cast(T.uniform(sizes_of(input), "float32", low, high), _kind(input, dtype))


@reads("Bernoulli", pure=False)
def _(input: Any, *, dtype: int | None = None, seed: float = 0.0) -> Any:
    return T.cast(T.bernoulli(input), _kind(input, dtype))


@reads("Multinomial", pure=False)
def _(input: Any, *, dtype: int = 6, sample_size: int = 1, seed: float = 0.0) -> Any:
    return T.cast(T.multinomial(T.exp(input), sample_size, replacement=True), dtype_name(dtype))
