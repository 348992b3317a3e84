"""Updates of optimizers as rules, with the operations of ``ops/training/parameter_updates.py`` in order.

A rule gives the new values of a parameter and its state, element by element. Numbers that all elements share
(the rate, corrections of the betas' powers) are computed once, in double precision: from Python's numbers on
the CPU, from arrays of the device on a GPU, so they are written with Python's operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from engine.kernels.steps.writer import Value, Writer

# The new state from the gradient, the state and the numbers.
Rule = Callable[[Writer, Value, Sequence[Value], Sequence[Value]], list[Value]]
# The numbers from the rate, the powers of the betas and the square root of such numbers.
Numbers = Callable[[Any, Sequence[Any], Callable[[Any], Any]], tuple[Any, ...]]


class Update(NamedTuple):
    """How one optimizer updates: ``key`` names all that the code of ``rule`` depends on.

    ``arrays`` are the slots of the state in the rule's order, the parameter first; ``powers`` the slots that
    hold powers, with the factor by which each is multiplied after the step.
    """

    key: str
    rule: Rule
    arrays: tuple[str, ...]
    numbers: Numbers
    powers: Mapping[str, float]


def _adam(decays: bool) -> Rule:
    def rule(w: Writer, g: Value, state: Sequence[Value], numbers: Sequence[Value]) -> list[Value]:
        p, first, second = state
        keep1, keep2, epsilon, rate, decay = numbers
        if decays:
            p = w.mul(p, decay)
        first = w.add(first, w.mul(w.sub(g, first), keep1))
        second = w.add(second, w.mul(w.sub(w.mul(g, g), second), keep2))
        root = w.add(w.root(second), epsilon)
        return [w.sub(p, w.mul(w.div(first, root), rate)), first, second]

    return rule


def _momentum(nesterov: bool, rescales: bool, decays: bool) -> Rule:
    def rule(w: Writer, g: Value, state: Sequence[Value], numbers: Sequence[Value]) -> list[Value]:
        p, velocity = state
        mu, rate, scale, coefficient = numbers
        if rescales:
            g = w.mul(g, scale)
        if decays:
            g = w.add(g, w.mul(p, coefficient))
        velocity = w.add(w.mul(velocity, mu), g)
        step = w.add(w.mul(velocity, mu), g) if nesterov else velocity
        return [w.sub(p, w.mul(step, rate)), velocity]

    return rule


def _sgd(w: Writer, g: Value, state: Sequence[Value], numbers: Sequence[Value]) -> list[Value]:
    return [w.sub(state[0], w.mul(g, numbers[0]))]


def _adagrad(w: Writer, g: Value, state: Sequence[Value], numbers: Sequence[Value]) -> list[Value]:
    p, moment = state
    epsilon, rate = numbers
    moment = w.add(moment, w.mul(g, g))
    step = w.div(g, w.add(w.root(moment), epsilon))
    return [w.sub(p, w.mul(step, rate)), moment]


def _rmsprop(w: Writer, g: Value, state: Sequence[Value], numbers: Sequence[Value]) -> list[Value]:
    p, moment, square, *means = state
    epsilon, take, mu, rate = numbers
    square = w.add(square, w.mul(w.sub(w.mul(g, g), square), take))
    spread = square
    if means:  # centered
        means = [w.add(mean, w.mul(w.sub(g, mean), take)) for mean in means]
        spread = w.sub(square, w.mul(means[0], means[0]))
    step = w.mul(w.div(g, w.root(w.add(spread, epsilon))), rate)
    moment = w.add(w.mul(moment, mu), step)
    return [w.sub(p, moment), moment, square, *means]


def _adadelta(w: Writer, g: Value, state: Sequence[Value], numbers: Sequence[Value]) -> list[Value]:
    p, squares, steps = state
    epsilon, take, rate = numbers
    squares = w.add(squares, w.mul(w.sub(w.mul(g, g), squares), take))
    step = w.mul(w.root(w.div(w.add(steps, epsilon), w.add(squares, epsilon))), g)
    steps = w.add(steps, w.mul(w.sub(w.mul(step, step), steps), take))
    return [w.sub(p, w.mul(step, rate)), squares, steps]


def _adamax(w: Writer, g: Value, state: Sequence[Value], numbers: Sequence[Value]) -> list[Value]:
    p, moment, largest = state
    epsilon, keep, beta, rate = numbers
    moment = w.add(moment, w.mul(w.sub(g, moment), keep))
    largest = w.maximum(w.absolute(g), w.add(w.mul(largest, beta), epsilon))
    return [w.sub(p, w.mul(w.div(moment, largest), rate)), moment, largest]


def _of_adam(attrs: Mapping[str, Any], decays: bool, rounded: Callable[[float], float]) -> Update:
    # Rounded to the dtype of their powers, as the operator does.
    beta1, beta2 = rounded(attrs["beta1"]), rounded(attrs["beta2"])
    ratio, coefficient = attrs.get("lr_ratio", 1.0), attrs.get("coeff", 0.0)

    def numbers(rate: Any, powers: Sequence[Any], root: Callable[[Any], Any]) -> tuple[Any, ...]:
        rate = rate * ratio
        decay = 1.0 - rate * coefficient
        correction = root(1.0 - powers[1])
        rate = rate * (correction / (1.0 - powers[0]))
        return 1.0 - beta1, 1.0 - beta2, attrs["epsilon"] * correction, rate, decay

    arrays = ("param", "moment1", "moment2")
    return Update(f"adam {decays}", _adam(decays), arrays, numbers, {"beta1_pow": beta1, "beta2_pow": beta2})


def _of_momentum(attrs: Mapping[str, Any]) -> Update:
    nesterov, scale = bool(attrs.get("use_nesterov")), float(attrs.get("rescale_grad", 1.0))
    decays = attrs.get("regularization_method") == "l2_decay"
    coefficient = float(attrs.get("regularization_coeff", 0.0))
    key = f"momentum {nesterov} {scale != 1.0} {decays}"
    rule = _momentum(nesterov, scale != 1.0, decays)
    return Update(
        key, rule, ("param", "velocity"), lambda rate, *_: (attrs["mu"], rate, scale, coefficient), {}
    )


def _of_rmsprop(attrs: Mapping[str, Any]) -> Update:
    arrays = ("param", "moment", "mean_square", *(["mean_grad"] if attrs["centered"] else []))
    fixed = attrs["epsilon"], 1.0 - attrs["decay"], attrs["momentum"]
    return Update(f"rmsprop {len(arrays)}", _rmsprop, arrays, lambda rate, *_: (*fixed, rate), {})


def _of_adamax(attrs: Mapping[str, Any]) -> Update:
    fixed = attrs["epsilon"], 1.0 - attrs["beta1"], attrs["beta2"]
    return Update(
        "adamax",
        _adamax,
        ("param", "moment", "inf_norm"),
        lambda rate, powers, _: (*fixed, rate / (1.0 - powers[0])),
        {"beta1_pow": attrs["beta1"]},
    )


# By the operator's name: from all its attributes and a function that rounds to the dtype of the powers.
UPDATES: dict[str, Callable[[Mapping[str, Any], Callable[[float], float]], Update]] = {
    "adam": lambda attrs, rounded: _of_adam(attrs, False, rounded),
    "adamw": lambda attrs, rounded: _of_adam(attrs, bool(attrs.get("with_decay", True)), rounded),
    "momentum": lambda attrs, _: _of_momentum(attrs),
    "sgd": lambda attrs, _: Update("sgd", _sgd, ("param",), lambda rate, *_: (rate,), {}),
    "adagrad": lambda attrs, _: Update(
        "adagrad", _adagrad, ("param", "moment"), lambda rate, *_: (attrs["epsilon"], rate), {}
    ),
    "rmsprop": lambda attrs, _: _of_rmsprop(attrs),
    "adadelta": lambda attrs, _: Update(
        "adadelta",
        _adadelta,
        ("param", "avg_squared_grad", "avg_squared_update"),
        lambda rate, *_: (attrs["epsilon"], 1 - attrs["rho"], rate),
        {},
    ),
    "adamax": lambda attrs, _: _of_adamax(attrs),
}
