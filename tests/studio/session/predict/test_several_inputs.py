"""NPZ files for models with several inputs: each sample is fed as in the training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_info import ModelInfo, arrays_of
from studio.session.predict.several_inputs import samples_in

INPUTS: tuple[dict[str, Any], ...] = (
    {"name": "image", "dtype": "float32", "shape": [-1, 3, 8, 8]},
    {"name": "row", "dtype": "float32", "shape": [-1, 5]},
    {"name": "word", "dtype": "int64", "shape": [-1]},
)


@pytest.fixture
def info() -> ModelInfo:
    added = {"prepare": {"picture": True, "resize": 8, "color": "auto", "fit": "stretch"}}
    return ModelInfo(ModelChoice("m"), "m", "m", INPUTS, ("dark", "bright"), {}, {}, "", added)


def written(path: Path, **changes: np.ndarray) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    given = {
        "row": random.random((4, 5)),
        "word_test": np.arange(4),
        "image": random.integers(0, 255, (4, 8, 8, 3)).astype(np.uint8),
        "word_train": np.arange(9),
    }
    np.savez(path, **{name: value for name, value in {**given, **changes}.items() if value.size})
    return given


def test_samples_are_fed_as_in_the_training(tmp_path: Path, info: ModelInfo) -> None:
    given = written(tmp_path / "a.npz")
    items = samples_in(tmp_path / "a.npz", info)
    assert [item.name for item in items] == ["0", "1", "2", "3"]
    image, row, word = arrays_of(info, items[2].read())
    assert image.shape == (1, 3, 8, 8)
    np.testing.assert_allclose(image[0], given["image"][2].transpose(2, 0, 1) / 255, atol=1e-6)
    np.testing.assert_array_equal(row[0], given["row"][2].astype(np.float32))
    assert (word.tolist(), word.dtype) == ([2], np.int64)
    written(tmp_path / "large.npz", image=np.full((4, 20, 20, 3), 51, np.uint8))
    image, *_ = arrays_of(info, samples_in(tmp_path / "large.npz", info)[0].read())
    np.testing.assert_allclose(image, np.full((1, 3, 8, 8), 0.2), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        (
            "a.npz",
            {"row": np.zeros(0)},
            r"no array 'row': it has word_test, image, word_train; .* image, row, word",
        ),
        ("a.npz", {"row": np.zeros((3, 5))}, "different numbers of samples: image 4, row 3, word 4"),
        ("a.png", {}, r"takes 3 inputs \(image, row, word\): give an NPZ file"),
        ("a.csv", {}, "give an NPZ file"),
        (".", {}, "give an NPZ file"),
    ],
)
def test_unsuitable_files_are_refused(
    tmp_path: Path, info: ModelInfo, name: str, changes: dict[str, np.ndarray], message: str
) -> None:
    written(tmp_path / "a.npz", **changes)
    with pytest.raises(ArgumentError, match=message):
        samples_in(tmp_path / name, info)
