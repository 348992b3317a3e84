"""A run that is trained on with quantization: what is frozen answers as the network did in training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import jit
from engine.core.errors import ArgumentError
from engine.files.inference import inference_paths
from engine.nn.quant.qat.weighted import WeightedQuantedLayer
from engine.quantization.options import QuantizeOptions
from engine.quantization.report import QuantizationReport
from engine.training.quantize import aware as quantize_aware
from engine.training.quantize import layers as quantize_layers
from engine.training.quantize.choices import Choices
from engine.training.quantize.run import quantize_run, quantize_saved
from engine.training.stepper import Stepper
from tests.engine.training.quantize.banded_run import make_data, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(make_data(tmp_path_factory.mktemp("qat") / "bands.npz"))


def test_the_frozen_network_predicts_as_the_trained_one(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[Any] = []
    build = quantize_aware.build_parts
    monkeypatch.setattr(
        quantize_aware, "build_parts", lambda *a, **k: parts.append(build(*a, **k)) or parts[-1]
    )
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    reported: list[Any] = []
    choices = Choices(QuantizeOptions(weight_bits=4, activation_bits=4, skip=("fc2",)), epochs=2)
    event = quantize_run(run, str(tmp_path / "m"), choices, reported.append)
    report = QuantizationReport.from_plain(event["report"])

    trained = parts[0].stepper.network
    trained.eval()
    images, _ = next(iter(parts[0].test_batches))  # normalised, as the training was fed
    expected = trained(images).numpy()
    config = parts[0].prepare
    mean, deviation = (np.asarray(config[name], np.float32)[0] for name in ("mean", "deviation"))
    found = jit.load(str(tmp_path / "m"))(engine.to_tensor(images.numpy() * deviation + mean)).numpy()
    # A value on the edge between two levels may fall to the other side, one level of 15.
    assert np.quantile(np.abs(found - expected), 0.9) < 1e-4
    assert (found.argmax(1) == expected.argmax(1)).mean() > 0.95

    quanted = {n: q for n, q in trained.named_sublayers() if isinstance(q, WeightedQuantedLayer)}
    assert quanted.keys() == {"conv", "fc1"}
    assert [(each.name, each.quantized) for each in report.layers] == [
        ("conv", True),
        ("fc1", True),
        ("fc2", False),
    ]
    assert report.layers[1].threshold == pytest.approx(float(quanted["fc1"].activation_quanter.scales()))
    assert (report.method, report.algo, report.samples) == ("qat", "moving_average_abs_max", 600)
    assert report.accuracy is not None
    assert parts[0].stepper.learning_rate == pytest.approx(0.001), "a tenth of the run's"
    assert [each["total"] for each in reported if each["stage"] == "train"][-1] == 20
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_the_target_is_about_the_network_before_the_training(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    keep = quantize_layers.keep_in_float
    monkeypatch.setattr(
        quantize_layers,
        "keep_in_float",
        lambda worst, accuracy, *more: asked.append(accuracy) or keep(worst, accuracy, *more),
    )
    choices = Choices(QuantizeOptions(weight_bits=4), epochs=1, learning_rate=0.5, target_drop=100)
    event = quantize_run(run, str(tmp_path / "m"), choices)
    assert asked == [pytest.approx(event["report"]["accuracy"]["float"])]


def test_a_loss_that_is_no_number_ends_it_and_nothing_is_written(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stepper, "train", lambda *_: (float("nan"), 0.1))
    with pytest.raises(
        ArgumentError, match=r"not a finite number in step 1 with learning rate 0.5: nan; give"
    ):
        quantize_run(run, str(tmp_path / "m"), Choices(epochs=1, learning_rate=0.5))
    assert not list(tmp_path.iterdir())


def test_a_saved_model_can_not_be_trained(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="is a saved model, which has neither"):
        quantize_saved(str(run), str(tmp_path / "m"), Choices(epochs=1))


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"weights_only": True}, "give one of the two"),
        ({"options": QuantizeOptions(bias_correction=True)}, "rounds weights to the nearest integer"),
        ({"options": QuantizeOptions(weight_type="mse")}, "rounds weights to the nearest integer"),
        ({"learning_rate": -1.0}, "must be above 0"),
        ({"learning_rate": float("nan")}, "must be above 0"),
        ({"epochs": -1}, "at least 1"),
    ],
)
def test_choices_that_do_not_fit_are_refused(choices: dict[str, Any], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        Choices(**{"epochs": 1, **choices})


def test_a_layer_without_quantized_layers_is_not_trained(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="no layer can be quantized"):
        quantize_run(run, str(tmp_path / "m"), Choices(QuantizeOptions(skip=("conv", "fc*")), epochs=1))
    assert not inference_paths(tmp_path / "m")["pdmodel"].exists()
