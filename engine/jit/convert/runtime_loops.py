"""Loops whose length only the running Program knows: `while`, ranges of a Tensor, rows of a Tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from engine.jit.convert import backend
from engine.jit.convert.runtime_carried import Carried
from engine.jit.convert.runtime_effects import Effects
from engine.jit.convert.runtime_growing import Grown, Rebuild, array_of, belongs_outside, watching
from engine.jit.convert.runtime_state import Place, State

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

    _Loop(state, test, step, place, body, [counting.start]).build()


def _within(index: Any, counting: SymbolicRange) -> Any:
    tools = backend.get()
    if not tools.is_symbolic(counting.step):
        return index < counting.stop if counting.step > 0 else index > counting.stop
    upward = tools.logical_and(counting.step > 0, index < counting.stop)
    return tools.logical_or(upward, tools.logical_and(counting.step < 0, index > counting.stop))


def build_while(state: State, test: Thunk, body: Thunk, place: Place) -> None:
    """A `while` whose test is symbolic; raises ConversionError where a variable can't be carried through."""
    _Loop(state, lambda _: test(), lambda index: (body(), index)[1], place, body, []).build()


class _Loop:
    """One loop while it is built; `counted` holds the first index of a `for`, and is empty for a `while`.

    What the body does shows only when it is built, so a loop may be built several times: with numbers that
    become floats as floats, with lists that grow as tensor arrays, with the containers that it changes.
    """

    def __init__(
        self, state: State, test: Callable[[Any], Any], body: Callable[[Any], Any], place: Place,
        user_body: Callable[..., Any], counted: list[Any],
    ) -> None:  # fmt: skip
        self.state = state
        self.test = test
        self.body = body
        self.place = place
        self.user_body = user_body
        self.counted = counted
        self.containers: set[int] = set()  # those that the body changes, by id
        self.floats: set[str] = set()
        self.by_value: set[str] = set()
        self.keys_grow = False

    def build(self) -> None:
        """Raises ConversionError where a variable or container can't be carried through the loop."""
        while True:
            self.before = self.state.save()
            self.effects = Effects(self.place, self.user_body)
            try:
                with watching(self._knows), backend.get().undone_on(Rebuild):
                    leaves = self._append()
                break
            except Grown as grown:
                self._restore()
                if belongs_outside(grown.items):
                    raise
                self._replace(grown)
            except Rebuild:
                self._restore()
        values = self.carried.values(self._own(leaves))
        live = len(self.state.live)
        self.state.finish(values[:live])
        for slot, value in zip(self.carried.slots[live:], values[live:], strict=True):
            slot.set(value)
        if self.carried.born:
            backend.get().check(
                leaves[-1],
                f"{self.place}: {', '.join(self.carried.born)} gets its first value in this loop and is used "
                "after it, but the loop ran zero times; assign it before the loop",
            )

    def _append(self) -> list[Any]:
        changed = [w for w in self.effects.watched if id(w.container) in self.containers]
        self.carried = Carried(self.place, [*self.state.live, *changed], self.floats, self.by_value)
        if self.keys_grow or self.carried.incomplete():
            self.carried.fill(backend.get().trial(self._try_body, self.counted + self.carried.leaves))
            self._restore()
        ran = [False] if self.carried.born else []
        leaves = self.counted + self.carried.leaves + ran
        return backend.get().while_loop(self._run_test, self._run_body, leaves)

    def _own(self, leaves: list[Any]) -> list[Any]:
        return leaves[len(self.counted) : len(self.counted) + len(self.carried.leaves)]

    def _put(self, leaves: list[Any]) -> Any:
        self._restore()
        for slot, value in zip(self.carried.slots, self.carried.values(self._own(leaves)), strict=True):
            slot.set(value)
        return leaves[0] if self.counted else None

    def _run_test(self, leaves: list[Any]) -> Any:
        return self.test(self._put(leaves))

    def _try_body(self, leaves: list[Any]) -> list[Any]:
        self.body(self._put(leaves))
        return self.carried.last()

    def _run_body(self, leaves: list[Any]) -> list[Any]:
        following = self.body(self._put(leaves))
        new = {id(watched.container) for watched in self.effects.changed()} - self.containers
        if new:
            self.containers |= new
            raise Rebuild
        if self.carried.keys_grew():
            self.keys_grow = True
            raise Rebuild
        after = self.carried.after()
        self._restore()
        return ([following] if self.counted else []) + after + ([True] if self.carried.born else [])

    def _restore(self) -> None:
        self.state.restore(self.before)
        self.effects.put_back()

    def _knows(self, container: Any) -> bool:
        return self.effects.knows(container) or any(value is container for value in self.before)

    def _replace(self, grown: Grown) -> None:
        """Let a list that grows be a tensor array from here on."""
        made = array_of(self.place, grown)
        if self.effects.knows(grown.items):
            self.effects.replace(grown.items, made)
        for slot in self.state.slots:
            if slot.get() is grown.items:
                slot.set(made)
