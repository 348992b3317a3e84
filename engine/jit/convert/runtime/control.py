"""Branches, loops and logic of converted code: Python's own for Python values, operators with sub-blocks for
Tensors.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

from engine.jit.convert import backend
from engine.jit.convert.runtime import attempt
from engine.jit.convert.runtime.attempt import undecided
from engine.jit.convert.runtime.effects import Effects
from engine.jit.convert.runtime.equality import equal, holds, lacks, unequal
from engine.jit.convert.runtime.growing import (
    NOT_YET,
    Grown,
    Rebuild,
    array_of,
    belongs_outside,
    is_guess,
    watching,
)
from engine.jit.convert.runtime.loops import Until, build_for, build_while
from engine.jit.convert.runtime.merge import Pairs, decided, describe
from engine.jit.convert.runtime.sequences import each, is_built
from engine.jit.convert.runtime.state import Slot, State, refuse, user_place

Thunk = Callable[[], Any]
Names = Callable[[], object] | None


def convert_ifelse(
    pred: object, true_fn: Thunk, false_fn: Thunk | None, state: Names = None, live: Names = None
) -> None:
    """`if pred: true_fn() else: false_fn()`; for a symbolic condition both are built and their variables
    joined.

    Raises ConversionError where a variable that is needed afterwards can't be joined.
    """
    pred = decided(pred)
    if not backend.get().is_undecided(pred):
        if pred:
            true_fn()
        elif false_fn is not None:
            false_fn()
        return
    place = user_place()
    while True:
        variables = State(state, live, place)
        effects = Effects(place, true_fn, false_fn)
        before = variables.save()

        def knows(container: Any, effects: Effects = effects, before: list[Any] = before) -> bool:
            return effects.knows(container) or any(value is container for value in before)

        try:
            with watching(knows), backend.get().undone_on((Rebuild, *NOT_YET)):
                _build_ifelse(pred, true_fn, false_fn, variables, effects)
            return
        except NOT_YET:
            if not is_guess():
                raise
            variables.restore(before)
            effects.put_back()
            return
        except Grown as grown:
            variables.restore(before)
            effects.put_back()
            if belongs_outside(grown.items) or not knows(grown.items):
                raise
            made = array_of(place, grown)
            if effects.knows(grown.items):
                effects.replace(grown.items, made)
            for slot in variables.slots:
                if slot.get() is grown.items:
                    slot.set(made)


def _build_ifelse(
    pred: Any, true_fn: Thunk, false_fn: Thunk | None, variables: State, effects: Effects
) -> None:
    before = variables.save()
    pairs = Pairs(effects.place, "where the condition is true", "where it is false", [], [])
    builds: list[Callable[..., Any]] = []

    def side(function: Thunk | None) -> Callable[[], tuple[list[Any], list[Any]]]:
        def build() -> tuple[list[Any], list[Any]]:
            variables.restore(before)
            if function is not None:
                with undecided(effects.place):
                    function()
            known = dict(zip(map(id, variables.slots), before, strict=True))
            pairs = zip(variables.live, variables.live_values(), strict=True)
            # A dimension that the side makes is asked for within it.
            values = [v if v is known[id(slot)] else backend.get().asked(v) for slot, v in pairs]
            return values, effects.take()

        return build

    def join(
        first: tuple[list[Any], list[Any]], second: tuple[list[Any], list[Any]]
    ) -> tuple[list[Any], list[Any]]:
        for slot, one, other in zip(variables.live, first[0], second[0], strict=True):
            _note_growth(slot, before[variables.slots.index(slot)], one, other)
            builds.append(pairs.join(slot.name, one, other))
        effects.join(pairs, first[1], second[1])
        return pairs.first, pairs.second

    leaves = backend.get().cond(pred, side(true_fn), side(false_fn), join)
    variables.finish([build(leaves) for build in builds])
    effects.finish(leaves)


def _note_growth(slot: Slot, before: Any, one: Any, other: Any) -> None:
    """Raise Grown where two sides made lists of different lengths out of one that was there before."""
    if isinstance(before, list) and isinstance(one, list) and isinstance(other, list):
        longer, shorter = (one, other) if len(one) > len(other) else (other, one)
        if len(longer) != len(shorter) and len(shorter) >= len(before):
            raise Grown(slot.name, before, before, longer)


def convert_ifexp(pred: object, true_fn: Thunk, false_fn: Thunk) -> Any:
    """`true_fn() if pred else false_fn()`."""
    pred = decided(pred)
    if not backend.get().is_undecided(pred):
        return true_fn() if pred else false_fn()
    place = user_place()
    pairs = Pairs(place, "where the condition is true", "where it is false", [], [])
    builds: list[Callable[..., Any]] = []

    def side(thunk: Thunk) -> Thunk:
        def build() -> Any:
            with undecided(place):
                return thunk()

        return build

    def join(first: Any, second: Any) -> tuple[list[Any], list[Any]]:
        builds.append(pairs.join("the conditional expression", first, second))
        return pairs.first, pairs.second

    leaves = backend.get().cond(pred, side(true_fn), side(false_fn), join)
    return builds[0](leaves)


def logical_and(first: object, *others: Thunk) -> Any:
    """`first and others[0]() and ...` with Python's short circuit as long as the values are Python's."""
    return _logical(lambda value: value, backend.get().logical_and, first, others)


def logical_or(first: object, *others: Thunk) -> Any:
    """`first or others[0]() or ...` with Python's short circuit as long as the values are Python's."""
    return _logical(operator.not_, backend.get().logical_or, first, others)


def _logical(
    goes_on: Callable[[Any], Any],
    combine: Callable[[Any, Any], Any],
    first: object,
    others: tuple[Thunk, ...],
) -> Any:
    value = decided(first)
    for other in others:
        symbolic = backend.get().is_undecided(value)
        if not symbolic and not goes_on(value):
            return value
        following = decided(other())
        if symbolic:
            if not backend.get().is_undecided(following):
                # A value of Python decides, or leaves it to the Tensor; so a flag may prune a branch.
                value = value if goes_on(following) else following
                continue
            following = combine(value, following)
        value = following
    return value


def value_and(first: object, *others: Thunk) -> Any:
    """`first and ...` whose value is needed, not only its truth."""
    return _valued("and", logical_and, first, others)


def value_or(first: object, *others: Thunk) -> Any:
    """`first or ...` whose value is needed, not only its truth."""
    return _valued("or", logical_or, first, others)


def _valued(word: str, combine: Callable[..., Any], first: object, others: tuple[Thunk, ...]) -> Any:
    """The combination; where it can run eagerly, refused for Tensors whose truth is not their value."""
    if attempt.current() is None:
        return combine(first, *others)
    met: list[Any] = []

    def noted(value: Any) -> Any:
        met.append(value)
        return value

    def noting(thunk: Thunk) -> Thunk:
        return lambda: noted(thunk())

    result = combine(noted(first), *map(noting, others))
    if any(map(backend.get().is_undecided, met[:-1])) and not all(map(backend.get().is_truth, met)):
        refuse(
            user_place(),
            f"`{word}` gives one of its values, and a Tensor decides which",
            ", ".join(map(describe, met)),
            "write `if`, or use paddle.logical_and or paddle.logical_or of bool Tensors",
        )
    return result


def logical_not(value: object) -> Any:
    """`not value`."""
    value = decided(value)
    return backend.get().logical_not(value) if backend.get().is_undecided(value) else not value


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": equal,
    "!=": unequal,
    "in": holds,
    "not in": lacks,
    "is": operator.is_,
    "is not": operator.is_not,
}


def compare_chain(first: object, *links: Any) -> Any:
    """`first < a <= b ...`: links are signs and thunks in turn; each value is evaluated once, and only where
    needed.
    """
    result: Any = None
    for sign, thunk in zip(links[::2], links[1::2], strict=True):
        value = thunk()
        link = COMPARISONS[sign](first, value)
        result = link if result is None else logical_and(result, _given(link))
        if not backend.get().is_undecided(result) and not result:
            return result
        first = value
    return result


def _given(value: Any) -> Thunk:
    return lambda: value


def convert_while_loop(test: Thunk, body: Thunk, state: Names = None, live: Names = None) -> None:
    """`while test(): body()`; from the first symbolic test on, the rest is built as one operator."""
    value = decided(test())
    while not backend.get().is_undecided(value):
        if not value:
            return
        body()
        value = decided(test())
    place = user_place()
    branch = functools.partial(convert_ifelse, state=state, live=live)
    build_while(State(state, live, place), lambda: decided(test()), body, place, branch)


def until(items: Iterable[Any], stop: Thunk) -> Until:
    """The iterable of a `for` whose body has a `break`: iteration ends once `stop()` holds."""
    return Until(items, stop)


def convert_for(
    items: Iterable[Any] | Until, body: Callable[[Any], None], state: Names = None, live: Names = None
) -> None:
    """`for item in items: body(item)` over Python iterables, symbolic ranges and symbolic Tensors.

    A loop whose length is known while the Program is built is unrolled; any other is built as one operator.
    """
    items, stop = (items.items, items.stop) if isinstance(items, Until) else (items, _never)
    if is_built(items):
        place = user_place()
        branch = functools.partial(convert_ifelse, state=state, live=live)
        build_for(items, stop, body, State(state, live, place), place, branch)
        return
    for item in each(items):
        stopped = stop()
        if backend.get().is_undecided(stopped):
            # The flag is known only when the Program runs: what is left of the loop is built under it.
            convert_ifelse(logical_not(stopped), functools.partial(body, item), None, state, live)
            continue
        body(item)
        stopped = stop()
        if not backend.get().is_undecided(stopped) and stopped:
            return


def _never() -> bool:
    return False
