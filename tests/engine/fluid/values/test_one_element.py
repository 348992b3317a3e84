"""Values of shape [1] convert to Python numbers, as fluid's scripts expect of ``loss.numpy()``."""

import math
import operator

import numpy as np
import pytest

import engine
from engine import fluid


def test_a_loss_converts_to_a_number() -> None:
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(np.array([1.0, 2.0], np.float32))
        loss = fluid.layers.mean(x)
        loss.backward()
        assert loss.numpy().shape == (1,)
        assert float(loss.numpy()) == 1.5
        assert int(loss.numpy()) == 1
        assert complex(loss.numpy()) == 1.5 + 0j
        assert float(loss.gradient()) == 1.0
        assert operator.mod("%.3f", loss.numpy()) == "1.500"
        assert math.floor(float(loss.numpy() * 2)) == 3


def test_fetched_one_element_arrays_convert_to_numbers() -> None:
    engine.enable_static()
    try:
        with fluid.program_guard(fluid.Program(), fluid.Program()):
            x = fluid.layers.data("x", [2])
            mean = fluid.layers.mean(x)
            reader = {"x": np.array([[1.0, 2.0]], np.float32)}
            for executor in (fluid.Executor(fluid.CPUPlace()), fluid.ParallelExecutor(use_cuda=False)):
                loss, whole = executor.run(feed=reader, fetch_list=[mean.name, x.name])
                assert (float(loss), "%.2f" % loss, loss.shape) == (1.5, "1.50", (1,))  # noqa: UP031
                assert type(whole) is np.ndarray
            [tensor] = fluid.Executor().run(feed=reader, fetch_list=[mean], return_numpy=False)
            assert fluid.executor.as_numpy([tensor]) == [np.array([1.5])]
    finally:
        engine.disable_static()


def test_it_stays_an_ordinary_array_otherwise() -> None:
    with fluid.dygraph.guard():
        value = fluid.layers.mean(fluid.dygraph.to_variable(np.array([1.0, 2.0], np.float32))).numpy()
        several = fluid.dygraph.to_variable(np.ones([2], np.float32)).numpy()
    assert repr(value) == "array([1.5], dtype=float32)"
    assert str(value) == "[1.5]"
    assert isinstance(value.mean(), np.float32)
    assert type(value + np.ones(3, np.float32)) is np.ndarray
    assert type(np.array([value, value])) is np.ndarray
    assert type(several) is np.ndarray
    with pytest.raises(TypeError, match=r"only 0-dimensional arrays|only length-1 arrays"):
        float(np.repeat(value, 2))
