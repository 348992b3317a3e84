"""Trainings that predict numbers: loss, R² and error in the targets' units, checkpoints, exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.files.inference import describe_inference
from engine.inference.serve_run import RunServer
from engine.inference.wire import Message
from engine.quantization.report import QuantizationReport
from engine.training import TrainingConfig, TrainingRun
from engine.training.exporting.export import export_run, scores_of
from engine.training.measuring.predictions import PredictionsFolder
from engine.training.quantize.choices import Choices
from engine.training.quantize.run import quantize_run
from resources.settings.export import ExportSettings
from tests.engine.training.number_data import number_splits

SETTINGS: dict[str, Any] = {
    "data": "numbers",
    "model": "linear",
    "optimizer": "adam",
    "learning_rate": 0.1,
    "batch_size": 32,
    "epochs": 8,
    "static": False,
    "kernels": "numpy",
    "threads": 1,
}


@pytest.fixture(autouse=True)
def data(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """Trainings on ``numbers`` read arrays; ``validation`` gives them a validation split."""
    wanted = {"validation": False}
    monkeypatch.setattr(
        "engine.training.corrections.load_data", lambda *_: number_splits(wanted["validation"])
    )
    monkeypatch.setattr("engine.training.training_run.fetch_data", lambda *_: None)
    return wanted


def trained(out: str = "", **changes: Any) -> tuple[TrainingRun, Any, list[Any]]:
    events: list[Any] = []
    run = TrainingRun(TrainingConfig(**{**SETTINGS, "out": out, **changes}), [events.append])
    return run, run.run(), events


def of_kind(events: list[Any], kind: str) -> list[Any]:
    return [event for event in events if event["event"] == kind]


def answers(run: TrainingRun) -> np.ndarray:
    """What the network predicts for the test rows, in the units of the targets, computed in float64."""
    state = {name: value.numpy().astype(np.float64) for name, value in run.network.state_dict().items()}
    weight, bias = (next(v for n, v in state.items() if n.endswith(end)) for end in ("weight", "bias"))
    splits = number_splits()
    inputs = np.stack([splits.test[place][0] for place in range(len(splits.test))])
    return splits.prepare.raw_targets(inputs.astype(np.float64) @ weight + bias)


def test_the_last_epoch_has_r2_and_error_of_the_networks_answers() -> None:
    run, result, events = trained(epochs=12)
    splits = number_splits()
    true = np.asarray(splits.test.rows.targets, np.float64)[splits.test.chosen]
    errors = answers(run) - true
    r2 = (1 - (errors**2).sum(axis=0) / ((true - true.mean(axis=0)) ** 2).sum(axis=0)).mean()
    last = of_kind(events, "epoch")[-1]
    assert last["validation_r2"] == pytest.approx(r2, abs=1e-5)
    assert last["validation_mae"] == pytest.approx(np.abs(errors).mean(), rel=1e-4)
    scaled = splits.prepare.scaled_targets(true)
    assert last["validation_loss"] == pytest.approx(
        ((splits.prepare.scaled_targets(answers(run)) - scaled) ** 2).mean(), rel=1e-4
    )
    assert r2 > 0.95
    assert not {"validation_accuracy", "confusion", "hardest", "train_accuracy"} & last.keys()
    assert not any("accuracies" in event for event in of_kind(events, "steps"))
    worst = last["worst"][0]
    assert worst["target"] == pytest.approx(true[worst["index"]].tolist())
    sizes = np.sqrt(((errors / splits.prepare.target_deviation) ** 2).mean(axis=1))
    assert worst["index"] == sizes.argmax()
    assert result.task == "numbers"
    assert of_kind(events, "finished")[0]["best_r2"] == result.best_metric
    assert "best_accuracy" not in of_kind(events, "finished")[0]


def test_the_run_records_what_auto_stands_for() -> None:
    run, _, events = trained()
    config = events[0]["config"]
    assert (config["kind"], config["task"], config["loss"]) == ("table", "numbers", "mse")
    assert config["model_params"] == {"features": 3, "outputs": 2}
    assert events[0]["targets"] == ["price", "weight"]
    assert events[0]["units"] == ["€", ""]
    assert run.config.as_dict() == config


def test_a_network_that_does_not_fit_is_refused_with_those_that_do() -> None:
    with pytest.raises(
        ArgumentError, match=r"lenet does not fit the data: takes images: yours are table; choose linear, mlp"
    ):
        trained(model="lenet")
    with pytest.raises(ArgumentError, match=r"cross_entropy does not fit .* choose mse, mae, huber"):
        trained(loss="cross_entropy")


@pytest.mark.parametrize("loss", ["mae", "huber"])
def test_other_losses_train_and_are_measured_by_squared_error(loss: str) -> None:
    _, _, events = trained(loss=loss, epochs=6)
    epochs = of_kind(events, "epoch")
    assert epochs[-1]["validation_loss"] < 0.5 * epochs[0]["validation_loss"]
    first = of_kind(events, "steps")[0]["losses"][0]
    assert first != pytest.approx(of_kind(trained(epochs=1)[2], "steps")[0]["losses"][0])


@pytest.mark.parametrize("static", [False, True])
def test_a_resumed_run_ends_bit_equal(tmp_path: Path, static: bool) -> None:
    whole, _, _ = trained(str(tmp_path / "whole"), epochs=3, static=static)
    trained(str(tmp_path / "parts"), epochs=1, static=static)
    resumed = TrainingRun.from_folder(tmp_path / "parts", epochs=3)
    events: list[Any] = []
    resumed.listeners.append(events.append)
    result = resumed.run()
    lines = (tmp_path / "parts" / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    assert sum('"baseline"' in line for line in lines) == 1
    assert of_kind(events, "baseline")[0]["linear"]["r2"] > 0.99
    for name, value in whole.network.state_dict().items():
        np.testing.assert_array_equal(resumed.network.state_dict()[name].numpy(), value.numpy())
    assert result.best_metric == whole.progress.best_metric
    assert resumed.history.epochs == whole.history.epochs


def test_the_metric_decides_which_epoch_is_best() -> None:
    _, result, events = trained(learning_rate=1.0, epochs=6)
    values = [event["validation_r2"] for event in of_kind(events, "epoch")]
    assert result.best_metric == max(values)
    marks = [event["best"] for event in of_kind(events, "epoch")]
    assert marks == [value > max(values[:place], default=-np.inf) for place, value in enumerate(values)]


def test_the_best_weights_of_a_validation_split_are_measured_on_the_test(
    data: dict[str, bool], tmp_path: Path
) -> None:
    data["validation"] = True
    run, _, events = trained(str(tmp_path / "run"), epochs=3)
    started, ended = events[0], of_kind(events, "finished")[0]
    assert (started["chosen_on"], started["validation_samples"], started["test_samples"]) == (
        "validation",
        30,
        30,
    )
    assert ended["best_r2"] == max(event["validation_r2"] for event in of_kind(events, "epoch"))
    splits = number_splits()
    true = np.asarray(splits.test.rows.targets, np.float64)[splits.test.chosen]
    assert {"test_loss", "test_r2", "test_mae"} <= ended.keys()
    # What is left in the network are the last weights, here the best as well: they are measured by hand.
    assert ended["best_step"] == ended["step"]
    errors = answers(run)[:30] - true[:30]
    expected = 1 - (errors**2).sum(axis=0) / ((true[:30] - true[:30].mean(axis=0)) ** 2).sum(axis=0)
    assert ended["test_r2"] == pytest.approx(expected.mean(), abs=1e-5)
    assert ended["test_r2"] != ended["best_r2"]


def test_a_baseline_follows_the_start() -> None:
    _, _, events = trained(epochs=1)
    baseline = events[1]
    splits = number_splits()
    true = np.asarray(splits.test.rows.targets, np.float64)[splits.test.chosen]
    mean = np.asarray(splits.train.rows.targets, np.float64)[:100].mean(axis=0)
    assert baseline["event"] == "baseline"
    assert baseline["constant"]["mae"] == pytest.approx(np.abs(true - mean).mean())
    assert baseline["constant"]["r2"] <= 0
    assert baseline["linear"]["r2"] > 0.99


def test_predictions_are_stored_in_the_units_of_the_targets(tmp_path: Path) -> None:
    run, _, events = trained(str(tmp_path / "run"), epochs=2)
    folder = PredictionsFolder(tmp_path / "run")
    step = of_kind(events, "epoch")[-1]["step"]
    found = folder.read_numbers(step)
    assert found is not None
    assert folder.read(step) is None
    np.testing.assert_allclose(found.predicted, answers(run), rtol=1e-4, atol=1e-4)
    splits = number_splits()
    true = np.asarray(splits.test.rows.targets)[splits.test.chosen]
    np.testing.assert_allclose(found.targets, true, rtol=1e-6)
    assert found.hardest[0] == of_kind(events, "epoch")[-1]["worst"][0]["index"]


def test_a_plateau_schedule_follows_r2() -> None:
    _, _, events = trained(
        schedule="reduce_on_plateau",
        schedule_params={
            "metric": "validation_accuracy",
            "patience": 0,
            "threshold": 0.99,
            "threshold_mode": "abs",
        },
        epochs=3,
    )
    assert of_kind(events, "steps")[-1]["learning_rate"] < SETTINGS["learning_rate"]


def test_exported_files_answer_in_the_units_of_the_targets(tmp_path: Path) -> None:
    run, result, _ = trained(str(tmp_path / "run"), epochs=3)
    exported = export_run(
        tmp_path / "run", str(tmp_path / "model"), ExportSettings(checkpoint="last", samples=60)
    )
    assert exported["difference"] < 1e-3
    assert exported["r2"] == pytest.approx(result.validation_metric, abs=1e-5)
    assert exported["mae"] == pytest.approx(result.validation_mae, rel=1e-4)
    assert "accuracy" not in exported
    info = describe_inference(str(tmp_path / "model")).info["info"]
    assert info["validation_r2"] == pytest.approx(result.validation_metric)
    assert list(info["data_spec"]["targets"]) == ["price", "weight"]
    assert not info["prepare"].get("target_mean")

    from engine import jit
    from engine.tensor.creation import to_tensor

    splits = number_splits()
    inputs = np.stack([splits.test[place][0] for place in range(len(splits.test))])
    layer = jit.load(str(tmp_path / "model"), for_prediction=True)
    np.testing.assert_allclose(layer(to_tensor(inputs)).numpy(), answers(run), rtol=1e-4, atol=1e-4)


def test_a_runs_network_answers_in_the_units_of_the_targets(tmp_path: Path) -> None:
    run, result, _ = trained(str(tmp_path / "run"), epochs=2)
    server = RunServer()
    asked = {"do": "load", "folder": str(tmp_path / "run"), "checkpoint": result.checkpoint}
    said, _ = server.answer(Message({**asked, "agreed": None, "memory": None, "seconds": None}, []))
    assert said["info"]["info"]["validation_r2"] == pytest.approx(result.validation_metric)
    assert said["info"]["info"]["data_spec"]["task"] == "numbers"
    splits = number_splits()
    inputs = np.stack([splits.test[place][0] for place in range(len(splits.test))])
    np.testing.assert_allclose(scores_of(server._layer, inputs), answers(run), rtol=1e-4, atol=1e-4)


def test_a_quantized_model_is_compared_by_r2(tmp_path: Path) -> None:
    trained(str(tmp_path / "run"), epochs=3)
    event = quantize_run(tmp_path / "run", str(tmp_path / "small"), Choices(target_drop=50.0))
    report = QuantizationReport.from_plain(event["report"])
    assert report.accuracy is None
    assert report.r2 is not None
    exported = export_run(tmp_path / "run", str(tmp_path / "model"), ExportSettings(samples=60))
    assert report.r2.float == pytest.approx(exported["r2"], abs=1e-4)
    assert report.r2.float_error == pytest.approx(exported["mae"], rel=1e-3)
    assert report.r2.quantized != report.r2.float
    assert report.r2.drop == pytest.approx(100 * (report.r2.float - report.r2.quantized))
    assert {layer.drop for layer in report.layers if layer.quantized} != {None}
