"""PyLayer (operator py_layer): gradients written by the user, on the tape and in Programs."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import engine as paddle
from engine.autograd import PyLayer, PyLayerContext
from engine.core.errors import GradientError, ShapeError
from engine.core.values.spec import Spec
from engine.program.backward.inline_gradients import inline_gradients
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program
from engine.program.run.executor import Executor


def leaf(*values):
    return paddle.to_tensor(np.array(values), stop_gradient=False)


class Cube(PyLayer):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y * x

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensor()
        return g * (y + 2 * x * x)


class Tanh(PyLayer):
    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensor()
        return g * (1 - y * y)


def test_gradient_and_accumulation():
    x = leaf(1.0, -2.0)
    (Cube.apply(x) + x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [4.0, 13.0])


def test_second_and_third_order_through_a_saved_result():
    x = leaf(0.3, -0.7)
    (first,) = paddle.grad(Tanh.apply(x).sum(), x, create_graph=True)
    (second,) = paddle.grad(first.sum(), x, create_graph=True)
    (third,) = paddle.grad(second.sum(), x)
    t = np.tanh(x.numpy())
    np.testing.assert_allclose(second.numpy(), -2 * t * (1 - t * t))
    np.testing.assert_allclose(third.numpy(), (1 - t * t) * (6 * t * t - 2))


def test_arguments_that_are_no_tensors_and_attributes_of_the_context():
    class Scaled(PyLayer):
        @staticmethod
        def forward(ctx, x, factor, *, shift=0.0):
            assert isinstance(ctx, PyLayerContext)
            assert not paddle.is_grad_enabled()
            ctx.factor = factor
            return x * factor + shift

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor

    x = leaf(1.0, 2.0)
    y = Scaled.apply(x, 3, shift=1.0)
    assert y.tolist() == [4.0, 7.0]
    assert not y.stop_gradient
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


class Two(PyLayer):
    @staticmethod
    def forward(ctx, xs, y):
        a, b = xs
        return a * y, "text", [b + y]

    @staticmethod
    def backward(ctx, *grads):
        Two.seen = [None if g is None else g.tolist() for g in grads]
        return grads[0], grads[1], grads[0]


def test_several_results_in_lists_and_zeros_for_those_without_gradient():
    a, b, y = leaf(1.0), leaf(2.0), leaf(3.0)
    product, text, (total,) = Two.apply([a, b], y)
    assert (product.tolist(), text, total.tolist()) == ([3.0], "text", [5.0])
    product.sum().backward()
    assert Two.seen == [[1.0], [0.0]]
    assert (a.grad.tolist(), b.grad.tolist(), y.grad.tolist()) == ([1.0], [0.0], [1.0])


def test_missing_gradients_are_none_on_request():
    class Raw(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            whole = x.astype("int64")
            apart = x * 5
            ctx.mark_non_differentiable(apart)
            return x * 2, whole, apart

        @staticmethod
        def backward(ctx, g, whole, apart):
            assert whole is None
            assert apart is None
            return g * 2

    x = leaf(1.5)
    double, whole, apart = Raw.apply(x)
    assert whole.stop_gradient
    assert apart.stop_gradient
    double.sum().backward()
    assert x.grad.tolist() == [2.0]


class Same(PyLayer):
    keep = False

    @staticmethod
    def forward(ctx, x):
        if Same.keep:
            ctx.mark_not_inplace(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 7


def test_an_input_that_is_returned_counts_as_changed_in_place(monkeypatch):
    x = leaf(1.0)
    with pytest.raises(GradientError, match="mark_not_inplace"):
        Same.apply(x)
    y = x * 1
    assert Same.apply(y) is y
    y.sum().backward()
    assert x.grad.tolist() == [7.0]
    monkeypatch.setattr(Same, "keep", True)
    z = Same.apply(x)
    assert z is not x
    assert x.is_leaf
    z.sum().backward()
    assert x.grad.tolist() == [14.0]


def wrong(result):
    class Wrong(PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return result

    return Wrong


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        (paddle.ones([3], "float64"), GradientError, "returned 1 gradient"),
        ((5, 5), TypeError, "must be a Tensor or None: got int"),
        ((paddle.ones([3], "float64"), paddle.ones([2], "float64")), ShapeError, r"has shape \[3\]"),
        ((None, None, None), GradientError, "returned 3 gradient"),
    ],
)
def test_wrong_gradients_are_refused(result, error, text):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    with pytest.raises(error, match=text):
        wrong(result).apply(x, y).sum().backward()


def test_no_tensor_given_or_nothing_defined():
    x = leaf(1.0)
    with pytest.raises(ValueError, match="returned no Tensor"):
        type("N", (PyLayer,), {"forward": staticmethod(lambda ctx, x: 5)}).apply(x)
    with pytest.raises(NotImplementedError, match="forward"):
        PyLayer.apply(x)
    half = type("H", (PyLayer,), {"forward": staticmethod(lambda ctx, x: x * 2)}).apply(x)
    with pytest.raises(NotImplementedError, match="backward"):
        half.sum().backward()


def test_not_recorded_without_gradient():
    x = leaf(1.0)
    with paddle.no_grad():
        assert Cube.apply(x).stop_gradient
    assert Cube.apply(x.detach()).stop_gradient


def test_a_saved_value_changed_in_place_is_noticed():
    for source in (lambda x, y: x, lambda x, y: y):

        class Keep(PyLayer):
            @staticmethod
            def forward(ctx, x):
                y = x * 2
                ctx.save_for_backward(source(x, y))  # noqa: B023 - called within the loop's turn
                return y

            @staticmethod
            def backward(ctx, g):
                return g

        x = leaf(1.0) * 1
        x.stop_gradient = False
        y = Keep.apply(x)
        with paddle.no_grad():
            source(x, y).add_(paddle.ones([1], "float64"))
        with pytest.raises(GradientError, match="changed in place"):
            y.sum().backward()


def test_the_record_is_freed_without_the_collector():
    x = leaf(1.0)
    gc.disable()
    try:
        y = Tanh.apply(x)
        ref = weakref.ref(y.grad_fn.attrs["rule"].context)
        del y
        assert ref() is None
    finally:
        gc.enable()


def test_backward_twice_needs_retain_graph():
    x = leaf(2.0)
    y = Cube.apply(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert x.grad.tolist() == [24.0]
    with pytest.raises(GradientError, match="freed"):
        y.sum().backward()


def test_in_a_program_the_gradient_is_traced():
    class Wrong3(PyLayer):  # a gradient that no operator has, so that a test can see whose is used
        @staticmethod
        def forward(ctx, x):
            ctx.double = x * 2
            ctx.save_for_backward(x)
            return x * 3, x + 1

        @staticmethod
        def backward(ctx, g, h):
            (x,) = ctx.saved_tensor()
            return g * 100 + x + ctx.double + h * 0.5

    program = Program()
    x = variable(program, "x", Spec((-1, 2), "float32"), stop_gradient=False)
    with building(program):
        y, other = Wrong3.apply(x)
        total = (y * y).sum()
        ones = paddle.ones([])
        (found,) = inline_gradients(program.global_block().ops[:], [(total, ones)], [x])
    value = np.array([[1.0, 2.0]], "float32")
    result, gradient, plus = Executor().run(program, {"x": value}, [y, found, other])
    np.testing.assert_allclose(result, value * 3)
    np.testing.assert_allclose(plus, value + 1)
    np.testing.assert_allclose(gradient, 2 * value * 3 * 100 + 3 * value)


def test_a_converted_function_with_a_pylayer():
    @paddle.jit.to_static
    def function(x):
        return Cube.apply(x) * 2

    x = leaf(1.0, 2.0)
    function(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [6.0, 24.0])


def test_a_saved_model_computes_but_has_no_gradient(tmp_path):
    class Net(paddle.nn.Layer):
        def forward(self, x):
            return Cube.apply(x) + 1

    spec = [paddle.static.InputSpec([None, 2], "float32")]
    paddle.jit.save(paddle.jit.to_static(Net(), input_spec=spec), str(tmp_path / "net"))
    loaded = paddle.jit.load(str(tmp_path / "net"))
    x = paddle.to_tensor([[1.0, 2.0]])
    assert loaded(x).tolist() == [[2.0, 9.0]]
    x.stop_gradient = False
    with pytest.raises(GradientError, match="this Program was loaded"):
        loaded(x)


class Branching(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        if x.sum() > 0:
            y = x * 2
        else:
            y = x * 3
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        if x.sum() > 0:
            factor = x * 0 + 20.0
        else:
            factor = x * 0 + 30.0
        return g * factor


def test_branches_in_a_pylayer_are_converted():
    @paddle.jit.to_static
    def function(x):
        return Branching.apply(x)

    for value, want, gradient in ((1.0, 2.0, 20.0), (-1.0, -3.0, 30.0)):
        x = leaf(value)
        y = function(x)
        assert y.tolist() == [want]
        y.sum().backward()
        assert x.grad.tolist() == [gradient]
    assert len(function.program_cache) == 1
