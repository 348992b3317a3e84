"""A converted function that reads numbers, texts and flags of Python: what they are at the call counts."""

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ConversionError
from engine.jit import not_to_static, save, to_static
from engine.static import InputSpec

FACTOR = 2.0


def scaled(x):
    return x * FACTOR


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.factor = 2.0
        self.mode = "plus"

    @to_static
    def forward(self, x):
        return x * self.factor if self.mode == "plus" else -x


def test_attributes_of_a_layer():
    net, x = Net(), paddle.ones([2])
    calls = ((2.0, "plus", 2.0), (5.0, "plus", 5.0), (5.0, "minus", -1.0), (2.0, "plus", 2.0))
    for factor, mode, expected in calls:
        net.factor, net.mode = factor, mode
        assert float(net(x)[0]) == expected
    count = len(net.forward.program_cache)
    net(x)
    assert len(net.forward.program_cache) == count


def test_attributes_of_layers_within():
    class Outer(nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner = Net()

        def forward(self, x):
            return self.inner(x) + 1

    net, x = to_static(Outer()), paddle.ones([2])
    assert float(net(x)[0]) == 3.0
    net.inner.factor = 4.0
    assert float(net(x)[0]) == 5.0


def test_globals_and_closures(monkeypatch):
    power = 1

    def closed(x):
        return scaled(x) ** power

    function, x = to_static(closed), paddle.ones([2])
    assert float(function(x)[0]) == 2.0
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert float(function(x)[0]) == 3.0
    power = 2
    assert float(function(x)[0]) == 9.0


def test_saving_takes_the_present_values(tmp_path):
    net, x = Net(), paddle.ones([2])
    net(x)
    net.factor = 7.0
    save(net, str(tmp_path / "m"))
    assert float(paddle.jit.load(str(tmp_path / "m"))(x)[0]) == 7.0


def test_casts_by_pythons_types():
    def cast(x):
        return int(x), float(x), bool(x)

    for value in (2.6, [1.7, -2.5, 3.0], [[2.9]]):  # recorded from Paddle 2.6.2: of any shape
        found = to_static(cast, full_graph=True)(paddle.to_tensor(value))
        array = np.asarray(value, "float32")
        assert [v.dtype.name for v in found] == ["int32", "float32", "bool"]
        for one, expected in zip(found, (array.astype("int32"), array, array != 0), strict=True):
            np.testing.assert_array_equal(one.numpy(), expected)


def test_not_to_static_of_a_method():
    class Part(nn.Layer):
        def forward(self, x):
            return self.part(x) * 2

        def part(self, x):
            if x.sum() > 0:
                x = x + 1
            return x

    net = Part()
    assert not_to_static(net.part) == net.part
    to_static(net, full_graph=True)
    with pytest.raises(ConversionError, match=r"bool\(\)"):  # the branch is not converted
        net(paddle.ones([2]))


def test_a_static_function_has_the_attributes_that_scripts_use():
    function = to_static(scaled, input_spec=[InputSpec([None, 2], name="x")])
    out = function(paddle.ones([1, 2]))
    key, (concrete, runner) = function.program_cache.last()
    assert isinstance(key, int)
    assert runner is concrete.runner
    assert concrete.function is scaled
    assert out.name == function.outputs[0].name


def test_paddles_static_functions_within():
    def within(x, label):
        total = paddle.static.create_global_var([1], 2.0, "float32", persistable=True)
        return paddle.static.accuracy(x, label), x * total

    shares, doubled = to_static(within)(
        paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]]), paddle.to_tensor([[1], [1]])
    )
    assert float(shares) == 0.5
    np.testing.assert_allclose(doubled.numpy(), [[0.2, 1.8], [1.6, 0.4]], rtol=1e-6)
