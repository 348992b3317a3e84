"""Without full_graph=True a converted function gives what eager code gives; recorded with Paddle 2.6.2."""

import warnings

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ConversionError
from engine.core.strictness import LeniencyWarning
from engine.jit import to_static

X = np.array([1.0, 2.0, 3.0], "float32")


def both(x):
    return x.sum() and x.max()


def one_of(x):
    return x.sum() or 5.0


def of_truths(x):
    return x.sum() > 0 and x.max() > 100


def numbers(x):
    i = 0
    while x.sum() < 20:
        x = x * 2
        i += 1
    return i, int(x.max()), float(x[0]), x.max().item(), 1 if x.sum() > 0 else 0, len(x)


def number_or_tensor(x):
    if x.sum() > 0:
        y = 1
    else:
        y = x * 1.5
    return y + 1


def caught(x):
    try:
        y = x * np.square(x.numpy())
    except Exception:
        y = x
    return y


def caught_on_a_path(x):
    try:
        if x.sum() > 100:
            raise ValueError("too large")
        y = x * 2
    except ValueError:
        y = -x
    return y


def texts(x):
    k = float(x.sum())
    return f"{k:.2f}", "%s" % k, "{}".format(k), str(k), f"{x.shape}"  # noqa: UP031, UP032


def key(x):
    return {1: 10.0, 2: 20.0}[int(x[0])] * x


def kept_by_key(x):
    found = {}
    for i, value in enumerate(x.numpy()):
        found[float(value)] = x[i]
    return found


def rounded(x):
    return round(float(x.mean()), 1)


def replaced_in_a_list(x):
    values = []
    for _ in range(int(x.sum())):
        values.append(x[0])
    values[1] = x
    return values[1]


def plain(value):
    if isinstance(value, paddle.Tensor):
        return "Tensor", value.dtype.name, value.numpy().tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (both, ("Tensor", "float32", 3.0)),
        (one_of, ("Tensor", "float32", 6.0)),
        (of_truths, ("Tensor", "bool", False)),
        (numbers, [2, 12, 4.0, 12.0, 1, 3]),
        (number_or_tensor, 2),
        (caught, ("Tensor", "float32", [1.0, 8.0, 27.0])),
        (caught_on_a_path, ("Tensor", "float32", [2.0, 4.0, 6.0])),
        (texts, ["6.00", "6.0", "6.0", "6.0", "[3]"]),
        (key, ("Tensor", "float32", [10.0, 20.0, 30.0])),
        (
            kept_by_key,
            {
                1.0: ("Tensor", "float32", 1.0),
                2.0: ("Tensor", "float32", 2.0),
                3.0: ("Tensor", "float32", 3.0),
            },
        ),
        (rounded, 2.0),
        (replaced_in_a_list, ("Tensor", "float32", [1.0, 2.0, 3.0])),
    ],
)
def test_results_are_those_of_eager_code(function, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeniencyWarning)
        found = plain(to_static(function)(paddle.to_tensor(X)))
    assert found == expected
    assert plain(function(paddle.to_tensor(X))) == found


@pytest.mark.parametrize("function", [caught, caught_on_a_path])
def test_a_handler_does_not_take_errors_of_the_conversion(function):
    with pytest.raises(ConversionError):
        to_static(function, full_graph=True)(paddle.to_tensor(X))


def test_a_failed_trace_has_no_effects(capsys):
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.calls = []
            self.seen = {}

        def forward(self, x):
            print("called")
            self.calls.append(len(self.calls))
            self.seen[len(self.calls)] = True
            return x * float(np.mean(x.numpy()))

    net = to_static(Net())
    with pytest.warns(LeniencyWarning, match="eagerly"):
        net(paddle.to_tensor(X))
    net(paddle.to_tensor(X))
    assert net.calls == [0, 1]
    assert net.seen == {1: True, 2: True}
    assert capsys.readouterr().out == "called\n" * 2


def test_flags_of_to_tensor():
    def function(x):
        root = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
        return root, root * 2, root * x, paddle.to_tensor(x), paddle.to_tensor([1.0])

    for full_graph in (True, False):
        x = paddle.to_tensor(X, stop_gradient=False)
        found = to_static(function, full_graph=full_graph)(x)
        assert [each.stop_gradient for each in found] == [False, False, False, True, True]
        sum(each.sum() for each in found).backward()
        np.testing.assert_array_equal(x.grad.numpy(), X)  # to_tensor(x) is a copy without gradient
        with paddle.no_grad():
            assert all(each.stop_gradient for each in to_static(function, full_graph=full_graph)(x))


def test_to_tensor_of_a_parameter_has_its_value_at_each_call():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.w = self.create_parameter([3], default_initializer=nn.initializer.Constant(3.0))

        def forward(self, x):
            return paddle.to_tensor(self.w) * x

    net = to_static(Net(), full_graph=True)
    np.testing.assert_array_equal(net(paddle.to_tensor(X)).numpy(), 3 * X)
    net.w.set_value(np.full(3, 5.0, "float32"))
    np.testing.assert_array_equal(net(paddle.to_tensor(X)).numpy(), 5 * X)


def test_a_super_of_the_functions_own():
    class Base(nn.Layer):
        def forward(self, x):
            return x * 2

    class Net(Base):
        def forward(self, x):
            def super():
                return Base()

            return super().forward(x) + 3

    np.testing.assert_array_equal(to_static(Net(), full_graph=True)(paddle.to_tensor(X)).numpy(), 2 * X + 3)
