"""Updates of optimizers over flat arrays of parameters: one pass, with the bits of NumPy's many.

The gradients need not be in one array: a table in the arguments says where each part of the parameters has
its own. One kernel serves all sizes and rates.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from engine.core.operators.opdef import OPS
from engine.kernels.cpu import pool
from engine.kernels.fast import Fast
from engine.kernels.fast import vectors as v
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import Handle, function
from engine.kernels.fast.steps import LlvmWriter
from engine.kernels.fast.target import lanes
from engine.kernels.steps import updates as steps
from engine.kernels.steps.updates import UPDATES

Array = Any

# Elements of a shard. Below _SHARED elements threads cost more than they gain.
_CHUNK = 8192
_SHARED = 1 << 16
_FIXED = 2  # arguments before the arrays: all elements, parts of the table


# -- makers --------------------------------------------------------------------------------------------------
def _maker(name: str) -> Callable[[Sequence[Any], Mapping[str, Any]], Fast | None]:
    """The maker of the operator ``name`` over flat arrays, whose gradients are a list."""

    def maker(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
        opdef = OPS[f"{name}_flat"]
        at = opdef.index_of
        param, grads = inputs[at["param"]], inputs[at["grads"]]
        if param.dtype.name not in ("float32", "float64") or any(g.dtype is not param.dtype for g in grads):
            return None
        power = at.get("beta1_pow")
        of = UPDATES[name](attrs, _rounded if power is None else _rounding_to(inputs[power].dtype.np))
        update = Update(of, param.dtype.np)
        places, results = [at[slot] for slot in of.arrays], [at[str(o.writes)] for o in opdef.outputs]
        rate_at, grads_at, skip_at = at["learning_rate"], at["grads"], at.get("skip_update")
        powers = [(at[slot], factor) for slot, factor in of.powers.items()]
        single = opdef.single

        def kernel(*values: Any) -> Any:
            skips = values[skip_at] if skip_at is not None and len(values) > skip_at else None
            if skips is None or not bool(skips.any()):
                given = [values[n] for n in places]
                if not update.fits(*given):
                    return opdef.kernel(np, *values, **attrs)
                rate = float(values[rate_at].item())
                numbers = of.numbers(rate, [float(values[n][0]) for n, _ in powers], math.sqrt)
                update(values[grads_at], given, numbers)
                for n, factor in powers:
                    values[n][...] *= factor
            return values[results[0]] if single else tuple([values[n] for n in results])

        return Fast(kernel, [update.handle])

    return maker


def _rounded(value: float) -> float:
    return value


def _rounding_to(dtype: Any) -> Callable[[float], float]:
    return lambda value: float(dtype.type(value))


adam, adamw, momentum, sgd = _maker("adam"), _maker("adamw"), _maker("momentum"), _maker("sgd")
adagrad, rmsprop = _maker("adagrad"), _maker("rmsprop")
adadelta, adamax = _maker("adadelta"), _maker("adamax")


class Layout:
    """The arguments for gradients of such ``sizes``, 64 bits each.

    ``pack`` takes integers, scalars and the table, where addresses of gradients are still 0.
    """

    __slots__ = ("end", "pack", "sizes", "table")

    def __init__(self, sizes: tuple[int, ...], dtype: Any, integers: int, scalars: int) -> None:
        self.sizes, self.end = sizes, 0
        self.table: list[int] = []
        for size in sizes:
            self.table += [self.end, self.end + size, 0]
            self.end += size
        scalar = "f4x" if dtype.itemsize == 4 else "d"
        self.pack = struct.Struct(f"={integers}q{scalar * scalars}{len(self.table)}q").pack


class Update:
    """Calls the compiled rule of an update for flat arrays (the parameters first) and numbers."""

    def __init__(self, of: steps.Update, dtype: Any) -> None:
        self._dtype = np.dtype(dtype)
        self._kind = v.F32 if self._dtype.itemsize == 4 else v.F64
        self._rule, self._arrays = of.rule, len(of.arrays)
        self._scalars = len(of.numbers(0.0, [0.0] * len(of.powers), math.sqrt))
        self._layout = Layout((), self._dtype, _FIXED + self._arrays, self._scalars)
        self.handle: Handle = function(f"update {of.key} {self._dtype}", self.build)

    def fits(self, *arrays: Array) -> bool:
        """Whether elements are contiguous."""
        return all(x.flags.c_contiguous for x in arrays)

    def __call__(self, grads: Sequence[Array], arrays: Sequence[Array], scalars: Sequence[float]) -> None:
        for g in grads:
            if not g.flags.c_contiguous:
                grads = [np.ascontiguousarray(g) for g in grads]
                break
        sizes = tuple([g.size for g in grads])
        layout = self._layout
        if layout.sizes != sizes:
            layout = self._layout = Layout(sizes, self._dtype, _FIXED + self._arrays, self._scalars)
        table = layout.table.copy()
        table[2::3] = [address(g) for g in grads]
        head = layout.end, len(sizes), *[address(x) for x in arrays]
        try:
            args = layout.pack(*head, *scalars, *table)
        except OverflowError:  # of float32, which has infinity there
            with np.errstate(over="ignore"):
                args = layout.pack(*head, *np.array(scalars, self._dtype).tolist(), *table)
        count = -(-layout.end // _CHUNK)
        if layout.end >= _SHARED:
            shared = (ctypes.c_char * len(args)).from_buffer_copy(args)
            pool.parallel(self.handle.address, shared, count)  # type: ignore[arg-type]
        else:
            self.handle.call(args, 0, count)

    def build(self, module: ir.Module, name: str) -> ir.Function:
        frame = v.Frame(module, name)
        b, width, kind = frame.builder, lanes(), self._kind
        whole, parts = frame.integer(0), frame.integer(1)
        places = [frame.pointer(_FIXED + n) for n in range(self._arrays)]
        head = _FIXED + self._arrays
        scalars = [v.broadcast(b, frame.scalar(head + n, kind), width) for n in range(self._scalars)]
        table = head + self._scalars

        def entry(part: v.Value, column: int) -> v.Value:
            index = b.add(b.mul(part, v.I64(3)), v.I64(table + column))
            return v.load(b, v.offset(b, frame.args, index, v.I64), v.I64)

        with v.loop(b, frame.begin, frame.end) as shard:
            low = b.mul(shard, v.I64(_CHUNK))
            high = _least(b, b.add(low, v.I64(_CHUNK)), whole)
            with v.loop(b, v.I64(0), parts) as part:
                start, stop = entry(part, 0), entry(part, 1)
                first = _largest(b, low, start)
                last = _largest(b, first, _least(b, high, stop))  # the same where they do not meet
                gradient = b.inttoptr(entry(part, 2), v.POINTER)
                full = b.add(first, b.and_(b.sub(last, first), v.I64(-width)))
                with v.loop(b, first, full, width) as i:
                    self._vector(b, i, b.sub(i, start), gradient, places, scalars, width, None)
                with b.if_then(b.icmp_signed("<", full, last)):
                    mask = v.first(b, b.sub(last, full), width)
                    self._vector(b, full, b.sub(full, start), gradient, places, scalars, width, mask)
        return frame.close()

    def _vector(
        self,
        b: v.Builder,
        i: v.Value,
        own: v.Value,
        gradient: v.Value,
        places: list[v.Value],
        scalars: list[v.Value],
        width: int,
        mask: v.Value | None,
    ) -> None:
        kind = ir.VectorType(self._kind, width)
        spots = [v.offset(b, p, i, self._kind) for p in places]
        spot = v.offset(b, gradient, own, self._kind)
        if mask is None:
            g, *state = [v.load(b, s, kind) for s in (spot, *spots)]
        else:
            g, *state = [v.masked_load(b, s, kind, mask) for s in (spot, *spots)]
        for s, value in zip(spots, self._rule(LlvmWriter(b), g, state, scalars), strict=True):
            if mask is None:
                v.store(b, value, s)
            else:
                v.masked_store(b, value, s, mask)


def _least(b: v.Builder, x: v.Value, y: v.Value) -> v.Value:
    return b.select(b.icmp_signed("<", x, y), x, y)


def _largest(b: v.Builder, x: v.Value, y: v.Value) -> v.Value:
    return b.select(b.icmp_signed(">", x, y), x, y)
