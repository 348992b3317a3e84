"""Forms with a trailing underscore: changes, refusals, gradients through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError, GradientError, ShapeError
from engine.tensor.members.inplace import FORMS


def _tensor(stop_gradient: bool = True) -> Any:
    return paddle.to_tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], stop_gradient=stop_gradient)


# Arguments besides the tensor itself, for forms that need any.
ARGUMENTS: dict[str, Any] = {
    **dict.fromkeys(
        [
            "add",
            "subtract",
            "multiply",
            "divide",
            "floor_divide",
            "floor_mod",
            "mod",
            "remainder",
            "hypot",
            "equal",
            "not_equal",
            "less_than",
            "less_equal",
            "greater_than",
            "greater_equal",
            "ldexp",
            "logical_and",
            "logical_or",
            "logical_xor",
        ],
        (paddle.full([2, 3], 2.0),),
    ),
    **dict.fromkeys(
        ["bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm"], (paddle.full([2, 3], 2, "int64"),)
    ),
    "lerp": (paddle.full([2, 3], 2.0), 0.25),
    "pow": (3.0,),
    "polygamma": (1,),
    "multigammaln": (1,),
    "cast": ("float64",),
    "reshape": ([3, 2],),
    "transpose": ([1, 0],),
    "unsqueeze": (0,),
    "cumsum": (1,),
    "cumprod": (1,),
    "addmm": (paddle.full([2, 4], 0.5), paddle.full([4, 3], 0.5)),
    "renorm": (2.0, 0, 0.5),
    "masked_fill": (paddle.to_tensor([[True, False, True]]), 9.0),
    "index_add": (paddle.to_tensor([0]), 0, paddle.full([1, 3], 2.0)),
    "index_fill": (paddle.to_tensor([0]), 0, 7.0),
    "index_put": ((paddle.to_tensor([0]), paddle.to_tensor([1])), paddle.to_tensor([7.0])),
    "put_along_axis": (paddle.to_tensor([[0, 1, 0]]), 5.0, 0),
    "scatter": (paddle.to_tensor([1]), paddle.full([1, 3], 2.0)),
}
INTEGER = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "gcd", "lcm")
NAMES = [name for names in FORMS.values() for name in names.split()]


def _start(name: str) -> Any:
    if name in INTEGER:
        return paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
    return _tensor() + 1.5 if name in ("acosh", "multigammaln") else _tensor()


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_the_other_form(name: str) -> None:
    x = _start(name)
    want = getattr(x, name)(*ARGUMENTS.get(name, ()))
    same = getattr(x, f"{name}_")(*ARGUMENTS.get(name, ()))
    assert same is x
    assert x.inplace_version == 1
    assert (x.shape, x.dtype) == (want.shape, want.dtype)
    np.testing.assert_array_equal(x.numpy(), want.numpy())
    if hasattr(paddle, name):
        y = _start(name)
        assert getattr(paddle, f"{name}_")(y, *ARGUMENTS.get(name, ())) is y
        np.testing.assert_array_equal(y.numpy(), want.numpy())


@pytest.mark.parametrize("name", NAMES)
def test_a_leaf_that_backward_needs_is_refused(name: str) -> None:
    if name in INTEGER:
        return
    x = _start(name)
    x.stop_gradient = False
    with pytest.raises(GradientError, match=f"{name}_: .* is a leaf with stop_gradient=False") as raised:
        getattr(x, f"{name}_")(*ARGUMENTS.get(name, ()))
    assert isinstance(raised.value, ValueError)  # as in Paddle
    np.testing.assert_array_equal(x.numpy(), _start(name).numpy())


def test_gradients_flow_through_a_change() -> None:
    x = _tensor(stop_gradient=False)
    y = x * 1.0
    y.exp_()
    y.multiply_(paddle.full([2, 3], 2.0))
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp(x.numpy()), rtol=1e-6)


NEED_THE_OLD_VALUE = ("sin", "clip", "pow", "log", "lgamma", "cumprod", "multiply", "lerp", "renorm")


@pytest.mark.parametrize("name", NEED_THE_OLD_VALUE)
def test_backward_uses_the_value_before_the_change(name: str) -> None:
    def form(ending: str) -> Any:
        x = _tensor(stop_gradient=False)
        y = getattr(x * 1.0, name + ending)(*ARGUMENTS.get(name, (0.2, 0.5) if name == "clip" else ()))
        (y * paddle.arange(6, dtype="float32").reshape([2, 3])).sum().backward()
        return x.grad.numpy()

    np.testing.assert_array_equal(form("_"), form(""))


def test_the_other_factor_gets_its_gradient() -> None:
    x, w = _tensor(), paddle.full([2, 3], 2.0)
    w.stop_gradient = False
    before = x.numpy()
    x.multiply_(w)
    x.sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), before)


def test_a_change_of_dtype_gives_gradients_of_the_old_one() -> None:
    x = _tensor(stop_gradient=False)
    (x * 1.0).cast_("float64").sum().backward()
    assert x.grad.dtype == paddle.float32


def test_gradients_flow_through_a_change_of_shape() -> None:
    x = _tensor(stop_gradient=False)
    y = x * 1.0
    y.transpose_([1, 0]).flatten_()
    (y * paddle.arange(6, dtype="float32")).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[0, 2, 4], [1, 3, 5]])


def test_a_value_that_backward_needs_was_changed() -> None:
    x = _tensor(stop_gradient=False)
    y = x * 1.0
    z = y * y
    y.add_(z)
    with pytest.raises(GradientError, match="was changed in place"):
        z.sum().backward()


def test_views_see_changes_of_values_and_keep_their_shape() -> None:
    x = _tensor()
    view = x.reshape([6])
    x.reshape_([3, 2])
    assert view.shape == [6]
    assert view.inplace_version == 1
    x.add_(paddle.ones([3, 2]))
    np.testing.assert_allclose(view.numpy(), [1.1, 1.2, 1.3, 1.4, 1.5, 1.6], rtol=1e-6)


def test_the_shape_is_preserved() -> None:
    with pytest.raises(ShapeError, match="an in-place change keeps the shape"):
        paddle.ones([3]).add_(paddle.ones([2, 3]))


def test_no_fraction_is_lost() -> None:
    x = paddle.to_tensor([1, 2])
    with pytest.raises(DTypeError, match=r"int64 can't hold float32; use the form without _, or cast_"):
        x.exp_()
    with pytest.raises(DTypeError, match="float32 can't hold complex64"):
        paddle.ones([1]).add_(paddle.to_tensor([1j]))
    assert x.tolist() == [1, 2]
    y = paddle.ones([2])
    y.add_(paddle.to_tensor([0.5, 0.25], "float64"))
    assert y.dtype == paddle.float32
    assert y.tolist() == [1.5, 1.25]


def test_comparison_makes_bool() -> None:
    x = _tensor(stop_gradient=False) * 1.0
    x.greater_than_(paddle.full([2, 3], 0.35))
    assert x.dtype == paddle.bool
    assert x.stop_gradient
    assert x.tolist() == [[False] * 3, [True] * 3]


def test_where_changes_its_second_argument() -> None:
    x, y = _tensor(), paddle.zeros([2, 3])
    condition = x > 0.25
    assert paddle.where_(condition, x, y) is x
    np.testing.assert_allclose(x.numpy(), [[0, 0, 0.3], [0.4, 0.5, 0.6]], rtol=1e-6)


def test_a_leaf_under_no_grad_stays_a_leaf() -> None:
    x = _tensor(stop_gradient=False)
    with paddle.no_grad():
        x.scale_(2.0)
        x.reshape_([6])
    assert x.is_leaf
    assert not x.stop_gradient
    (x * x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.numpy(), rtol=1e-6)


def test_in_a_converted_function() -> None:
    @paddle.jit.to_static
    def forward(x: Any) -> Any:
        y = x * 1.0
        y.exp_()
        y.clip_(1.2, 1.6)
        return y + 1.0

    x = _tensor()
    np.testing.assert_allclose(forward(x).numpy(), np.clip(np.exp(x.numpy()), 1.2, 1.6) + 1.0, rtol=1e-6)


def test_a_converted_function_changes_shapes_and_dtypes_as_eagerly() -> None:
    def forward(x: Any) -> Any:
        y = x * 1.0
        y.reshape_([6])
        return y

    def compared(x: Any) -> Any:
        y = x * 1.0
        y.greater_than_(x)
        return y

    x = _tensor()
    for function in (forward, compared):
        eager, converted = function(x), paddle.jit.to_static(function)(x)
        assert converted.dtype is eager.dtype
        assert converted.tolist() == eager.tolist()


def test_wrong_arguments() -> None:
    with pytest.raises((ArgumentError, TypeError)):
        _tensor().lerp_()
