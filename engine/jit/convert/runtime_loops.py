"""Loops whose length only the running Program knows: `while`, ranges of a Tensor, rows of a Tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from engine.jit.convert import backend
from engine.jit.convert.runtime_effects import Effects
from engine.jit.convert.runtime_merge import (
    PLAIN,
    Build,
    Pairs,
    describe,
    is_leaf,
    keep,
    mapping,
    sequence,
    subject,
)
from engine.jit.convert.runtime_state import NoValue, Place, State, Undefined, refuse

Thunk = Callable[[], Any]


@dataclass(frozen=True)
class Until:
    """An iterable with the flag of a `break`."""

    items: Any
    stop: Thunk


@dataclass(frozen=True)
class SymbolicRange:
    """`range` with a symbolic start, stop or step."""

    start: Any
    stop: Any
    step: Any


def convert_range(*args: Any) -> range | SymbolicRange:
    """Python's `range`, or one whose numbers only the running Program knows."""
    args = tuple(backend.get().asked(arg) for arg in args)
    if not 1 <= len(args) <= 3 or not backend.any_symbolic(args):
        return range(*args)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return SymbolicRange(start, stop, step)


def is_built(items: object) -> bool:
    """Whether a loop over the items has to be built as an operator: its length is not known yet."""
    if isinstance(items, SymbolicRange):
        return True
    return backend.get().is_symbolic(items) and not isinstance(backend.get().length(items), int)


def each(items: Any) -> Iterable[Any]:
    """The items of a loop that is unrolled."""
    if backend.get().is_symbolic(items):
        return (items[index] for index in range(backend.get().length(items)))
    return items  # type: ignore[no-any-return]


def build_for(items: Any, stop: Thunk, body: Callable[[Any], None], state: State, place: Place) -> None:
    """A `for` over a symbolic range, or over the rows of a Tensor whose number of rows is not known."""
    tools = backend.get()
    counting = items if isinstance(items, SymbolicRange) else SymbolicRange(0, tools.length(items), 1)

    def test(index: Any) -> Any:
        within = _within(index, counting)
        stopped = stop()
        return within if stopped is False else tools.logical_and(tools.logical_not(stopped), within)

    def step(index: Any) -> Any:
        body(index if items is counting else items[index])
        return index + counting.step

    _build(state, test, step, place, body, counting.start)


def _within(index: Any, counting: SymbolicRange) -> Any:
    tools = backend.get()
    if not tools.is_symbolic(counting.step):
        return index < counting.stop if counting.step > 0 else index > counting.stop
    upward = tools.logical_and(counting.step > 0, index < counting.stop)
    return tools.logical_or(upward, tools.logical_and(counting.step < 0, index > counting.stop))


def build_while(state: State, test: Thunk, body: Thunk, place: Place) -> None:
    """A `while` whose test is symbolic; raises ConversionError where a variable can't be carried through."""
    _build(state, lambda _: test(), lambda index: (body(), index)[1], place, body, None)


def _build(
    state: State,
    test: Callable[[Any], Any],
    body: Callable[[Any], Any],
    place: Place,
    user_body: Callable[..., Any],
    index: Any,
) -> None:
    before = state.save()
    effects = Effects(place, user_body)
    counted = [] if index is None else [index]
    carried = Carried(place, state)

    def put(leaves: list[Any]) -> Any:
        state.restore(before)
        for slot, value in zip(state.live, carried.values(leaves[len(counted) :]), strict=True):
            slot.set(value)
        return leaves[0] if counted else None

    def run_test(leaves: list[Any]) -> Any:
        return test(put(leaves))

    def run_body(leaves: list[Any]) -> list[Any]:
        following = body(put(leaves))
        effects.refuse_changes()
        after = carried.after()
        if carried.promote(after):
            raise _Promoted
        return ([following] if counted else []) + after

    def try_body(leaves: list[Any]) -> list[Any]:
        body(put(leaves))
        effects.refuse_changes()
        return state.live_values()

    if carried.waits_for_return():
        carried.fill(backend.get().trial(try_body, counted + carried.leaves))
        state.restore(before)
    while True:
        try:
            with backend.get().undone_on(_Promoted):
                leaves = backend.get().while_loop(run_test, run_body, counted + carried.leaves)
            break
        except _Promoted:
            state.restore(before)
    state.finish(carried.values(leaves[len(counted) :]))


class _Promoted(Exception):
    """A whole number before the loop turned out to be a float after an iteration: the loop is built again."""


class Carried:
    """The live variables of a loop taken apart into leaves (Tensors and numbers) and what stays as it is in
    Python.
    """

    def __init__(self, place: Place, state: State) -> None:
        self.place = place
        self.state = state
        self.start(state.live_values())

    def start(self, values: list[Any]) -> None:
        """Take the values at the loop's beginning apart."""
        self.first = values
        self.leaves: list[Any] = []
        self.builds: list[Build] = []
        for slot, value in zip(self.state.live, values, strict=True):
            if isinstance(value, Undefined):
                refuse(
                    self.place,
                    f"{subject(slot.name)} gets its first value inside a loop whose length a Tensor decides",
                    "it has none before the loop, which may run zero times",
                    f"assign `{slot.name}` a Tensor of the same shape and dtype before the loop",
                )
            self.builds.append(self._apart(value))

    def _apart(self, value: Any) -> Build:
        if is_leaf(value):
            index = len(self.leaves)
            self.leaves.append(value)
            return lambda leaves: leaves[index]
        if isinstance(value, list | tuple):
            return sequence(value, [self._apart(item) for item in value])
        if isinstance(value, dict):
            return mapping(value, [self._apart(item) for item in value.values()])
        return keep(value)

    def values(self, leaves: list[Any]) -> list[Any]:
        """The variables' values for these leaves."""
        return [build(leaves) for build in self.builds]

    def waits_for_return(self) -> bool:
        """Whether a `return` in the loop has yet to show the structure of its value."""
        return any(isinstance(value, NoValue) for value in self.first)

    def fill(self, after: list[Any]) -> None:
        """Give the value of a `return` in the loop a start of the structure that one iteration gives it."""
        values = []
        for slot, first, last in zip(self.state.live, self.first, after, strict=True):
            if isinstance(first, NoValue) and not isinstance(last, NoValue):
                pairs = Pairs(self.place, "before the loop", "after one iteration", [], [])
                first = pairs.join(slot.name, first, last)(pairs.first)
            values.append(first)
        self.start(values)

    def promote(self, after: list[Any]) -> bool:
        """Make whole numbers floats that are floats after an iteration, as Python would; whether there were
        any.
        """
        tools = backend.get()
        found = False
        for index, (first, last) in enumerate(zip(self.leaves, after, strict=True)):
            becomes_float = isinstance(last, float) or (tools.is_tensor(last) and tools.is_floating(last))
            if type(first) is int and becomes_float:
                self.leaves[index] = float(first)
                found = True
        return found

    def after(self) -> list[Any]:
        """The leaves at the end of the body; raises ConversionError where a variable's structure changed."""
        leaves: list[Any] = []
        for slot, first, last in zip(self.state.live, self.first, self.state.live_values(), strict=True):
            self._match(subject(slot.name), first, last, leaves)
        return leaves

    def _match(self, path: str, first: Any, last: Any, leaves: list[Any]) -> None:
        if is_leaf(first) and is_leaf(last):
            leaves.append(last)
        elif isinstance(first, list | tuple) and type(first) is type(last) and len(first) == len(last):
            for position, (one, other) in enumerate(zip(first, last, strict=True)):
                self._match(f"{path}[{position}]", one, other, leaves)
        elif isinstance(first, dict) and type(first) is type(last) and list(first) == list(last):
            for key in first:
                self._match(f"{path}[{key!r}]", first[key], last[key], leaves)
        elif not (
            first is last or (isinstance(first, PLAIN) and type(first) is type(last) and first == last)
        ):
            refuse(
                self.place,
                f"{path} changes its kind inside a loop whose length a Tensor decides",
                f"{describe(first)} before, {describe(last)} after one iteration",
                "keep it a Tensor or number of one structure, or loop over a Python range",
            )
