"""fluid.nets and small modules of fluid besides its layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError, ConditionError, ShapeError
from engine.fluid import layers

RNG = np.random.default_rng(1)


@pytest.fixture
def run() -> Iterator[Callable[..., list[Any]]]:
    """Runs what ``build()`` returns in a new Program."""

    def ran(build: Callable[[], Any], feed: Any) -> list[Any]:
        main, startup = fluid.Program(), fluid.Program()
        startup.random_seed = 3
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            found = build()
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(startup)
        return list(exe.run(main, feed, list(found)))

    engine.enable_static()
    try:
        yield ran
    finally:
        engine.disable_static()


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_a_convolution_and_its_pooling_are_those_of_layers(run: Any) -> None:
    image = RNG.normal(size=(2, 3, 8, 8)).astype(np.float32)
    weight = fluid.ParamAttr(name="w")

    def build() -> Any:
        x = layers.data("x", [3, 8, 8])
        one = fluid.nets.simple_img_conv_pool(x, 4, 3, 2, 2, act="relu", param_attr=weight, bias_attr=False)
        conv = layers.conv2d(x, 4, 3, act="relu", param_attr=weight, bias_attr=False)
        return one, layers.pool2d(conv, 2, "max", 2)

    one, other = run(build, {"x": image})
    assert one.shape == (2, 4, 3, 3)
    assert np.array_equal(one, other)


def test_a_group_of_convolutions_normalizes_before_it_activates(run: Any) -> None:
    image = RNG.normal(size=(2, 3, 8, 8)).astype(np.float32)
    weights = [fluid.ParamAttr(name="a"), fluid.ParamAttr(name="b")]

    def build() -> Any:
        x = layers.data("x", [3, 8, 8])
        made = fluid.nets.img_conv_group(
            x,
            [4, 5],
            2,
            param_attr=weights,
            conv_act="relu",
            conv_with_batchnorm=[True, False],
            pool_stride=2,
            pool_type="avg",
        )
        with pytest.raises(ArgumentError, match="conv_padding has 3 values for 2"):
            fluid.nets.img_conv_group(x, [4, 5], 2, conv_padding=[1, 1, 1])
        first = layers.batch_norm(layers.conv2d(x, 4, 3, padding=1, param_attr=weights[0]), act="relu")
        second = layers.conv2d(first, 5, 3, padding=1, param_attr=weights[1], act="relu")
        return made, layers.pool2d(second, 2, "avg", 2)

    made, expected = run(build, {"x": image})
    assert made.shape == (2, 5, 4, 4)
    np.testing.assert_allclose(made, expected, rtol=1e-6)


@pytest.mark.parametrize("heads", [1, 2])
def test_attention(run: Any, heads: int) -> None:
    q, k, v = (RNG.normal(size=s).astype(np.float32) for s in ((2, 3, 4), (2, 5, 4), (2, 5, 6)))

    def build() -> Any:
        given = [layers.data(n, list(a.shape), False) for n, a in zip("qkv", (q, k, v), strict=True)]
        with pytest.raises(ShapeError, match="3 heads"):
            fluid.nets.scaled_dot_product_attention(*given, 3)
        with pytest.raises(ShapeError, match="one length"):
            fluid.nets.scaled_dot_product_attention(given[0], given[1], given[0])
        out = fluid.nets.scaled_dot_product_attention(*given, heads)
        return [out, *fluid.default_main_program().global_block().all_parameters()]

    found, *weights = run(build, {"q": q, "k": k, "v": v})
    if weights:
        q, k, v = (a @ w + b for a, w, b in zip((q, k, v), weights[::2], weights[1::2], strict=True))

    def parts(x: Any) -> Any:
        return np.moveaxis(x.reshape(*x.shape[:2], heads, -1), 2, 1)

    shares = softmax(parts(q) @ np.swapaxes(parts(k), 2, 3) / np.sqrt(4 / heads))
    expected = np.moveaxis(shares @ parts(v), 1, 2).reshape(2, 3, 6)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_glu_in_a_guard() -> None:
    x = RNG.normal(size=(2, 6)).astype(np.float32)
    with fluid.dygraph.guard():
        found = fluid.nets.glu(fluid.dygraph.to_variable(x)).numpy()
    np.testing.assert_allclose(found, x[:, :3] / (1 + np.exp(-x[:, 3:])), rtol=1e-6)


def test_ids_of_any_shape(run: Any) -> None:
    def build() -> Any:
        ids = layers.data("ids", [2, 1], False, "int64")
        return fluid.one_hot(ids, 3), fluid.one_hot(ids * 2, 3, True), fluid.embedding(ids, [3, 4])

    first, wide, rows = run(build, {"ids": np.array([[2], [1]])})
    assert first.tolist() == [[[0, 0, 1]], [[0, 1, 0]]]
    assert wide.tolist() == [[[0, 0, 0]], [[0, 0, 1]]]
    assert rows.shape == (2, 1, 4)


def test_a_parallel_executor_joins_the_feeds_of_its_devices(run: Any) -> None:
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        loss = layers.mean(layers.data("x", [2]))
    runner = fluid.ParallelExecutor(use_cuda=False, loss_name=loss.name, main_program=main)
    values = np.arange(8, dtype=np.float32).reshape(4, 2)
    assert runner.device_count == 1
    assert runner.run([loss.name], feed={"x": values})[0].tolist() == [3.5]
    assert runner.run([loss], feed=[{"x": values[:2]}, {"x": values[2:]}])[0].tolist() == [3.5]
    with pytest.raises(ArgumentError, match="num_trainers is 2"):
        fluid.ParallelExecutor(False, num_trainers=2)


def test_an_average_by_weights() -> None:
    mean = fluid.average.WeightedAverage()
    with pytest.raises(ConditionError, match="no data to be averaged"):
        mean.eval()
    mean.add(value=2.0, weight=1)
    mean.add(np.array([4.0]), 2)
    assert mean.eval() == pytest.approx(10 / 3)
    with pytest.raises(ArgumentError, match="'value' must be a number"):
        mean.add("2", 1)
    mean.reset()
    mean.add(5, 3)
    assert mean.eval() == 5


@pytest.mark.parametrize("guarded", [True, False])
def test_dropouts_of_one_seed_drop_the_same(run: Any, guarded: bool) -> None:
    x = np.ones((20, 20), np.float32)
    if guarded:
        with fluid.dygraph.guard():
            value = fluid.dygraph.to_variable(x)
            found = [layers.dropout(value, 0.5, seed=s).numpy() for s in (7, 7, 8, None)]
            layer = fluid.dygraph.Dropout(0.5, seed=7)
            found.append(layer(value).numpy())
    else:
        found = run(
            lambda: [layers.dropout(layers.data("x", [20, 20], False), 0.5, seed=s) for s in (7, 7, 8, 0, 7)],
            {"x": x},
        )
    masks = [f.tobytes() for f in found]
    assert masks[0] == masks[1] == masks[4]
    assert len(set(masks)) == 3


@pytest.mark.parametrize("name", ["communicator", "incubate"])
def test_omitted_names_raise_with_the_modern_replacement(name: str) -> None:
    owner, _, last = name.rpartition(".")
    with pytest.raises(AttributeError, match=rf"paddle.fluid.{name}: is absent: .*use "):
        getattr(fluid.nets if owner else fluid, last)


def test_names_of_other_modules_are_fluids_own_too() -> None:
    assert fluid.FC is fluid.dygraph.FC
    assert fluid.Layer is fluid.dygraph.Layer
    assert fluid.Tensor is fluid.LoDTensor
    assert fluid.optimizer.RMSProp is fluid.optimizer.RMSPropOptimizer
    role = fluid.core.op_proto_and_checker_maker
    assert (role.OpRole.LRSched, role.OpRole.Backward, role.kOpRoleAttrName()) == (16, 1, "op_role")
    assert fluid.get_flags("FLAGS_check_nan_inf") == {"FLAGS_check_nan_inf": False}


def test_a_context_manager_keeps_its_name() -> None:
    @fluid.wrapped_decorator.signature_safe_contextmanager
    def entered(value: int) -> Iterator[int]:
        yield value

    @fluid.wrapped_decorator.wrap_decorator
    def twice(function: Callable[[int], int]) -> Callable[[int], int]:
        return lambda x: 2 * function(x)

    @twice
    def more(x: int) -> int:
        return x + 1

    with entered(3) as value:
        assert value == 3
    assert (entered.__name__, more.__name__, more(2)) == ("entered", "more", 6)


def test_the_step_counter_of_learning_rates(run: Any) -> None:
    from engine.fluid.layers.learning_rate_scheduler import _decay_step_counter

    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        step = _decay_step_counter(1)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(startup)
    assert [exe.run(main, fetch_list=[step])[0].tolist() for _ in range(2)] == [[1.0], [2.0]]
