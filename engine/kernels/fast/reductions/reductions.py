"""Sums in plans: of channels as compiled code, others with the checks of each call made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir

from engine.core.operators.infer import reduced_axes
from engine.core.operators.opdef import OPS
from engine.kernels.cpu.sums import by_ones
from engine.kernels.fast import Fast
from engine.kernels.fast import vectors as v
from engine.kernels.fast.compiler import function
from engine.kernels.fast.reductions import rows
from engine.kernels.fast.reductions.channels import Channel, run_of
from engine.kernels.fast.steps import KINDS

Array = Any
_LEAST = 1 << 14  # elements, of which NumPy adds up those of channels in about 4 us


def reduce_sum(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``reduce_sum`` for each channel, or where a product with ones is its sum."""
    (x,), axis = inputs, attrs.get("axis")
    if x.dtype.name not in ("float32", "float64") or attrs.get("reduce_all") or not axis:
        return None
    axes = reduced_axes("reduce", axis, x.ndim)
    slow = partial(OPS["reduce_sum"].kernel, np, **attrs)
    way = by_ones(x.shape, x.dtype.np.char, axes, bool(attrs.get("keepdim")))
    if way is not None:
        return Fast(lambda x: way(x) if x.flags.c_contiguous else slow(x), [])
    rest = {*range(x.ndim)} - {*axes}
    if len(rest) != 1 or x.size < _LEAST:
        return None
    (channel,), kind, number = rest, KINDS[x.dtype.name], x.dtype.np
    shape = [x.shape[channel] if n == channel else 1 for n in range(x.ndim)] if attrs.get("keepdim") else -1
    handle = function(f"sums of channels {kind}", partial(_build_sums, kind))

    def kernel(x: Array) -> Array:
        run = run_of(x, channel)
        if run is None:
            return slow(x)
        made = np.empty(x.shape[channel], number)
        rows.call(handle, run, [x, made], len(made), x.size)
        return made.reshape(shape)

    return Fast(kernel, [handle])


def _build_sums(kind: Any, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    x, made = frame.pointer(4), frame.pointer(5)
    with v.loop(frame.builder, frame.begin, frame.end) as index:
        channel = Channel(frame, kind, index)
        (total,) = channel.sums([x], lambda p, at: [p.load(at[0])], 1)
        channel.store(total, made)
    return frame.close()
