"""Comprehensions: lists where their length is known while the Program is built, tensor arrays elsewhere."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from engine.jit.convert import backend
from engine.jit.convert.runtime.control import convert_for, convert_ifelse
from engine.jit.convert.runtime.items import as_array
from engine.jit.convert.runtime.sequences import each, is_built
from engine.jit.convert.runtime.state import refuse, user_place

Function = Callable[[Any], Any]


def comprehend(
    items: Iterable[Any], element: Function, test: Function | None = None, flat: bool = False
) -> Any:
    """`[element(item) for item in items if test(item)]`; `flat` joins the lists that `element` gives."""
    comprehension: Any = []

    def add(item: Any) -> None:
        nonlocal comprehension
        if flat:
            comprehension = listed(comprehension, element(item))
        else:
            comprehension.append(element(item))

    def body(item: Any) -> None:
        if test is None:
            add(item)
        else:
            convert_ifelse(test(item), functools.partial(add, item), None, state=lambda: (comprehension,))

    if is_built(items):
        convert_for(items, body, state=lambda: (comprehension,))
        return comprehension
    for item in each(items):
        body(item)
    return comprehension


def comprehend_set(
    items: Iterable[Any], element: Function, test: Function | None = None, flat: bool = False
) -> set[Any]:
    """`{element(item) for item in items if test(item)}`."""
    return set(_python_values("set", items, element, test, flat))


def comprehend_dict(
    items: Iterable[Any], element: Function, test: Function | None = None, flat: bool = False
) -> dict[Any, Any]:
    """`{key: value for item in items if test(item)}`, where `element` gives key and value."""
    return dict(_python_values("dict", items, element, test, flat))


def generate(items: Iterable[Any], element: Function, test: Function | None = None) -> Any:
    """`(element(item) for item in items if test(item))`; where their number is not known, all at once."""
    return comprehend(items, element, test) if is_built(items) else _generated(iter(items), element, test)


def _generated(items: Iterator[Any], element: Function, test: Function | None) -> Iterator[Any]:
    for item in items:
        if test is None or test(item):
            yield element(item)


def listed(*parts: Any) -> Any:
    """`[*parts[0], *parts[1], ...]`; a tensor array where one part is of unknown length."""
    if not any(is_built(part) for part in parts):
        return [item for part in parts for item in each(part)]
    joined: Any = None
    for part in parts:
        more = array_over(part) if is_built(part) else list(part)
        if joined is None:
            joined = more
        elif isinstance(joined, list) and not isinstance(more, list):
            joined = as_array(joined, "a list next to a tensor array") + more if joined else more
        else:
            joined = joined + more
    return joined


def array_over(items: Any) -> Any:
    """A tensor array of its own of the items, whose number is not known."""
    tools = backend.get()
    if tools.is_array(items):
        return items.with_leaves(items.leaves())
    return tools.rows(items) if tools.is_tensor(items) else comprehend(items, lambda item: item)


def _python_values(
    what: str, items: Iterable[Any], element: Function, test: Function | None, flat: bool
) -> list[Any]:
    values = comprehend(items, element, test, flat)
    if backend.get().is_array(values):
        refuse(
            user_place(),
            f"a {what} comprehension whose length a Tensor decides",
            "a tensor array",
            "make it a list of Tensors",
        )
    return values  # type: ignore[no-any-return]
