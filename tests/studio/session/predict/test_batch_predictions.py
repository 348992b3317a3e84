"""Folders of images, CSV and NPZ files predicted into a table; what can't be is in the table too."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.core.errors import ArgumentError
from studio.session.predict.batch_predictions import items_in, only_input, write_predictions
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_info import ModelInfo


def model(*shapes: list[int]) -> ModelInfo:
    specs = tuple({"name": f"x{n}", "dtype": "float32", "shape": shape} for n, shape in enumerate(shapes))
    return ModelInfo(ModelChoice("m"), "m", "m", specs, ("dark", "bright"), {}, {}, "", {})


def brightness(values: Any) -> Any:
    mean = float(np.mean(values))
    return np.array([1.0 - mean, mean])


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_folder_of_images_becomes_a_table(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    (folder / "deep").mkdir(parents=True)
    for name, value in (("a.png", 250), ("deep/b.jpg", 5)):
        Image.new("RGB", (40, 30), (value, value, value)).save(folder / name)
    (folder / "c.png").write_bytes(b"no image")
    (folder / "notes.txt").write_text("left out")
    info, outcome = model([-1, 3, 16, 16]), []
    items = items_in(folder, only_input(info))
    out = tmp_path / "out.csv"
    done = write_predictions(
        out, items, info, brightness, lambda place, total: outcome.append((place, total))
    )
    assert done == (2, 1)
    rows = table(out)
    assert [(row["name"], row["class"]) for row in rows] == [
        ("a.png", "bright"),
        ("c.png", ""),
        (str(Path("deep") / "b.jpg"), "dark"),
    ]
    assert float(rows[0]["p(bright)"]) == pytest.approx(250 / 255, abs=0.01)
    assert "not an image" in rows[1]["problem"]
    assert outcome == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_rows_of_a_csv_file_and_samples_of_an_npz_file(tmp_path: Path) -> None:
    info = model([-1, 2])
    (tmp_path / "rows.csv").write_text("a,b\n0.1,0.1\n0.9,0.9\n1,x\n")
    np.savez(tmp_path / "arrays.npz", labels=np.zeros(2), x=np.array([[0.2, 0.2], [0.8, 0.8]], np.float32))
    np.save(tmp_path / "array.npy", np.array([[0.7, 0.8]]))
    found = {}
    for name in ("rows.csv", "arrays.npz", "array.npy"):
        out = tmp_path / f"{name}.out.csv"
        write_predictions(out, items_in(tmp_path / name, only_input(info)), info, brightness)
        found[name] = [(row["name"], row["class"]) for row in table(out)]
    assert found == {
        "rows.csv": [("2", "dark"), ("3", "bright"), ("4", "")],
        "arrays.npz": [("0", "dark"), ("1", "bright")],
        "array.npy": [("0", "bright")],
    }


@pytest.mark.parametrize(
    ("shape", "sample", "given"),
    [
        ([-1, 1, 28, 28], (28, 28), (28, 28)),
        ([-1, 3, 8, 8], (3, 8, 8), (8, 8, 3)),
        ([-1, 3, 8, 8], (8, 8, 3), (8, 8, 3)),
        ([-1, 5], (5,), (5,)),
        ([-1, 7, 5], (7, 5), (7, 5)),
    ],
)
def test_an_array_without_a_batch_axis_is_one_sample(
    tmp_path: Path, shape: list[int], sample: tuple[int, ...], given: tuple[int, ...]
) -> None:
    values = np.random.default_rng(0).random(sample).astype(np.float32)
    np.save(tmp_path / "one.npy", values)
    [item] = items_in(tmp_path / "one.npy", only_input(model(shape)))
    expected = np.moveaxis(values, 0, -1) if sample == (3, 8, 8) else values
    assert item.read().shape == given
    assert np.array_equal(item.read(), expected)


def test_images_in_arrays_are_fed_from_0_to_1(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "p.npz", x=np.full((1, 8, 8, 3), 255, np.uint8))
    asked = only_input(model([-1, 3, 8, 8]))
    [item] = items_in(tmp_path / "p.npz", asked)
    assert item.read().shape == (8, 8, 3)
    assert item.read().max() == 1.0


def test_stopped_predictions_are_marked_as_partial(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("1,1\n0,0\n0,0\n")
    info = model([-1, 2])
    asked = iter([False, True])
    out = tmp_path / "out.csv"
    write_predictions(
        out, items_in(tmp_path / "rows.csv", only_input(info)), info, brightness, stopped=lambda: next(asked)
    )
    assert not out.exists()
    assert len(table(tmp_path / "out.partial.csv")) == 1


@pytest.mark.parametrize(
    ("name", "shapes", "reason"),
    [
        ("empty", [[-1, 3, 8, 8]], "nothing to predict"),
        ("empty", [[-1, 5]], "the model takes numbers, no images"),
        ("a.npz", [[-1, 5]], r"no array of samples of \[5\]: it holds \[2, 3\]"),
        ("complex.npy", [[-1, 3]], "complex numbers: .* takes real ones"),
        ("notes.txt", [[-1, 5]], "neither a folder nor one of"),
        ("rows.csv", [[-1, 5], [-1, 5]], "takes 2 inputs"),
        ("rows.csv", [[-1, 3, 8, 8]], "not an image in colour"),
    ],
)
def test_files_that_do_not_match_the_model_are_refused(
    tmp_path: Path, name: str, shapes: list[list[int]], reason: str
) -> None:
    (tmp_path / "empty").mkdir()
    np.savez(tmp_path / "a.npz", x=np.zeros((2, 3)))
    np.save(tmp_path / "complex.npy", np.zeros((2, 3), np.complex64))
    (tmp_path / "notes.txt").write_text("words")
    (tmp_path / "rows.csv").write_text("1,2,3,4,5\n")
    with pytest.raises(ArgumentError, match=reason):
        items_in(tmp_path / name, only_input(model(*shapes)))
