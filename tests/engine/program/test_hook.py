"""Hooks on gradients in converted functions and Programs."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ConversionError, GradientError
from engine.core.values.spec import Spec
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


def doubled(g):
    return g * 2


def after_its_use(x):
    y = x * 2
    z = y * 3
    y.register_hook(doubled)
    return z


def between_uses(x):
    y = x * 2
    z = y * 3
    y.register_hook(doubled)
    return z + y * 5


def two_hooks(x):
    y = x * 2
    y.register_hook(doubled)
    z = y * 3
    y.register_hook(lambda g: g + 1)
    return z + y * 5


def on_the_input(x):
    y = x * 3
    x.register_hook(doubled)
    return y


def before_a_change_in_place(x):
    y = x * 2
    y.register_hook(doubled)
    y.scale_(3.0)
    return y * 5


def after_a_change_in_place(x):
    y = x * 2
    y.scale_(3.0)
    z = y * 5
    y.register_hook(doubled)
    return z


def after_a_view(x):
    y = x * 2
    view = y.reshape([2, 1])
    y.register_hook(doubled)
    return view * 5


def in_a_branch(x):
    y = x * 2
    if x.sum() > 0:
        z = y * 3
        y.register_hook(doubled)
    else:
        z = y * 4
    return z


def after_a_branch_that_gives_it(x):
    y = x * 2
    if x.sum() < 0:
        z = y * 3
    else:
        z = y
    y.register_hook(doubled)
    return z


def in_a_loop(x):
    i = paddle.zeros([1], "int32")
    y = x * 1
    while i < 3:
        t = y * 2
        y = t * 2
        t.register_hook(lambda g: g * 3)
        i = i + 1
    return y


def on_the_value_of_a_loop(x):
    i = paddle.zeros([1], "int32")
    y = x * 1
    while i < 3:
        y.register_hook(lambda g: g * 3)
        y = y * 2
        i = i + 1
    return y


def after_a_loop(x):
    y = x * 2
    i = paddle.zeros([1], "int32")
    total = x * 0
    while i < 3:
        total = total + y
        i = i + 1
    y.register_hook(doubled)
    return total


def before_another_derivative(x):
    y = x * 2
    z = y * 3
    y.register_hook(doubled)
    (g,) = paddle.grad(z.sum(), x)
    return g * x


# The gradient by x that Paddle 2.6.2 gives eagerly.
FUNCTIONS = {
    after_its_use: 12.0,
    between_uses: 32.0,
    two_hooks: 34.0,
    on_the_input: 6.0,
    before_a_change_in_place: 60.0,
    after_a_change_in_place: 60.0,
    after_a_view: 20.0,
    in_a_branch: 12.0,
    after_a_branch_that_gives_it: 4.0,
    in_a_loop: 1728.0,
    on_the_value_of_a_loop: 216.0,
    after_a_loop: 12.0,
    before_another_derivative: 12.0,
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_hook_sees_the_whole_gradient_wherever_it_is_registered(function):
    for called in (function, paddle.jit.to_static(function)):
        x = leaf(1.0, 2.0)
        called(x).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), [FUNCTIONS[function]] * 2)


def test_equal_values_keep_their_own_hooks():
    """Equal operators are merged, but not those with a hook."""

    @paddle.jit.to_static
    def function(x):
        y, z = x * 2, x * 2
        y.register_hook(lambda g: g * 10)
        return y + z

    x = leaf(1.0)
    function(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [22.0])


def test_a_view_of_a_tensor_with_a_hook_is_refused_after_a_change_in_place():
    @paddle.jit.to_static(full_graph=True)
    def function(x):
        y = x * 2
        view = y.reshape([2, 1])
        y.register_hook(doubled)
        y.scale_(3.0)
        return view + 1

    with pytest.raises(ConversionError, match="shares its storage"):
        function(leaf(1.0, 2.0))


def test_a_hook_that_would_see_a_part_only_is_refused():
    @paddle.jit.to_static(full_graph=True)
    def in_branch(x):
        y = x * 2
        z = y * 3
        if x.sum() > 0:
            y.register_hook(doubled)
            z = z + y
        return z

    @paddle.jit.to_static(full_graph=True)
    def in_loop(x):
        i, y = paddle.zeros([1], "int32"), x * 2
        while i < 3:
            x = x + y
            y.register_hook(doubled)
            i = i + 1
        return x

    with pytest.raises(GradientError, match="outside of this branch, and was read before it"):
        in_branch(leaf(1.0))
    with pytest.raises(GradientError, match="outside of this loop"):
        in_loop(leaf(1.0))
