"""Python functions among layers, and printing of values: in a Program, and at once in a guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.autograd import PyLayer
from engine.core.errors import DTypeError
from engine.eager.tensor import Tensor
from engine.fluid.layers.adapting import adapter, listed
from engine.fluid.values.variable import as_variable, result
from engine.ops.control import print_tensor
from engine.program.build.builder import current_builder
from engine.static import metrics
from engine.static import nn as modern
from engine.tensor import creation
from engine.tensor.members.inplace import replace


def py_func(
    func: Callable[..., Any],
    x: Any,
    out: Any,
    backward_func: Callable[..., Any] | None = None,
    skip_vars_in_backward_input: Any = None,
) -> Any:
    """``out``, which ``func(*x)`` computes in Python when the Program runs; in a guard at once.

    For ``backward_func`` see ``static.nn.py_func``. Raises DTypeError for values that are not functions.
    """
    if current_builder() is not None:
        return modern.py_func(func, x, out, backward_func, skip_vars_in_backward_input)
    if not callable(func) or (backward_func is not None and not callable(backward_func)):
        raise DTypeError("py_func: func and backward_func must be functions")
    inputs = [] if x is None else listed(x)
    outputs = [] if out is None else listed(out)
    skipped = {id(v) for v in listed(skip_vars_in_backward_input)}
    made: list[Any] = []

    class Called(PyLayer):
        @staticmethod
        def forward(ctx: Any, *values: Any) -> Any:
            found = func(*values)
            made.extend(_tensor(v) for v in ([] if found is None else listed(found)))
            return tuple(made)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            assert backward_func is not None, "values without a backward function have no gradient"
            known = [*zip(inputs, inputs, strict=True), *zip(outputs, made, strict=False)]
            given = [as_variable(value) for key, value in known if id(key) not in skipped]
            found = [None if v is None else _tensor(v) for v in listed(backward_func(*given, *gradients))]
            wanted = zip(inputs, [*found, *[None] * len(inputs)], strict=False)
            return tuple(value for v, value in wanted if not v.stop_gradient)

    tracked = backward_func is not None and any(not v.stop_gradient for v in inputs)
    results = Called.apply(*inputs) if tracked else Called.forward(None, *inputs)
    values = [result(v) for v in results]
    for n, wanted in enumerate(outputs[: len(values)]):
        if isinstance(wanted, Tensor):
            replace("py_func", wanted, values[n], becomes="shape and dtype")
            values[n] = wanted
    return values if isinstance(out, (list, tuple)) else values[0] if values else None


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) else as_variable(creation.to_tensor(value))


@adapter
def Print(
    input: Any, first_n: int = -1, message: str | None = None, summarize: int = -1,
    print_tensor_name: bool = True, print_tensor_type: bool = True, print_tensor_shape: bool = True,
    print_tensor_lod: bool = True, print_phase: str = "both",
) -> Any:  # fmt: skip
    """``input``; it is printed when the Program runs, in a guard at once: see ``static.Print``."""
    shown = (print_tensor_name, print_tensor_type, print_tensor_shape, True, print_tensor_lod)
    if current_builder() is not None or not isinstance(input, Tensor):
        return metrics.Print(input, first_n, message, summarize, *shown, print_phase)
    options = metrics.print_options(first_n, message, summarize, *shown, print_phase)
    names = (input.name, f"{input.name}@GRAD")
    return print_tensor.print_tensor(input, names=names, **options)
