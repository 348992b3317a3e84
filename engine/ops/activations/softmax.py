"""Softmax, its logarithm, and its draws from the Gumbel distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.operators.infer import normal_axis, require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.place import array_module
from engine.core.random.generator import draws_of
from engine.core.values.spec import Spec
from engine.kernels.cpu.sums import summed
from engine.ops.activations.smooth import refuse_integers
from engine.ops.elementwise import arithmetic, exponential
from engine.ops.reductions import reduce


def _infer_softmax(x: Spec, *, axis: int) -> Spec:
    require_floating("softmax", x=x)
    normal_axis("softmax", axis, x.ndim)
    return x


@op("softmax", infer=_infer_softmax)
def softmax(xp, x, *, axis=-1, out=None):
    """exp(x) / sum(exp(x)) along an axis."""
    refuse_integers(x)
    if x.ndim == 0:
        normal_axis("softmax", axis, 0)
        return xp.ones_like(x)
    e = xp.subtract(x, xp.max(x, axis=axis, keepdims=True), out=out)
    xp.exp(e, out=e)
    e /= summed(xp, e, (axis % x.ndim,), True)
    return e


def _infer_softmax_grad(flow: Spec, soft: Spec, **_: Any) -> Spec:
    require_same_dtype("softmax_grad", flow=flow, soft=soft)
    return soft


@op("softmax_grad", infer=_infer_softmax_grad)
def softmax_grad(xp, flow, soft, *, axis=-1, out=None):
    """The gradient of x where ``flow`` is that of ``soft`` = softmax(x); ``out`` must not be that of soft."""
    made = xp.multiply(flow, soft, out=None if out is soft else out)
    made -= soft * (summed(xp, made, (axis % soft.ndim,), True) if soft.ndim else made)
    return made


@softmax_grad.grad_all("flow", "soft")
def _softmax_grad_grad(g: Any, flow: Any, soft: Any, axis: int, wanted: frozenset[str]) -> tuple[Any, Any]:
    of_flow = softmax_grad(g, soft, axis=axis) if "flow" in wanted else None
    if "soft" not in wanted:
        return of_flow, None
    axes = [axis] if soft.ndim else []
    along, across = (reduce.sum(y * soft, axis=axes, keepdim=True) for y in (flow, g))
    return of_flow, g * (flow - along) - flow * across


softmax.grad(x=lambda g, out, axis: softmax_grad(g, out, axis=axis))


@op("log_softmax", infer=_infer_softmax)
def log_softmax(xp, x, *, axis=-1):
    """log(softmax(x)), without underflow."""
    refuse_integers(x)
    if x.ndim == 0:
        normal_axis("log_softmax", axis, 0)
        return xp.zeros_like(x)
    shifted = x - xp.max(x, axis=axis, keepdims=True)
    return shifted - xp.log(summed(xp, xp.exp(shifted), (axis % x.ndim,), True))


def _log_softmax_grad(g: Any, out: Any, axis: int) -> Any:
    return g - exponential.exp(out) * reduce.sum(g, axis=[axis] if out.ndim else [], keepdim=True)


log_softmax.grad(x=_log_softmax_grad)


def _infer_gumbel(x: Spec, **_: Any) -> tuple[Spec, Spec]:
    require_floating("gumbel_softmax", x=x)
    return x, x


@op("gumbel_softmax", infer=_infer_gumbel, outputs=("out", "soft"))
def gumbel_softmax(xp, x, *, temperature=1.0, hard=False, axis=-1, key):
    """softmax((x + Gumbel noise) / temperature); with ``hard`` a one at its largest element, else zeros.

    The gradient of both is that of the soft form: Jang et al., Categorical reparameterization with
    Gumbel-softmax (2017).
    """
    refuse_integers(x)
    with draws_of(key) as draws:
        uniform = draws.uniform(x.shape, np.float64 if x.dtype == np.float64 else np.float32)
    lowest = uniform.dtype.type(0.00001)
    uniform = uniform * (1 - lowest) + lowest
    own = array_module(uniform)
    noise = xp.asarray(-own.log(-own.log(uniform)), dtype=x.dtype)
    soft = softmax.opdef.kernel(xp, (x + noise) / x.dtype.type(np.float32(temperature)), axis=axis)
    if not hard:
        return soft, soft.copy()
    best = xp.argmax(soft, axis=axis)
    chosen = xp.arange(soft.shape[axis]).reshape([-1 if n == axis % x.ndim else 1 for n in range(x.ndim)])
    return (chosen == xp.expand_dims(best, axis)).astype(x.dtype), soft


@gumbel_softmax.grad_all("x")
def _gumbel_grad(g_out: Any, g_soft: Any, soft: Any, temperature: float, axis: int) -> Any:
    # The public function does not return ``soft``: only second derivatives have a gradient of it.
    g = g_out if g_soft is None else g_soft if g_out is None else g_out + g_soft
    gy = g * soft
    through = gy - soft * reduce.sum(gy, axis=[axis], keepdim=True)
    return arithmetic.scale(through, scale=1.0 / temperature)
