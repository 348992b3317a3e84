"""Forms of the built-in functions that go through their arguments, for those whose length, or whose items'
truth and order, only the running Program knows.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from engine.jit.convert import backend
from engine.jit.convert.backend import Number
from engine.jit.convert.runtime.calls import call
from engine.jit.convert.runtime.comprehensions import array_over, comprehend
from engine.jit.convert.runtime.control import convert_for, convert_ifexp, logical_and, logical_or
from engine.jit.convert.runtime.sequences import (
    Enumerated,
    Indexed,
    Known,
    Mapped,
    Reversed,
    Rows,
    SymbolicRange,
    Zipped,
    each,
    indexed,
    is_built,
)
from engine.jit.convert.runtime.state import refuse, user_place

MISSING: Any = object()


def convert_enumerate(iterable: Iterable[Any], start: Number = 0) -> Enumerated | enumerate[Any]:
    """`enumerate`."""
    return (
        Enumerated(indexed(iterable), start) if is_built(iterable) else enumerate(iterable, cast(int, start))
    )


def convert_zip(*iterables: Any, strict: bool = False) -> Zipped | zip[Any]:
    """`zip`."""
    if not any(is_built(items) for items in iterables):
        return zip(*iterables, strict=strict)
    parts = [indexed(items) for items in iterables]
    if strict:
        _require_one_length(parts)
    return Zipped(parts)


def _require_one_length(parts: list[Any]) -> None:
    lengths = [len(p.items) if isinstance(p, Known) else p.length() for p in parts if not _endless(p)]
    for length in lengths[1:]:
        backend.get().check(length == lengths[0], f"{user_place()}: zip(strict=True): lengths differ")


def _endless(part: Any) -> bool:
    return not isinstance(part, Known | Rows | SymbolicRange)


def convert_reversed(sequence: Any) -> Any:
    """`reversed`."""
    if not is_built(sequence):
        return reversed(sequence)
    items = indexed(sequence)
    if not isinstance(items, Rows | SymbolicRange):
        refuse(user_place(), "reversed()", type(sequence).__name__.lower(), "reverse what it goes over")
    return Reversed(items)


def convert_map(function: Callable[..., Any], *iterables: Any) -> Mapped | map[Any]:
    """`map`, with the function converted."""
    function = call(function)
    if not any(is_built(items) for items in iterables):
        return map(function, *iterables)
    parts = Zipped([indexed(items) for items in iterables])
    return Mapped(lambda items: function(*items), parts)


def convert_filter(function: Callable[..., Any] | None, iterable: Iterable[Any]) -> Any:
    """`filter`, with the function converted; all at once where the number of items is not known."""
    test = (lambda item: item) if function is None else call(function)
    return comprehend(iterable, lambda item: item, test) if is_built(iterable) else filter(test, iterable)


def convert_reduce(function: Callable[..., Any], iterable: Iterable[Any], initial: object = MISSING) -> Any:
    """`functools.reduce`, with the function converted."""
    return _folded("reduce", call(function), iterable, initial)


def convert_list(*args: Any) -> Any:
    """`list`, a tensor array where the number of items is not known."""
    return array_over(args[0]) if len(args) == 1 and is_built(args[0]) else list(*args)


def convert_tuple(*args: Any) -> Any:
    """`tuple`; a tensor array where the number of items is not known."""
    return array_over(args[0]) if len(args) == 1 and is_built(args[0]) else tuple(*args)


def convert_iter(*args: Any) -> Iterator[Any]:
    """`iter`, refused for what has no known length."""
    if len(args) == 1 and is_built(args[0]):
        iter(indexed(args[0]))
    return iter(*args)


def convert_sum(iterable: Iterable[Any], start: Any = 0) -> Any:
    """`sum`."""
    if _is_rows(iterable):
        made = backend.get().reduced("sum", iterable)
        if made is not None:
            return made + start
    return _folded("sum", operator.add, iterable, start) if is_built(iterable) else sum(iterable, start)


def convert_any(iterable: Iterable[Any]) -> Any:
    """`any`; every item is looked at where one of them is a symbolic value."""
    return _truth("any", iterable)


def convert_all(iterable: Iterable[Any]) -> Any:
    """`all`; every item is looked at where one of them is a symbolic value."""
    return _truth("all", iterable)


def _truth(name: str, iterable: Iterable[Any]) -> Any:
    if _is_rows(iterable):
        made = backend.get().reduced(name, iterable)
        if made is not None:
            return made
    found, join = (False, logical_or) if name == "any" else (True, logical_and)
    if is_built(iterable):
        return _folded(name, lambda one, other: join(one, lambda: _as_bool(other)), iterable, found)
    result: Any = found
    for item in iterable:
        result = join(result, functools.partial(_as_bool, item))
        if not backend.get().is_undecided(result) and result is not found:
            return result
    return result


def _as_bool(value: Any) -> Any:
    tools = backend.get()
    return tools.logical_not(tools.logical_not(value)) if tools.is_undecided(value) else bool(value)


def convert_max(*args: Any, **kwargs: Any) -> Any:
    """`max`."""
    return _extreme("max", max, operator.gt, args, kwargs)


def convert_min(*args: Any, **kwargs: Any) -> Any:
    """`min`."""
    return _extreme("min", min, operator.lt, args, kwargs)


def _extreme(
    name: str,
    python: Callable[..., Any],
    better: Callable[[Any, Any], Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    key, default = kwargs.get("key"), kwargs.get("default", MISSING)
    if set(kwargs) - {"key", "default"} or not args or (len(args) > 1 and default is not MISSING):
        return python(*args, **kwargs)
    items = args[0] if len(args) == 1 else args
    if _is_rows(items) and key is None and default is MISSING:
        made = backend.get().reduced(name, items)
        if made is not None:
            return made
    measure = (lambda item: item) if key is None else call(key)
    if is_built(items):
        measured = Mapped(lambda item: (item, measure(item)), indexed(items))
        return _folded(name, _chooser(better), measured, MISSING)[0]
    values = [backend.get().asked(item) for item in each(items)]
    measures = [measure(value) for value in values]
    if not any(backend.get().is_undecided(each_measure) for each_measure in measures):
        places = range(len(values))
        return values[python(places, key=measures.__getitem__)] if values else python(values, **kwargs)
    return functools.reduce(_chooser(better), zip(values, measures, strict=True))[0]


def _chooser(better: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The better of two items with their measures, the first where they are equal."""
    return lambda one, other: convert_ifexp(better(other[1], one[1]), lambda: other, lambda: one)


def convert_sorted(
    iterable: Iterable[Any], /, *, key: Callable[..., Any] | None = None, reverse: bool = False
) -> Any:
    """`sorted`; symbolic numbers are sorted by an operator."""
    tools = backend.get()
    items = array_over(iterable) if is_built(iterable) else list(each(iterable))
    if not tools.is_array(items):
        measured = items if key is None else [call(key)(item) for item in items]
        if not any(tools.is_undecided(value) for value in measured):
            return sorted(items, key=None if key is None else call(key), reverse=reverse)
    made = tools.sorted(items, reverse) if key is None else "a key decides the order"
    if isinstance(made, str):
        refuse(
            user_place(),
            "sorted() of Tensors",
            made,
            "stack them, and use paddle.sort, or paddle.argsort and paddle.gather",
        )
    return made


def _is_rows(value: object) -> bool:
    return backend.get().is_symbolic(value)


def _folded(name: str, function: Callable[[Any, Any], Any], items: Iterable[Any], first: object) -> Any:
    """`function(function(first, items[0]), items[1])` and so on."""
    if not is_built(items):
        values: Iterable[Any] = each(items)
        return functools.reduce(function, values, *([] if first is MISSING else [first]))
    if first is MISSING:
        sequence = indexed(items)
        backend.get().check(sequence.within(0), f"{user_place()}: {name}() of no items")
        first = sequence.item(0)
        items = _Rest(sequence)
    result = first

    def body(item: Any) -> None:
        nonlocal result
        result = function(result, item)

    convert_for(items, body, state=lambda: (result,))
    return result


class _Rest(Indexed):
    """All but the first item."""

    def __init__(self, sequence: Any) -> None:
        self.sequence = sequence

    def within(self, index: Any) -> Any:
        return self.sequence.within(index + 1)

    def item(self, index: Any) -> Any:
        return self.sequence.item(index + 1)


# By identity, as in builtin_forms.
ITERATION_FORMS: dict[int, Callable[..., Any]] = {
    id(enumerate): convert_enumerate,
    id(zip): convert_zip,
    id(reversed): convert_reversed,
    id(map): convert_map,
    id(filter): convert_filter,
    id(functools.reduce): convert_reduce,
    id(list): convert_list,
    id(tuple): convert_tuple,
    id(iter): convert_iter,
    id(sum): convert_sum,
    id(any): convert_any,
    id(all): convert_all,
    id(max): convert_max,
    id(min): convert_min,
    id(sorted): convert_sorted,
}
