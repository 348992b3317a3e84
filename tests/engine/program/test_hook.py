"""Hooks on gradients in converted functions and Programs."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import GradientError
from engine.core.spec import Spec
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program


def leaf(*values):
    return paddle.to_tensor(np.array(values), stop_gradient=False)


def test_a_hook_in_a_converted_function_changes_the_gradient():
    @paddle.jit.to_static
    def function(x):
        y = x * 3
        y.register_hook(lambda g: g * 10)
        return y * y

    x = leaf(1.0, 2.0)
    result = function(x)
    np.testing.assert_allclose(result.numpy(), [9.0, 36.0])
    result.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [180.0, 360.0])


def test_a_hook_that_gives_nothing_and_one_that_was_removed():
    @paddle.jit.to_static
    def function(x):
        y = x * 3
        y.register_hook(lambda g: None)
        y.register_hook(lambda g: g * 5).remove()
        return y

    x = leaf(1.0)
    function(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [3.0])


def test_without_gradient_it_is_refused():
    program = Program()
    x = variable(program, "x", Spec((2,), "float32"))
    with building(program):
        with pytest.raises(GradientError, match="stop_gradient=True"):
            x.register_hook(lambda g: g)
        x.stop_gradient = False
        with pytest.raises(TypeError, match="takes a function"):
            x.register_hook(3)
