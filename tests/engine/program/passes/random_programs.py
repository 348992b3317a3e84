"""Random Programs: lists of steps that hypothesis draws, and the results of a Program of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import engine as paddle
from engine.core import mode as modes
from engine.core.values.spec import Spec
from engine.eager.tensor import Tensor
from engine.jit.run_program import ProgramRunner
from engine.ops.activations import smooth
from engine.ops.arrays import creation, shape
from engine.ops.control import flow
from engine.ops.elementwise import arithmetic, comparison
from engine.ops.images import conv
from engine.ops.random import draws
from engine.ops.reductions import reduce
from engine.ops.training.parameter_updates import assign_into
from engine.program.build.builder import Builder, variable
from engine.program.build.control import cond, while_loop
from engine.program.graph.program import Program

UNARY = {
    "scale": lambda x: arithmetic.scale(x, scale=0.5, bias=0.1),
    "tanh": smooth.tanh,
    "sin": paddle.sin,
    "relu": paddle.nn.functional.relu,
    "mean": lambda x: reduce.mean(x, keepdim=True, reduce_all=True),
    "transpose": lambda x: shape.transpose(shape.transpose(x, axis=[0, 1, 3, 2]), axis=[0, 1, 3, 2]),
    "print": lambda x: flow.print_value(x, message=""),
    "detach": lambda x: x.detach(),
    "gelu": paddle.nn.functional.gelu,
    "leaky_relu": paddle.nn.functional.leaky_relu,
    "clip": lambda x: paddle.clip(x, -0.5, 0.7),
    "cast": lambda x: arithmetic.cast(
        paddle.tanh(arithmetic.cast(x, out_dtype="float64")), out_dtype="float32"
    ),
    "channels": lambda x: arithmetic.multiply(x, reduce.mean(x, axis=[0, 2], keepdim=True, reduce_all=False)),
}
BINARY = {
    "add": arithmetic.add,
    "subtract": arithmetic.subtract,
    "divide": lambda a, b: a / (paddle.abs(b) + 1.0),
    "where": lambda a, b: paddle.where(a > b, arithmetic.scale(a, scale=0.5), b),
    "maximum": lambda a, b: paddle.maximum(a, b),
    "multiply": lambda a, b: arithmetic.multiply(paddle.tanh(a), b),
    "random": lambda a, b: arithmetic.add(
        a, draws.uniform(shape=list(b.shape), min=-1.0, max=1.0, dtype="float32")
    ),
}


@st.composite
def steps(draw: Any, depth: int = 0) -> list[tuple[Any, ...]]:
    """Operations to apply one after the other: a name, and numbers that choose among the existing values."""
    kinds = [*UNARY, *BINARY, "constant", "conv", "bias", "norm", "write"]
    if depth < 2:
        kinds += ["cond", "while"]
    made: list[tuple[Any, ...]] = []
    for _ in range(draw(st.integers(1, 7 - 2 * depth))):
        kind = draw(st.sampled_from(kinds))
        choice = (draw(st.integers(0, 30)), draw(st.integers(0, 30)))
        within = steps(depth + 1)
        inner = [draw(within) for _ in range(2)] if kind in ("cond", "while") else []
        made.append((kind, choice, inner))
    return made


class Weights:
    """Parameters by purpose, the same in every Program that is built from one list of steps."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(3)
        self.made: dict[Any, Tensor] = {}

    def __call__(self, key: Any, *dims: int) -> Tensor:
        if key not in self.made:
            buffer = key == "state" or key[0] in ("mean", "variance")
            tensor = Tensor(self.rng.uniform(0.2, 1.0, dims).astype("float32"), stop_gradient=buffer)
            tensor.name, tensor.persistable = f"weight_{len(self.made)}", True
            self.made[key] = tensor
        return self.made[key]


def applied(plan: list[Any], values: list[Any], weights: Weights) -> Any:
    """The last value after all steps; steps choose from ``values``."""
    values = list(values)
    for kind, (one, other), inner in plan:
        a, b = values[one % len(values)], values[other % len(values)]
        values.append(_step(kind, a, b, (one, other), inner, values, weights))
    return values[-1]


def _step(kind: str, a: Any, b: Any, key: Any, inner: Any, values: list[Any], weights: Weights) -> Any:
    if kind in UNARY:
        result = UNARY[kind](a)
        return shape.expand(result, shape=[2, 3, 4, 4]) if kind == "mean" else result
    if kind in BINARY:
        return BINARY[kind](a, b)
    if kind == "constant":
        ones = shape_of_ones(key[0])
        return arithmetic.add(a, arithmetic.scale(ones, scale=0.25))
    if kind == "conv":
        made = conv.conv2d(a, weights(("filter", key), 3, 3, 3, 3), paddings=[1, 1])
        made = arithmetic.add(made, shape.reshape(_in_program(weights(("bias", key), 3)), shape=[1, 3, 1, 1]))
        return arithmetic.scale(paddle.nn.functional.relu(made) if key[1] % 2 else made, scale=0.05)
    if kind == "bias":
        return arithmetic.add(a, shape.reshape(_in_program(weights(("bias", key), 3)), shape=[1, 3, 1, 1]))
    if kind == "norm":
        parts = [weights((name, key), 3) for name in ("scale", "shift", "mean", "variance")]
        made = conv.conv2d(a, weights(("filter", key), 3, 3, 3, 3), paddings=[1, 1])
        norm = paddle.nn.functional.batch_norm(made, parts[2], parts[3], parts[0], parts[1], training=False)
        return arithmetic.scale(norm, scale=0.1)
    if kind == "write":
        state = weights("state", 2, 3, 4, 4)
        read = arithmetic.add(a, state)
        assign_into(state, arithmetic.scale(read, scale=0.1))
        return arithmetic.add(read, state)
    first, second = inner
    if kind == "cond":
        above = comparison.greater_than(reduce.sum(a, reduce_all=True), reduce.sum(b, reduce_all=True))
        return cond(above, lambda: applied(first, values, weights), lambda: applied(second, values, weights))
    ten = shape_of_ones(3, [])

    def body(count: Any, value: Any) -> list[Any]:
        step = applied(first, [*values, value], weights)
        return [arithmetic.scale(count, scale=1.0, bias=1.0), arithmetic.scale(step, scale=0.3)]

    return while_loop(
        lambda count, _: comparison.less_than(count, ten), body, [arithmetic.scale(ten, scale=0.0), a]
    )[1]


def shape_of_ones(value: int, dims: Any = (2, 3, 4, 4)) -> Any:
    return creation.fill(shape=list(dims), value=float(value % 5), dtype="float32")


def _in_program(tensor: Tensor) -> Any:
    mode = modes.current()
    return mode.program.capture(tensor) if isinstance(mode, Builder) else tensor


def built(plan: list[Any], weights: Weights) -> Program:
    program = Program()
    program.reserve_names()
    builder = Builder(program)
    with modes.use(builder):
        x = variable(program, "x", Spec((2, 3, 4, 4), "float32"), stop_gradient=False)
        with builder.assigning():
            result = builder.result(applied(plan, [x], weights))
    program.inputs, program.outputs = ["x"], [result.name]
    return program


def run(
    program: Program, x: np.ndarray[Any, Any], weights: Weights, passes: int | None = None
) -> list[np.ndarray[Any, Any]]:
    """The output, the gradients of x and of all weights, and the state it leaves."""
    block = program.global_block()
    for tensor in weights.made.values():
        tensor.clear_grad()
    state = weights.made.get("state")
    before = None if state is None else state.numpy()
    paddle.seed(5)
    runner = ProgramRunner(program, [block.var("x")], [block.var(n) for n in program.outputs], passes=passes)
    given_x = Tensor(x, stop_gradient=False)
    (out,) = runner([given_x])
    found = [out.numpy()]
    if not out.stop_gradient:
        out.sum().backward()
        found += [t.grad.numpy() for t in (given_x, *weights.made.values()) if t.grad is not None]
    if state is not None:
        found.append(state.numpy())
        state.set_value(before)
    return found
