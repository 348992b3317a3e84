"""Updates of parameters by rules that only the optimizers before 2.0 have."""

from __future__ import annotations

from typing import Any

from engine.core.infer import require_floating
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.training.parameter_updates import require_fitting


def _infer_moment(param: Spec, grad: Spec, moment: Spec, learning_rate: Spec, **_: Any) -> tuple[Spec, Spec]:
    require_floating("decayed_adagrad", param=param)
    require_fitting("decayed_adagrad", param, grad=grad, moment=moment)
    return param, moment


@op("decayed_adagrad", infer=_infer_moment, outputs=("param_out", "moment_out"),
    writes={"param_out": "param", "moment_out": "moment"})  # fmt: skip
def decayed_adagrad(xp, param, grad, moment, learning_rate, *, decay=0.95, epsilon=1e-6):
    """moment = decay * moment + (1 - decay) * grad^2; param -= rate * grad / (sqrt(moment) + epsilon)."""
    moment *= decay
    moment += (1.0 - decay) * grad * grad
    param -= float(learning_rate.item()) * grad / (xp.sqrt(moment) + epsilon)
    return param, moment


def _infer_ftrl(
    param: Spec, squared: Spec, linear: Spec, grad: Spec, learning_rate: Spec, **_: Any
) -> tuple[Spec, Spec, Spec]:
    require_floating("ftrl", param=param)
    require_fitting("ftrl", param, grad=grad, squared=squared, linear=linear)
    return param, squared, linear


_FTRL = {"param_out": "param", "squared_accum_out": "squared", "linear_accum_out": "linear"}
_LEAST = 1e-10  # what Paddle adds to both penalties


@op("ftrl", infer=_infer_ftrl, outputs=tuple(_FTRL), writes=_FTRL)
def ftrl(xp, param, squared, linear, grad, learning_rate, *, l1=0.0, l2=0.0, lr_power=-0.5):
    """McMahan et al., Ad click prediction: a view from the trenches (2013); ``lr_power`` is their -0.5."""
    rate, kind = float(learning_rate.item()), param.dtype.type
    l1, l2 = l1 + _LEAST, l2 + _LEAST
    total = squared + grad * grad
    power = xp.power(total, kind(-lr_power))
    linear += grad - (power - xp.power(squared, kind(-lr_power))) / kind(rate) * param
    pull = xp.sign(linear) * kind(l1) - linear
    steepness = power / kind(rate) + kind(2.0 * l2)
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
    rate, kind = float(learning_rate.item()), param.dtype.type
    size, slope = (float(xp.sqrt((value * value).sum())) for value in (param, grad))
    if lars_weight_decay > 0 and size > 0 and slope > 0:
        rate *= lars_coeff * size / (slope + lars_weight_decay * size + epsilon)
    velocity *= kind(mu)
    velocity += kind(rate) * (grad + kind(lars_weight_decay) * param)
    param -= velocity
    return param, velocity
