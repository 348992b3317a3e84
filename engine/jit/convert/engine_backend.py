"""The engine behind converted code: Variables, and `cond` and `while_loop` of `build.control`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ConversionError, EngineError
from engine.core.frames import located, user_frame
from engine.core.mode import is_symbolic
from engine.eager.tensor import Tensor
from engine.jit.convert import backend, reductions, tensor_data
from engine.jit.convert.backend import Kinds
from engine.jit.convert.runtime.merge import is_number
from engine.ops.arrays import creation, shape
from engine.ops.control import flow as control_ops
from engine.ops.elementwise import arithmetic, comparison
from engine.optimizer.lr import LRScheduler
from engine.program.build import control
from engine.program.build.builder import current_builder
from engine.program.graph.program import Variable
from engine.program.graph.unknown import Unknown, known_operand
from engine.tensor.arrays.tensor_array import TensorArray
from engine.tensor.tensor_like import AnyTensor


class _TrialDone(Exception):
    """Carries the result of a trial out of the loop that it was built in."""

    def __init__(self, result: Any) -> None:
        self.result = result


class EngineBackend:
    """See `engine.jit.convert.backend.Backend`."""

    def is_symbolic(self, value: object) -> bool:
        return is_symbolic(value) or isinstance(value, TensorArray)

    def is_array(self, value: object) -> bool:
        return isinstance(value, TensorArray)

    def stands_for(self, value: object, kinds: Kinds) -> bool:
        given = kinds if isinstance(kinds, tuple) else (kinds,)
        if isinstance(value, TensorArray):
            return list in given
        if isinstance(value, Unknown):
            return int in given
        return isinstance(value, Variable) and Tensor in given

    def array(self, items: list[Any], like: Any) -> Any:
        try:
            return TensorArray.of(items, like)
        except EngineError as error:
            return str(error)

    def is_undecided(self, value: object) -> bool:
        # An eager Tensor met while building (a buffer, a parameter) has a value now, but not the one it will
        # have.
        if is_symbolic(value) or isinstance(value, TensorArray | Unknown):
            return True
        return isinstance(value, Tensor) and current_builder() is not None

    def is_tensor(self, value: object) -> bool:
        return isinstance(value, Variable | Tensor)

    def asked(self, value: object) -> Any:
        return known_operand(value)

    def rank(self, value: AnyTensor) -> int:
        return int(value.ndim)

    def filled(self, value: float | np.generic, like: AnyTensor) -> Any:
        return _filled(value, like)

    def is_floating(self, value: AnyTensor) -> bool:
        return bool(value.dtype.is_floating_point)

    def cond(
        self,
        pred: AnyTensor,
        true_fn: Callable[[], Any],
        false_fn: Callable[[], Any],
        join: Callable[[Any, Any], tuple[list[Any], list[Any]]],
    ) -> list[Any]:
        outside = modes.current()
        first: list[Any] = []
        taken: list[Any] = []

        def true_side() -> list[Any]:
            taken.append(true_fn())
            return first  # filled when the other side is known too; nothing looks at it before

        def false_side() -> list[Any]:
            other = false_fn()
            with modes.use(outside):
                pairs = zip(*join(taken[0], other), strict=True)
                levelled = [(_level(a, like=b), _level(b, like=a)) for a, b in pairs]
            first[:] = [a for a, _ in levelled]
            return [b for _, b in levelled]

        result = control.cond(pred, true_side, false_side)
        return list(result)

    def while_loop(
        self, test: Callable[[list[Any]], Any], body: Callable[[list[Any]], list[Any]], leaves: list[Any]
    ) -> list[Any]:
        return list(
            control.while_loop(lambda *values: test(list(values)), lambda *values: body(list(values)), leaves)
        )

    def trial(self, body: Callable[[list[Any]], Any], leaves: list[Any]) -> Any:
        def once(*values: Any) -> Any:
            raise _TrialDone(body(list(values)))

        try:
            with self.undone_on(_TrialDone):
                control.while_loop(lambda *_: _constant(True), once, leaves)
        except _TrialDone as done:
            return done.result
        raise AssertionError("a loop's body is built at least once")

    @contextmanager
    def undone_on(self, error: type[Exception] | tuple[type[Exception], ...]) -> Iterator[None]:
        builder = current_builder()
        assert builder is not None, "symbolic values exist only while a Program is built"
        blocks, operators = len(builder.program.blocks), len(builder.block.ops)
        try:
            yield
        except error:
            del builder.program.blocks[blocks:]
            del builder.block.ops[operators:]
            raise

    def placeholder(self, like: AnyTensor) -> Any:
        return _filled(0, like)

    def is_truth(self, value: object) -> bool:
        if isinstance(value, Variable | Tensor):
            return value.dtype.name == "bool" and value.size == 1
        return isinstance(value, bool)

    def logical_and(self, left: AnyTensor | float | np.generic, right: AnyTensor | float | np.generic) -> Any:
        return comparison.logical_and(_truth(left), _truth(right))

    def logical_or(self, left: AnyTensor | float | np.generic, right: AnyTensor | float | np.generic) -> Any:
        return comparison.logical_or(_truth(left), _truth(right))

    def logical_not(self, value: AnyTensor | float | np.generic) -> Any:
        return comparison.logical_not(_truth(value))

    def check(self, value: AnyTensor | float | np.generic, message: str) -> None:
        control_ops.check(_truth(value), [value], message=message)

    def show(self, value: AnyTensor, message: str) -> None:
        control_ops.print_value(value, message=message)

    def length(self, value: AnyTensor | TensorArray) -> Any:
        if isinstance(value, TensorArray):
            return value.length()
        dims = value.shape
        return dims[0] if dims and dims[0] >= 0 else self.cast(shape.shape(value)[0], "int64")

    def as_number(self, value: object, like: float) -> Any:
        if isinstance(value, Variable) and value.size == 1:
            value.number = like
        return value

    def number_of(self, value: object) -> float | None:
        if isinstance(value, Variable):
            return value.number
        return type(value)(0) if isinstance(value, bool | int | float) else None

    def scalar(self, value: object) -> Any:
        return shape.reshape(value, shape=[]) if isinstance(value, Variable) and value.ndim else value

    def each_run(self, function: Callable[..., Any]) -> Callable[..., Any] | None:
        """What to call for a method whose effect in Python belongs to every run: a schedule's step."""
        training = modes.current().training
        if training is None or not isinstance(getattr(function, "__self__", None), LRScheduler):
            return None
        if getattr(function, "__name__", "") != "step":
            return None
        return lambda *args, **kwargs: training.done_each_run(functools.partial(function, *args, **kwargs))

    def data_method(self, value: AnyTensor, name: str) -> Callable[[], Any] | None:
        if current_builder() is None:
            return None
        return tensor_data.METHODS[name](value) if name in tensor_data.METHODS else None

    def rows(self, value: AnyTensor) -> Any:
        return TensorArray(None, (value,))

    def reduced(self, name: str, value: AnyTensor | TensorArray) -> Any:
        return reductions.reduced(name, value)

    def sorted(self, items: Sequence[Any] | TensorArray, reverse: bool) -> Any:
        return reductions.in_order(items, reverse)

    def holds(self, container: AnyTensor | TensorArray, value: object) -> Any:
        return reductions.holds(container, value)

    def cast(self, value: AnyTensor, dtype: str) -> Any:
        # In eager mode this gives a number of Python's, through which no gradient flows.
        value = shape.detach(value)
        return value if value.dtype.name == dtype else arithmetic.cast(value, out_dtype=dtype)


def _filled(value: float | np.generic, like: AnyTensor) -> Any:
    """The number in the rank and dtype of a Tensor. An unknown dimension is 1 here: it broadcasts."""
    return creation.fill(
        shape=[1 if size < 0 else size for size in like.shape], value=value, dtype=like.dtype
    )


def _level(value: Any, like: Any) -> Any:
    """A number as a Tensor where the other side gives a Tensor whose shape only the running Program knows."""
    if not is_number(value) or is_number(like):
        return value
    if isinstance(value, float) and not like.dtype.is_floating_point:
        message = f"a Tensor decides between the number {value!r} and a Tensor of {like.dtype.name}"
        raise located(ConversionError(f"{message}; cast the Tensor to float32 on its path"), user_frame())
    return _filled(value, like) if -1 in like.shape else value


def _truth(value: Any) -> Any:
    if is_number(value):
        return _constant(bool(value))
    return value if value.dtype.name == "bool" else arithmetic.cast(value, out_dtype="bool")


def _constant(value: bool) -> Any:
    return creation.fill(shape=[], value=value, dtype="bool")


backend.engine_backend.define(EngineBackend)
