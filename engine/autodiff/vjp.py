"""Gradients of one operator, from its rules. Serves tape and Program alike: rules speak ops, never arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from engine.core.attached import Attached
from engine.core.errors import GradientError
from engine.core.operators import traits
from engine.core.operators.opdef import OpDef
from engine.ops.arrays import shape
from engine.ops.elementwise.arithmetic import conjugate
from engine.ops.reductions import reduce


class Application(Protocol):
    """One application of an operator as its gradient rules see it: how to get the values that a rule uses.

    Inputs and outputs go by their position in the definition.
    """

    @property
    def opdef(self) -> OpDef: ...

    @property
    def attrs(self) -> dict[str, Any]: ...

    def input(self, n: int) -> Any:
        """The value of an input."""

    def input_spec(self, n: int) -> Any:
        """An object with the shape of an input, where no rule needs the value."""

    def output(self, n: int) -> Any:
        """The value of an output."""

    def zero_gradient(self, n: int) -> Any:
        """The gradient of an output that nothing flowed back to, where a rule needs one."""

    def unbroadcast(self, n: int, gradient: Attached) -> Any:
        """``gradient``, which has the broadcast shape, summed back to the shape of input ``n``."""


def input_gradients(application: Application, grads: Sequence[Any], wanted: frozenset[str]) -> list[Any]:
    """Apply the rules: the gradient of every input, None where it is not ``wanted`` (by name) or zero.

    ``grads`` holds the gradient of every output, None where nothing flowed back; an output that is a list
    has a list of them. So has an input that is a list.
    """
    opdef = application.opdef
    apply = opdef.apply_rules
    if apply is None:
        opdef.require_differentiable()
        apply = opdef.apply_rules = _written(opdef)
    if opdef not in traits.complex_gradient and (complex_one := _complex(grads)) is not None:
        return _of_complex(application, apply, grads, wanted, complex_one)
    found: list[Any] = apply(application, grads, wanted)
    return found


def _complex(grads: Sequence[Any]) -> Any:
    """A complex gradient among ``grads``; None where all are real."""
    for gradient in grads:
        if gradient.__class__ is list:
            if (found := _complex(gradient)) is not None:
                return found
        elif gradient is not None and gradient.dtype.is_complex:
            return gradient
    return None


def _of_complex(
    application: Application,
    apply: Callable[..., list[Any]],
    grads: Sequence[Any],
    wanted: frozenset[str],
    complex_one: Any,
) -> list[Any]:
    """The gradients of an operator that multiplies by a complex derivative: with its conjugate."""
    opdef = application.opdef
    if opdef not in traits.holomorphic:
        raise GradientError(
            f"{opdef.name}: no gradient is defined for complex values, got {complex_one.dtype.name}; "
            "compute with real() and imag(), or detach() the input if no gradient is wanted"
        )
    found = apply(application, [None if g is None else conjugate(g) for g in grads], wanted)
    return [None if g is None else conjugate(g) for g in found]


def _written(opdef: OpDef) -> Callable[..., list[Any]]:
    """All rules of an operator as one function: the values that each uses are looked up once, not at every
    call."""
    namespace: dict[str, Any] = {"wrong": _wrong_count}
    lines = ["def apply_rules(application, grads, wanted):", f" result = [None] * {len(opdef.inputs)}"]
    for number, rule in enumerate(opdef.rules):
        namespace[f"rule_{number}"] = rule.function
        tests = " or ".join(f"{target!r} in wanted" for target in rule.targets)
        arguments = [_expression(opdef, name) for name in rule.asks]
        arguments += [f"{name}=application.attrs[{name!r}]" for name in rule.rest]
        lines += [f" if {tests}:", f"  value = rule_{number}({', '.join(arguments)})"]
        single = len(rule.targets) == 1
        if not single:
            lines.append(
                f"  if len(value) != {len(rule.targets)}: wrong({opdef.name!r}, value, {rule.targets!r})"
            )
        for position, target in enumerate(rule.targets):
            n = opdef.index_of[target]
            one = "value" if single else f"value[{position}]"
            made = f"application.unbroadcast({n}, {one})" if opdef in traits.broadcasts else one
            also = "" if single else f" and {target!r} in wanted"
            lines.append(f"  if {one} is not None{also}: result[{n}] = {made}")
    lines.append(" return result")
    exec(compile("\n".join(lines) + "\n", f"<apply {opdef.name}_grad>", "exec"), namespace)
    made_function: Callable[..., list[Any]] = namespace["apply_rules"]
    return made_function


def _expression(opdef: OpDef, symbol: str) -> str:
    """The expression of the value that a rule's parameter names."""
    if symbol == "g":
        return "(application.zero_gradient(0) if grads[0] is None else grads[0])"
    if symbol == "wanted":
        return "wanted"
    if symbol in opdef.output_names:
        return f"application.output({opdef.output_names.index(symbol)})"
    if symbol == "out":
        return "application.output(0)"
    name = opdef.input_for(symbol)
    if name is not None:
        return f"application.input({opdef.index_of[name]})"
    if symbol in opdef.attributes:
        return f"application.attrs[{symbol!r}]"
    if symbol.startswith("g_"):
        return f"grads[{opdef.output_names.index(symbol[2:])}]"
    return f"application.input_spec({opdef.index_of[symbol.removesuffix('_spec')]})"


def _wrong_count(name: str, value: Sequence[Any], targets: tuple[str, ...]) -> None:
    raise GradientError(f"{name}: its gradient rule gave {len(value)} values for {targets}")


def undo_broadcast(gradient: Attached, target: tuple[int, ...]) -> Any:
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
    elif axes:  # unknown dimensions, which a reshape could not distinguish, or 0, which means to keep one
        if len(axes) != extra:
            gradient = reduce.sum(gradient, axis=axes[extra:], keepdim=True, reduce_all=False)
        if extra:
            gradient = reduce.sum(gradient, axis=axes[:extra], keepdim=False, reduce_all=False)
    return gradient
