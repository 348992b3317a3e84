"""Elementwise operators whose inputs have a fixed place: one call of NumPy each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from engine.program.run.frozen.site import Array, Bound, Site


def ufunc(function: Callable[..., Any], site: Site) -> Bound | None:
    """One of NumPy's functions, of arrays that are known before the call."""
    given = [site.known(n) for n in range(len(site.inputs))]
    if not site.plain or any(a is None for a in given):
        return None
    return _bound(function, [a for a in given if a is not None], site)


def relu(site: Site) -> Bound | None:
    """max(x, 0)."""
    x = site.known(0)
    return _bound(np.maximum, [x, np.zeros((), x.dtype)], site) if x is not None and site.plain else None


def _bound(function: Callable[..., Any], arrays: list[Array], site: Site) -> Bound:
    over = None if site.over is None or site.fresh else site.places[site.over]
    out = site.buffer() if over is None else over
    if out is None:
        return Bound(partial(function, *arrays), None)
    *flat, into = _flat(arrays, out)
    return Bound(partial(function, *flat, out=into), out)


def _flat(arrays: list[Array], out: Array) -> list[Array]:
    """The same arrays without dimensions where none is broadcast: NumPy is faster then, where there are few
    elements."""
    every = [*arrays, out]
    if all(a.size == 1 or (a.size == out.size and a.flags.c_contiguous) for a in every):
        return [a.reshape(()) if a.size < out.size else a.reshape(-1) for a in every]
    return every
