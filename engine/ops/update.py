"""Updates of parameters and buffers: each writes the new values into the arrays it was given.

Passes neither drop nor reorder them, and the kernels work in place with one array of scratch, whatever the
size.
"""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import DTypeError, ShapeError
from engine.core.opdef import op
from engine.core.spec import Spec


def _check(where: str, param: Spec, **others: Spec) -> None:
    """Gradient and state have the parameter's shape and dtype."""
    for name, spec in others.items():
        if spec.ndim != param.ndim or any(
            a != b and -1 not in (a, b) for a, b in zip(spec.shape, param.shape, strict=True)
        ):
            raise ShapeError(f"{where}: {name} is {spec}: the target is {param}; they must have one shape")
        if spec.dtype is not param.dtype:
            raise DTypeError(f"{where}: {name} is {spec}: the target is {param}; they must have one dtype")


def _infer_sgd(param: Spec, learning_rate: Spec, grad: Spec) -> Spec:
    _check("sgd", param, grad=grad)
    return param


@op("sgd", infer=_infer_sgd, outputs=("param_out",), writes={"param_out": "param"})
def sgd(xp, param, learning_rate, grad):
    """param - learning_rate * grad."""
    param -= xp.multiply(grad, float(learning_rate.item()), dtype=param.dtype)
    return param


def _infer_momentum(
    param: Spec, grad: Spec, velocity: Spec, learning_rate: Spec, **_: Any
) -> tuple[Spec, Spec]:
    _check("momentum", param, grad=grad, velocity=velocity)
    return param, velocity


@op("momentum", infer=_infer_momentum, outputs=("param_out", "velocity_out"),
    writes={"param_out": "param", "velocity_out": "velocity"})  # fmt: skip
def momentum(xp, param, grad, velocity, learning_rate, *, mu=0.9, use_nesterov=False,
             regularization_method="", regularization_coeff=0.0, rescale_grad=1.0):  # fmt: skip
    """velocity = mu * velocity + grad; param -= rate * velocity (nesterov: rate * (grad + mu * velocity)).

    The gradient is first multiplied by ``rescale_grad`` and, with ``l2_decay``, increased by coeff * param.
    """
    rate = float(learning_rate.item())
    scratch = (
        xp.multiply(grad, float(rescale_grad), out=xp.empty_like(param)) if rescale_grad != 1.0 else grad
    )
    if regularization_method == "l2_decay":
        scratch = xp.add(scratch, param * regularization_coeff, out=xp.empty_like(param))
    velocity *= mu
    velocity += scratch
    if use_nesterov:
        step = xp.multiply(velocity, mu, out=xp.empty_like(param))
        step += scratch
        step *= rate
    else:
        step = xp.multiply(velocity, rate, out=xp.empty_like(param))
    param -= step
    return param, velocity


_STATE = ("moment1", "moment2", "beta1_pow", "beta2_pow")
_OUTPUTS = ("param_out", *(f"{name}_out" for name in _STATE))
_WRITES = dict(zip(_OUTPUTS, ("param", *_STATE), strict=True))


def _infer_adam(
    param: Spec,
    grad: Spec,
    learning_rate: Spec,
    moment1: Spec,
    moment2: Spec,
    beta1_pow: Spec,
    beta2_pow: Spec,
    **_: Any,
) -> tuple[Spec, ...]:
    _check("adam", param, grad=grad, moment1=moment1, moment2=moment2)
    return param, moment1, moment2, beta1_pow, beta2_pow


def _adam_step(
    xp: Any, param: Any, grad: Any, rate: float, moment1: Any, moment2: Any, beta1_pow: Any, beta2_pow: Any,
    beta1: float, beta2: float, epsilon: float,
) -> None:  # fmt: skip
    """Kingma and Ba, Adam (2015), the second form of section 2; each mean moves by its share of the way."""
    correction = math.sqrt(1.0 - float(beta2_pow.item()))
    rate *= correction / (1.0 - float(beta1_pow.item()))
    scratch = xp.empty_like(param)
    xp.subtract(grad, moment1, out=scratch)
    scratch *= 1.0 - beta1
    moment1 += scratch
    xp.multiply(grad, grad, out=scratch)
    scratch -= moment2
    scratch *= 1.0 - beta2
    moment2 += scratch
    xp.sqrt(moment2, out=scratch)
    scratch += epsilon * correction
    xp.divide(moment1, scratch, out=scratch)
    scratch *= rate
    param -= scratch
    beta1_pow *= beta1
    beta2_pow *= beta2


@op("adam", infer=_infer_adam, outputs=_OUTPUTS, writes=_WRITES)
def adam(xp, param, grad, learning_rate, moment1, moment2, beta1_pow, beta2_pow, *, beta1=0.9, beta2=0.999,
         epsilon=1e-8):  # fmt: skip
    """One step of Adam; the powers of the betas are those of this step, and are multiplied for the next."""
    rate = float(learning_rate.item())
    _adam_step(xp, param, grad, rate, moment1, moment2, beta1_pow, beta2_pow, beta1, beta2, epsilon)
    return param, moment1, moment2, beta1_pow, beta2_pow


@op("adamw", infer=_infer_adam, outputs=_OUTPUTS, writes=_WRITES)
def adamw(xp, param, grad, learning_rate, moment1, moment2, beta1_pow, beta2_pow, *, beta1=0.9, beta2=0.999,
          epsilon=1e-8, lr_ratio=1.0, coeff=0.01, with_decay=True):  # fmt: skip
    """Adam with decoupled weight decay: first param *= 1 - rate * coeff, then one step of Adam.

    Loshchilov and Hutter, Decoupled weight decay regularization (2019). The rate is learning_rate * lr_ratio.
    """
    rate = float(learning_rate.item()) * lr_ratio
    if with_decay:
        param *= 1.0 - rate * coeff
    _adam_step(xp, param, grad, rate, moment1, moment2, beta1_pow, beta2_pow, beta1, beta2, epsilon)
    return param, moment1, moment2, beta1_pow, beta2_pow


def _infer_assign_into(target: Spec, value: Spec) -> Spec:
    _check("assign to a buffer", target, value=value)
    return target


@op("assign_into", infer=_infer_assign_into, outputs=("out",), writes={"out": "target"})
def assign_into(xp, target, value):
    """value, written into target."""
    if value.shape != target.shape or value.dtype != target.dtype:
        raise ValueError("they do not fit")  # the mode asks inference to say what is wrong
    target[...] = value
    return target
