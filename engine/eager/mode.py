"""The eager mode: computes at once and records for backward."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from engine.core import mode as modes
from engine.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceMemoryError,
    ElementRangeError,
    EngineError,
    OutOfRangeError,
)
from engine.core.frames import located, outside, user_frame
from engine.core.layer_calls import layer_call
from engine.core.operators import generate, traits
from engine.core.operators.bounds import require_int64
from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator, OutEdge
from engine.core.place import array_module, backend, current_place, require_same_place
from engine.core.precision import Precision
from engine.core.random.generator import reserve_for
from engine.core.raw_errors import allocation_error, is_too_large
from engine.core.spans import watch as spans
from engine.core.values import bfloat
from engine.core.values.spec import Spec
from engine.eager.precision import cast_inputs
from engine.eager.tensor import Parameter, Tensor, share, wrap, write

Watcher: TypeAlias = "Callable[[OpDef, tuple[Any, ...], dict[str, Any], list[Tensor | None]], None]"
"""Sees an operator that was applied, its inputs and attributes, and its results once they are recorded."""
Saved: TypeAlias = "Tensor | list[Tensor | None] | None"
"""An input that a record saves for its gradient rule; a list for an input that is a list."""
Versions: TypeAlias = "tuple[int | list[int], ...]"
"""The version counts of saved inputs, nested like the inputs."""

# NumPy's floating-point warnings are switched off once, here, instead of around every operator: as in other
# deep-learning frameworks, overflow gives inf and 0/0 gives nan without a warning.
np.seterr(all="ignore")


class EagerMode(modes.Mode):
    """Computes at once.

    The generated apply functions handle NumPy arrays themselves; ``apply`` handles everything else (CuPy,
    lists of inputs, operators without inputs, mixed precision, watchers of results, saved-tensor hooks).
    """

    watchers: tuple[Watcher, ...] = ()  # called with the results of every operator, in all eager modes

    def __init__(self, grad: bool, precision: Precision | None = None) -> None:
        # Instance attributes, because they are faster to read than class attributes.
        self.fast = precision is None and not self.watchers
        self.grad = grad
        self.precision = precision

    def with_grad(self, grad: bool) -> modes.Mode:
        return self if grad == self.grad else self._variant(grad, self.precision)

    def with_precision(self, precision: Precision | None) -> modes.Mode:
        return self if precision is self.precision else self._variant(self.grad, precision)

    def _variant(self, grad: bool, precision: Precision | None) -> modes.Mode:
        if precision is None:
            return RECORDING if grad else NOT_RECORDING
        return EagerMode(grad, precision)

    def apply(self, opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        if self.precision is not None:
            inputs = cast_inputs(self.precision, opdef, inputs)
        arrays = [_arrays(opdef, i.name, value, i.is_list) for i, value in opdef.named_inputs(inputs)]
        flat, xp = _flattened(opdef, arrays)
        if xp is np and opdef.large and flat[0].size >= opdef.large:
            kernel, direct = opdef.large_kernel(), False
        else:
            kernel, direct = opdef.kernel_for("cpu" if xp is np else "cupy")
        extra: dict[str, Any] = {}
        if opdef.random:
            extra["key"] = reserve_for(xp)()
        try:
            if bfloat.concerned(opdef, flat, attrs) and opdef not in traits.moves:
                result = bfloat.apply(opdef, xp, arrays, attrs, extra)
            else:
                result = kernel(*arrays) if direct else kernel(xp, *arrays, **attrs, **extra)
        except Exception as error:
            raise explain(opdef, inputs, attrs, error) from error.__cause__
        results = [result] if opdef.single else list(result)
        if opdef not in traits.moves:
            results = [r if r is None or isinstance(r, xp.ndarray) else xp.asarray(r) for r in results]
        for output, value in zip(opdef.outputs, results, strict=False):
            replaced = inputs[opdef.index_of[output.writes]] if output.writes else None
            if replaced is not None and value is not None:
                write(replaced, value)
        tensors = [None if r is None else wrap(r) for r in results]
        if opdef.view and tensors[0] is not None:
            tensors[0]._version = share(inputs[0], results[0])
        if self.grad and opdef.rules:
            _record(opdef, inputs, attrs, results, tensors)
        for watcher in self.watchers:
            watcher(opdef, inputs, attrs, tensors)
        return tensors[0] if opdef.single else tuple(tensors)


def _arrays(opdef: OpDef, name: str, value: Any, is_list: bool = False) -> Any:
    if value is None:
        return None
    if is_list and isinstance(value, (list, tuple)):
        return [_arrays(opdef, name, v) for v in value]
    if isinstance(value, Tensor):
        return value._array
    if modes.is_symbolic(value):
        raise ArgumentError(
            f"{opdef.name}: input {name!r} is the static Variable {value.name!r}, which holds no data in "
            "eager mode; run its Program with an Executor, or build under enable_static()"
        )
    raise ArgumentTypeError(
        f"{opdef.name}: input {name!r} must be a Tensor: got {type(value).__name__}; use to_tensor()"
    ).set_kind("InvalidArgument")


def _flattened(opdef: OpDef, arrays: list[Any]) -> tuple[list[Any], Any]:
    """All arrays of the inputs, and their module: without any that of the place of new tensors.

    Raises DeviceError where they are on different devices.
    """
    flat = [a for value in arrays for a in (value if isinstance(value, list) else (value,)) if a is not None]
    if not flat:
        return flat, backend(current_place()).xp
    first = flat[0].__class__
    for array in flat:
        if array.__class__ is not first:
            require_same_place(opdef.name, flat)
            break
    return flat, array_module(flat[0])


def _record(
    opdef: OpDef,
    inputs: tuple[Any, ...],
    attrs: dict[str, Any],
    results: list[Any],
    tensors: list[Tensor | None],
) -> None:
    edges = tuple(
        None if i.name not in opdef.rule_of or v is None else [t._edge for t in v] if i.is_list else v._edge
        for i, v in opdef.named_inputs(inputs)
    )
    if not any(
        (any(e is not None for e in edge) if edge.__class__ is list else edge is not None) for edge in edges
    ):
        return
    node = Operator(opdef, None, attrs)
    node.edges = edges
    if opdef.saved_inputs:
        node.inputs = tuple(
            (list(v) if i.is_list else v) if i.name in opdef.saved_inputs else None
            for i, v in opdef.named_inputs(inputs)
        )
        node.versions = versions_of(node.inputs)
    if opdef.saved_outputs:
        node.outputs = tuple(
            r if opdef.outputs[min(n, len(opdef.outputs) - 1)].name in opdef.saved_outputs else None
            for n, r in enumerate(results)
        )
    frame = outside(sys._getframe(2))
    node.set_place(frame, layer_call())
    if opdef.single:
        node.shapes = results[0].shape
        (tensor,) = tensors
        assert tensor is not None
        tensor._edge = node
    else:
        node.shapes = tuple(None if r is None else r.shape for r in results)
        connect(tensors, node)


def wrap_all(results: Iterable[Any]) -> tuple[Tensor | None, ...]:
    """Tensors over the result arrays of an operator with several outputs; None where an output is absent."""
    return tuple(
        [None if r is None else wrap(r if r.__class__ is np.ndarray else np.asanyarray(r)) for r in results]
    )


def connect(tensors: Sequence[Tensor | None], node: Operator) -> None:
    """Give each output of a floating-point or complex dtype its own edge into ``node``."""
    for index, tensor in enumerate(tensors):
        if tensor is not None and (tensor._array.dtype.kind in "fc" or bfloat.is_bfloat16(tensor._array)):
            tensor._edge = OutEdge(node, index)


def versions_of(inputs: Iterable[Saved]) -> Versions:
    """The current counts of the saved inputs' version counters, nested like the inputs."""
    return tuple([[_count(each) for each in v] if isinstance(v, list) else _count(v) for v in inputs])


def _count(value: Tensor | None) -> int:
    return 0 if value is None or value._version is None else value._version.count


def explain(opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any], error: Exception) -> Exception:
    """The error to raise for a kernel that raised ``error``.

    This is the ShapeError or DTypeError that shape inference finds for the same inputs, else an ArgumentError
    or OutOfRangeError with the kernel's message, the inputs' specs and the attributes. Errors of the engine
    itself and AssertionError are returned unchanged; an error for lack of memory names the operator, one for
    lack of GPU memory the user's line too.
    """
    made = explain_specs(opdef, [_specs(v) for v in inputs], attrs, error)
    if made.__class__ is not DeviceMemoryError:
        return made
    placed = located(made, user_frame())
    placed.__cause__ = error
    return placed


def explain_specs(opdef: OpDef, specs: list[Any], attrs: dict[str, Any], error: Exception) -> Exception:
    """The error as ``explain`` makes it, from the specs of the inputs instead of the inputs."""
    if isinstance(error, DeviceMemoryError):
        full = DeviceMemoryError(f"{opdef.name}: {error.message}")
        full.__cause__ = error
        return full
    if isinstance(error, (EngineError, AssertionError)):
        return error
    try:
        require_int64(opdef, attrs)
    except EngineError as better:
        return better
    if isinstance(error, MemoryError) or is_too_large(error):
        return allocation_error(opdef.name, error)
    try:
        opdef.infer_specs(specs, opdef.with_defaults(attrs))
    except EngineError as better:
        return better
    except Exception as second:  # inference may fail on the same inputs; the kernel's error is the cause
        error.add_note(f"inference of {opdef.name} failed too: {second}")
    seen = ", ".join(f"{i.name}={s}" for i, s in zip(opdef.inputs, specs, strict=True))
    shown = "".join(f", {k}={v!r}" for k, v in attrs.items())
    kind: type[EngineError] = ArgumentError
    if isinstance(error, IndexError):
        elements = opdef.name in ("getitem", "setitem") or str(error).startswith("arrays used as indices")
        kind = ElementRangeError if elements else OutOfRangeError
    elif isinstance(error, TypeError):
        kind = ArgumentTypeError
    made = kind(f"{opdef.name}: {error}: got {seen}{shown}; check shapes, dtypes and attributes")
    made.set_kind(made.kind or "InvalidArgument")
    made.__cause__ = error
    return made


def _specs(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [_specs(v) for v in value]
    return Spec(value._array.shape, value.dtype) if isinstance(value, Tensor) else value


RECORDING = EagerMode(grad=True)
NOT_RECORDING = EagerMode(grad=False)


_PLAIN = frozenset((Tensor, Parameter))


def is_unseen(*tensors: Any) -> bool:
    """Whether functions of these may apply one operator in place of several.

    True for Tensors of the CPU, of no other class, while nothing watches operators, casts their inputs or
    records their time.
    """
    if not modes.current().fast or spans.recorder is not None:
        return False
    for each in tensors:
        if type(each) not in _PLAIN:
            return False
        if type(each._array) is not np.ndarray:
            return False
    return True


def watch(watcher: Watcher) -> None:
    """Call ``watcher`` after every eager operator, until ``unwatch``."""
    EagerMode.watchers = (*EagerMode.watchers, watcher)
    RECORDING.fast = NOT_RECORDING.fast = False


def unwatch(watcher: Watcher) -> None:
    """Call ``watcher`` no more; nothing happens where it is not called."""
    EagerMode.watchers = tuple([each for each in EagerMode.watchers if each is not watcher])
    RECORDING.fast = NOT_RECORDING.fast = not EagerMode.watchers


generate.link(
    Tensor=Tensor,
    explain=explain,
    write=write,
    share=share,
    wrap_all=wrap_all,
    connect=connect,
    versions_of=versions_of,
)
modes.set_default(RECORDING)
