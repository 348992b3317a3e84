"""Meters the runs of Programs that this installation did not write: memory, time, iterations of loops.

A plan of such a Program checks before each operator (``Gauge``) and reports its results to the run's meter.
Before a kernel is called, its results are measured by inference with the shapes that its inputs have now,
so that nothing is allocated that the limits do not allow. Plans of other Programs have none of these calls.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from engine.core.errors import LimitError, OutOfRangeError
from engine.core.models.limits import ModelLimits, current, how_to_raise
from engine.core.operators.bounds import bound_faults
from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.core.values.dtype import bfloat16, from_numpy
from engine.core.values.spec import Spec
from engine.ops.control.with_values import with_filled
from engine.program.graph.program import Variable
from engine.program.run.measure import data_bytes, operations, workspace

_TRACKED = 1024  # the sum ignores arrays of fewer bytes
# Operations (multiplications with additions) that a second surely allows: operators that take longer are not
# begun.
_PER_SECOND = 10_000_000_000

Array = Any
_METER: ContextVar[Meter] = ContextVar("meter")


class Meter:
    """The use and the limits of one run."""

    def __init__(self, limits: ModelLimits) -> None:
        self.limits = limits
        self.alive = 0
        self.steps = 0
        self._arrays: dict[int, weakref.ref[Array]] = {}
        self._end = time.monotonic() + limits.seconds

    def require_time(self, where: str) -> None:
        """Raise LimitError where the time is over."""
        if time.monotonic() > self._end:
            seconds = self.limits.seconds
            raise LimitError(
                f"{where}: the model runs longer than a model of another installation may: {seconds:.3g} s; "
                + how_to_raise("seconds", round(10 * seconds))
            )

    def pause(self, seconds: float) -> None:
        """Leave out so long a time, in which nothing ran."""
        self._end += seconds

    def require(self, where: str, count: int, work: float) -> None:
        """Raise LimitError if ``count`` bytes more, or the operations, exceed the limits."""
        self.require_time(where)
        memory = self.limits.memory
        if count > memory // 4 or self.alive + count > memory:
            raise LimitError(
                f"{where}: the model takes more memory than a model of another installation may: "
                f"{_mb(count)} for this operator and {_mb(self.alive)} for other values, of {_mb(memory)} (a "
                f"quarter of that for one operator); "
                + how_to_raise("memory", f"{4 * max(count, memory) // 10**6} MB")
            )
        if work > self.limits.seconds * _PER_SECOND:
            seconds = round(2 * work / _PER_SECOND) + 1
            raise LimitError(
                f"{where}: the model computes more than a model of another installation may: {work:.2g} "
                f"operations at once, for which {self.limits.seconds:.3g} s are too few; "
                + how_to_raise("seconds", seconds)
            )

    def add(self, value: Array) -> None:
        """Count an array as long as it lives; a view counts as its base."""
        if isinstance(value, (list, tuple)):
            for each in value:
                self.add(each)
            return
        while isinstance(getattr(value, "base", None), np.ndarray):
            value = value.base
        if not isinstance(value, np.ndarray) or value.nbytes < _TRACKED or id(value) in self._arrays:
            return
        key, count = id(value), value.nbytes

        def gone(_: Any) -> None:
            if self._arrays.pop(key, None) is not None:
                self.alive -= count

        self._arrays[key] = weakref.ref(value, gone)
        self.alive += count

    def step(self) -> None:
        """Count an iteration. Raises LimitError where it is one too many."""
        self.steps += 1
        if self.steps > self.limits.steps:
            raise LimitError(
                f"while: the loops of the model run more often than those of a model of another installation "
                f"may: {self.limits.steps} iterations; " + how_to_raise("steps", 10 * self.limits.steps)
            )
        self.require_time("while")


def _mb(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"


def metered(function: Callable[[Sequence[Array]], Any]) -> Callable[[Sequence[Array]], Any]:
    """A plan's function, each call of which has its own meter."""

    def run(values: Sequence[Array]) -> Any:
        with using(meter_for(values)):
            return function(values)

    return run


@contextmanager
def using(meter: Meter) -> Iterator[None]:
    """Let operators report to ``meter`` within the block."""
    token = _METER.set(meter)
    try:
        yield
    finally:
        _METER.reset(token)


def meter_for(values: Sequence[Array]) -> Meter:
    """The meter of a run with these arguments."""
    return Meter(current().for_bytes(sum(getattr(v, "nbytes", 0) for v in values)))


def step() -> None:
    """Report an iteration to the meter."""
    _METER.get().step()


def made(*values: Array) -> None:
    """Report arrays that an operator created to the meter."""
    meter = _METER.get()
    for value in values:
        meter.add(value)


class Gauge:
    """Asks the meter before an operator of a plan runs; called with the operator's inputs."""

    def __init__(self, operator: Operator) -> None:
        self._opdef = operator.opdef
        self._attrs = operator.attrs
        self._low = [_is_low(v) for v in operator.inputs]
        self._results = len(operator.outputs)
        self._last: tuple[Any, tuple[int, float]] | None = None  # of the shapes that the last call had

    def __call__(self, *values: Array) -> None:
        key = tuple([_key(v) for v in values])
        last = self._last
        if last is not None and last[0] == key:
            count, work = last[1]
        else:
            count, work, fixed = self._measured(values)
            self._last = (key, (count, work)) if fixed else None
        _METER.get().require(self._opdef.name, count, work)

    def _measured(self, values: Sequence[Array]) -> tuple[int, float, bool]:
        """Bytes and operations; whether they follow from the shapes alone."""
        opdef, attrs, inputs = self._opdef, self._attrs, list(values)
        if opdef is OPS["with_values"]:
            opdef, inputs, attrs = with_filled(inputs, attrs)
            for fault in bound_faults(opdef, attrs, self._results):
                raise OutOfRangeError(f"{opdef.name}: in a model of another installation, {fault}")
            low: list[Any] = [_none(v) for v in inputs]
            fixed = False
        else:
            low, fixed = self._low, True
        specs = [_spec(v, is_low) for v, is_low in zip(inputs, low, strict=True)]
        results = [s for s in opdef.infer_specs(specs, attrs) if s is not None]
        count = sum(s.size * s.dtype.itemsize for s in results if s.known)
        if not all(s.known for s in results):
            count += data_bytes(opdef.name, inputs, attrs)
            fixed = False
        return (
            count + workspace(opdef.name, specs, results, attrs),
            operations(opdef.name, specs, results, attrs),
            fixed,
        )


def _is_low(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_is_low(v) for v in value]
    return isinstance(value, Variable) and value.dtype is bfloat16


def _none(value: Any) -> Any:
    return [_none(v) for v in value] if isinstance(value, (list, tuple)) else False


def _key(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple([_key(v) for v in value])
    return None if value is None else (value.shape, value.dtype)


def _spec(value: Any, low: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_spec(v, each) for v, each in zip(value, low, strict=True)]
    if value is None:
        return None
    return Spec(value.shape, bfloat16 if low else from_numpy(value.dtype))
