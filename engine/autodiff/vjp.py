"""Gradients of one operator, from its rules. Serves tape and Program alike: rules speak ops, never arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.errors import GradientError
from engine.core.opdef import OpDef
from engine.ops.arrays import shape
from engine.ops.reductions import reduce


class Applied:
    """One application of an operator as a gradient rule sees it: how to get at what the rule asks for."""

    __slots__ = ("attrs", "input", "input_spec", "opdef", "output", "zero_gradient")

    def __init__(
        self,
        opdef: OpDef,
        attrs: dict[str, Any],
        input: Callable[[int], Any],
        output: Callable[[int], Any],
        input_spec: Callable[[int], Any],
        zero_gradient: Callable[[int], Any],
    ) -> None:
        self.opdef = opdef
        self.attrs = attrs
        self.input = input
        self.output = output
        self.input_spec = input_spec
        self.zero_gradient = zero_gradient


def input_gradients(applied: Applied, grads: Sequence[Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Gradients of the ``wanted`` inputs by name, before broadcasting is undone.

    ``grads`` holds the gradient of every output, None where nothing flowed back. Inputs that no gradient
    reaches are absent from the result. A list input gets a list.
    """
    opdef = applied.opdef
    opdef.require_differentiable()
    if not opdef.complex:
        _refuse_complex(opdef, grads)
    result: dict[str, Any] = {}
    for rule in opdef.rules:
        targets = [t for t in rule.targets if t in wanted]
        if not targets:
            continue
        value = rule.function(*[_answer(applied, asked, grads, wanted) for asked in rule.asks])
        if len(rule.targets) == 1:
            value = (value,)
        elif len(value) != len(rule.targets):
            raise GradientError(
                f"{opdef.name}: its gradient rule gave {len(value)} values for {rule.targets}"
            )
        for target, gradient in zip(rule.targets, value, strict=True):
            if target in wanted and gradient is not None:
                result[target] = gradient
    return result


def _answer(applied: Applied, asked: str, grads: Sequence[Any], wanted: frozenset[str]) -> Any:
    opdef = applied.opdef
    if asked == "g":
        return grads[0] if grads[0] is not None else applied.zero_gradient(0)
    if asked == "wanted":
        return wanted
    if asked in opdef.output_names:
        return applied.output(opdef.output_names.index(asked))
    if asked == "out":
        return applied.output(0)
    name = opdef.input_asked(asked)
    if name is not None:
        return applied.input(opdef.index_of[name])
    if asked in opdef.attributes:
        return applied.attrs[asked]
    if asked.startswith("g_"):
        return grads[opdef.output_names.index(asked[2:])]
    return applied.input_spec(opdef.index_of[asked.removesuffix("_spec")])


def undo_broadcast(gradient: Any, target: tuple[int, ...]) -> Any:
    """Sum ``gradient`` over the axes that broadcasting added or stretched, back to the shape ``target``."""
    have = tuple(gradient.shape)
    if have == target:
        return gradient
    extra = len(have) - len(target)
    axes = list(range(extra))
    axes += [n + extra for n, d in enumerate(target) if d == 1 and have[n + extra] != 1]
    if axes and target.count(-1) < 2 and 0 not in target:
        gradient = reduce.sum(gradient, axis=axes, keepdim=False, reduce_all=len(axes) == len(have))
        if len(axes) != extra:
            gradient = shape.reshape(gradient, shape=list(target))
    elif axes:  # unknown dimensions, which a reshape could not tell apart, or 0, which means to keep one
        if len(axes) != extra:
            gradient = reduce.sum(gradient, axis=axes[extra:], keepdim=True, reduce_all=False)
        if extra:
            gradient = reduce.sum(gradient, axis=axes[:extra], keepdim=False, reduce_all=False)
    return gradient


def _refuse_complex(opdef: OpDef, grads: Sequence[Any]) -> None:
    for gradient in grads:
        if gradient.__class__ is list:
            _refuse_complex(opdef, gradient)
        elif gradient is not None and gradient.dtype.is_complex:
            raise GradientError(
                f"{opdef.name}: no gradient is defined for complex values, got {gradient.dtype.name}; "
                "compute with real() and imag(), or detach() the input if no gradient is wanted"
            )
