"""Python functions in a Program: py_func runs one, static_pylayer defines a gradient by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.autograd import PyLayer
from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError
from engine.eager.mode import NOT_RECORDING
from engine.eager.tensor import Tensor, wrap
from engine.ops.control import py_func as ops
from engine.program.build.by_slot import append_into
from engine.program.graph.variable import Variable
from engine.static.nn.helper import require_static
from engine.tensor.tensor_like import AnyTensor

_EAGER: Any = NOT_RECORDING


def py_func(
    func: Callable[..., Any],
    x: Variable | Sequence[Variable] | None,
    out: Variable | Sequence[Variable] | None,
    backward_func: Callable[..., Any] | None = None,
    skip_vars_in_backward_input: Variable | Sequence[Variable] | None = None,
) -> Any:
    """Run a Python function as an operator: ``func(*x)`` gives the values of the Variables ``out``.

    ``out`` are Variables of the current block, made with create_var with their shape and dtype.
    ``backward_func(*x, *out, *gradients of out)``, without the arguments in ``skip_vars_in_backward_input``,
    returns the gradients of x; None for an x without gradient, such as integers. The functions get Tensors,
    compute eagerly and return Tensors or arrays. Returns ``out``.

    Such a Program can't be loaded from a file: functions are not saved. Raises DTypeError for values that are
    not functions or Variables.
    """
    builder = require_static("static.nn.py_func")
    inputs = _variables("x", x)
    outputs = _variables("out", out)
    if not callable(func) or (backward_func is not None and not callable(backward_func)):
        raise DTypeError("py_func: func and backward_func must be functions")
    skipped = _variables("skip_vars_in_backward_input", skip_vars_in_backward_input)
    everything = [*inputs, *outputs]
    unknown = [v.name for v in skipped if all(v is not known for known in everything)]
    if unknown:
        raise ArgumentError(f"py_func: skip_vars_in_backward_input has {unknown}, not in x or out")
    attrs = {
        "forward_callable_id": ops.register(_over_arrays(func)),
        "backward_callable_id": -1 if backward_func is None else ops.register(_over_arrays(backward_func)),
        "backward_skip_vars": [n for n, v in enumerate(everything) if any(v is s for s in skipped)],
        "specs": [v.spec for v in outputs],
    }
    append_into(builder.block, ops.py_func.opdef, (inputs,), attrs, tuple(outputs))
    if backward_func is None or all(v.stop_gradient for v in inputs):
        for variable in outputs:
            variable.stop_gradient = True
    return out


def _over_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of Tensors as a function of arrays, for a kernel."""

    def called(*arrays: Any) -> Any:
        with modes.use(_EAGER):  # it runs now, while another Program may be built
            given = function(*(wrap(a) for a in arrays))
        if given is None:
            return None
        results = given if isinstance(given, (list, tuple)) else [given]
        return [r._array if isinstance(r, Tensor) else r for r in results]

    return called


def _variables(what: str, value: Any) -> list[Variable]:
    listed = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
    for item in listed:
        if not isinstance(item, Variable):
            raise DTypeError(f"py_func: {what} are Variables: got {type(item).__name__}")
    return listed


def static_pylayer(
    forward_fn: Callable[..., Any],
    inputs: Sequence[AnyTensor],
    backward_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The result of ``forward_fn(*inputs)``, whose gradient ``backward_fn(*gradients)`` computes.

    Both are built of operators. ``backward_fn`` gets one gradient per result and returns one per input;
    without it no input may have gradients. Raises DTypeError for a value that is not a function,
    ArgumentError for a missing ``backward_fn``.
    """
    if not callable(forward_fn) or (backward_fn is not None and not callable(backward_fn)):
        raise DTypeError("static_pylayer: forward_fn and backward_fn must be functions")
    values = list(inputs)
    if backward_fn is None:
        if any(not v.stop_gradient for v in values):
            raise ArgumentError(
                "static_pylayer: an input has gradients, but there is no backward_fn; pass one, or set "
                "stop_gradient=True"
            )
        return forward_fn(*values)
    given = backward_fn

    class Given(PyLayer):
        @staticmethod
        def forward(ctx: Any, *xs: Any) -> Any:
            return forward_fn(*xs)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return given(*grads)

    return Given.apply(*values)
