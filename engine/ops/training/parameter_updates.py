"""Updates of parameters and buffers: each writes the new values into the given arrays.

Passes neither drop nor reorder them, and the kernels work in place with one array of scratch, whatever the
size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core.errors import DTypeError, ShapeError
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec


def require_fitting(where: str, param: Spec, **others: Spec) -> None:
    """Raise where a gradient or state does not have the parameter's shape and dtype."""
    for name, spec in others.items():
        if spec.ndim != param.ndim or any(
            a != b and -1 not in (a, b) for a, b in zip(spec.shape, param.shape, strict=True)
        ):
            raise ShapeError(f"{where}: {name} is {spec}: the target is {param}; they must have one shape")
        if spec.dtype is not param.dtype:
            raise DTypeError(f"{where}: {name} is {spec}: the target is {param}; they must have one dtype")


def _number(xp: Any, array: Any) -> Any:
    """The one number of ``array``; on a GPU, where the host would wait for it, a float64 array of it."""
    return float(array.item()) if xp is np else array.astype(np.float64).reshape(())


def _as(param: Any, number: Any) -> Any:
    """A number of :func:`_number` for ``param``: Python's are rounded to its dtype, arrays are not."""
    return number if isinstance(number, float) else number.astype(param.dtype)


def _root(xp: Any, number: Any) -> Any:
    return math.sqrt(number) if isinstance(number, float) else xp.sqrt(number)


def _infer_sgd(param: Spec, learning_rate: Spec, grad: Spec) -> Spec:
    require_fitting("sgd", param, grad=grad)
    return param


@op("sgd", infer=_infer_sgd, outputs=("param_out",), writes={"param_out": "param"})
def sgd(xp, param, learning_rate, grad):
    """param - learning_rate * grad."""
    param -= xp.multiply(grad, _as(param, _number(xp, learning_rate)), dtype=param.dtype)
    return param


def _infer_momentum(
    param: Spec, grad: Spec, velocity: Spec, learning_rate: Spec, **_: Any
) -> tuple[Spec, Spec]:
    require_fitting("momentum", param, grad=grad, velocity=velocity)
    return param, velocity


@op("momentum", infer=_infer_momentum, outputs=("param_out", "velocity_out"),
    writes={"param_out": "param", "velocity_out": "velocity"})  # fmt: skip
def momentum(xp, param, grad, velocity, learning_rate, *, mu=0.9, use_nesterov=False,
             regularization_method="", regularization_coeff=0.0, rescale_grad=1.0):  # fmt: skip
    """velocity = mu * velocity + grad; param -= rate * velocity (nesterov: rate * (grad + mu * velocity)).

    The gradient is first multiplied by ``rescale_grad`` and, with ``l2_decay``, increased by coeff * param.
    """
    rate = _as(param, _number(xp, learning_rate))
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
    skip_update: Spec | None = None,
    **_: Any,
) -> tuple[Spec, ...]:
    require_fitting("adam", param, grad=grad, moment1=moment1, moment2=moment2)
    return param, moment1, moment2, beta1_pow, beta2_pow


def _unless_skipped(xp: Any, skip: Any, state: Sequence[Any], step: Callable[[], None]) -> None:
    """Make the step, which changes ``state``, unless loss scaling found a gradient that is not finite."""
    if skip is None:
        step()
    elif xp is np:
        if not bool(skip.any()):
            step()
    else:  # the host does not wait for the answer
        before = [array.copy() for array in state]
        step()
        skips = skip.any()
        for array, old in zip(state, before, strict=True):
            array[...] = xp.where(skips, old, array)


def _adam_step(
    xp: Any, param: Any, grad: Any, rate: Any, moment1: Any, moment2: Any, beta1_pow: Any, beta2_pow: Any,
    beta1: float, beta2: float, epsilon: float,
) -> None:  # fmt: skip
    """Kingma and Ba, Adam (2015), the second form of section 2; each running mean moves by its decay rate.

    The betas are rounded to the dtype of their powers, so that in the first step the corrections cancel
    exactly.
    """
    beta1, beta2 = float(beta1_pow.dtype.type(beta1)), float(beta2_pow.dtype.type(beta2))
    correction = _root(xp, 1.0 - _number(xp, beta2_pow))
    rate = rate * (correction / (1.0 - _number(xp, beta1_pow)))
    scratch = xp.empty_like(param)
    xp.subtract(grad, moment1, out=scratch)
    scratch *= 1.0 - beta1
    moment1 += scratch
    xp.multiply(grad, grad, out=scratch)
    scratch -= moment2
    scratch *= 1.0 - beta2
    moment2 += scratch
    xp.sqrt(moment2, out=scratch)
    scratch += _as(param, epsilon * correction)
    xp.divide(moment1, scratch, out=scratch)
    scratch *= _as(param, rate)
    param -= scratch
    beta1_pow *= beta1
    beta2_pow *= beta2


@op("adam", infer=_infer_adam, outputs=_OUTPUTS, writes=_WRITES)
def adam(xp, param, grad, learning_rate, moment1, moment2, beta1_pow, beta2_pow, skip_update=None, *,
         beta1=0.9, beta2=0.999, epsilon=1e-8):  # fmt: skip
    """One step of Adam; the powers of the betas are those of this step, and are multiplied for the next.

    Where ``skip_update`` [1] is given and true nothing changes.
    """
    state = param, moment1, moment2, beta1_pow, beta2_pow

    def step() -> None:
        rate = _number(xp, learning_rate)
        _adam_step(xp, param, grad, rate, moment1, moment2, beta1_pow, beta2_pow, beta1, beta2, epsilon)

    _unless_skipped(xp, skip_update, state, step)
    return state


@op("adamw", infer=_infer_adam, outputs=_OUTPUTS, writes=_WRITES)
def adamw(xp, param, grad, learning_rate, moment1, moment2, beta1_pow, beta2_pow, skip_update=None, *,
          beta1=0.9, beta2=0.999, epsilon=1e-8, lr_ratio=1.0, coeff=0.01, with_decay=True):  # fmt: skip
    """Adam with decoupled weight decay: first param *= 1 - rate * coeff, then one step of Adam.

    Loshchilov and Hutter, Decoupled weight decay regularization (2019). The rate is learning_rate * lr_ratio.
    """
    state = param, moment1, moment2, beta1_pow, beta2_pow

    def step() -> None:
        rate = _number(xp, learning_rate) * lr_ratio
        if with_decay:
            xp.multiply(param, _as(param, 1.0 - rate * coeff), out=param)
        _adam_step(xp, param, grad, rate, moment1, moment2, beta1_pow, beta2_pow, beta1, beta2, epsilon)

    _unless_skipped(xp, skip_update, state, step)
    return state


def _infer_adagrad(param: Spec, grad: Spec, moment: Spec, learning_rate: Spec, **_: Any) -> tuple[Spec, Spec]:
    require_fitting("adagrad", param, grad=grad, moment=moment)
    return param, moment


@op("adagrad", infer=_infer_adagrad, outputs=("param_out", "moment_out"),
    writes={"param_out": "param", "moment_out": "moment"})  # fmt: skip
def adagrad(xp, param, grad, moment, learning_rate, *, epsilon=1e-6):
    """moment += grad^2; param -= rate * grad / (sqrt(moment) + epsilon).

    Duchi et al., Adaptive subgradient methods (2011).
    """
    step = xp.multiply(grad, grad, out=xp.empty_like(param))
    moment += step
    xp.sqrt(moment, out=step)
    step += epsilon
    xp.divide(grad, step, out=step)
    step *= _as(param, _number(xp, learning_rate))
    param -= step
    return param, moment


def _infer_rmsprop(
    param: Spec, mean_square: Spec, grad: Spec, moment: Spec, learning_rate: Spec, mean_grad: Spec, **_: Any
) -> tuple[Spec, ...]:
    require_fitting("rmsprop", param, grad=grad, mean_square=mean_square, moment=moment, mean_grad=mean_grad)
    return param, moment, mean_square, mean_grad


_RMSPROP = {"param_out": "param", "moment_out": "moment", "mean_square_out": "mean_square",
            "mean_grad_out": "mean_grad"}  # fmt: skip


@op("rmsprop", infer=_infer_rmsprop, outputs=tuple(_RMSPROP), writes=_RMSPROP)
def rmsprop(xp, param, mean_square, grad, moment, learning_rate, mean_grad, *, epsilon=1e-6, decay=0.95,
            momentum=0.0, centered=False):  # fmt: skip
    """moment = momentum * moment + rate * grad / sqrt(mean(grad^2) + epsilon); param -= moment.

    ``centered`` takes the variance of the gradient for the mean of its square. Hinton, lecture 6e (2012).
    """
    step = xp.multiply(grad, grad, out=xp.empty_like(param))
    step -= mean_square
    step *= 1.0 - decay
    mean_square += step
    if centered:
        xp.subtract(grad, mean_grad, out=step)
        step *= 1.0 - decay
        mean_grad += step
        xp.multiply(mean_grad, mean_grad, out=step)
        xp.subtract(mean_square, step, out=step)
        step += epsilon
    else:
        xp.add(mean_square, param.dtype.type(epsilon), out=step)
    xp.sqrt(step, out=step)
    xp.divide(grad, step, out=step)
    step *= _as(param, _number(xp, learning_rate))
    moment *= momentum
    moment += step
    param -= moment
    return param, moment, mean_square, mean_grad


def _infer_adadelta(
    param: Spec, grad: Spec, avg_squared_grad: Spec, avg_squared_update: Spec, learning_rate: Spec, **_: Any
) -> tuple[Spec, ...]:
    require_fitting("adadelta", param, grad=grad, avg_squared_grad=avg_squared_grad,
           avg_squared_update=avg_squared_update)  # fmt: skip
    return param, avg_squared_grad, avg_squared_update


_ADADELTA = {"param_out": "param", "avg_squared_grad_out": "avg_squared_grad",
             "avg_squared_update_out": "avg_squared_update"}  # fmt: skip


@op("adadelta", infer=_infer_adadelta, outputs=tuple(_ADADELTA), writes=_ADADELTA)
def adadelta(xp, param, grad, avg_squared_grad, avg_squared_update, learning_rate, *, rho=0.95, epsilon=1e-6):
    """param -= rate * grad * sqrt((mean(update^2) + epsilon) / (mean(grad^2) + epsilon)).

    Zeiler, ADADELTA: an adaptive learning rate method (2012), with a rate as in Paddle.
    """
    step = xp.multiply(grad, grad, out=xp.empty_like(param))
    step -= avg_squared_grad
    step *= 1.0 - rho
    avg_squared_grad += step
    xp.add(avg_squared_update, param.dtype.type(epsilon), out=step)
    step /= avg_squared_grad + param.dtype.type(epsilon)
    xp.sqrt(step, out=step)
    step *= grad
    square = xp.multiply(step, step)
    square -= avg_squared_update
    square *= 1.0 - rho
    avg_squared_update += square
    step *= _as(param, _number(xp, learning_rate))
    param -= step
    return param, avg_squared_grad, avg_squared_update


def _infer_adamax(
    param: Spec, grad: Spec, learning_rate: Spec, moment: Spec, inf_norm: Spec, beta1_pow: Spec, **_: Any
) -> tuple[Spec, ...]:
    require_fitting("adamax", param, grad=grad, moment=moment, inf_norm=inf_norm)
    return param, moment, inf_norm, beta1_pow


_ADAMAX = {"param_out": "param", "moment_out": "moment", "inf_norm_out": "inf_norm",
           "beta1_pow_out": "beta1_pow"}  # fmt: skip


@op("adamax", infer=_infer_adamax, outputs=tuple(_ADAMAX), writes=_ADAMAX)
def adamax(xp, param, grad, learning_rate, moment, inf_norm, beta1_pow, *, beta1=0.9, beta2=0.999,
           epsilon=1e-8):  # fmt: skip
    """param -= rate / (1 - beta1_pow) * moment / max(|grad|, beta2 * inf_norm + epsilon).

    Kingma and Ba, Adam (2015), section 7.1.
    """
    step = xp.subtract(grad, moment, out=xp.empty_like(param))
    step *= 1.0 - beta1
    moment += step
    inf_norm *= beta2
    inf_norm += epsilon
    xp.absolute(grad, out=step)
    xp.maximum(step, inf_norm, out=inf_norm)
    xp.divide(moment, inf_norm, out=step)
    step *= _as(param, _number(xp, learning_rate) / (1.0 - _number(xp, beta1_pow)))
    param -= step
    beta1_pow *= beta1
    return param, moment, inf_norm, beta1_pow


@op("lamb", infer=_infer_adam, outputs=_OUTPUTS, writes=_WRITES)
def lamb(xp, param, grad, learning_rate, moment1, moment2, beta1_pow, beta2_pow, skip_update=None, *,
         beta1=0.9, beta2=0.999, epsilon=1e-6, weight_decay=0.01, always_adapt=False):  # fmt: skip
    """Adam's step plus weight_decay * param, scaled to the parameter's norm (not without weight decay).

    You et al., Large batch optimization for deep learning (2020).
    """
    state = param, moment1, moment2, beta1_pow, beta2_pow

    def update() -> None:
        step = xp.subtract(grad, moment1, out=xp.empty_like(param))
        step *= 1.0 - beta1
        xp.add(moment1, step, out=moment1)
        xp.multiply(grad, grad, out=step)
        step -= moment2
        step *= 1.0 - beta2
        xp.add(moment2, step, out=moment2)
        xp.divide(moment2, _as(param, 1.0 - _number(xp, beta2_pow)), out=step)
        xp.sqrt(step, out=step)
        step += epsilon
        xp.divide(moment1, step, out=step)
        step /= _as(param, 1.0 - _number(xp, beta1_pow))
        step += weight_decay * param
        rate = _number(xp, learning_rate)
        if weight_decay > 0 or always_adapt:
            own, other = [_root(xp, _number(xp, xp.vdot(a, a))) for a in (param, step)]
            rate = rate * _adapted(xp, own, other, own, other)
        step *= _as(param, rate)
        xp.subtract(param, step, out=param)
        xp.multiply(beta1_pow, beta1, out=beta1_pow)
        xp.multiply(beta2_pow, beta2, out=beta2_pow)

    _unless_skipped(xp, skip_update, state, update)
    return state


def _adapted(xp: Any, size: Any, slope: Any, over: Any, under: Any) -> Any:
    """over / under where both norms are positive, else 1."""
    if isinstance(size, float):
        return over / under if min(size, slope) > 0 else 1.0
    return xp.where((size > 0) & (slope > 0), over / under, 1.0)


def _infer_assign_into(target: Spec, value: Spec) -> Spec:
    require_fitting("assign to a buffer", target, value=value)
    return target


@op("assign_into", infer=_infer_assign_into, outputs=("out",), writes={"out": "target"})
def assign_into(xp, target, value):
    """Write value into target."""
    if value.shape != target.shape or value.dtype != target.dtype:
        raise ValueError("they do not fit")  # inference explains the error
    target[...] = value
    return target


def _infer_decayed_moment(
    param: Spec, grad: Spec, moment: Spec, learning_rate: Spec, **_: Any
) -> tuple[Spec, Spec]:
    require_floating("decayed_adagrad", param=param)
    require_fitting("decayed_adagrad", param, grad=grad, moment=moment)
    return param, moment


@op("decayed_adagrad", infer=_infer_decayed_moment, outputs=("param_out", "moment_out"),
    writes={"param_out": "param", "moment_out": "moment"})  # fmt: skip
def decayed_adagrad(xp, param, grad, moment, learning_rate, *, decay=0.95, epsilon=1e-6):
    """moment = decay * moment + (1 - decay) * grad^2; param -= rate * grad / (sqrt(moment) + epsilon)."""
    moment *= decay
    moment += (1.0 - decay) * grad * grad
    param -= _as(param, _number(xp, learning_rate)) * grad / (xp.sqrt(moment) + epsilon)
    return param, moment


def _infer_ftrl(
    param: Spec, squared: Spec, linear: Spec, grad: Spec, learning_rate: Spec, **_: Any
) -> tuple[Spec, Spec, Spec]:
    require_floating("ftrl", param=param)
    require_fitting("ftrl", param, grad=grad, squared=squared, linear=linear)
    return param, squared, linear


_FTRL = {"param_out": "param", "squared_accum_out": "squared", "linear_accum_out": "linear"}
_LEAST = 1e-10  # the number that Paddle adds to both penalties


@op("ftrl", infer=_infer_ftrl, outputs=tuple(_FTRL), writes=_FTRL)
def ftrl(xp, param, squared, linear, grad, learning_rate, *, l1=0.0, l2=0.0, lr_power=-0.5):
    """McMahan et al., Ad click prediction: a view from the trenches (2013); ``lr_power`` is their -0.5."""
    rate, kind = _as(param, _number(xp, learning_rate)), param.dtype.type
    l1, l2 = l1 + _LEAST, l2 + _LEAST
    total = squared + grad * grad
    power = xp.power(total, kind(-lr_power))
    linear += grad - (power - xp.power(squared, kind(-lr_power))) / rate * param
    pull = xp.sign(linear) * kind(l1) - linear
    steepness = power / rate + kind(2.0 * l2)
    param[...] = xp.where(xp.abs(linear) > l1, pull / steepness, kind(0))
    squared[...] = total
    return param, squared, linear


def _infer_lars(param: Spec, grad: Spec, velocity: Spec, learning_rate: Spec, **_: Any) -> tuple[Spec, Spec]:
    require_floating("lars_momentum", param=param)
    require_fitting("lars_momentum", param, grad=grad, velocity=velocity)
    return param, velocity


@op("lars_momentum", infer=_infer_lars, outputs=("param_out", "velocity_out"),
    writes={"param_out": "param", "velocity_out": "velocity"})  # fmt: skip
def lars_momentum(xp, param, grad, velocity, learning_rate, *, mu=0.9, lars_coeff=0.001,
                  lars_weight_decay=0.0005, epsilon=0.0):  # fmt: skip
    """Momentum whose rate is that of the parameter's norm over the gradient's.

    You et al., Large batch training of convolutional networks (2017).
    """
    rate, kind = _number(xp, learning_rate), param.dtype.type
    size, slope = (_number(xp, xp.sqrt((value * value).sum())) for value in (param, grad))
    if lars_weight_decay > 0:
        under = slope + lars_weight_decay * size + epsilon
        rate = rate * _adapted(xp, size, slope, lars_coeff * size, under)
    velocity *= kind(mu)
    velocity += _as(param, rate) * (grad + kind(lars_weight_decay) * param)
    param -= velocity
    return param, velocity
