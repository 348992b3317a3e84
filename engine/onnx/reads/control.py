"""Rows of branches and loops, whose graphs become blocks of the Program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.onnx.reads.rows import Raw, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import Items, NeedsKnown, Unreadable, sizes_of
from engine.tensor.arrays import control as array_control
from engine.tensor.arrays.tensor_array import TensorArray

MOST_UNROLLED = 8  # iterations of a loop whose number is known


def _lowered(g: Any, value: Any) -> Any:
    """A value as a branch or a loop hands it on."""
    if isinstance(value, Items):
        return [g.tensor(v) for v in value.items]
    if isinstance(value, TensorArray) or value is None:
        return value
    return g.tensor(value)


def _raised(value: Any) -> Any:
    return Items(value) if isinstance(value, list) else value


@reads("If")
def _(g: Any, cond: Raw, *, then_branch: Any, else_branch: Any) -> Any:
    if isinstance(cond, np.ndarray):
        return tuple(g.graph(then_branch if bool(cond.reshape(-1)[0]) else else_branch, ()))

    def side(graph: Any) -> Callable[[], Any]:
        return lambda: [_lowered(g, value) for value in g.graph(graph, ())]

    made = array_control.cond(g.tensor(cond), side(then_branch), side(else_branch))
    return tuple(_raised(value) for value in made)


def _array_of(g: Any, value: Any) -> Any:
    """A loop's state as it is before the loop: sequences as arrays whose length may change."""
    if isinstance(value, Items):
        items = [g.tensor(v) for v in value.items]
        return TensorArray.of(items, items[0]) if items else TensorArray(None, ())
    if value is None:
        raise Unreadable("a state of a loop is missing")
    return g.tensor(value)


@reads("Loop")
def _(g: Any, M: Raw = None, cond: Raw = None, *v_initial: Raw, body: Any) -> Any:
    states = len(v_initial)
    count = len(body.output) - 1 - states
    if count < 0 or len(body.input) != states + 2:
        raise Unreadable(f"its body takes {len(body.input)} values and gives {len(body.output)}")
    most = None if M is None else (int(M.reshape(-1)[0]) if isinstance(M, np.ndarray) else T.reshape(M, []))
    first = (
        True
        if cond is None
        else (bool(cond.reshape(-1)[0]) if isinstance(cond, np.ndarray) else T.reshape(cond, []))
    )
    if isinstance(most, int) and first is True and most <= MOST_UNROLLED:
        made = _unrolled(g, body, most, list(v_initial), count)
        if made is not None:
            return made

    def results(iteration: Any, keep: Any, values: Sequence[Any]) -> tuple[Any, list[Any], list[Any]]:
        found = g.graph(body, [iteration, keep, *values])
        return T.reshape(g.tensor(found[0]), []), found[1 : 1 + states], found[1 + states :]

    begin = [_array_of(g, value) for value in v_initial]
    return _looped(g, begin, most, first, count, results)


def _unrolled(g: Any, body: Any, most: int, values: list[Any], count: int) -> Any:
    """A loop whose number of iterations is known, one after the other; None where its condition is not."""
    states = len(values)
    stacks: list[list[Any]] = [[] for _ in range(count)]
    for n in range(most):
        found = g.graph(body, [np.asarray(n, np.int64), np.asarray(True), *values])
        if not isinstance(found[0], np.ndarray):
            return None if n == 0 else _refused_condition()
        values = found[1 : 1 + states]
        for stack, value in zip(stacks, found[1 + states :], strict=True):
            stack.append(value)
        if not bool(found[0].reshape(-1)[0]):
            break
    if count and not stacks[0]:
        return None
    made = []
    for stack in stacks:
        if all(isinstance(v, np.ndarray) for v in stack):
            made.append(np.stack(stack))
        else:
            made.append(T.stack([g.tensor(v) for v in stack], axis=0))
    return (*values, *made)


def _refused_condition() -> Any:
    raise NeedsKnown("whether a loop continues must be known in all iterations, or in none")


def _looped(
    g: Any,
    begin: list[Any],
    most: Any,
    first: Any,
    count: int,
    results: Callable[[Any, Any, Sequence[Any]], tuple[Any, list[Any], list[Any]]],
) -> tuple[Any, ...]:
    """A loop that the running model repeats: its last states, and what its iterations gave, stacked."""
    stacks = [TensorArray(None, ()) for _ in range(count)]
    start = T.full([], 0, "int64")
    keep = T.full([], True, "bool") if first is True or first is False else first
    if first is False:
        keep = T.full([], False, "bool")
    limit = None if most is None else T.full([], most, "int64") if isinstance(most, int) else most

    def test(iteration: Any, keep: Any, *_: Any) -> Any:
        return keep if limit is None else T.logical_and(keep, T.less_than(iteration, limit))

    def step(iteration: Any, keep: Any, *values: Any) -> list[Any]:
        again, states, parts = results(iteration, keep, values)
        for stack, part in zip(stacks, parts, strict=True):
            part = g.tensor(part)
            stack.begin(part)
            stack.append(part)
        states = [_array_of(g, value) for value in states]
        return [T.add(iteration, T.full([], 1, "int64")), again, *states]

    made = array_control.while_loop(test, step, [start, keep, *begin])
    return (*made[2:], *(stack.stacked() for stack in stacks))


@reads("Scan")
def _(
    g: Any,
    *initial: Raw,
    num_scan_inputs: int,
    body: Any,
    scan_input_axes: list[int] | None = None,
    scan_input_directions: list[int] | None = None,
    scan_output_axes: list[int] | None = None,
    scan_output_directions: list[int] | None = None,
) -> Any:
    states = len(initial) - num_scan_inputs
    count = len(body.output) - states
    if states < 0 or count < 0 or num_scan_inputs < 1 or len(body.input) != len(initial):
        raise Unreadable(f"its body takes {len(body.input)} values and gives {len(body.output)}")
    begin = [_array_of(g, value) for value in initial[:states]]
    axes = scan_input_axes or [0] * num_scan_inputs
    turned = scan_input_directions or [0] * num_scan_inputs
    given = []
    for value, axis, back in zip(initial[states:], axes, turned, strict=True):
        x = g.tensor(value)
        axis %= x.ndim
        x = T.flip(x, [axis]) if back else x
        given.append(T.transpose(x, [axis, *(n for n in range(x.ndim) if n != axis)]) if axis else x)
    length = sizes_of(given[0])[0]

    def results(iteration: Any, keep: Any, values: Sequence[Any]) -> tuple[Any, list[Any], list[Any]]:
        found = g.graph(body, [*values, *(x[iteration] for x in given)])
        return T.full([], True, "bool"), found[:states], found[states:]

    made = _looped(g, begin, length, True, count, results)
    out_axes = scan_output_axes or [0] * count
    out_turned = scan_output_directions or [0] * count
    stacked = []
    for x, axis, is_back in zip(made[states:], out_axes, out_turned, strict=True):
        x = T.flip(x, [0]) if is_back else x
        axis %= x.ndim
        order = list(range(1, x.ndim))
        stacked.append(T.transpose(x, [*order[:axis], 0, *order[axis:]]) if axis else x)
    return (*made[:states], *stacked)
