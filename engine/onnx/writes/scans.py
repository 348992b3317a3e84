"""Rows that walk along an axis, by ``Scan``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.values.spec import Spec
from engine.onnx.extra import onnx_package
from engine.onnx.writes.graph import Graph, Value, element_type
from engine.onnx.writes.sizes import BEFORE_FIRST


def scanned(
    g: Graph,
    body: Callable[..., Sequence[Value]],
    states: Sequence[tuple[Value, str, int]],
    values: Sequence[tuple[Value, str, int]],
    axis: int,
    reverse: bool = False,
    made: Sequence[tuple[str, int]] = (),
) -> list[Value]:
    """A ``Scan``: ``body(inner, *states, *values)`` gives the next states, then what is stacked.

    States and values come with dtype and number of dimensions (of values: in one step), as does what is
    ``made``. Values are read, and results stacked, along ``axis``, from the end with ``reverse``.
    """
    helper, writer = onnx_package().helper, g.writer
    inner = Graph(writer, g)

    def info(name: str, dtype: str, ndim: int) -> Any:
        return helper.make_tensor_value_info(name, element_type(dtype), [None] * ndim)

    kinds = [(dtype, ndim) for _, dtype, ndim in (*states, *values)]
    given = [Value(writer.names.free("step"), Spec([-1] * ndim, dtype)) for dtype, ndim in kinds]
    results = [inner.Identity(value) for value in body(inner, *given)]
    outputs = [*kinds[: len(states)], *made]
    graph = inner.proto(
        "body",
        [info(value.name, *kind) for value, kind in zip(given, kinds, strict=True)],
        [info(value.name, *kind) for value, kind in zip(results, outputs, strict=True)],
    )

    def moved(value: Value, ndim: int, back: bool = False) -> Value:
        """The axis first, or ``back``: the reference evaluator scans the first only, forward."""
        order = [axis, *(n for n in range(ndim) if n != axis)]
        value = turned(value) if back else value
        made = g.transposed(value, [order.index(n) for n in range(ndim)] if back else order)
        return made if back else turned(made)

    def turned(value: Value) -> Value:
        """In reverse order, where that is asked for."""
        return g.Slice(value, [-1], [BEFORE_FIRST], [0], [-1]) if reverse else value

    results = g.node(
        "Scan",
        *(value for value, *_ in states),
        *(moved(value, ndim + 1) for value, _, ndim in values),
        outputs=len(outputs),
        body=graph,
        num_scan_inputs=len(values),
    )
    last, stacked = results[: len(states)], results[len(states) :]
    return [
        *last,
        *(moved(value, ndim + 1, back=True) for value, (_, ndim) in zip(stacked, made, strict=True)),
    ]
