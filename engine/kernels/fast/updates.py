"""Updates of optimizers over flat arrays of parameters: one pass, with the bits of NumPy's many.

The gradients need not lie in one array: a table in the arguments says where each part of the parameters has
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

from engine.core.opdef import OPS
from engine.kernels.cpu import pool
from engine.kernels.fast import Fast
from engine.kernels.fast import vectors as v
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import Handle, function, lanes

Array = Any
# Writes the new values of one vector: takes builder, gradient, state and scalars, returns the state.
Rule = Callable[[v.Builder, v.Value, list[v.Value], list[v.Value]], list[v.Value]]

# Elements of a shard. Below _SHARED elements threads cost more than they gain.
_CHUNK = 8192
_SHARED = 1 << 16
_FIXED = 2  # arguments before the arrays: all elements, parts of the table


# -- rules: the operations of engine/ops/training/parameter_updates.py in their order --
def _adam(b: v.Builder, g: v.Value, state: list[v.Value], scalars: list[v.Value]) -> list[v.Value]:
    p, first, second = state
    keep1, keep2, epsilon, rate, decay = scalars
    if decay is not None:
        p = b.fmul(p, decay)
    first = b.fadd(first, b.fmul(b.fsub(g, first), keep1))
    second = b.fadd(second, b.fmul(b.fsub(b.fmul(g, g), second), keep2))
    root = b.fadd(v.square_root(b, second), epsilon)
    return [b.fsub(p, b.fmul(b.fdiv(first, root), rate)), first, second]


def _momentum(nesterov: bool, rescales: bool, decays: bool) -> Rule:
    def rule(b: v.Builder, g: v.Value, state: list[v.Value], scalars: list[v.Value]) -> list[v.Value]:
        p, velocity = state
        mu, rate, scale, coefficient = scalars
        if rescales:
            g = b.fmul(g, scale)
        if decays:
            g = b.fadd(g, b.fmul(p, coefficient))
        velocity = b.fadd(b.fmul(velocity, mu), g)
        step = b.fadd(b.fmul(velocity, mu), g) if nesterov else velocity
        return [b.fsub(p, b.fmul(step, rate)), velocity]

    return rule


def _sgd(b: v.Builder, g: v.Value, state: list[v.Value], scalars: list[v.Value]) -> list[v.Value]:
    return [b.fsub(state[0], b.fmul(g, scalars[0]))]


def _adagrad(b: v.Builder, g: v.Value, state: list[v.Value], scalars: list[v.Value]) -> list[v.Value]:
    p, moment = state
    epsilon, rate = scalars
    moment = b.fadd(moment, b.fmul(g, g))
    step = b.fdiv(g, b.fadd(v.square_root(b, moment), epsilon))
    return [b.fsub(p, b.fmul(step, rate)), moment]


def _rmsprop(b: v.Builder, g: v.Value, state: list[v.Value], scalars: list[v.Value]) -> list[v.Value]:
    p, moment, square, *means = state
    epsilon, take, mu, rate = scalars
    square = b.fadd(square, b.fmul(b.fsub(b.fmul(g, g), square), take))
    spread = square
    if means:  # centered
        means = [b.fadd(mean, b.fmul(b.fsub(g, mean), take)) for mean in means]
        spread = b.fsub(square, b.fmul(means[0], means[0]))
    step = b.fmul(b.fdiv(g, v.square_root(b, b.fadd(spread, epsilon))), rate)
    moment = b.fadd(b.fmul(moment, mu), step)
    return [b.fsub(p, moment), moment, square, *means]


def _adadelta(b: v.Builder, g: v.Value, state: list[v.Value], scalars: list[v.Value]) -> list[v.Value]:
    p, squares, steps = state
    epsilon, take, rate = scalars
    squares = b.fadd(squares, b.fmul(b.fsub(b.fmul(g, g), squares), take))
    step = b.fmul(v.square_root(b, b.fdiv(b.fadd(steps, epsilon), b.fadd(squares, epsilon))), g)
    steps = b.fadd(steps, b.fmul(b.fsub(b.fmul(step, step), steps), take))
    return [b.fsub(p, b.fmul(step, rate)), squares, steps]


def _adamax(b: v.Builder, g: v.Value, state: list[v.Value], scalars: list[v.Value]) -> list[v.Value]:
    p, moment, largest = state
    epsilon, keep, beta, rate = scalars
    moment = b.fadd(moment, b.fmul(b.fsub(g, moment), keep))
    largest = v.maximum(b, v.absolute(b, g), b.fadd(b.fmul(largest, beta), epsilon))
    return [b.fsub(p, b.fmul(b.fdiv(moment, largest), rate)), moment, largest]


# -- makers --------------------------------------------------------------------------------------------------
def adam(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``adam_flat``."""
    return _adam_family("adam_flat", inputs, attrs, decays=False)


def adamw(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``adamw_flat``."""
    return _adam_family("adamw_flat", inputs, attrs, decays=bool(attrs.get("with_decay", True)))


def _adam_family(name: str, inputs: Sequence[Any], attrs: Mapping[str, Any], decays: bool) -> Fast | None:
    def rule(b: v.Builder, g: v.Value, state: list[v.Value], scalars: list[v.Value]) -> list[v.Value]:
        return _adam(b, g, state, scalars if decays else [*scalars[:-1], None])

    update = _update(inputs, f"adam {decays}", rule, 3, 5)
    if update is None:
        return None
    slow, ratio, coefficient = OPS[name].kernel, attrs.get("lr_ratio", 1.0), attrs.get("coeff", 0.0)
    # Rounded to the dtype of their powers, as the operator does.
    beta1, beta2 = (
        float(inputs[OPS[name].index_of[f"{beta}_pow"]].dtype.np.type(attrs[beta]))
        for beta in ("beta1", "beta2")
    )
    epsilon = attrs["epsilon"]

    def kernel(
        param: Array, grads: list[Array], learning_rate: Array, moment1: Array, moment2: Array,
        beta1_pow: Array, beta2_pow: Array, skip_update: Array = None,
    ) -> tuple[Array, ...]:  # fmt: skip
        results = param, moment1, moment2, beta1_pow, beta2_pow
        if skip_update is not None and bool(skip_update.any()):
            return results
        if not update.fits(param, moment1, moment2):
            return slow(
                np, param, grads, learning_rate, moment1, moment2, beta1_pow, beta2_pow, skip_update, **attrs
            )  # type: ignore[no-any-return]
        rate = float(learning_rate.item()) * ratio
        decay = 1.0 - rate * coefficient
        correction = math.sqrt(1.0 - float(beta2_pow[0]))
        rate *= correction / (1.0 - float(beta1_pow[0]))
        scalars = 1.0 - beta1, 1.0 - beta2, epsilon * correction, rate, decay
        update(grads, (param, moment1, moment2), scalars)
        beta1_pow *= beta1
        beta2_pow *= beta2
        return results

    return Fast(kernel, [update.handle])


def momentum(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``momentum_flat``."""
    nesterov, scale = bool(attrs.get("use_nesterov")), float(attrs.get("rescale_grad", 1.0))
    decays = attrs.get("regularization_method") == "l2_decay"
    coefficient = float(attrs.get("regularization_coeff", 0.0))
    rule = _momentum(nesterov, scale != 1.0, decays)
    update = _update(inputs, f"momentum {nesterov} {scale != 1.0} {decays}", rule, 2, 4)
    if update is None:
        return None
    slow = OPS["momentum_flat"].kernel

    def kernel(
        param: Array, grads: list[Array], velocity: Array, learning_rate: Array
    ) -> tuple[Array, Array]:
        if not update.fits(param, velocity):
            return slow(np, param, grads, velocity, learning_rate, **attrs)  # type: ignore[no-any-return]
        scalars = attrs["mu"], float(learning_rate.item()), scale, coefficient
        update(grads, (param, velocity), scalars)
        return param, velocity

    return Fast(kernel, [update.handle])


def sgd(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``sgd_flat``."""
    update = _update([inputs[0], inputs[2]], "sgd", _sgd, 1, 1)
    if update is None:
        return None
    slow = OPS["sgd_flat"].kernel

    def kernel(param: Array, learning_rate: Array, grads: list[Array]) -> Array:
        if not update.fits(param):
            return slow(np, param, learning_rate, grads)
        update(grads, (param,), (float(learning_rate.item()),))
        return param

    return Fast(kernel, [update.handle])


def adagrad(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``adagrad_flat``."""
    scalars = (attrs["epsilon"],)
    return _by_name("adagrad_flat", inputs, attrs, _adagrad, ("param", "moment"), scalars)


def rmsprop(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``rmsprop_flat``."""
    arrays = ("param", "moment", "mean_square", *(["mean_grad"] if attrs["centered"] else []))
    scalars = attrs["epsilon"], 1.0 - attrs["decay"], attrs["momentum"]
    return _by_name("rmsprop_flat", inputs, attrs, _rmsprop, arrays, scalars)


def adadelta(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``adadelta_flat``."""
    arrays, scalars = (
        ("param", "avg_squared_grad", "avg_squared_update"),
        (attrs["epsilon"], 1 - attrs["rho"]),
    )
    return _by_name("adadelta_flat", inputs, attrs, _adadelta, arrays, scalars)


def adamax(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``adamax_flat``."""
    scalars = attrs["epsilon"], 1.0 - attrs["beta1"], attrs["beta2"]
    return _by_name("adamax_flat", inputs, attrs, _adamax, ("param", "moment", "inf_norm"), scalars)


def _by_name(
    name: str, inputs: Sequence[Any], attrs: Mapping[str, Any], rule: Rule, arrays: Sequence[str],
    scalars: Sequence[float],
) -> Fast | None:  # fmt: skip
    """The kernel of an operator whose ``rule`` takes these slots, these numbers, and the learning rate."""
    opdef = OPS[name]
    at = opdef.index_of
    key = f"{name} {len(arrays)}"
    update = _update([inputs[at["param"]], inputs[at["grads"]]], key, rule, len(arrays), len(scalars) + 1)
    if update is None:
        return None
    places, results = [at[slot] for slot in arrays], [at[str(output.writes)] for output in opdef.outputs]
    rate_at, grads_at, power_at = at["learning_rate"], at["grads"], at.get("beta1_pow")

    def kernel(*values: Any) -> tuple[Array, ...]:
        given = [values[n] for n in places]
        if not update.fits(*given):
            return opdef.kernel(np, *values, **attrs)  # type: ignore[no-any-return]
        rate = float(values[rate_at].item())
        if power_at is not None:
            rate /= 1.0 - float(values[power_at][0])
            values[power_at][...] *= attrs["beta1"]
        update(values[grads_at], given, (*scalars, rate))
        return tuple([values[n] for n in results])

    return Fast(kernel, [update.handle])


def _update(inputs: Sequence[Any], name: str, rule: Rule, arrays: int, scalars: int) -> Update | None:
    """``inputs`` begin with the Specs of the parameters and of the list of gradients."""
    param, grads = inputs[:2]
    if param.dtype.name not in ("float32", "float64") or any(g.dtype is not param.dtype for g in grads):
        return None
    return Update(name, rule, param.dtype.np, arrays, scalars)


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
    """Calls a compiled rule for ``arrays`` flat arrays (the parameters first) and ``scalars`` numbers."""

    def __init__(self, name: str, rule: Rule, dtype: Any, arrays: int, scalars: int) -> None:
        self._dtype = np.dtype(dtype)
        self._kind = v.F32 if self._dtype.itemsize == 4 else v.F64
        self._rule, self._arrays, self._scalars = rule, arrays, scalars
        self._layout = Layout((), self._dtype, _FIXED + arrays, scalars)
        self.handle: Handle = function(f"update {name} {self._dtype}", self.build)

    def fits(self, *arrays: Array) -> bool:
        """Whether elements lie side by side."""
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
        self, b: v.Builder, i: v.Value, own: v.Value, gradient: v.Value, places: list[v.Value],
        scalars: list[v.Value], width: int, mask: v.Value | None,
    ) -> None:  # fmt: skip
        kind = ir.VectorType(self._kind, width)
        spots = [v.offset(b, p, i, self._kind) for p in places]
        spot = v.offset(b, gradient, own, self._kind)
        if mask is None:
            g, *state = [v.load(b, s, kind) for s in (spot, *spots)]
        else:
            g, *state = [v.masked_load(b, s, kind, mask) for s in (spot, *spots)]
        for s, value in zip(spots, self._rule(b, g, state, scalars), strict=True):
            if mask is None:
                v.store(b, value, s)
            else:
                v.masked_store(b, value, s, mask)


def _least(b: v.Builder, x: v.Value, y: v.Value) -> v.Value:
    return b.select(b.icmp_signed("<", x, y), x, y)


def _largest(b: v.Builder, x: v.Value, y: v.Value) -> v.Value:
    return b.select(b.icmp_signed(">", x, y), x, y)
