"""base and fluid: the older paths lead to the same things, and eager mode has its guard."""

import importlib

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import DTypeError, ModeError
from engine.static import Program, program_guard


@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("base.ParamAttr", paddle.ParamAttr),
        ("base.CPUPlace", paddle.CPUPlace),
        ("base.dygraph.no_grad", paddle.no_grad),
        ("framework.ParamAttr", paddle.ParamAttr),
        ("framework.grad", paddle.grad),
        ("jit.api.to_static", paddle.jit.to_static),
        ("jit.translated_layer.TranslatedLayer", paddle.jit.TranslatedLayer),
    ],
)
def test_older_paths_lead_to_the_same_things(path, same):
    module, _, name = path.rpartition(".")
    assert getattr(importlib.import_module(f"engine.{module}"), name) is same


def test_there_is_no_pir():
    assert paddle.framework.use_pir_api() is False
    assert paddle.framework.in_pir_mode() is False
    assert paddle.framework.in_dynamic_or_pir_mode() is True


def test_guard_is_eager_within_static_mode_and_counts_names_anew():
    paddle.enable_static()
    try:
        with paddle.base.dygraph.guard(paddle.CPUPlace()):
            assert paddle.base.dygraph.enabled()
            x = paddle.base.dygraph.to_variable(np.ones([2, 2], "float32"))
            assert nn.Linear(2, 1).weight.name == "linear_0.w_0"
            assert float(x.sum()) == 4.0
        assert not paddle.base.dygraph.enabled()
        with pytest.raises(ModeError, match="disable_static"):
            paddle.base.dygraph.to_variable([1.0])
    finally:
        paddle.disable_static()


def test_to_variable_copies_arrays_and_keeps_tensors():
    to_variable = paddle.base.dygraph.to_variable
    array = np.ones([2], "float32")
    made = to_variable(array, name="mine")
    array[0] = 5
    assert made.numpy().tolist() == [1, 1]
    assert made.name == "mine"
    assert made.stop_gradient
    assert to_variable(made) is made
    assert to_variable([0.5, 1.5]).dtype == paddle.float64  # NumPy's, as in Paddle
    assert to_variable((1, 2), dtype="int32").dtype == paddle.int32
    with pytest.raises(DTypeError, match="got int"):
        to_variable(3)


def test_the_seed_of_programs():
    main, startup = Program(), Program()
    with program_guard(main, startup):
        paddle.framework.random._manual_program_seed(7)
    assert (main.random_seed, startup.random_seed) == (7, 7)
