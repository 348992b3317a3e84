"""to_static and its switches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MethodType, ModuleType
from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.core.lazy import lazy
from engine.jit.convert.runtime.calls import ignore_modules
from engine.jit.static_function import StaticFunction, is_convertible, require_function
from engine.jit.switch import Switch
from engine.nn import Layer

__getattr__ = lazy(
    __name__,
    members={"engine.jit.export": ("load", "save"), "engine.jit.translated_layer": ("TranslatedLayer",)},
)


def to_static(
    function: Callable[..., Any] | None = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: object = None,
    backend: str | None = None,
    **kwargs: Any,
) -> Any:
    """Run a function, or the forward of a Layer, as a static Program.

    As a decorator (``@to_static``, ``@to_static(input_spec=[...])``) or a call. A Layer is returned itself,
    with its forward converted. ``build_strategy`` is accepted for compatibility with Paddle and has no
    effect: ``engine.program.passes.level`` says with which passes Programs are optimized.

    A call that can't be converted runs eagerly, as written, with one LeniencyWarning that names the line and
    the reason; with ``full_graph=True`` it raises ConversionError. Raises ArgumentError for an input_spec
    that does not fit.
    """
    if backend not in (None, "CINN"):
        raise ArgumentError(f"to_static: backend {backend!r} is unknown; leave it out")

    if build_strategy is not None and type(build_strategy).__name__ != "BuildStrategy":
        raise DTypeError(
            "to_static: build_strategy must be a paddle.static.BuildStrategy: got "
            f"{type(build_strategy).__name__}"
        )

    full_graph = bool(kwargs.get("full_graph"))

    def convert(target: Any) -> Any:
        if isinstance(target, Layer):
            forward = target.forward
            if isinstance(forward, StaticFunction):
                forward = forward.dygraph_function
            target.__dict__["forward"] = _static(forward, input_spec, full_graph)
            return target
        return _static(target, input_spec, full_graph)

    if function is None:
        convert.is_decorator = True  # type: ignore[attr-defined]  # for the message of jit.save
        return convert
    return convert(function)


def _static(
    function: Callable[..., Any], input_spec: Sequence[Any] | None, full_graph: bool
) -> StaticFunction:
    if isinstance(function, StaticFunction):
        function = function.dygraph_function
    if isinstance(function, MethodType) and not is_convertible(function.__self__):
        raise DTypeError(
            f"to_static: {function.__qualname__} is a method of {type(function.__self__).__name__}, not of a "
            "Layer; derive the class from nn.Layer, or convert a function"
        )
    if isinstance(function, MethodType):
        return StaticFunction(function.__func__, input_spec, function.__self__, full_graph=full_graph)
    return StaticFunction(require_function(function), input_spec, full_graph=full_graph)


def not_to_static(func: Callable[..., Any] | None = None) -> Any:
    """Leave a function unconverted when code that calls it is converted."""
    if func is None:
        return not_to_static
    target: Any = getattr(func, "__func__", func)  # a method has no attributes of its own
    target._not_to_static = True
    return func


def ignore_module(modules: list[ModuleType]) -> None:
    """Leave functions of these modules unconverted."""
    ignore_modules(modules)


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Switch conversion on or off; while it is off, converted functions run eagerly as written."""
    Switch.enabled = bool(enable_to_static_bool)
