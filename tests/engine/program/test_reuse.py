"""Arrays that are written into again: never one that something else still reads."""

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import GradientError
from engine.core.operators.opdef import OPS
from engine.core.random.generator import PhiloxKey
from engine.core.values.spec import Spec
from engine.jit import to_static
from engine.program.backward.inline_gradients import inline_gradients
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program
from engine.program.run.executor import Executor
from tests.engine.ops.table import CASES


def tensor(*values: float, grad: bool = False):
    return paddle.to_tensor(np.array(values, "float32"), stop_gradient=not grad)


def chosen(x, flag):
    """c may be a itself, which is read once more before c is."""
    a = x * 2.0
    if flag > 0:
        c = a
    else:
        c = x * 3.0
    d = a + 1.0
    return c + d * 10.0


def chosen_view(x, flag):
    a = x * 2.0
    v = a.reshape([2, 1])
    if flag > 0:
        c = v
    else:
        c = v * 3.0
    d = a + 1.0
    return c.reshape([2]) + d * 10.0


def repeated(x, count):
    """After no iteration y is a itself."""
    a = x * 2.0
    y = a
    i = paddle.zeros([], "int64")
    while i < count:
        y = y * 2.0
        i = i + 1
    d = a + 1.0
    return y + d * 10.0


@pytest.mark.parametrize("function", [chosen, chosen_view, repeated])
@pytest.mark.parametrize("flag", [0, 1, 2])
def test_values_passed_on_by_control_flow_are_not_overwritten(function, flag):
    x, flag = tensor(1, 2), paddle.to_tensor(flag)
    np.testing.assert_array_equal(to_static(function)(x, flag).numpy(), function(x, flag).numpy())


def either(x, flag):
    if flag > 0:
        y = x
    else:
        y = x * 2.0
    return y


def times(x, flag):
    y = x
    i = paddle.zeros([], "int64")
    while i < flag - 1:
        y = y * 2.0
        i = i + 1
    return y


@pytest.mark.parametrize("function", [either, times])
def test_a_result_that_control_flow_took_from_an_argument_is_a_copy(function):
    x = tensor(1, 2)
    y = to_static(function)(x, paddle.to_tensor(1))
    y.add_(tensor(1, 1))
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("called", [to_static, lambda f: f], ids=["static", "eager"])
def test_a_result_that_control_flow_handed_on_may_not_be_changed_before_backward(called):
    """c is a, and its square needs it: changing a in place is refused, as in eager mode."""

    def function(x, flag):
        a = x * 2.0
        if flag > 0:
            c = a
        else:
            c = x * 3.0
        return a, c * c

    x = tensor(1, 2, grad=True)
    a, square = called(function)(x, paddle.to_tensor(1))
    with paddle.no_grad():
        a.add_(tensor(5, 5))
    with pytest.raises(GradientError, match="changed in place"):
        square.sum().backward()


def test_a_gradient_in_another_shape_is_not_overwritten():
    """The gradient of a reshape with several unknown dimensions is a view of the one that flows in."""
    program = Program()
    x = variable(program, "x", Spec((-1, -1), "float32"), stop_gradient=False)
    with building(program):
        a = x * 1.0
        y = a.flatten()
        ops = tuple(program.global_block().ops)
        g = y * 3.0
        (found,) = inline_gradients(ops[1:], [(y, g)], [a])
        total = found + found
        again = g + 0.0
    fed = np.arange(6, dtype="float32").reshape(2, 3)
    sum_, doubled = Executor().run(program, {"x": fed}, [total, again])
    np.testing.assert_array_equal(sum_, fed * 6)
    np.testing.assert_array_equal(doubled, fed.reshape(-1) * 3)


def arrays(value):
    """The arrays in an input or result, lists written out."""
    return [a for v in value for a in arrays(v)] if isinstance(value, (list, tuple)) else [np.asarray(value)]


def test_only_views_share_storage_with_an_input():
    for case in CASES:
        opdef = OPS[case.op]
        inputs = [
            None if i is None else arrays(i) if isinstance(i, list) else np.asarray(i)
            for i in case.sample.inputs
        ]
        extra = {"key": PhiloxKey(1, 2)} if opdef.random else {}
        made = opdef.kernel(np, *inputs, **opdef.with_defaults(case.sample.attrs), **extra)
        results = [made] if opdef.single else list(made)
        for n, result in enumerate(results):
            declared = opdef.outputs[min(n, len(opdef.outputs) - 1)]
            if result is None or declared.writes:
                continue
            given = [i for i in inputs if i is not None][1 if opdef.view else 0 :]
            shared = [a.shape for a in arrays(given) if np.shares_memory(a, np.asarray(result))]
            assert shared == [], f"{case.id}: output {n}"
