"""Files saved with ``optimize=True``: they predict the same with fewer operators and without batch norms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import jit, nn, static
from engine.core.errors import ArgumentError
from engine.files.inference import describe_inference, read_inference
from engine.static import InputSpec

SPEC = [InputSpec([None, 3, 8, 8], "float32", "x")]
IMAGES = np.random.default_rng(0).standard_normal((5, 3, 8, 8)).astype("float32")


def _unit(before: int, after: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2D(before, after, 3, padding=1), nn.BatchNorm2D(after), nn.ReLU())


class Residual(nn.Layer):
    """Conv-BN-ReLU twice with a way around, as in ResNet; ``features`` is a method of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.first = _unit(3, 4), _unit(4, 4)
        self.second = nn.Sequential(nn.Conv2D(4, 4, 3, padding=1, bias_attr=False), nn.BatchNorm2D(4))
        self.head = nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        return self.head(self.features(x).mean(axis=[2, 3]))

    @jit.to_static(input_spec=SPEC)
    def features(self, x: Any) -> Any:
        x = self.stem(x)
        return nn.functional.relu(self.second(self.first(x)) + x)


@pytest.fixture
def net() -> Residual:
    paddle.seed(1)
    made = Residual()
    rng = np.random.default_rng(2)
    for layer in made.sublayers():
        if isinstance(layer, nn.BatchNorm2D):  # as after training
            layer._mean.set_value(rng.normal(size=4).astype("float32"))
            layer._variance.set_value(rng.uniform(0.3, 2, size=4).astype("float32"))
            layer.weight.set_value(rng.uniform(0.5, 1.5, size=4).astype("float32"))
            layer.bias.set_value(rng.normal(size=4).astype("float32"))
    made.eval()
    return made


def operators(program: Any) -> list[str]:
    return [o.opdef.name for o in program.global_block().ops]


def test_a_network_is_saved_without_batch_norms(net: Residual, tmp_path: Path) -> None:
    x = paddle.to_tensor(IMAGES)
    text = [p.numpy().copy() for p in net.parameters()]
    jit.save(net, str(tmp_path / "plain"), SPEC)
    jit.save(net, str(tmp_path / "fast"), SPEC, optimize=True, info={"classes": ["a", "b", "c"]})
    loaded = jit.load(str(tmp_path / "fast"))
    for one, other in ((loaded(x), net(x)), (loaded.features(x), net.features(x))):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-5)
    for method in ("forward", "features"):
        found = operators(loaded.program(method))
        assert "batch_norm" not in found
        assert found.count("conv2d_fusion") == 3
    assert loaded.info == {"classes": ["a", "b", "c"]}
    before = len(operators(jit.load(str(tmp_path / "plain")).program()))
    described = describe_inference(str(tmp_path / "fast"))
    assert described.info["operators"] == [before, len(operators(loaded.program()))]
    assert "operators" not in describe_inference(str(tmp_path / "plain")).info
    weights = read_inference(str(tmp_path / "fast")).weights
    assert not [name for name in weights if "batch_norm" in name], "what nothing reads is not in the file"
    for parameter, value in zip(net.parameters(), text, strict=True):
        np.testing.assert_array_equal(parameter.numpy(), value)


def test_an_optimized_model_is_loaded_and_optimized_again(net: Residual, tmp_path: Path) -> None:
    jit.save(net, str(tmp_path / "plain"), SPEC)
    jit.save(jit.load(str(tmp_path / "plain")), str(tmp_path / "fast"), optimize=True)
    jit.save(jit.load(str(tmp_path / "fast")), str(tmp_path / "again"), optimize=True)
    again = jit.load(str(tmp_path / "again"))
    x = paddle.to_tensor(IMAGES)
    np.testing.assert_allclose(again(x).numpy(), net(x).numpy(), rtol=1e-5, atol=1e-5)
    assert "batch_norm" not in operators(again.program())


def test_a_network_that_trains_is_not_optimized(net: Residual, tmp_path: Path) -> None:
    net.train()
    with pytest.raises(ArgumentError, match=r"\['batch_norm'\] are in the mode for training; call eval\(\)"):
        jit.save(net, str(tmp_path / "fast"), SPEC, optimize=True)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def static_mode() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


def test_a_static_program_is_saved_without_batch_norms(static_mode: None, tmp_path: Path) -> None:
    main, startup = static.Program(), static.Program()
    main.random_seed = startup.random_seed = 3
    with static.program_guard(main, startup):
        x = static.data("x", [None, 3, 8, 8], "float32")
        residual = Residual()
        residual.features.rollback()
        out = residual(x)
        paddle.optimizer.SGD(0.1).minimize((out * out).mean())
    run = static.Executor()
    run.run(startup)
    for _ in range(3):
        run.run(main, {"x": IMAGES}, [out])
    (expected,) = run.run(main.clone(for_test=True), {"x": IMAGES}, [out.name])
    prefix = str(tmp_path / "fast")
    static.save_inference_model(prefix, [x], [out], run, program=main, optimize=True)
    with static.scope_guard(static.Scope()):
        program, feeds, fetches = static.load_inference_model(prefix, run)
        assert "batch_norm" not in operators(program)
        (found,) = run.run(program, {feeds[0]: IMAGES}, fetches)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
