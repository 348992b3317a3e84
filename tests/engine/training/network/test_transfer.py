"""A training starts from weights that are there, and its first layers may keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import jit, nn
from engine.core.errors import ArgumentError, DataError
from engine.files.untrusted import guarded
from engine.nn.layer.base.state import TorchState
from engine.training import TrainingConfig, TrainingRun
from engine.training.network.models import build_model, find_model, load_model
from engine.training.network.transfer import freeze_first, start_from, weights_at


def cnn(outputs: int = 10) -> Any:
    return build_model(load_model(find_model("cnn")), {"outputs": outputs, "height": 8, "width": 8})


def test_all_but_the_last_layer_of_other_classes_comes_from_the_state_dict(tmp_path: Path) -> None:
    before, network = cnn(10), cnn(3)
    engine.save(before.state_dict(), str(tmp_path / "net.pdparams"))
    own = network.linear2.weight.numpy().copy()
    found = start_from(network, str(tmp_path / "net.pdparams"))
    assert found["replaced"] == ["linear2.weight", "linear2.bias"]
    assert found["unused"] == []
    assert len(found["matched"]) == len(network.state_dict()) - 2
    np.testing.assert_array_equal(network.conv1.weight.numpy(), before.conv1.weight.numpy())
    np.testing.assert_array_equal(network.linear2.weight.numpy(), own)


@pytest.mark.parametrize("suffix", ["", ".pdmodel", ".pdiparams", ".h5"])
def test_an_exported_model_gives_its_weights(tmp_path: Path, suffix: str) -> None:
    before, network = cnn(), cnn()
    spec = jit.to_static.__globals__.get("InputSpec") or engine.static.InputSpec
    format = "packed" if suffix == ".h5" else "native"
    jit.save(before, str(tmp_path / "net"), [spec([None, 1, 8, 8], "float32", "x")], format=format)
    assert start_from(network, f"{tmp_path / 'net'}{suffix}")["replaced"] == []
    np.testing.assert_array_equal(network.linear1.weight.numpy(), before.linear1.weight.numpy())


def test_nothing_that_fits_is_refused_with_what_both_have(tmp_path: Path) -> None:
    engine.save({"other": engine.ones([3])}, str(tmp_path / "net.pdparams"))
    with pytest.raises(ArgumentError, match=r"it has other \[3\], the model conv1.weight \[8, 1, 3, 3\]"):
        start_from(cnn(), str(tmp_path / "net.pdparams"))


def test_nothing_at_the_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not found"):
        weights_at(str(tmp_path / "absent"))


def test_frozen_layers_keep_their_weights_and_statistics() -> None:
    network = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.Flatten(), nn.Linear(2 * 6 * 6, 2))
    assert freeze_first(network, 2) == ["0", "1"]
    network.train()
    before = {name: value.numpy().copy() for name, value in network.state_dict().items()}
    optimizer = engine.optimizer.SGD(0.1, parameters=network.parameters())
    loss = network(engine.to_tensor(np.ones((3, 1, 8, 8), np.float32))).square().mean()
    loss.backward()
    optimizer.step()
    changed = [
        name
        for name, value in network.state_dict().items()
        if not np.array_equal(value.numpy(), before[name])
    ]
    assert changed == ["3.weight", "3.bias"]


def test_one_layer_at_least_is_trained() -> None:
    with pytest.raises(
        ArgumentError, match="4 of 4 layers with weights: none is left to train; give at most 3"
    ):
        freeze_first(cnn(), 4)


@pytest.mark.parametrize("static", [True, False], ids=["static", "eager"])
def test_a_run_starts_from_another_and_resumes_without_it(bars: Path, tmp_path: Path, static: bool) -> None:
    common = {"data": str(bars), "model": "cnn", "epochs": 1, "static": static, "batch_size": 100}
    TrainingRun(TrainingConfig(**common, out=str(tmp_path / "first"))).run()
    events: list[Any] = []
    config = TrainingConfig(**common, out=str(tmp_path / "run"), start_from=str(tmp_path / "first"), freeze=2)
    run = TrainingRun(config, [events.append])
    run.run()
    started = next(event for event in events if event["event"] == "started")
    assert started["transferred"]["replaced"] == []
    assert len(started["transferred"]["matched"]) == 8
    weights = weights_at(str(tmp_path / "first"))
    ends = {name: value.numpy() for name, value in run.network.state_dict().items()}
    for name in ("conv1.weight", "conv2.bias"):
        np.testing.assert_array_equal(ends[name], weights[name])
    assert not np.array_equal(ends["linear2.weight"], weights["linear2.weight"])
    (tmp_path / "first").rename(tmp_path / "moved")
    TrainingRun.from_folder(tmp_path / "run", epochs=2).run()


def test_a_run_without_such_weights_fails_before_its_first_step(bars: Path, tmp_path: Path) -> None:
    config = TrainingConfig(data=str(bars), out=str(tmp_path / "run"), start_from=str(tmp_path / "absent"))
    with pytest.raises(DataError, match="start_from"):
        TrainingRun(config).run()


def test_weights_of_pytorch_are_translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "_is_child", True)
    network = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 3))
    arrays = {"module.0.weight": np.array([[1, 2], [3, 4]], np.float32), "module.head.bias": np.ones(5)}
    engine.save(TorchState(arrays), str(tmp_path / "net.safetensors"))
    found = start_from(network, str(tmp_path / "net.safetensors"))
    assert (found["matched"], found["unused"]) == (["0.weight"], ["head.bias"])
    assert found["replaced"] == ["0.bias", "1.weight", "1.bias"]
    assert network[0].weight.tolist() == [[1, 3], [2, 4]]


def test_state_of_paddle_within_a_checkpoint_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded, "_is_child", True)
    before, network = cnn(), cnn()
    engine.save({"model": before.state_dict(), "epoch": 3}, str(tmp_path / "c.pdparams"), format="paddle")
    assert start_from(network, str(tmp_path / "c.pdparams"))["replaced"] == []
    np.testing.assert_array_equal(network.conv1.weight.numpy(), before.conv1.weight.numpy())
