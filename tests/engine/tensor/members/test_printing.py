"""Printed forms against those recorded from PaddlePaddle 2.6.2."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import engine as paddle

HERE = Path(__file__).parent / "recorded"
RECORDED = json.loads((HERE / "printed.json").read_text())
CASES = runpy.run_path(str(HERE / "record.py"))["CASES"]


@pytest.mark.parametrize("name", CASES)
def test_prints_as_paddle_does(name):
    array = eval(CASES[name], {"np": np})
    assert str(paddle.to_tensor(array)) == RECORDED["printed"][name]


def test_str_of_a_parameter_begins_with_its_kind():
    parameter = paddle.nn.Linear(1, 1).bias
    assert str(parameter) == (
        "Parameter containing:\n"
        "Tensor(shape=[1], dtype=float32, place=Place(cpu), stop_gradient=False,\n       [0.])"
    )


def test_print_options():
    from engine.tensor.members.printing import PrintOptions, options

    before = dict(vars(options))
    try:
        paddle.set_printoptions(precision=2, threshold=3, edgeitems=1)
        assert str(paddle.to_tensor([0.125, 1.5, 2.5, 3.5])).endswith("[0.12, ..., 3.50])")
    finally:
        vars(options).clear()
        vars(options).update(before)
    assert PrintOptions.precision == 8
