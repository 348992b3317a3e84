"""Weights and inputs that every framework makes alike: shared by the recorder (torch) and the test."""

from __future__ import annotations

from typing import Any

import numpy as np


def scattered(shape: Any, seed: int) -> Any:
    """Values in (-1, 1) without any pattern, the same everywhere: integers, mixed."""
    x = np.arange(1, int(np.prod(shape)) + 1, dtype="uint64") + np.uint64(seed) * np.uint64(0x9E3779B1)
    for _ in range(2):
        x = ((x >> np.uint64(16)) ^ x) * np.uint64(0x45D9F3B) & np.uint64(0xFFFFFFFF)
    x = (x >> np.uint64(16)) ^ x
    return (x.astype("float64") / 2.0**31 - 1.0).reshape(shape)


def weights(shape: Any, k: int, is_scale: bool = False) -> Any:
    """The ``k``-th parameter, of the size of usual initial weights; scales of norms are near 1."""
    values = scattered(shape, k + 1)
    fan = max(int(np.prod(shape)) // shape[0], 1) if len(shape) > 1 else 64
    return 1.0 + 0.2 * values if is_scale else values * np.sqrt(3.0 / fan)


def inputs(*shape: int) -> Any:
    """What the networks are given."""
    return scattered(shape, 0)


def sampled(gradient: Any) -> Any:
    """What is kept of a gradient: its norm, and 64 of its entries."""
    flat = np.asarray(gradient).reshape(-1)
    places = np.unique(np.linspace(0, flat.size - 1, 64).astype(int))
    return {"norm": float(np.linalg.norm(flat)), "places": places.tolist(), "values": flat[places].tolist()}
