"""The API of Operators of a Program: names, slots and attributes as in Paddle 2.6.2."""

from __future__ import annotations

import pytest

import engine as paddle
from engine import static
from engine.core.errors import ArgumentError


@pytest.fixture
def trained():
    paddle.enable_static()
    main = static.Program()
    with static.program_guard(main, static.Program()), paddle.utils.unique_name.guard():
        x = static.data("x", [None, 4])
        w = static.create_parameter([4, 3], "float32", name="w")
        y = x @ w
        loss = paddle.mean(paddle.nn.functional.relu(y))
        paddle.optimizer.SGD(0.1).minimize(loss)
    yield main, y, w
    paddle.disable_static()


def test_types_are_paddles(trained):
    main, _, _ = trained
    assert [o.type for o in main.global_block().ops] == [
        "matmul_v2",
        "relu",
        "reduce_mean",
        "fill_constant",
        "reduce_mean_grad",
        "relu_grad",
        "matmul_v2_grad",
        "sgd",
    ]


def test_slots_and_names(trained):
    main, _, _ = trained
    matmul, gradient = main.global_block().ops[0], main.global_block().ops[5]
    assert sorted(matmul.input_names) == ["X", "Y"]
    assert (matmul.input("X"), matmul.input("Y"), matmul.output("Out")) == (["x"], ["w"], ["tmp_0"])
    assert (matmul.input_arg_names, matmul.output_arg_names) == (["x", "w"], ["tmp_0"])
    assert sorted(gradient.input_names) == ["Out", "Out@GRAD"]
    assert gradient.output_names == ["X@GRAD"]
    assert gradient.output("X@GRAD") == ["tmp_0@GRAD"]
    with pytest.raises(ArgumentError, match=r"Operator.input: matmul_v2 has no slot 'Z'.*\['X', 'Y'\]"):
        matmul.input("Z")


def test_attributes(trained):
    main, _, _ = trained
    matmul = main.global_block().ops[0]
    assert matmul.attr_names == [
        "op_callstack",
        "op_device",
        "op_namescope",
        "op_role",
        "op_role_var",
        "trans_x",
        "trans_y",
        "with_quant_attr",
    ]
    assert matmul.attr("trans_x") is False
    assert matmul.has_attr("trans_y")
    assert not matmul.has_attr("axis")
    assert matmul.all_attrs()["op_role"] == 0
    assert any("y = x @ w" in line for line in matmul.attr("op_callstack"))
    with pytest.raises(ArgumentError, match=r"Operator.attr: matmul_v2 has no attribute 'axis'"):
        matmul.attr("axis")


def test_printed_as_its_line_in_the_program(trained):
    main, _, _ = trained
    for operator in main.global_block().ops:
        assert f"    {operator}\n" in str(main)
        assert operator.to_string(True) == str(operator)


def test_a_variable_knows_its_operator(trained):
    main, y, w = trained
    assert y.op is main.global_block().ops[0]
    assert w.op is main.global_block().ops[-1]  # updates write it
    assert main.global_block().var("x").op is None


def test_the_description_asks_with_methods(trained):
    main, _, _ = trained
    matmul = main.global_block().ops[0]
    desc = matmul.desc
    assert (desc.type(), desc.input("X"), desc.output("Out")) == ("matmul_v2", ["x"], ["tmp_0"])
    assert sorted(desc.input_names()) == ["X", "Y"]
    assert (desc.output_names(), desc.attr_names()) == (["Out"], matmul.attr_names)
    assert (desc.input_arg_names(), desc.output_arg_names()) == (["x", "w"], ["tmp_0"])
    assert desc.attr("op_namescope") == "/"
    assert desc.has_attr("trans_x")
    assert not desc.has_attr("axis")
