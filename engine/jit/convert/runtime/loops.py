"""Loops whose length only the running Program knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from engine.core.errors import BranchError, LoopError
from engine.jit.convert import backend
from engine.jit.convert.runtime.attempt import undecided
from engine.jit.convert.runtime.carried import Carried, Learnt
from engine.jit.convert.runtime.effects import Effects, Side
from engine.jit.convert.runtime.growing import (
    NOT_YET,
    Grown,
    Rebuild,
    array_of,
    belongs_outside,
    guessing,
    is_guess,
    watching,
)
from engine.jit.convert.runtime.sequences import indexed
from engine.jit.convert.runtime.state import Place, State

Thunk = Callable[[], Any]
Branch = Callable[[Any, Thunk, Thunk | None], None]
CHANGES = (LoopError, BranchError)  # of a value's dtype or rank


@dataclass(frozen=True)
class Until:
    """An iterable with the flag of a `break`."""

    items: Any
    stop: Thunk


def build_for(
    items: Iterable[Any],
    stop: Thunk,
    body: Callable[[Any], None],
    state: State,
    place: Place,
    branch: Branch,
) -> None:
    """A `for` over what `is_built` says of that its length is not known; `branch` is an `if` for it."""
    tools = backend.get()
    sequence = indexed(items)

    def test(counter: Any) -> Any:
        goes_on = sequence.goes_on(counter)
        stopped = stop()
        return goes_on if stopped is False else tools.logical_and(tools.logical_not(stopped), goes_on)

    def step(counter: Any) -> Any:
        body(sequence.at(tools.as_number(counter, 0)))
        return counter + sequence.step

    _build(_Loop(state, test, step, place, body, [sequence.start]), branch)


def build_while(state: State, test: Thunk, body: Thunk, place: Place, branch: Branch) -> None:
    """A `while` whose test is symbolic; raises ConversionError where a variable can't be carried through."""
    _build(_Loop(state, lambda _: test(), lambda index: (body(), index)[1], place, body, []), branch)


def _build(loop: _Loop, branch: Branch) -> None:
    """Build the loop; where its first iteration changes the dtype or rank of a value, this one is a branch in
    front of it."""
    before = loop.state.save()
    try:
        with backend.get().undone_on(CHANGES):
            loop.build()
    except CHANGES as error:
        loop.restore(before)
        first = loop.counted[0] if loop.counted else None

        def iterations() -> None:
            following = loop.body(first)
            loop.again([following] if loop.counted else []).build()

        try:
            with backend.get().undone_on(CHANGES):
                branch(loop.test(first), Side(loop.user_body, iterations), None)
        except CHANGES:
            loop.restore(before)
            raise error from None


class _Loop:
    """One loop while it is built; `counted` holds the first index of a `for`, and is empty for a `while`.

    What the body does shows only when it is built, so a loop may be built several times: with numbers that
    become floats as floats, or Tensors as Tensors, with lists that grow as tensor arrays, with the containers
    that it changes.
    """

    def __init__(
        self,
        state: State,
        test: Callable[[Any], Any],
        body: Callable[[Any], Any],
        place: Place,
        user_body: Callable[..., Any],
        counted: list[Any],
    ) -> None:
        self.state = state
        self.test = test
        self.body = body
        self.place = place
        self.user_body = user_body
        self.counted = counted
        self.containers: set[int] = set()  # those that the body changes, by id
        self.learnt = Learnt()
        self.keys_grow = False

    def again(self, counted: list[Any]) -> _Loop:
        """The same loop with another first index."""
        return _Loop(self.state, self.test, self.body, self.place, self.user_body, counted)

    def restore(self, before: list[Any]) -> None:
        """Undo what the loop's body did to variables and containers."""
        self.effects.put_back()
        self.state.restore(before)

    def build(self) -> None:
        """Raises ConversionError where a variable or container can't be carried through the loop."""
        tried = False
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
            except NOT_YET:
                self._restore()
                if tried or not self._learns_by_trial():
                    raise
                tried = True
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
        self.carried = Carried(self.place, [*self.state.live, *changed], self.learnt)
        if self.keys_grow or self.carried.incomplete():
            with guessing():
                self.carried.fill(backend.get().trial(self._try_body, self.counted + self.carried.leaves))
            self._restore()
        ran = [False] if self.carried.born else []
        leaves = self.counted + self.carried.leaves + ran
        return backend.get().while_loop(self._run_test, self._run_body, leaves)

    def _learns_by_trial(self) -> bool:
        """Whether the body makes a list longer when branches that read too far are skipped."""
        try:
            with guessing(), watching(self._knows), backend.get().undone_on((Rebuild, *NOT_YET)):
                backend.get().trial(self._try_body, self.counted + self.carried.leaves)
        except Grown as grown:
            self._restore()
            if belongs_outside(grown.items):
                raise
            self._replace(grown)
            return True
        except NOT_YET:
            self._restore()
            return False
        self._restore()
        return False

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
        with undecided(self.place):
            self.body(self._put(leaves))
        if is_guess():
            self.effects.changed()  # raises for a list that grew
        return self.carried.last()

    def _run_body(self, leaves: list[Any]) -> list[Any]:
        with undecided(self.place):
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
        self.containers.add(id(vars(made)))  # the body changes it: that is how it came to be
        if self.effects.knows(grown.items):
            self.effects.replace(grown.items, made)
        for slot in self.state.slots:
            if slot.get() is grown.items:
                slot.set(made)
