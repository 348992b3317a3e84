"""An attribution as one number for each pixel or column."""

from __future__ import annotations

import numpy as np
import pytest

from engine.training.exporting.raw_inputs import RawInputs
from studio.session.explain.covering import fill_used, filled, usual_baseline
from studio.session.explain.maps import MOST_ROWS, map_of, numbers_of, strongest
from studio.session.predict.model_input import ModelInput

RGB = ModelInput("x", "float32", (3, 2, 2), 1, "picture", 3, 2, 2, "CHW")


def test_channels_are_summed_but_the_largest_gradient_counts() -> None:
    values = np.zeros((1, 3, 2, 2), np.float32)
    values[0, :, 0, 1] = 1.0, -3.0, 1.5
    assert map_of(RGB, values, "integrated")[0, 1] == -0.5
    assert map_of(RGB, values, "saliency")[0, 1] == 3.0
    assert map_of(RGB, values, "saliency").shape == (2, 2)


@pytest.mark.parametrize(
    ("asked", "shape"),
    [
        (ModelInput("x", "float32", (2, 2, 3), 1, "picture", 3, 2, 2, "HWC"), (1, 2, 2, 3)),
        (ModelInput("x", "float32", (2, 2), 1, "picture", 1, 2, 2, "HW"), (1, 2, 2)),
        (ModelInput("x", "float32", (4,), 4, "digit", 1, 2, 2, "HW"), (4, 4)),
        (ModelInput("x", "float32", (1, 2, 2), 1, "digit", 1, 2, 2, "CHW"), (1, 1, 2, 2)),
        (ModelInput("x", "float32", (2, 2), 0, "digit", 1, 2, 2, "HW"), (2, 2)),
    ],
)
def test_every_layout_has_a_map(asked: ModelInput, shape: tuple[int, ...]) -> None:
    values = np.zeros(shape, np.float32)
    values.reshape(-1)[values.size // max(1, shape[0] if asked.batch > 1 else 1) - 1] = 2.0
    assert map_of(asked, values, "integrated").tolist() == [[0, 0], [0, 2]]


def test_drop_of_an_occlusion_is_that_of_all_channels_at_once() -> None:
    values = np.broadcast_to(np.float32([[1, 2], [3, -4]]), (1, 3, 2, 2))
    assert map_of(RGB, values, "occlusion").tolist() == [[1, 2], [3, -4]]


def test_pixels_that_were_not_computed_stay_nan() -> None:
    values = np.full((1, 3, 2, 2), np.nan, np.float32)
    assert np.isnan(map_of(RGB, values, "occlusion")).all()


def test_a_sequence_has_a_number_for_each_step() -> None:
    asked = ModelInput("x", "float32", (3, 2), 1, "sequence")
    values = np.arange(6, dtype=np.float32).reshape(1, 3, 2)
    assert numbers_of(asked, values, "integrated").tolist() == [1, 5, 9]
    assert numbers_of(asked, np.repeat(values[..., :1], 2, axis=2), "occlusion").tolist() == [0, 2, 4]
    assert numbers_of(asked, -values, "saliency").tolist() == [1, 3, 5]


@pytest.mark.parametrize(
    ("prepare", "used", "values"),
    [
        ({"fill": [1.5, 2.5], "column_mean": [1.0, 2.0]}, "mean", [1.0, 2.0]),
        ({"fill": [1.5, 2.5]}, "usual", [1.5, 2.5]),
        ({"fill": [0.0, 0.0]}, "zero", [0.0, 0.0]),
        ({"mean": []}, "zero", [0.0, 0.0]),
    ],
)
def test_rows_are_compared_with_means_where_the_model_knows_them(
    prepare: dict[str, list[float]], used: str, values: list[float]
) -> None:
    spec = {"kind": "table", "task": "numbers", "shape": [2], "classes": [], "targets": ["y"], "columns": []}
    raw = RawInputs.of({"data_spec": spec, "prepare": prepare})
    asked = ModelInput("x", "float32", (2,), form="table", raw=raw)
    assert usual_baseline(asked) == "mean"
    assert fill_used(asked, "mean") == used
    assert filled(asked, np.ones(2, np.float32), "mean").tolist() == values
    assert filled(asked, np.ones(2, np.float32), "zero").tolist() == [0.0, 0.0]


def test_an_image_is_compared_with_black() -> None:
    asked = ModelInput("x", "float32", (1, 28, 28), form="digit", height=28, width=28, layout="CHW")
    assert usual_baseline(asked) == "zero"
    assert fill_used(asked, "mean") == "mean"


def test_of_too_many_columns_the_strongest_are_shown_in_order() -> None:
    values = np.arange(MOST_ROWS + 5, dtype=np.float32)
    values[0] = np.nan
    assert strongest(values).tolist() == list(range(5, MOST_ROWS + 5))
    assert strongest(values[:3]).tolist() == [0, 1, 2]
