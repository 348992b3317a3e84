"""Converted functions that change or read what Python holds outside of them, recorded with Paddle 2.6.2.

Its default front end (full_graph=False) follows what Python does at each call, its other one only once.
"""

import os
import random

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.strictness import LeniencyWarning
from engine.jit import to_static
from engine.nn import functional

TOTAL = 0
SCALE = paddle.to_tensor([2.0])
SEEN: list = []


class Counts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.log = []

    def forward(self, x):
        self.calls += 1
        self.log.append(self.calls)
        return x * self.calls


class Reads(nn.Layer):
    def __init__(self):
        super().__init__()
        self.factors = {"a": 1.0}
        self.steps = [1, 2]
        self.act = functional.relu
        self.linear = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(-1.0))

    def forward(self, x):
        return self.act(self.linear(x)) + self.factors["a"] * len(self.steps)


class Adds(nn.Layer):
    def forward(self, x):
        return x + 100


def test_a_counter_counts_each_call() -> None:
    net, x = to_static(Counts()), paddle.ones([1])
    with pytest.warns(LeniencyWarning, match="'(calls|log)' and changes it at each call"):
        found = [float(net(x)) for _ in range(5)]
    assert (found, net.calls, net.log) == ([1.0, 2.0, 3.0, 4.0, 5.0], 5, [1, 2, 3, 4, 5])
    once = to_static(Counts(), full_graph=True)
    assert ([float(once(x)) for _ in range(3)], once.calls, once.log) == ([1.0, 1.0, 1.0], 1, [1])


def test_a_global_counts_each_call() -> None:
    global TOTAL

    def counted(x):
        global TOTAL
        TOTAL = TOTAL + 1
        return x + TOTAL

    TOTAL = 0
    function, x = to_static(counted), paddle.ones([1])
    assert [float(function(x)), float(function(x))] == [2.0, 3.0]


def test_contents_of_containers_and_chosen_functions() -> None:
    net, x = to_static(Reads()), paddle.ones([1])
    assert float(net(x)) == 2.0
    net.factors["a"] = 3.0
    assert float(net(x)) == 6.0
    net.steps.append(3)
    assert float(net(x)) == 9.0
    net.act = paddle.abs
    assert float(net(x)) == 10.0
    count = len(net.forward.program_cache)
    net(x)
    assert len(net.forward.program_cache) == count


def test_a_layer_that_replaces_another_a_hook_and_a_method() -> None:
    net = to_static(nn.Sequential(nn.ReLU(), nn.ReLU()))
    x, seen = paddle.ones([1]), []
    assert float(net(x)) == 1.0
    hook = net[0].register_forward_post_hook(lambda layer, given, made: seen.append(1) or made * 5)
    assert float(net(x)) == 5.0
    assert seen
    hook.remove()
    assert float(net(x)) == 1.0
    net[1] = Adds()
    assert float(net(x)) == 101.0
    net[0].forward = lambda x: x * 7
    assert float(net(x)) == 107.0


def test_a_global_tensor_and_an_object_with_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    class Settings:
        factor = 1.0

    settings = Settings()
    settings.factor = 3.0

    def scaled(x):
        return x * SCALE * settings.factor

    function, x = to_static(scaled), paddle.ones([1])
    assert float(function(x)) == 6.0
    settings.factor = 5.0
    assert float(function(x)) == 10.0
    monkeypatch.setitem(globals(), "SCALE", paddle.to_tensor([4.0]))
    assert float(function(x)) == 20.0


def test_values_that_are_kept_outside_and_arguments_that_are_changed() -> None:
    def keeps(x):
        SEEN.append(x)
        return x * 2

    def fills(x, found):
        found["y"] = x * 3
        return x

    function = to_static(keeps)
    with pytest.warns(LeniencyWarning, match="known only in a run"):
        function(paddle.ones([1]))
    function(paddle.full([1], 5.0))
    assert [float(x) for x in SEEN] == [1.0, 5.0]
    found: dict = {}
    with pytest.warns(LeniencyWarning, match="its argument"):
        to_static(fills)(paddle.ones([1]), found)
    np.testing.assert_array_equal(found["y"].numpy(), [3.0])


def test_a_value_that_the_first_call_fills_stays_converted() -> None:
    class Lazy(nn.Layer):
        def __init__(self):
            super().__init__()
            self.table = None

        def forward(self, x):
            if self.table is None:
                self.table = [1.0, 2.0]
            return x * self.table[1]

    net, x = to_static(Lazy()), paddle.ones([1])
    assert [float(net(x)) for _ in range(6)] == [2.0] * 6
    assert len(net.forward.program_cache) == 2


def test_random_numbers_iterators_and_the_environment_are_read_at_each_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, numbers = np.random.RandomState(0), iter(range(9))
    cases = (
        (lambda x: x * float(own.rand()), [0.5488135, 0.71518936, 0.60276335]),
        (lambda x: x * next(numbers), [0, 1, 2]),
        (lambda x: x * random.random(), [0.8444218, 0.7579544, 0.4205716]),
    )
    for function, expected in cases:
        random.seed(0)
        converted = to_static(function)
        with pytest.warns(LeniencyWarning, match="another one at each call.*does it only while"):
            first = float(converted(paddle.ones([1])))
        np.testing.assert_allclose([first, *(float(converted(paddle.ones([1]))) for _ in range(2))], expected)
        once = to_static(function, full_graph=True)
        assert float(once(paddle.ones([1]))) == float(once(paddle.ones([1])))
    monkeypatch.setenv("TEST_FACTOR", "2")
    converted = to_static(lambda x: x * float(os.environ.get("TEST_FACTOR", "1")))
    assert float(converted(paddle.ones([1]))) == 2.0
    monkeypatch.setenv("TEST_FACTOR", "3")
    assert float(converted(paddle.ones([1]))) == 3.0
    assert float(converted(paddle.full([1], 2.0))) == 6.0


@pytest.mark.parametrize("count", [0, 3, 200])
def test_containers_keep_what_they_had_where_a_trace_is_taken_back(count: int) -> None:
    had = list(range(count))
    listed, named, other = [*had], dict.fromkeys(had, 0), set(had)

    def keeps(x):
        listed.append(x)
        named["x"] = x
        other.add(len(named))
        return x * 2

    with pytest.warns(LeniencyWarning, match="known only in a run"):
        to_static(keeps)(paddle.ones([1]))
    assert listed[:-1] == had
    assert [*named] == [*had, "x"]
    assert other == {*had, count + 1}
    assert (float(listed[-1]), float(named["x"])) == (1.0, 1.0)
