"""What is suggested for data: which model and settings, why, and that given settings stay."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError
from engine.training import TrainingConfig, TrainingRun
from engine.training.randomness import random_state
from engine.training.suggesting.estimate import estimated
from engine.training.suggesting.suggest import Suggestion, suggested
from resources.settings import SUGGESTED


def table(path: Path, numbers: bool = False, rows: int = 40) -> str:
    drawn = np.random.default_rng(1)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["width", "height (cm)", "target"])
        for width, height in drawn.random((rows, 2)):
            writer.writerow([width, height, width + height if numbers else "big" if width > 0.5 else "small"])
    return str(path)


def folder(path: Path, sizes: list[tuple[int, int]], each: int = 4) -> str:
    from PIL import Image

    for name in ("a", "b"):
        (path / name).mkdir(parents=True)
        for number in range(each):
            size = sizes[number % len(sizes)]
            Image.new("RGB", size, (number, 9, 200)).save(path / name / f"{number}.png")
    return str(path)


def sequences(path: Path) -> str:
    drawn = np.random.default_rng(0)
    np.savez(path, x=drawn.random((30, 9, 2)).astype(np.float32), y=np.arange(30) % 3)
    return str(path)


def choices(found: Suggestion) -> dict[str, Any]:
    return {each.setting: each.value for each in found.choices}


def test_the_built_in_digits_keep_lenet_and_its_usual_settings() -> None:
    found = suggested(TrainingConfig(data="digits"))
    assert found.config == TrainingConfig(data="digits", model="lenet")
    assert list(choices(found)) == ["model"]


def test_idx_files_of_digits_are_trained_like_the_built_in_ones(bars: Path) -> None:
    assert suggested(TrainingConfig(data=str(bars))).config == TrainingConfig(data=str(bars), model="lenet")


def test_a_table_gets_a_perceptron_on_standardized_columns(tmp_path: Path) -> None:
    found = suggested(TrainingConfig(data=table(tmp_path / "t.csv")))
    config = found.config
    assert (config.model, config.normalize, config.optimizer, config.batch_size) == (
        "mlp",
        "statistics",
        "adamw",
        32,
    )
    assert all(each.reason for each in found.choices)
    assert found.problems["lenet"] == "takes images: yours are table"
    assert found.problems["linear"] == ""


@pytest.mark.parametrize(("curved", "model"), [(False, "linear"), (True, "mlp")])
def test_a_small_table_gets_a_linear_model_where_nothing_is_curved(
    curved: bool, model: str, tmp_path: Path
) -> None:
    drawn = np.random.default_rng(2)
    x = drawn.uniform(-2, 2, (80, 2))
    y = x @ [3.0, -1.0] + drawn.normal(0, 0.3, 80) + (4 * np.sin(3 * x[:, 0]) if curved else 0)
    rows = [f"{a:.4f},{b:.4f},{value:.4f}" for (a, b), value in zip(x, y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,price", *rows]) + "\n")
    found = suggested(TrainingConfig(data=str(tmp_path / "t.csv"), label_name="price"))
    assert found.config.model == model
    reason = next(each.reason for each in found.choices if each.setting == "model")
    assert ("left-out parts of 64 rows" in reason) is not curved


def test_sequences_get_a_recurrent_network_with_clipped_gradients(tmp_path: Path) -> None:
    config = suggested(TrainingConfig(data=sequences(tmp_path / "s.npz"))).config
    assert (config.model, config.clip_norm) == ("gru", 1.0)


def test_images_of_several_sizes_are_resized_and_padded(tmp_path: Path) -> None:
    found = choices(suggested(TrainingConfig(data=folder(tmp_path / "f", [(40, 40), (60, 30), (90, 80)]))))
    assert (found["model"], found["resize"], found["fit"]) == ("cnn", 32, "pad")


def test_images_of_one_size_stay_as_they_are(tmp_path: Path) -> None:
    found = choices(suggested(TrainingConfig(data=folder(tmp_path / "f", [(20, 16)]))))
    assert found["model"] == "cnn"
    assert not {"resize", "fit"} & found.keys()


def test_given_settings_stay_even_at_their_defaults(tmp_path: Path) -> None:
    data = table(tmp_path / "t.csv")
    found = suggested(TrainingConfig(data=data, epochs=5, optimizer="adam"), {"data", "epochs", "optimizer"})
    assert (found.config.epochs, found.config.optimizer, found.config.optimizer_params) == (5, "adam", {})
    assert not {"epochs", "optimizer", "optimizer_params"} & choices(found).keys()


def test_a_config_names_settings_that_stay_and_the_run_no_longer_does(tmp_path: Path) -> None:
    found = suggested(TrainingConfig(data=table(tmp_path / "t.csv"), given=("epochs",)))
    assert "epochs" not in choices(found)
    assert (found.config.epochs, found.config.given) == (5, ())
    assert choices(found).keys() - {"model"} <= set(SUGGESTED)


def test_a_given_model_stays_and_one_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    data = table(tmp_path / "t.csv")
    assert suggested(TrainingConfig(data=data, model="linear")).config.model == "linear"
    with pytest.raises(ArgumentError, match="lenet does not fit the data: takes images: yours"):
        suggested(TrainingConfig(data=data, model="lenet"))


def test_a_target_that_must_be_chosen_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,size,price\n" + "\n".join(f"{n},{n % 7},{n / 3}" for n in range(30)))
    with pytest.raises(DataError, match="price"):
        suggested(TrainingConfig(data=str(tmp_path / "t.csv")))


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
def test_a_run_records_what_was_suggested_and_resumes(tmp_path: Path, numbers: bool) -> None:
    data, out = table(tmp_path / "t.csv", numbers), tmp_path / "run"
    events: list[Any] = []
    TrainingRun(TrainingConfig(data=data, epochs=2, out=str(out)), [events.append]).run()
    recorded = next(event for event in events if event["event"] == "started")["config"]
    assert recorded["model"] == "mlp"
    assert recorded["kind"] == "table"
    assert recorded["task"] == ("numbers" if numbers else "classes")
    assert recorded["model_params"]["features"] == 2
    assert recorded["epochs"] == 2
    resumed = TrainingRun.from_folder(out, epochs=3)
    resumed.run()
    assert resumed.config.model == "mlp"
    assert resumed.progress.epoch == 3


def test_an_estimate_leaves_the_random_numbers_as_they_were(tmp_path: Path) -> None:
    config = suggested(TrainingConfig(data=table(tmp_path / "t.csv"))).config
    before = random_state()
    cost = estimated(config)
    after = random_state()
    assert 0 < cost.seconds < 60
    assert cost.memory > 1_000_000
    assert str(before) == str(after)
