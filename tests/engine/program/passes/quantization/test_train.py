"""Pairs in training Programs: their positions, the inputs of gradients, integers after training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import static
from engine.program.graph.check import check
from engine.program.passes.clone import clone
from engine.program.passes.quantization.train import Training, freeze_trained, insert_for_training
from engine.program.run.scope import Scope, value_of
from tests.engine.fresh_static import fresh_static

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def scope() -> Iterator[Scope]:
    with fresh_static() as made:
        yield made


def network() -> tuple[static.Program, static.Program, static.Executor, Any]:
    """A training Program whose parameters have values, its test form, and the loss."""
    engine.seed(3)
    program, startup = static.Program(), static.Program()
    with static.program_guard(program, startup):
        x, y = static.data("x", [None, 2, 6, 6]), static.data("y", [None, 1], "int64")
        value = static.nn.conv2d(x, 4, 3, bias_attr=False)
        with static.name_scope("skip_quant"):
            value = static.nn.conv2d(value, 4, 3, bias_attr=False, act="relu")
        loss = engine.mean(engine.nn.functional.cross_entropy(static.nn.fc(value, 3), y))
        test = program.clone(for_test=True)
        engine.optimizer.SGD(0.1).minimize(loss)
    executor = static.Executor()
    executor.run(startup)
    return program, test, executor, loss


def feed() -> dict[str, Array]:
    draw = np.random.default_rng(0)
    return {
        "x": draw.normal(size=(5, 2, 6, 6)).astype("float32"),
        "y": draw.integers(0, 3, (5, 1)),
    }


def insert(program: static.Program, scope: Scope, **options: Any) -> int:
    training = Training(("conv2d", "mul"), **options)
    count = insert_for_training(program, training, lambda name, array: scope.var(name).store(array))
    check(program)
    return count


def not_second(operator: Any) -> bool:
    return "skip_quant" in (operator.notes or {}).get("attrs", {}).get("op_namescope", "")


def types(program: static.Program) -> list[str]:
    return [op.type for op in program.global_block().ops]


def test_products_and_their_gradients_read_the_pairs(scope: Scope) -> None:
    program, _, executor, loss = network()
    before = types(program)
    assert insert(program, scope, skip=not_second) == 2
    added = [t for t in types(program) if t.endswith("quantize_linear")]
    assert added == ["quantize_linear", "dequantize_linear"] * 4
    assert [t for t in types(program) if not t.endswith("quantize_linear")] == before
    read = {op.type: set(op.input_arg_names) for op in program.global_block().ops}
    for kind in ("mul", "mul_grad"):
        assert "fc_0.w_0.quantized.dequantized" in read[kind]
        assert "fc_0.w_0" not in read[kind]
    second = [op for op in program.global_block().ops if "conv2d_1.w_0" in op.input_arg_names]
    assert [op.type for op in second] == ["conv2d", "conv2d_grad", "sgd"]
    first = value_of(program.global_block().var("x@scale")).numpy()
    assert first.tolist() == [np.float32(0.001)]
    executor.run(program, feed=feed(), fetch_list=[loss])
    found = {n: value_of(program.global_block().var(n)).numpy() for n in ("x@scale", "fc_0.w_0@scale")}
    # state 0.9 + 1, accum 0.9 + max |x|
    most = np.abs(feed()["x"]).max()
    np.testing.assert_allclose(found["x@scale"], (0.9 + most) / 1.9, rtol=1e-6)
    assert found["fc_0.w_0@scale"].shape == (3,)


def test_gradients_are_those_of_the_rounded_values_passed_straight_through(scope: Scope) -> None:
    """At 16 bits rounding changes little: a step is that of the Program in float, nearly."""
    program, _, executor, loss = network()
    start = {v.name: value_of(v).numpy().copy() for v in program.all_parameters()}
    fine, coarse = clone(program), clone(program)
    insert(fine, scope, weight_bits=16, activation_bits=16)
    steps = {}
    for name, one in (("float", program), ("fine", fine)):
        for parameter, array in start.items():
            scope.var(parameter).store(array.copy())
        executor.run(one, feed=feed(), fetch_list=[loss])  # thresholds follow
        for parameter, array in start.items():
            scope.var(parameter).store(array.copy())
        for _ in range(25 if one is fine else 1):
            for parameter, array in start.items():
                scope.var(parameter).store(array.copy())
            executor.run(one, feed=feed(), fetch_list=[loss])
        steps[name] = {p: value_of(program.global_block().var(p)).numpy() - start[p] for p in start}
    for parameter, step in steps["float"].items():
        assert np.abs(step).max() > 0
        np.testing.assert_allclose(steps["fine"][parameter], step, atol=0.02 * np.abs(step).max())
    assert insert(coarse, scope, weight_bits=2, activation_bits=2) == 3


@pytest.mark.parametrize(("bits", "dtype"), [(8, "int8"), (11, "int16")])
def test_frozen_weights_are_integers_that_give_the_same_results(scope: Scope, bits: int, dtype: str) -> None:
    program, test, executor, loss = network()
    insert(program, scope, weight_bits=bits)
    insert(test, scope, weight_bits=bits, frozen=True)
    for _ in range(3):
        executor.run(program, feed=feed(), fetch_list=[loss])
    (expected,) = executor.run(test, feed=feed(), fetch_list=[loss])
    frozen = clone(test)
    assert freeze_trained(frozen, lambda v: value_of(v).numpy()) == 3
    check(frozen)
    (seen,) = executor.run(frozen, feed=feed(), fetch_list=[loss])
    np.testing.assert_array_equal(seen, expected)
    block = frozen.global_block()
    assert {block.var(n).dtype.name for n in ("conv2d_0.w_0", "conv2d_1.w_0", "fc_0.w_0")} == {dtype}
    assert sum(t == "quantize_linear" for t in types(frozen)) == 3
    assert test.global_block().var("conv2d_0.w_0").dtype.name == "float32"


def test_a_threshold_for_the_whole_weight_is_a_moving_average_too(scope: Scope) -> None:
    program, *_ = network()
    insert(program, scope, channel_wise=False)
    pairs = [op for op in program.global_block().ops if op.type == "quantize_linear"]
    assert {op.attr("quant_axis") for op in pairs} == {-1}
    assert program.global_block().var("conv2d_0.w_0@scale").shape == (1,)


def test_operators_with_weights_in_other_inputs_stay_in_float(scope: Scope) -> None:
    program = static.Program()
    with static.program_guard(program, static.Program()):
        x = static.data("x", [None, 3, 6, 6])
        filters = engine.reshape(static.data("f", [2, 27]), [2, 3, 3, 3])
        engine.nn.functional.conv2d(x, filters)
        static.nn.fc(engine.cast(x, "float64"), 2)
        engine.add(x, static.create_parameter([6], "float32"))
    training = Training(("conv2d", "elementwise_add"))
    assert insert_for_training(program, training, lambda name, array: None) == 0
    both = Training(("mul",))
    assert insert_for_training(program, both, lambda name, array: None) == 1
    assert program.global_block().var("fc_0.w_0@scale").dtype.name == "float64"
