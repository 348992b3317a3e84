"""Quantized models in files: small, loaded bit for bit, predicted with as integers, not trained further."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import inference, jit, nn
from engine.core.errors import ArgumentError, DTypeError, LimitError
from engine.inference.serve import Server
from engine.inference.wire import Message
from engine.program.graph.liveness import with_sub_blocks
from engine.program.passes.pipeline import PREDICTION
from engine.quantization.options import QuantizeOptions
from engine.quantization.quantize_model import quantize_layer
from engine.static import InputSpec
from tests.engine.quantized_nets import Quantized, random_images, small_net
from tests.robust.untrusted_models import unsign

SPEC = [InputSpec([None, 1, 12, 12])]


@pytest.fixture(scope="module")
def net() -> Any:
    return small_net()


@pytest.fixture(scope="module")
def saved(net: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    prefix = tmp_path_factory.mktemp("quantized") / "model"
    jit.save(net, str(prefix), input_spec=SPEC)
    return str(prefix)


def kinds(layer: Any) -> set[str]:
    return {v.dtype.name for k, v in layer.state_dict().items() if k.endswith("layer.weight")}


def test_weights_are_integers_in_the_file_and_results_stay_to_the_bit(net: Any, saved: str) -> None:
    loaded = jit.load(saved)
    x = paddle.to_tensor(random_images())
    assert kinds(net) == {"float32"}  # the network itself is left alone
    assert kinds(loaded) == {"int8"}
    np.testing.assert_array_equal(loaded(x).numpy(), net(x).numpy())
    for name, value in paddle.load(saved).items():
        np.testing.assert_array_equal(value, net.state_dict()[name].numpy())


def test_sixteen_bits_take_two_bytes(tmp_path: Path) -> None:
    net = small_net(bits=(9, 12))
    jit.save(net, str(tmp_path / "model"), input_spec=SPEC)
    loaded = jit.load(str(tmp_path / "model"))
    x = paddle.to_tensor(random_images())
    assert kinds(loaded) == {"int16"}
    np.testing.assert_array_equal(loaded(x).numpy(), net(x).numpy())


@pytest.mark.parametrize("options", [{}, {"optimize": True}])
@pytest.mark.parametrize("for_prediction", [False, True])
def test_a_loaded_model_is_saved_again_as_it_was(
    saved: str, tmp_path: Path, options: Any, for_prediction: bool
) -> None:
    first = jit.load(saved, for_prediction=for_prediction)
    jit.save(first, str(tmp_path / "again"), **options)
    again = jit.load(str(tmp_path / "again"))
    x = paddle.to_tensor(random_images())
    assert {v.dtype.name for v in again.state_dict().values()} == {"int8", "float32"}
    np.testing.assert_array_equal(again(x).numpy(), jit.load(saved)(x).numpy())
    faster = jit.load(str(tmp_path / "again"), for_prediction=True)
    np.testing.assert_array_equal(faster(x).numpy(), jit.load(saved, for_prediction=True)(x).numpy())


def test_predictions_are_those_of_integers(net: Any, saved: str) -> None:
    layer = jit.load(saved, for_prediction=True)
    for count in (3, 1):
        x = random_images(count)
        found = layer(paddle.to_tensor(x)).numpy()
        np.testing.assert_allclose(found, net(paddle.to_tensor(x)).numpy(), rtol=1e-5, atol=1e-6)
        config = inference.Config(f"{saved}.pdmodel", f"{saved}.pdiparams")
        predictor = inference.create_predictor(config)
        np.testing.assert_array_equal(predictor.run([x])[0].numpy(), found)
        config.switch_ir_optim(False)
        as_saved = inference.create_predictor(config).run([x])[0].numpy()
        np.testing.assert_array_equal(as_saved, jit.load(saved)(paddle.to_tensor(x)).numpy())
    runner = layer.functions["forward"].runner_for([paddle.to_tensor(x)], PREDICTION)
    run = {o.opdef.name for o in runner.program.global_block().ops}
    assert {"conv2d_integer", "depthwise_conv2d_integer", "matmul_v2_integer"} <= run
    assert "dequantize_linear" not in run


def test_the_process_of_a_model_multiplies_integers(saved: str) -> None:
    """What the page Predict asks, and `predict` for untrusted models."""
    server, x = Server(), random_images()
    server.answer(Message({"do": "load", "prefix": saved, "memory": None, "seconds": None}, []))
    _, (found,) = server.answer(Message({"do": "run"}, [x]))
    integers = jit.load(saved, for_prediction=True)(paddle.to_tensor(x)).numpy()
    np.testing.assert_array_equal(found, integers)
    assert not np.array_equal(found, jit.load(saved)(paddle.to_tensor(x)).numpy())


def test_a_quantized_model_is_not_trained_further(saved: str) -> None:
    layer = jit.load(saved)
    layer.train()
    x = paddle.to_tensor(random_images())
    with pytest.raises(
        ArgumentError, match=r"weight 'conv2d_\d+.w_0' is int8\[4, 1, 3, 3\]: a quantized model"
    ):
        layer(x)
    with paddle.no_grad():
        layer(x)
    layer.eval()
    layer(x)


def test_states_of_quantized_models(net: Any, saved: str) -> None:
    layer, other = jit.load(saved, for_prediction=True), small_net(seed=6)
    x = paddle.to_tensor(random_images())
    before = layer(x).numpy()
    state = layer.state_dict()
    with pytest.raises(DTypeError, match="has dtype int8: got float32"):
        layer.set_state_dict(other.state_dict())
    kinds = {k: v.dtype.name for k, v in state.items()}
    layer.set_state_dict({k: v.astype(kinds[k]) for k, v in other.state_dict().items()})
    np.testing.assert_allclose(layer(x).numpy(), other(x).numpy(), rtol=1e-5, atol=1e-6)
    assert np.abs(layer(x).numpy() - before).max() > 1e-3


def test_a_saved_model_of_several_methods_shares_its_integers(tmp_path: Path) -> None:
    class Both(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            paddle.seed(3)
            self.one = Quantized(nn.Linear(6, 4), 1.0)

        def forward(self, x: Any) -> Any:
            return self.one(x)

        @paddle.jit.to_static(input_spec=[InputSpec([None, 6])])
        def twice(self, x: Any) -> Any:
            return self.one(x) * 2 + self.one.layer.weight.sum()

        @paddle.jit.to_static(input_spec=[InputSpec([None, 6])])
        def shifted(self, x: Any) -> Any:
            return self.one(x + 1)

    net = Both()
    net.eval()
    jit.save(net, str(tmp_path / "model"), input_spec=[InputSpec([None, 6])])
    plain, faster = jit.load(str(tmp_path / "model")), jit.load(str(tmp_path / "model"), for_prediction=True)
    x = paddle.to_tensor(np.random.default_rng(0).random((2, 6), np.float32))
    # A method reads the integers themselves, so they stay what they were.
    assert {v.dtype.name for v in plain.state_dict().values()} == {"float32"}
    for name in ("forward", "twice", "shifted"):
        np.testing.assert_array_equal(getattr(plain, name)(x).numpy(), getattr(net, name)(x).numpy())
        np.testing.assert_allclose(getattr(faster, name)(x).numpy(), getattr(net, name)(x).numpy(), rtol=1e-5)


def test_integers_within_branches_and_loops(tmp_path: Path) -> None:
    """They are kept as integers, and what depends on weights alone is computed before the loop."""

    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            paddle.seed(1)
            self.first = Quantized(nn.Conv2D(1, 2, 3, padding=1), 1.0)
            self.again = Quantized(nn.Conv2D(2, 2, 3, padding=1), 1.0)
            self.conv, self.norm = nn.Conv2D(2, 2, 1), nn.BatchNorm2D(2)

        def forward(self, x: Any) -> Any:
            y, turn = self.first(x), paddle.zeros([1])
            while turn < 2:
                y, turn = self.norm(self.conv(self.again(y))), turn + 1
            if y.sum() > 0:
                y = self.again(y) * 2
            return y

    net = Net()
    net.eval()
    jit.save(net, str(tmp_path / "model"), input_spec=[InputSpec([None, 1, 6, 6])])
    plain, faster = jit.load(str(tmp_path / "model")), jit.load(str(tmp_path / "model"), for_prediction=True)
    assert kinds(plain) == {"int8"}
    for seed in range(3):
        x = paddle.to_tensor(np.random.default_rng(seed).standard_normal((2, 1, 6, 6)).astype("float32"))
        np.testing.assert_array_equal(plain(x).numpy(), net(x).numpy())
        np.testing.assert_allclose(faster(x).numpy(), net(x).numpy(), rtol=1e-4, atol=1e-5)
    runner = faster.functions["forward"].runner_for([x], PREDICTION)
    run = [o.opdef.name for o in with_sub_blocks(runner.program.global_block().ops)]
    assert run.count("conv2d_integer") >= 3
    assert not {"conv2d", "batch_norm", "sqrt", "cast", "integer_factor", "dequantize_linear"} & set(run)


# -- ordinary models ---------------------------------------------------------------------------------------
def test_an_ordinary_model_predicts_the_same_within_rounding(tmp_path: Path) -> None:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            paddle.seed(4)
            self.body = nn.Sequential(nn.Conv2D(1, 3, 3), nn.BatchNorm2D(3), nn.ReLU(), nn.Dropout(0.5))
            self.body[1]._mean.set_value(np.asarray([0.3, -0.2, 0.1], np.float32))
            self.head = nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            x = self.body(x).mean(axis=[2, 3])
            if x.sum() > 0:
                x = x * 2
            count = paddle.zeros([1])
            while count < 3:
                x, count = x + self.head.bias.sum(), count + 1
            return self.head(x)

        @paddle.jit.to_static(input_spec=[InputSpec([None, 3])])
        def only_head(self, x: Any) -> Any:
            return self.head(x)

    net = Net()  # saved in the mode for training
    jit.save(net, str(tmp_path / "model"), input_spec=[InputSpec([None, 1, None, None])])
    net.eval()
    plain, faster = jit.load(str(tmp_path / "model")), jit.load(str(tmp_path / "model"), for_prediction=True)
    rng = np.random.default_rng(0)
    for shape in ((2, 1, 6, 6), (1, 1, 9, 5), (2, 1, 6, 6)):
        x = paddle.to_tensor(rng.random(shape, np.float32))
        np.testing.assert_allclose(faster(x).numpy(), plain(x).numpy(), rtol=1e-5, atol=1e-6)
    x = paddle.to_tensor(rng.random((2, 3), np.float32))
    np.testing.assert_allclose(faster.only_head(x).numpy(), plain.only_head(x).numpy(), rtol=1e-6)
    x = paddle.to_tensor(rng.random((2, 1, 6, 6), np.float32))
    run = faster.functions["forward"].runner_for([x], PREDICTION).program
    assert "batch_norm" not in {o.opdef.name for o in run.blocks[0].ops}


def test_a_model_to_predict_with_can_be_trained_all_the_same(tmp_path: Path) -> None:
    """Gradients and training take the Program as it was saved; predictions then take the weights anew."""
    paddle.seed(2)
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.Flatten(), nn.Linear(8, 2))
    net.eval()
    jit.save(net, str(tmp_path / "model"), input_spec=[InputSpec([None, 1, 4, 4])])
    plain, faster = jit.load(str(tmp_path / "model")), jit.load(str(tmp_path / "model"), for_prediction=True)
    x = paddle.to_tensor(np.random.default_rng(0).random((4, 1, 4, 4), np.float32), stop_gradient=False)
    before = faster(x.detach()).numpy()
    gradients = []
    for layer in (plain, faster):
        layer(x).sum().backward()
        gradients.append(x.grad.numpy())
        x.clear_grad()
    np.testing.assert_array_equal(*gradients)
    for layer in (plain, faster):
        layer.train()
        optimizer = paddle.optimizer.SGD(0.5, parameters=layer.parameters())
        layer(x.detach()).square().sum().backward()
        optimizer.step()
        layer.eval()
    found = faster(x.detach()).numpy()
    np.testing.assert_allclose(found, plain(x.detach()).numpy(), rtol=1e-5, atol=1e-6)
    assert np.abs(found - before).max() > 1e-3
    for layer in (plain, faster):  # without a sign of it but the version of the weight
        layer.parameters()[0].set_value(np.full((2, 1, 3, 3), 0.25, np.float32))
    again = faster(x.detach()).numpy()
    np.testing.assert_allclose(again, plain(x.detach()).numpy(), rtol=1e-5, atol=1e-6)
    assert np.abs(found - again).max() > 1e-3


def test_state_that_a_model_writes_is_not_taken_for_a_weight(tmp_path: Path) -> None:
    """It changes in each run, which is not a reason to begin anew."""

    class Counting(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", paddle.zeros([1]))
            self.linear = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            paddle.assign(self.seen + 1, self.seen)
            return self.linear(x) * 0 + self.seen

    net = Counting()
    net.eval()
    jit.save(net, str(tmp_path / "model"), input_spec=[InputSpec([None, 2])])
    layer = jit.load(str(tmp_path / "model"), for_prediction=True)
    x = paddle.ones([1, 2])
    assert [float(layer(x)[0, 0]) for _ in range(3)] == [1.0, 2.0, 3.0]
    runner = layer.functions["forward"].runner_for([x], PREDICTION)
    layer(x)
    assert layer.functions["forward"].runner_for([x], PREDICTION) is runner


# -- untrusted models -------------------------------------------------------------------------------------
def test_an_untrusted_quantized_model_predicts_the_same_within_its_limits(saved: str, tmp_path: Path) -> None:
    jit.save(jit.load(saved), str(tmp_path / "model"))
    unsign(tmp_path / "model")
    foreign = jit.load(str(tmp_path / "model"), for_prediction=True)
    assert foreign.program().foreign
    x = paddle.to_tensor(random_images())
    own = jit.load(saved, for_prediction=True)
    np.testing.assert_array_equal(foreign(x).numpy(), own(x).numpy())
    runner = foreign.functions["forward"].runner_for([x], PREDICTION)
    run = [o.opdef.name for o in runner.program.global_block().ops]
    assert "conv2d_integer" in run  # its integers are multiplied, and nothing was computed in advance
    assert "integer_factor" in run
    assert "cast" not in run
    with paddle.model_limits(memory="1 KB"), pytest.raises(LimitError):
        foreign(x)


def test_an_untrusted_batch_norms_stay(tmp_path: Path) -> None:
    """Folded filters would be scaled again in each of its runs."""
    paddle.seed(2)
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2))
    net.eval()
    jit.save(net, str(tmp_path / "model"), input_spec=[InputSpec([None, 1, 4, 4])])
    unsign(tmp_path / "model")
    foreign = jit.load(str(tmp_path / "model"), for_prediction=True)
    x = paddle.to_tensor(np.random.default_rng(0).random((2, 1, 4, 4), np.float32))
    np.testing.assert_allclose(foreign(x).numpy(), net(x).numpy(), rtol=1e-6)
    runner = foreign.functions["forward"].runner_for([x], PREDICTION)
    assert "batch_norm" in [o.opdef.name for o in runner.program.global_block().ops]


def test_lenet_takes_less_than_a_third(tmp_path: Path) -> None:
    net = paddle.vision.models.LeNet()
    net.eval()
    spec = [InputSpec([None, 1, 28, 28])]
    x = np.random.default_rng(0).random((4, 1, 28, 28), np.float32)
    found = quantize_layer(net, spec, [x], QuantizeOptions(algo="abs_max", samples=4))
    found.save(str(tmp_path / "model"))
    weights = tmp_path / "model.pdiparams"
    assert weights.stat().st_size <= 80_000
    loaded = jit.load(str(tmp_path / "model"))
    assert sum(p.size for p in loaded.parameters()) == sum(p.size for p in net.parameters())
    np.testing.assert_array_equal(
        loaded(paddle.to_tensor(x)).numpy(), found.layer()(paddle.to_tensor(x)).numpy()
    )
