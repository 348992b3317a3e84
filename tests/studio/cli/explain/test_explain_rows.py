"""``model-studio explain`` of rows and sequences: what they are compared with, notes, channels of a step."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from studio.cli import app


def call(*words: object) -> tuple[str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


@pytest.fixture
def cars(tmp_path: Path) -> Path:
    """A run on two columns of numbers and one of words."""
    draw = np.random.default_rng(0)
    lines = ["year,power,color,price"]
    for n in range(200):
        year, power = draw.integers(1990, 2021), "" if n == 7 else draw.integers(50, 300)
        lines.append(f"{year},{power},{('red', 'blue')[n % 2]},{300 * (year - 1990) + n}")
    (tmp_path / "cars.csv").write_text("\n".join(lines))
    call(
        "train",
        "--data",
        tmp_path / "cars.csv",
        "--target",
        "price",
        "--epochs",
        "1",
        "--out",
        tmp_path / "run",
    )
    (tmp_path / "new.csv").write_text("year,power,color\n2010,100,pink\n1995,,red\n2000,90,red\n")
    return tmp_path / "run"


def test_rows_are_compared_with_the_mean_of_their_columns(cars: Path) -> None:
    new, model = cars.parent / "new.csv", cars.parent / "model"
    call("export", cars, "--out", model)
    words = ["explain", model, new, "--sample", 2, "--method", "integrated"]
    mean, zero, run = (
        json.loads(call(*place, "--json", *more)[0])
        for place, more in ((words, []), (words, ["--baseline", "zero"]), (["explain", cars, *words[2:]], []))
    )
    assert (mean["baseline"], zero["baseline"], run["baseline"]) == ("mean", "zero", "mean")
    assert mean["difference"] == pytest.approx(run["difference"], rel=1e-3)
    # A year of 0 is 200 deviations away from all years of the training.
    assert abs(mean["difference"]) < 0.1 * abs(zero["difference"])
    text, _ = call(*words)
    assert text.splitlines()[1] == "  baseline: the mean of each column in the training"
    assert call(*words, "--baseline", "zero")[0].splitlines()[1] == "  baseline: zero"
    assert "  color = red: " in call(*words[:-1], "occlusion")[0]


@pytest.mark.parametrize(
    ("row", "notes"),
    [
        (0, ["column color: 1 word that training never saw"]),
        (1, ["column power: 1 missing value"]),
        (2, []),
    ],
)
def test_words_and_values_that_are_filled_are_noted(cars: Path, row: int, notes: list[str]) -> None:
    new = cars.parent / "new.csv"
    for command in ("explain", "activations"):
        _, said = call(command, cars, new, "--sample", row, "--json")
        assert said.splitlines() == [f"note: {new}: {note}" for note in notes]


def test_steps_name_their_strongest_channels(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    values = draw.standard_normal((80, 6, 5)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=values, y=(values[:, 2, 3] > 0).astype(np.int64))
    call("train", "--data", tmp_path / "data.npz", "--epochs", "1", "--out", tmp_path / "run")
    np.save(tmp_path / "new.npy", values[0])
    words = ["explain", tmp_path / "run", tmp_path / "new.npy", "--method", "integrated"]
    text, _ = call(*words, "--out", tmp_path / "map.csv")
    with (tmp_path / "map.csv").open() as file:
        rows = [[float(each) for each in row] for row in list(csv.reader(file))[1:]]
    lines = text.splitlines()[2:]
    assert len(lines) == len(rows) == 6
    for step, (line, row) in enumerate(zip(lines, rows, strict=True)):
        assert row[1] == pytest.approx(sum(row[2:]), abs=1e-6)
        best = int(np.argmax(np.abs(row[2:])))
        expected = f"([{best}] = {values[0, step, best]:.4g}: {row[2 + best]:+.4g}, "
        assert line.startswith(f"  step {step}: {row[1]:+.4g} {expected}")
        assert line.count("] = ") == 3
    covered, _ = call(*words[:-1], "occlusion")
    assert f"([0] = {values[0, 0, 0]:.4g}, [1] = {values[0, 0, 1]:.4g}, " in covered.splitlines()[2]
