"""Shared by tests of the engine's CUDA kernels: CuPy or its stand-in, and operators called on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from engine.core.operators.opdef import OPS
from engine.kernels.choice import kernels
from tests.cupy_stand_in.module import gpu, installed


@contextmanager
def on_gpu() -> Iterator[Any]:
    """CuPy, or the stand-in where there is no GPU, with the engine's own kernels switched on."""
    with nullcontext() if gpu() else installed(), kernels.guard("auto"):
        import cupy

        import engine.kernels.cupy

        assert engine.kernels.cupy.xp is cupy
        yield cupy


def numbers(seed: int, *shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def run(cupy: Any, name: str, *arrays: Any, **attrs: Any) -> list[Any]:
    """Results of the GPU kernel of the operator ``name``, fetched; a second run gives the same bits."""
    kernel, _ = OPS[name].kernel_for("cupy")
    moved = [a if isinstance(a, cupy.ndarray) else cupy.asarray(a) for a in arrays]
    first, second = (_fetched(kernel(cupy, *moved, **attrs)) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        assert a is b is None or a.tobytes() == b.tobytes()
    return first


def _fetched(results: Any) -> list[Any]:
    results = results if isinstance(results, tuple) else (results,)
    assert all(r is None or r.flags.c_contiguous for r in results)
    return [None if r is None else r.get() for r in results]
