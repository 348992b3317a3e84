"""Stepping: a run of a stepping plan that continues by one operator at each ``next``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.errors import ArgumentError, ProgramError
from engine.core.operators.operator import Operator
from engine.core.place import array_module, moved
from engine.program.run.meter import Meter, meter_for, using

if TYPE_CHECKING:
    from engine.program.graph.program import Variable
    from engine.program.run.stepping.write_steps import Place, Step

Array = Any


class Moment:
    """What an operator was given and what it gave, before the run continues.

    ``given`` and ``made`` are the values of ``step.inputs`` and ``step.outputs`` as the kernels know them:
    on a GPU they stay there. An input that the operator wrote into is as it was before. ``iterations`` are
    the numbers of those of the loops around it, outermost first; a gradient's are those of its forward run.
    """

    __slots__ = ("_replaced", "given", "iterations", "made", "step")

    def __init__(
        self, step: Step, given: Sequence[Any], made: Sequence[Any], iterations: tuple[int, ...]
    ) -> None:
        self.step, self.given, self.made, self.iterations = step, given, made, iterations
        self._replaced = False

    @property
    def operator(self) -> Operator:
        return self.step.operator

    @property
    def where(self) -> tuple[Place, ...]:
        """The places of the branches and loops around it, outermost first, and its own."""
        return self.step.where

    @property
    def inputs(self) -> list[tuple[str, Array]]:
        """Names and arrays of what it read."""
        return _named(self.step.inputs, self.given)

    @property
    def outputs(self) -> list[tuple[str, Array]]:
        """Names and arrays of its results."""
        return _named(self.step.outputs, self.made)

    def replace(self, name: str, array: Array) -> None:
        """Let the run go on with another value of a result.

        Raises ArgumentError for a name of something else, and for another shape or dtype.
        """
        step = self.step
        found = [n for n, v in enumerate(step.outputs) if v.name == name and _is_array(self.made[n])]
        if not found:
            raise ArgumentError(
                f"{step.operator.type}: {name!r} is not one of its results: "
                f"{[name for name, _ in self.outputs]}"
            )
        old = self.made[found[0]]
        new = array if _is_array(array) else np.asarray(array)
        if (new.shape, new.dtype) != (old.shape, old.dtype):
            raise ArgumentError(
                f"{step.operator.type}: {name!r} has shape {list(old.shape)} and dtype {old.dtype}, which "
                f"can't change: got shape {list(new.shape)} and dtype {new.dtype}"
            )
        made = list(self.made)
        for n in found:
            made[n] = moved(array_module(old), new)
        self.made, self._replaced = tuple(made), True

    def __repr__(self) -> str:
        return f"<Moment of {self.step.operator.type} at {self.where} {self.iterations}>"


class Stepping(Iterator[Moment]):
    """A run of a :class:`SteppingPlan`: each ``next`` runs an operator and gives its Moment.

    Random operators draw from the default generator as in a run of the plan. ``changed`` are names and arrays
    of the inputs that operators write into, copies of those given. Where an operator raises an error,
    ``failed`` is its Moment, without results.
    """

    def __init__(
        self,
        function: Callable[[Sequence[Array]], Any],
        values: Sequence[Array],
        changed: Sequence[tuple[str, Array]],
        step_of: Mapping[int, Step],
        explained: Callable[[Exception], Exception],
        foreign: bool,
    ) -> None:
        self._step_of, self._explained = step_of, explained
        self._results: tuple[Array, ...] | None = None
        self.changed = changed
        self.failed: Moment | None = None
        self.moment: Moment | None = None  # the last one
        generator = function(values)
        self._send: Callable[[Any], Any] = generator.send
        self.close: Callable[[], None] = generator.close
        if foreign:
            self._send = _metered(generator.send, meter_for(values))

    def __next__(self) -> Moment:
        moment = self.moment
        try:
            step, given, made, iterations = self._send(
                moment.made if moment is not None and moment._replaced else None
            )
        except StopIteration as end:
            if end.value is not None:
                self._results = end.value
            raise
        except Exception as error:
            self.failed = failed = self._failed(error.__traceback__)
            explained = self._explained(error)
            if failed is not None and failed.operator.layer:
                explained.add_note(f"in layer {failed.operator.layer}")
            raise explained from error.__cause__
        self.moment = moment = Moment(step, given, made, iterations)
        return moment

    @property
    def results(self) -> tuple[Array, ...]:
        """The results, once the last operator ran. Raises ProgramError before."""
        if self._results is None:
            raise ProgramError("stepping: the run has not come to its end; go on to the last operator")
        return self._results

    def finish(self) -> tuple[Array, ...]:
        """Run what is left; returns the results."""
        for _ in self:
            pass
        return self.results

    def _failed(self, traceback: TracebackType | None) -> Moment | None:
        """What the operator was given that raised an error."""
        while traceback is not None and traceback.tb_frame.f_code.co_filename != "<plan>":
            traceback = traceback.tb_next
        step = None if traceback is None else self._step_of.get(traceback.tb_lineno)
        if traceback is None or step is None:
            return None
        values = traceback.tb_frame.f_locals
        around = [values[name] for name in step.counters]
        return Moment(
            step, [values.get(name) for name in step.slots], [None] * len(step.outputs), tuple(around)
        )


def _metered(send: Callable[[Any], Any], meter: Meter) -> Callable[[Any], Any]:
    """Goes on with the run of an untrusted Program; the time between its operators does not count."""
    ended = time.monotonic()

    def go_on(value: Any) -> Any:
        nonlocal ended
        meter.pause(time.monotonic() - ended)
        try:
            with using(meter):
                return send(value)
        finally:
            ended = time.monotonic()

    return go_on


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def _named(variables: Sequence[Variable], values: Sequence[Any]) -> list[tuple[str, Array]]:
    """Names and arrays; stored iterations and the like are not values that one looks at."""
    return [(v.name, value) for v, value in zip(variables, values, strict=True) if _is_array(value)]
