"""Rows of the operators in ``engine/ops/training/parameter_updates.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, pos, row, s, v


def _momentum(
    param: Any, grad: Any, velocity: Any, rate: Any, mu: float = 0.9, use_nesterov: bool = False,
    regularization_method: str = "", regularization_coeff: float = 0.0, rescale_grad: float = 1.0
) -> Any:
    grad = grad * rescale_grad + (regularization_coeff * param if regularization_method == "l2_decay" else 0)
    velocity = mu * velocity + grad
    return param - rate * (grad + mu * velocity if use_nesterov else velocity), velocity


def _adam(
    param: Any, grad: Any, rate: Any, moment1: Any, moment2: Any, beta1_pow: Any, beta2_pow: Any,
        skip: Any, beta1: float = 0.9,
    beta2: float = 0.999, epsilon: float = 1e-8, lr_ratio: float = 1.0, coeff: float = 0.0,
        with_decay: bool = True
) -> Any:
    if skip is not None:
        return param, moment1, moment2, beta1_pow, beta2_pow
    rate = rate * lr_ratio
    param = param * (1 - rate * coeff * with_decay)
    moment1, moment2 = beta1 * moment1 + (1 - beta1) * grad, beta2 * moment2 + (1 - beta2) * grad**2
    step = moment1 / (1 - beta1_pow) / (np.sqrt(moment2 / (1 - beta2_pow)) + epsilon)
    return param - rate * step, moment1, moment2, beta1_pow * beta1, beta2_pow * beta2


def _adamw(*inputs: Any, coeff: float = 0.01, **attrs: Any) -> Any:
    return _adam(*inputs, coeff=coeff, **attrs)


RATE = np.array([0.1])


ADAM = (
    v(2, 3),
    v(2, 3, seed=2),
    RATE,
    v(2, 3, seed=3) * 0.1,
    pos(2, 3, seed=4),
    np.array([0.81]),
    np.array([0.998]),
    None,
)
SKIPPED = (*ADAM[:-1], np.array([True]))


def _adagrad(param: Any, grad: Any, moment: Any, rate: Any, epsilon: float = 1e-6) -> Any:
    moment = moment + grad**2
    return param - rate.item() * grad / (np.sqrt(moment) + epsilon), moment


def _rmsprop(
    param: Any, mean_square: Any, grad: Any, moment: Any, rate: Any, mean_grad: Any,
    epsilon: float = 1e-6, decay: float = 0.95, momentum: float = 0.0, centered: bool = False
) -> Any:
    mean_square = decay * mean_square + (1 - decay) * grad**2
    if centered:
        mean_grad = decay * mean_grad + (1 - decay) * grad
    spread = mean_square - (mean_grad**2 if centered else 0)
    moment = momentum * moment + rate.item() * grad / np.sqrt(spread + epsilon)
    return param - moment, moment, mean_square, mean_grad


def _adadelta(
    param: Any, grad: Any, squares: Any, updates: Any, rate: Any, rho: float = 0.95, epsilon: float = 1e-6
) -> Any:
    squares = rho * squares + (1 - rho) * grad**2
    step = grad * np.sqrt((updates + epsilon) / (squares + epsilon))
    return param - rate.item() * step, squares, rho * updates + (1 - rho) * step**2


def _adamax(
    param: Any, grad: Any, rate: Any, moment: Any, inf_norm: Any, power: Any,
    beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8
) -> Any:
    moment = beta1 * moment + (1 - beta1) * grad
    inf_norm = np.maximum(np.abs(grad), beta2 * inf_norm + epsilon)
    return param - rate.item() / (1 - power.item()) * moment / inf_norm, moment, inf_norm, power * beta1


def _lamb(
    param: Any, grad: Any, rate: Any, m: Any, u: Any, power1: Any, power2: Any, skip: Any,
    beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6, weight_decay: float = 0.01,
    always_adapt: bool = False
) -> Any:
    if skip is not None:
        return param, m, u, power1, power2
    m, u = beta1 * m + (1 - beta1) * grad, beta2 * u + (1 - beta2) * grad**2
    step = m / (1 - power1.item()) / (np.sqrt(u / (1 - power2.item())) + epsilon) + weight_decay * param
    sizes = np.sqrt((param**2).sum()), np.sqrt((step**2).sum())
    adapts = (weight_decay > 0 or always_adapt) and min(sizes) > 0
    rate = rate.item() * (sizes[0] / sizes[1] if adapts else 1)
    return param - rate * step, m, u, power1 * beta1, power2 * beta2


def _state(*shape: int) -> tuple[Any, ...]:
    return v(*shape, seed=2), RATE, v(*shape, seed=3) * 0.1, pos(*shape, seed=4)


def _prop(*shape: int, **attrs: Any) -> Any:
    grad, rate, moment, square = _state(*shape)
    return s(v(*shape), square + 0.1, grad, moment, rate, moment * 0.5, **attrs)


def _adagrad_sample(*shape: int, **attrs: Any) -> Any:
    grad, rate, _, square = _state(*shape)
    return s(v(*shape), grad, square, rate, **attrs)


def _adadelta_sample(*shape: int, **attrs: Any) -> Any:
    grad, rate, moment, square = _state(*shape)
    return s(v(*shape), grad, square, moment**2, rate, **attrs)


def _adamax_sample(*shape: int, **attrs: Any) -> Any:
    grad, rate, moment, square = _state(*shape)
    return s(v(*shape), grad, rate, moment, square, np.array([0.81]), **attrs)


def _lamb_sample(*shape: int, **attrs: Any) -> Any:
    grad, rate, moment, square = _state(*shape)
    return s(v(*shape), grad, rate, moment, square, np.array([0.81]), np.array([0.998]), None, **attrs)


def _decayed(
    param: Any, grad: Any, moment: Any, rate: Any, decay: float = 0.95, epsilon: float = 1e-6
) -> Any:
    moment = decay * moment + (1 - decay) * grad**2
    return param - rate.item() * grad / (np.sqrt(moment) + epsilon), moment


def _ftrl(
    param: Any, squared: Any, linear: Any, grad: Any, rate: Any, l1: float = 0.0, l2: float = 0.0,
    lr_power: float = -0.5
) -> Any:
    total = squared + grad**2
    linear = linear + grad - (total**-lr_power - squared**-lr_power) / rate.item() * param
    pulled = np.sign(linear) * l1 - linear
    found = pulled / (total**-lr_power / rate.item() + 2 * l2)
    return np.where(np.abs(linear) > l1, found, 0.0), total, linear


def _lars(
    param: Any, grad: Any, velocity: Any, rate: Any, mu: float = 0.9, lars_coeff: float = 0.001,
    lars_weight_decay: float = 0.0005, epsilon: float = 0.0
) -> Any:
    size, slope = np.sqrt((param**2).sum()), np.sqrt((grad**2).sum())
    rate = rate.item()
    if lars_weight_decay > 0 and min(size, slope) > 0:
        rate = rate * lars_coeff * size / (slope + lars_weight_decay * size + epsilon)
    velocity = mu * velocity + rate * (grad + lars_weight_decay * param)
    return param - velocity, velocity


def _moment(*shape: int, **attrs: Any) -> Any:
    return s(v(*shape), v(*shape, seed=2), pos(*shape, seed=3), RATE, **attrs)


def _two(*shape: int, **attrs: Any) -> Any:
    return s(v(*shape), pos(*shape, seed=2), v(*shape, seed=3), v(*shape, seed=4), RATE, **attrs)


CASES: list[Case] = [
    # -- updates
    *row("sgd", lambda p, rate, g: p - rate.item() * g, s(v(2, 3), RATE, v(2, 3, seed=2)),
         s(v(), RATE, v(seed=2))),
    *row("momentum", _momentum, s(v(3), v(3, seed=2), v(3, seed=3), RATE),
         s(v(3), v(3, seed=2), v(3, seed=3), RATE, mu=0.5, use_nesterov=True),
         s(v(3), v(3, seed=2), v(3, seed=3), RATE, regularization_method="l2_decay",
         regularization_coeff=0.3, rescale_grad=0.5)),
    *row("adam", _adam, s(*ADAM), s(*ADAM, beta1=0.8, beta2=0.99, epsilon=1e-3), s(*SKIPPED)),
    *row("adamw", _adamw, s(*ADAM), s(*ADAM, coeff=0.2, lr_ratio=0.5), s(*ADAM, with_decay=False),
         s(*SKIPPED)),
    *row("assign_into", lambda target, value: value, s(v(2, 3), v(2, 3, seed=2)), s(v(), v(seed=2))),
    *row("adagrad", _adagrad, _adagrad_sample(2, 3), _adagrad_sample(), _adagrad_sample(0, 2, epsilon=0.1)),
    *row("rmsprop", _rmsprop, _prop(2, 3), _prop(), _prop(3, momentum=0.9, decay=0.5, epsilon=1e-3),
         _prop(4, centered=True, momentum=0.5)),
    *row("adadelta", _adadelta, _adadelta_sample(2, 3), _adadelta_sample(),
         _adadelta_sample(3, rho=0.5, epsilon=1e-2)),
    *row("adamax", _adamax, _adamax_sample(2, 3), _adamax_sample(),
         _adamax_sample(3, beta1=0.5, beta2=0.7, epsilon=0.2)),
    *row("lamb", _lamb, _lamb_sample(2, 3), _lamb_sample(), _lamb_sample(3, weight_decay=0.0),
         _lamb_sample(3, weight_decay=0.0, always_adapt=True, beta1=0.5), s(*SKIPPED)),
    # -- rules that only optimizers before 2.0 have
    *row("decayed_adagrad", _decayed, _moment(2, 3), _moment(), _moment(0, 2),
         _moment(3, decay=0.5, epsilon=0.1)),
    *row("ftrl", _ftrl, _two(2, 3), _two(), _two(0, 2), _two(3, l1=0.2, l2=0.3),
         _two(3, l1=5.0, lr_power=-0.3)),
    *row("lars_momentum", _lars, _moment(2, 3), _moment(), _moment(0, 2),
         _moment(3, mu=0.5, lars_coeff=0.3, lars_weight_decay=0.2, epsilon=0.1),
         _moment(3, lars_weight_decay=0.0))
]
