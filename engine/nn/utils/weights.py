"""Weight normalization: a weight computed before each forward from its direction and its length."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, OutOfRangeError
from engine.core.mode import is_symbolic
from engine.eager.grad_mode import no_grad
from engine.nn.initializer.startup import begin_as
from engine.nn.layer.layers import Layer
from engine.program.build.builder import current_builder
from engine.program.graph.program import Program
from engine.tensor.tensor_like import AnyTensor

_TINY = 1e-12


class WeightNorm:
    """The hook: ``name`` = ``name_g`` * ``name_v`` / norm of ``name_v`` over all dimensions but ``dim``.

    ``dim`` None means over all.
    """

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = dim

    def lengths(self, v: AnyTensor) -> Any:
        """The norms, of shape [size of dim], or [] for one norm."""
        return (self._squares(v) + _TINY).sqrt()

    def _squares(self, v: Any) -> Any:
        axes = [n for n in range(v.ndim) if n != self.dim]
        return (v * v).sum(axis=axes) if axes or not v.ndim else v * v  # no axes would mean all

    def shape_of(self, parameter: AnyTensor, suffix: str) -> list[int]:
        """The shape of the part ``v`` or ``g``."""
        if suffix == "v":
            return list(parameter.shape)
        return [] if self.dim is None else [parameter.shape[self.dim]]

    def weight(self, layer: Layer) -> Any:
        """What the weight is now."""
        return self.combined(getattr(layer, f"{self.name}_g"), getattr(layer, f"{self.name}_v"))

    def combined(self, g: AnyTensor, v: AnyTensor) -> Any:
        """The weight of a length and a direction."""
        lengths = self._squares(v).sqrt()
        factor = g / lengths.clip(min=_TINY)
        if self.dim is not None:
            shape = [1] * v.ndim
            shape[self.dim] = -1
            factor = factor.reshape(shape)
        return v * factor

    def __call__(self, layer: Layer, inputs: tuple[Any, ...]) -> None:
        setattr(layer, self.name, self.weight(layer))


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Train the direction ``name_v`` and the length ``name_g`` of a parameter apart; returns the layer.

    One length for each index of dimension ``dim``, one in all for None. Salimans and Kingma, Weight
    normalization (2016). Raises ArgumentError where there is no such parameter, or it is normalized already.
    """
    parameter = taken(layer, name, "weight_norm", WeightNorm)
    rank = parameter.ndim
    if dim is not None:
        if not -rank <= dim < rank:
            raise OutOfRangeError(
                f"weight_norm: dim {dim} is out of range for {name!r} of shape {parameter.shape}; use "
                f"{-rank} to {rank - 1}, or None"
            )
        dim = None if dim == -1 else dim % rank  # -1 means over all, as in Paddle
    hook = WeightNorm(name, dim)
    del layer._parameters[name]
    if is_symbolic(parameter):
        _split_in_program(layer, name, parameter, hook)
        return layer
    with no_grad():
        lengths = hook.lengths(parameter)
        for suffix, value in (("v", parameter), ("g", lengths)):
            made = layer.create_parameter(value.shape, dtype=value.dtype)
            assert made is not None
            made.set_value(value)
            layer.add_parameter(f"{name}_{suffix}", made)
    setattr(layer, name, hook.weight(layer))
    layer.register_forward_pre_hook(hook)
    return layer


def _split_in_program(layer: Layer, name: str, parameter: Any, hook: WeightNorm) -> None:
    """Direction and length as parameters of the Program, to which its startup Program gives first values."""
    startup = _startup()
    begin = startup.global_block().var(parameter.name)
    for suffix, first in (("v", lambda: begin), ("g", lambda: hook.lengths(begin))):
        made: Any = layer.create_parameter(hook.shape_of(parameter, suffix), dtype=parameter.dtype)
        begin_as(startup, made, first)
        layer.add_parameter(f"{name}_{suffix}", made)
    object.__setattr__(layer, name, hook.weight(layer))
    layer.register_forward_pre_hook(hook)


def _joined_in_program(layer: Layer, name: str, hook: WeightNorm) -> Any:
    """The weight as a parameter of the Program that begins as what its parts begin as."""
    startup = _startup()
    parts: list[Any] = [layer._parameters.pop(f"{name}_{part}") for part in "gv"]
    g, v = [startup.global_block().var(part.name) for part in parts]
    layer.__dict__.pop(name, None)
    made: Any = layer.create_parameter(list(v.shape), dtype=v.dtype)
    begin_as(startup, made, lambda: hook.combined(g, v))
    return made


def _startup() -> Program:
    builder = current_builder()
    assert builder is not None, "symbolic parameters exist only while a Program is built"
    assert builder.startup is not None, "parameters of traced functions are eager"
    return builder.startup


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Make the weight a parameter of its own again; returns the layer.

    Raises ArgumentError where it is not normalized.
    """
    for key, hook in layer._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            if is_symbolic(layer._parameters[f"{name}_g"]):
                made = _joined_in_program(layer, name, hook)
                layer.add_parameter(name, made)
                del layer._forward_pre_hooks[key]
                return layer
            with no_grad():
                value = hook.weight(layer)
                delattr(layer, name)
                for suffix in ("_g", "_v"):
                    del layer._parameters[name + suffix]
                made = layer.create_parameter(value.shape, dtype=value.dtype)
                assert made is not None
                made.set_value(value)
            layer.add_parameter(name, made)
            del layer._forward_pre_hooks[key]
            return layer
    raise ArgumentError(f"remove_weight_norm: {name!r} of {type(layer).__name__} has no weight_norm")


def taken(layer: Layer, name: str, where: str, kind: type[Any]) -> Any:
    """The parameter ``name``. Raises ArgumentError where there is none, or a hook of this kind has it."""
    if any(isinstance(hook, kind) and hook.name == name for hook in layer._forward_pre_hooks.values()):
        raise ArgumentError(f"{where}: {name!r} of {type(layer).__name__} has it already; remove it first")
    parameter = layer._parameters.get(name)
    if parameter is None:
        raise ArgumentError(
            f"{where}: {type(layer).__name__} has no parameter {name!r}: it has {list(layer._parameters)}"
        )
    return parameter
