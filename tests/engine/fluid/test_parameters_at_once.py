"""Functions and Variables of Programs in a guard; Layers' replaced parameters and helpers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.fluid import dygraph, layers
from engine.fluid.dygraph import to_variable
from tests.engine.fresh_static import fresh_static

ATTR = fluid.ParamAttr()
REPLACED: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "BatchNorm": (lambda: dygraph.BatchNorm(3, param_attr=UNIFORM), (2, 3, 4, 4)),
    "Conv2D": (lambda: dygraph.Conv2D(3, 4, 3), (1, 3, 5, 5)),
    "Conv2DTranspose": (lambda: dygraph.Conv2DTranspose(3, 4, 3), (1, 3, 5, 5)),
    "Conv3D": (lambda: dygraph.Conv3D(3, 4, 3), (1, 3, 5, 5, 5)),
    "GroupNorm": (lambda: dygraph.GroupNorm(4, 2, param_attr=UNIFORM), (2, 4, 3, 3)),
    "LayerNorm": (lambda: dygraph.LayerNorm([4], param_attr=UNIFORM), (3, 4)),
    "Linear": (lambda: dygraph.Linear(3, 2), (2, 3)),
    "PRelu": (lambda: dygraph.PRelu("channel", channel=3, param_attr=UNIFORM), (1, 3, 4, 4)),
}
UNIFORM = fluid.ParamAttr(initializer=fluid.initializer.Uniform(-1.0, 1.0))


@pytest.mark.parametrize("name", REPLACED)
def test_a_layer_takes_the_parameters_of_another(name: str) -> None:
    make, shape = REPLACED[name]
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    with dygraph.guard():
        one, other = make(), make()
        value = to_variable(x)
        assert np.any(one(value).numpy() != other(value).numpy())
        one.weight = other.weight
        assert one.weight is other.weight
        assert [id(p) for p in one.parameters()].count(id(other.weight)) == 1
        np.testing.assert_array_equal(one(value).numpy(), other(value).numpy())
        layers.reduce_sum(one(value)).backward()
        assert other.weight.gradient() is not None


KEYS: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "BatchNorm": (lambda: dygraph.BatchNorm(3), ["weight", "bias", "_mean", "_variance"]),
    "BilinearTensorProduct": (lambda: dygraph.BilinearTensorProduct(2, 3, 4), ["weight", "bias"]),
    "Conv2D": (lambda: dygraph.Conv2D(3, 4, 3), ["weight", "bias"]),
    "Conv2DTranspose": (lambda: dygraph.Conv2DTranspose(3, 4, 3), ["weight", "bias"]),
    "Embedding": (lambda: dygraph.Embedding([5, 2]), ["weight"]),
    "GRUUnit": (lambda: dygraph.GRUUnit(6), ["weight", "bias"]),
    "GroupNorm": (lambda: dygraph.GroupNorm(4, 2, param_attr=ATTR, bias_attr=ATTR), ["weight", "bias"]),
    "InstanceNorm": (lambda: dygraph.InstanceNorm(3), ["scale", "bias"]),
    "LayerNorm": (lambda: dygraph.LayerNorm([4]), ["weight", "bias"]),
    "Linear": (lambda: dygraph.Linear(3, 2), ["weight", "bias"]),
    "PRelu": (lambda: dygraph.PRelu("all"), ["weight"]),
    "SpectralNorm": (lambda: dygraph.SpectralNorm([2, 3]), ["weight_u", "weight_v"]),
}


@pytest.mark.parametrize("name", KEYS)
def test_states_of_the_later_form_have_the_keys_of_their_time(name: str) -> None:
    make, keys = KEYS[name]
    with dygraph.guard():
        assert list(make().state_dict()) == keys


def test_an_embedding_takes_the_table_of_another() -> None:
    ids = np.array([[1], [4]])
    with dygraph.guard():
        one, other = dygraph.Embedding([5, 2]), dygraph.Embedding([5, 2])
        one.weight = other.weight
        np.testing.assert_array_equal(one(to_variable(ids)).numpy(), other(to_variable(ids)).numpy())


def test_functions_that_make_parameters_compute_in_a_guard() -> None:
    image, rows = np.ones((2, 3, 8, 8), np.float32), np.ones((2, 3), np.float32)
    ids = np.array([[1], [2]])
    with dygraph.guard():
        x, y = to_variable(image), to_variable(rows)
        made = [
            layers.fc(y, size=4, act="relu"),
            layers.conv2d(x, num_filters=2, filter_size=3),
            layers.conv2d_transpose(x, num_filters=2, filter_size=2),
            layers.batch_norm(x, act="relu"),
            layers.embedding(to_variable(ids), size=[4, 3]),
            layers.layer_norm(y),
            layers.group_norm(x, groups=3, param_attr=ATTR),
            layers.prelu(x, mode="all"),
            layers.bilinear_tensor_product(y, y, size=5),
            layers.gru_unit(to_variable(np.ones((2, 9), np.float32)), y, 9)[0],
            layers.lstm_unit(y, y, y)[0],
            fluid.embedding(to_variable(np.array([1, 2, 3])), size=[4, 2]),
        ]
        shapes = [
            [2, 4],
            [2, 2, 6, 6],
            [2, 2, 9, 9],
            [2, 3, 8, 8],
            [2, 3],
            [2, 3],
            [2, 3, 8, 8],
            [2, 3, 8, 8],
        ]
        assert [v.shape for v in made] == [*shapes, [2, 5], [2, 3], [2, 3], [3, 2]]
        layers.sums([layers.mean(v) for v in made]).backward()
        tracer = fluid.framework._dygraph_tracer()
        assert tracer is not None
        trained = [p for p in tracer.all_parameters() if not p.stop_gradient]
        before = [p.numpy() for p in trained]
        fluid.optimizer.SGD(0.1).minimize(made[0])
        assert sum(np.any(p.numpy() != b) for p, b in zip(trained, before, strict=True)) >= 6


def test_a_fed_variable_belongs_to_the_program_of_the_guard() -> None:
    with dygraph.guard():
        one, other = fluid.data("x", [None, 3], "float32"), layers.data("y", [3])
        assert [v.name for v in (one, other)] == ["x", "y"]
        assert {v.block.program for v in (one, other)} == {fluid.default_main_program()}
        assert other.shape == (-1, 3)


def test_auc_in_a_guard_is_that_of_the_call() -> None:
    guess = np.array([[0.2, 0.8], [0.6, 0.4], [0.3, 0.7]], np.float32)
    with dygraph.guard():
        whole, recent, kept = layers.auc(to_variable(guess), to_variable(np.array([[1], [0], [0]])))
        assert (whole.numpy().tolist(), recent.numpy().tolist()) == ([1.0], [1.0])
        assert kept[3].numpy().sum() == 2


class Net(dygraph.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.inner = dygraph.Linear(3, 2)
        self.part = dygraph.Sequential(dygraph.Linear(2, 2))

    def forward(self, x: Any) -> Any:
        return self.part(layers.relu(self.inner(x)))


def test_layers_below_without_theirs() -> None:
    with dygraph.guard():
        net = Net()
        assert [n for n, _ in net.named_sublayers("net", include_sublayers=False)] == [
            "net.inner",
            "net.part",
        ]
        assert [n for n, _ in net.named_sublayers()] == ["inner", "part", "part.0"]
        assert net.sublayers(include_sublayers=False) == [net.inner, net.part]


def test_a_layer_has_a_helper() -> None:
    with dygraph.guard():
        net, x = Net(), to_variable(np.array([-1.0, 2.0], np.float32))
        helper = net._helper
        assert helper.append_activation(x, act="relu").numpy().tolist() == [0.0, 2.0]
        out = helper.create_variable_for_type_inference("float32")
        helper.append_op(type="relu", inputs={"X": [x]}, outputs={"Out": [out]})
        assert out.numpy().tolist() == [0.0, 2.0]
        made = helper.create_parameter(ATTR, [2, 3], "float32")
        assert (made.shape, made.trainable) == ([2, 3], True)


def test_a_helper_appends_to_the_program() -> None:
    with fresh_static():
        x = layers.data("x", [2])
        helper = fluid.layer_helper.LayerHelper("own", input=x)
        out = helper.create_variable_for_type_inference(helper.input_dtype())
        helper.append_op(type="relu", inputs={"X": [helper.input()]}, outputs={"Out": [out]})
        (found,) = fluid.Executor().run(feed={"x": np.array([[-1.0, 2.0]], np.float32)}, fetch_list=[out])
        assert found.tolist() == [[0.0, 2.0]]


def test_a_traced_layer_predicts_and_is_saved(tmp_path: Path) -> None:
    x = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    with dygraph.guard():
        net = Net()
        out, traced = dygraph.TracedLayer.trace(net, inputs=[to_variable(x)])
        traced.set_strategy(fluid.BuildStrategy(), fluid.ExecutionStrategy())
        (found,) = traced([to_variable(x)])
        np.testing.assert_allclose(found, out.numpy(), rtol=1e-6)
        traced.save_inference_model(str(tmp_path / "model"), feed=[0], fetch=[0])
        with pytest.raises(ValueError, match="fetch are numbers from 0 to 0: got 1"):
            traced.save_inference_model(str(tmp_path / "other"), fetch=[1])
        with pytest.raises(TypeError, match="inputs are Variables: got ndarray"):
            traced([x])
    with fresh_static():
        executor = fluid.Executor()
        program, feeds, fetches = fluid.io.load_inference_model(str(tmp_path / "model"), executor)
        (loaded,) = executor.run(program, feed={feeds[0]: x}, fetch_list=fetches)
        np.testing.assert_allclose(loaded, found, rtol=1e-6)


def test_a_state_is_loaded_with_a_second_argument(tmp_path: Path) -> None:
    with dygraph.guard():
        net = Net()
        fluid.save_dygraph(net.state_dict(), str(tmp_path / "net"))
        found, rest = fluid.load_dygraph(str(tmp_path / "net"), False)
        assert rest is None
        assert found is not None
        np.testing.assert_array_equal(found["inner.weight"], net.inner.weight.numpy())
