"""Random Programs over many operators, shapes and dtypes, with branches and loops, in public functions.

The eager result, the Executor's with passes and without, that of the Program after a trip through bytes, and
that of the converted function are bitwise identical; the Program's text is the same too. The examples are
those of every run; ``--long`` tries 50 times as many.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import engine as paddle
from engine import static
from engine.program.passes.pipeline import level

TRIALS = 1250 if os.environ.get("MODEL_STUDIO_LONG") else 12
DTYPES = ["float32", "float64", "int32", "int64", "bool"]
Step = tuple[str, int, int, list[Any]]


def number(x: Any, dtype: str = "float32") -> Any:
    """``x`` with a dtype that the operator takes; numbers stay small."""
    return paddle.clip(paddle.cast(x, dtype), -20, 20)


def rows(x: Any) -> Any:
    return paddle.reshape(x, [int(np.prod(x.shape[:1])), -1])


UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": lambda x: paddle.abs(number(x)),
    "exp": lambda x: paddle.exp(paddle.clip(number(x), -3, 3)),
    "sin": lambda x: paddle.sin(number(x, "float64")),
    "sign": lambda x: paddle.sign(number(x)),
    "floor": lambda x: paddle.floor(number(x) / 3.0),
    "round": lambda x: paddle.round(number(x) * 0.7),
    "square": lambda x: paddle.square(number(x, "int64")) % 17,
    "not": lambda x: paddle.logical_not(paddle.cast(x, "bool")),
    "float32": lambda x: paddle.cast(x, "float32"),
    "float64": lambda x: paddle.cast(x, "float64"),
    "int32": lambda x: number(x, "int32"),
    "bool": lambda x: paddle.cast(x, "bool"),
    "flatten": lambda x: paddle.flatten(x),
    "rows": rows,
    "transpose": lambda x: paddle.transpose(x, list(range(len(x.shape)))[::-1]),
    "unsqueeze": lambda x: paddle.unsqueeze(x, 0) if len(x.shape) < 4 else x,
    "sum": lambda x: paddle.sum(number(x), axis=-1),
    "mean": lambda x: paddle.mean(number(x, "float64"), axis=0, keepdim=True),
    "max": lambda x: paddle.max(number(x), axis=-1, keepdim=True),
    "cumsum": lambda x: paddle.cumsum(number(x), axis=0),
    "argmax": lambda x: paddle.argmax(number(x), axis=-1),
    "sort": lambda x: paddle.sort(number(x), axis=-1),
    "softmax": lambda x: paddle.nn.functional.softmax(number(x), axis=-1),
    "flip": lambda x: paddle.flip(x, axis=[0]),
    "roll": lambda x: paddle.roll(number(x), 1, axis=0),
    "slice": lambda x: x[:1],
    "last": lambda x: x[..., -1:],
    "step": lambda x: x[::2],
    "tile": lambda x: paddle.tile(rows(number(x)), [1, 2]) if np.prod(x.shape) < 40 else x,
    "twice": lambda x: paddle.concat([number(x), number(x)], axis=0) if np.prod(x.shape) < 40 else x,
    "stack": lambda x: paddle.max(paddle.stack([number(x), number(x) * 2.0]), axis=0),
    "split": lambda x: paddle.split(x, [1, -1], axis=0)[0] if x.shape[0] > 1 else x,
    "where": lambda x: paddle.where(number(x) > 1.0, number(x), number(x) - 4.0),
    "matmul": lambda x: paddle.matmul(rows(number(x)), rows(number(x)), transpose_y=True),
    "gather": lambda x: paddle.gather(number(x), paddle.zeros([2], "int64"), axis=0),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - 2.0 * b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / (paddle.abs(b) + 1.0),
    "maximum": lambda a, b: paddle.maximum(a, b),
    "less": lambda a, b: a < b,
    "and": lambda a, b: paddle.logical_and(a > 0.0, b > 0.0),
    "choose": lambda a, b: paddle.where(a > b, a, b),
}


@st.composite
def steps(draw: Any, depth: int = 0) -> list[Step]:
    """What to apply one after the other, and numbers that choose among the values there are."""
    kinds = [*UNARY, *BINARY] + ([] if depth > 1 else ["cond", "while"] * 4)
    made: list[Step] = []
    for _ in range(draw(st.integers(1, 6 - 2 * depth))):
        kind = draw(st.sampled_from(kinds))
        inner = [draw(steps(depth + 1)) for _ in range(2)] if kind in ("cond", "while") else []
        made.append((kind, draw(st.integers(0, 30)), draw(st.integers(0, 30)), inner))
    return made


def alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Both as vectors of four numbers, so that any two values fit."""

    def four(x: Any) -> Any:
        flat = paddle.flatten(number(x))
        return paddle.concat([flat] * (4 // flat.shape[0] + 1))[:4]

    return four(a), four(b)


def applied(plan: list[Step], values: list[Any]) -> Any:
    """The last value after all steps; ``values`` is what they choose from."""
    values = list(values)
    for kind, one, other, inner in plan:
        a, b = values[one % len(values)], values[other % len(values)]
        if kind in UNARY:
            values.append(UNARY[kind](a))
        elif kind in BINARY:
            values.append(BINARY[kind](*alike(a, b)))
        else:
            values.append((branch if kind == "cond" else loop)(a, b, inner, values))
    return values[-1]


def branch(a: Any, b: Any, inner: list[Any], values: list[Any]) -> Any:
    first, second = alike(a, b)
    above = paddle.sum(first) > paddle.sum(second)
    return static.nn.cond(
        above,
        lambda: alike(applied(inner[0], [*values, first]), a)[0],
        lambda: alike(applied(inner[1], [*values, second]), a)[0],
    )


def loop(a: Any, b: Any, inner: list[Any], values: list[Any]) -> Any:
    begin = alike(a, b)[0]

    def body(count: Any, value: Any) -> list[Any]:
        return [count + 1, alike(applied(inner[0], [*values, value]), b)[0]]

    zero = paddle.zeros([1], "int64")
    return static.nn.while_loop(lambda count, _: count < 3, body, [zero, begin])[1]


inputs = st.tuples(
    st.sampled_from(DTYPES), st.lists(st.integers(1, 3), min_size=1, max_size=3), st.integers(0, 99)
)


def array_of(kind: tuple[str, list[int], int]) -> np.ndarray[Any, Any]:
    dtype, shape, seed = kind
    return np.round(np.random.default_rng(seed).uniform(-5, 5, shape), 1).astype(dtype)


def bits(array: Any) -> tuple[Any, ...]:
    array = np.asarray(array)
    return str(array.dtype), array.shape, np.where(array != array, np.nan, array).tobytes()


@settings(
    max_examples=TRIALS,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(steps(), inputs, inputs)
def test_every_way_of_running_gives_the_same(plan: list[Step], x: Any, y: Any) -> None:
    arrays = [array_of(x), array_of(y)]
    expected = bits(applied(plan, [paddle.to_tensor(array) for array in arrays]).numpy())
    paddle.enable_static()
    try:
        program = static.Program()
        with static.program_guard(program, static.Program()):
            places = [static.data(n, list(v.shape), v.dtype) for n, v in zip("xy", arrays, strict=True)]
            result = applied(plan, places)
        feed = dict(zip("xy", arrays, strict=True))
        executor = static.Executor()
        with level.guard(0):
            assert bits(executor.run(program, feed, [result])[0]) == expected, "operator by operator"
        assert bits(executor.run(program, feed, [result])[0]) == expected, "with passes"
        again = static.Program.parse_from_string(program.desc.serialize_to_string())
        assert str(again) == str(program)
        assert bits(executor.run(again, feed, [result.name])[0]) == expected, "after a trip through bytes"
    finally:
        paddle.disable_static()
    converted = paddle.jit.to_static(lambda x, y: applied(plan, [x, y]))
    assert bits(converted(*map(paddle.to_tensor, arrays)).numpy()) == expected, "converted"
