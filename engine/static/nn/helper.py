"""Helpers of ``static.nn``: parameters under the function's name, biases, activations."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from engine.core import names
from engine.core.context import Setting
from engine.core.errors import ArgumentError, DTypeError, ModeError
from engine.core.values.spec import Spec
from engine.eager.tensor import Tensor
from engine.nn import functional
from engine.nn.initializer import Initializer
from engine.nn.layer.base.parameters import make_parameter
from engine.nn.param_attr import AttrLike
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic
from engine.program.build.builder import Builder, current_builder
from engine.program.graph.variable import Variable
from engine.static.weight_norm import WeightNormParamAttr, normalized_weight
from engine.tensor.tensor_like import AnyTensor, DTypeLike, ShapeLike

# What holds the parameters of functions that compute at once, where they may: see ``also_at_once`` of fluid.
parameters_at_once: Setting[Callable[[Any], None] | None] = Setting("parameters_at_once", None)


def _is_at_once() -> bool:
    return current_builder() is None and parameters_at_once.get() is not None


def require_static(where: str) -> Builder:
    """The Builder of static mode. Raises ModeError in eager mode."""
    builder = current_builder()
    if builder is None or builder.startup is None:
        raise ModeError(
            f"{where}: makes its parameters in a Program, and none is being built: call enable_static() "
            "first, or use the Layer of paddle.nn"
        )
    return builder


def require_variable(where: str, name: str, value: object) -> None:
    """Raise ModeError outside of static mode, DTypeError for a value that is not a Variable."""
    if _is_at_once() and isinstance(value, Tensor):
        return
    require_static(f"static.nn.{where}")
    if not isinstance(value, Variable):
        raise DTypeError(
            f"{where}: {name} must be a Variable: got {type(value).__name__}; make one with static.data()"
        )


def spec_of(value: AnyTensor) -> Spec:
    """Shape and dtype of a Variable, or of an eager Tensor."""
    return value.spec if isinstance(value, Variable) else Spec(tuple(value.shape), value.dtype)


class Helper:
    """One call of a function: its unique name, which prefixes the names of parameters and results."""

    def __init__(self, key: str, name: str | None = None, where: str | None = None) -> None:
        self._builder = None if _is_at_once() else require_static(where or f"static.nn.{key}")
        unique = names.generate if self._builder is None else self._builder.program.unique_name
        self.name = name or names.of_step(key, lambda: unique(key))

    @property
    def builder(self) -> Builder:
        """What builds the Program."""
        assert self._builder is not None, "parameters that are made at once have no Program"
        return self._builder

    def named(self, order: str = "", form: str = "") -> AbstractContextManager[None]:
        """Name all results within the block after this call (or ``form``), also those of called functions."""
        if self._builder is None:
            return nullcontext()
        return self.builder.calls.forced(form or f"{self.name}.tmp", order)

    def parameter(
        self,
        shape: ShapeLike,
        attr: AttrLike,
        dtype: DTypeLike,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
    ) -> Any:
        """A parameter named after the call, or None where ``attr`` is False."""
        keep = parameters_at_once.get()
        if self._builder is None and keep is not None:
            made = make_parameter(self.name, shape, attr, dtype, is_bias, default_initializer)
            keep(made)
            return made
        if isinstance(attr, WeightNormParamAttr):
            return normalized_weight(self.builder, self.name, shape, attr, dtype, default_initializer)
        return make_parameter(self.name, shape, attr, dtype, is_bias, default_initializer)

    def add_bias(self, value: AnyTensor, bias: AnyTensor, axis: int) -> Any:
        """``value`` and a ``bias`` along dimension ``axis``; one operator in the text, as Paddle has it."""
        if axis == value.ndim - 1:
            with self.named():
                return arithmetic.add(value, bias, axis=axis)
        dims = [1 if n != axis else bias.shape[0] for n in range(axis, value.ndim)]
        if self._builder is None:
            return arithmetic.add(value, shape.reshape(bias, shape=dims), axis=axis)
        operators = self.builder.block.ops
        with self.builder.calls.forced(f"{self.name}.bias.tmp"):
            spread = shape.reshape(bias, shape=dims)
        operators[-1].note("hidden", True)
        with self.named():
            out = arithmetic.add(value, spread, axis=axis)
        operators[-1].note("inputs", {"Y": [bias.name]})
        return out


def activated(where: str, value: AnyTensor, activation: str | None) -> Any:
    """Apply the activation of that name to ``value``. Raises ArgumentError for an unknown name."""
    if activation is None:
        return value
    function = getattr(functional, activation, None) if isinstance(activation, str) else None
    if function is None:
        raise ArgumentError(
            f"{where}: {activation!r} is not an activation in nn.functional; use e.g. 'relu', or None"
        )
    return function(value)
