"""Models whose files say what their data was: their editor, how images are placed, what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import FormatError
from engine.training.exporting.raw_inputs import RawInputs
from engine.training.sources.spec import Column, DataSpec
from studio.session.predict.batch_predictions import items_in
from studio.session.predict.comparison_models import alike
from studio.session.predict.image_fitting import placings_of
from studio.session.predict.info_file_check import checked_information
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_info import ModelInfo, arrays_of, scores_of
from studio.session.predict.model_input import inputs_of
from tests.raw_models import KINDS, PRICES, WAVES

IMAGES = DataSpec("images", "classes", (3, 32, 32), ("a", "b"))


def info(spec: DataSpec, shape: tuple[int, ...] | None = None, **more: Any) -> ModelInfo:
    files = {"data_spec": spec.as_plain(), **more}
    sizes = [-1, *(spec.shape if shape is None else shape)]
    inputs = ({"name": "x", "shape": sizes, "dtype": "float32"},)
    raw = RawInputs.of(files)
    return ModelInfo(ModelChoice("m"), "m", "m", inputs, spec.classes, {}, {}, "", files, raw=raw)


@pytest.mark.parametrize(
    ("spec", "form"),
    [
        (PRICES, "table"),
        (WAVES, "sequence"),
        (DataSpec("sequences", "classes", (28, 28), ("a", "b")), "sequence"),
        (DataSpec("table", "classes", (784,), ("a", "b")), "numbers"),
        (IMAGES, "picture"),
        (DataSpec("images", "numbers", (1, 28, 28), (), ("y",)), "digit"),
    ],
)
def test_the_editor_follows_the_data_and_not_only_the_shape(spec: DataSpec, form: str) -> None:
    [asked] = inputs_of(info(spec))
    assert (asked.form, asked.shape) == (form, spec.shape)


def test_a_model_of_another_shape_than_its_data_gets_the_editor_of_the_shape() -> None:
    assert [each.form for each in inputs_of(info(PRICES, (5,)))] == ["numbers"]


def test_a_table_of_too_many_words_for_a_form_is_predicted_from_a_file_only(tmp_path: Path) -> None:
    columns = tuple(Column(f"c{n}", "input", "word", words=("a", "b")) for n in range(1001))
    model = info(DataSpec("table", "classes", (1001,), ("x", "y"), (), columns))
    [asked] = inputs_of(model)
    assert asked.form == ""
    assert "at most 1000 columns, these are 1001" in asked.why_not
    (tmp_path / "rows.csv").write_text(",".join(["b"] * 1001) + "\n")
    [item] = items_in(tmp_path / "rows.csv", asked)
    assert item.read().tolist() == [2.0] * 1001


def test_rows_that_are_already_read_are_not_converted_again() -> None:
    model = info(PRICES)
    assert model.raw is not None
    row = model.raw.listed([["75", "red", "2"]]).values[0]
    [array] = arrays_of(model, [row])
    assert array.tolist() == [[75.0, 3.0, 2.0]]


@pytest.mark.parametrize(
    ("prepare", "first"),
    [
        ({"resize": 32, "fit": "crop"}, "cover"),
        ({"resize": 32, "fit": "pad"}, "whole"),
        ({"resize": 32}, "stretch"),
        ({"resize": 0}, "cover"),
    ],
)
def test_images_are_placed_as_in_training(prepare: dict[str, Any], first: str) -> None:
    [asked] = inputs_of(info(IMAGES, prepare=prepare))
    assert placings_of(asked)[0] == first
    assert sorted(placings_of(asked)) == ["cover", "stretch", "whole"]


def test_models_of_other_columns_can_not_be_compared() -> None:
    assert alike(inputs_of(info(PRICES)), inputs_of(info(KINDS)))
    columns = (*PRICES.columns[:3], Column("floors", "input", "number"), *PRICES.columns[4:])
    assert not alike(inputs_of(info(PRICES)), inputs_of(info(replace(PRICES, columns=columns))))


def test_another_number_of_outputs_than_targets_is_refused() -> None:
    assert scores_of(info(PRICES), [np.array([[2.0]])]).tolist() == [2.0]
    with pytest.raises(FormatError, match="2 numbers for 1 targets"):
        scores_of(info(PRICES), [np.zeros((1, 2))])


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": "all"},
        {"columns": [{"name": 3}]},
        {"columns": [{**PRICES.as_plain()["columns"][0], "words": [1]}]},
        {"columns": [{**PRICES.as_plain()["columns"][0], "fill": "x"}]},
        {"classes": None},
        {"targets": 1},
    ],
)
def test_a_spec_of_other_types_is_refused_by_the_name_of_its_field(changes: dict[str, Any]) -> None:
    plain = PRICES.as_plain()
    assert checked_information({"data_spec": plain}, Path("f"))[1] == {"data_spec": plain}
    with pytest.raises(FormatError, match=r"f: info\.data_spec is not what a saved model has"):
        checked_information({"data_spec": {**plain, **changes}}, Path("f"))
