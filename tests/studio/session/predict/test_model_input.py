"""Inputs of models: which editor gives one, and what is fed for an image or for numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.training.exporting.raw_inputs import RawInputs
from engine.training.sources.spec import DataSpec
from studio.session.predict.image_fitting import placed, placings_of
from studio.session.predict.model_choice import ModelChoice, checkpoints_of, run_choice
from studio.session.predict.model_info import ModelInfo
from studio.session.predict.model_input import ModelInput, array_of, first_numbers, inputs_of, numbers_in
from studio.session.predict.predict_view import rank


def asked(shape: list[int], dtype: str = "float32") -> ModelInput:
    spec = {"name": "x", "dtype": dtype, "shape": shape}
    info = ModelInfo(ModelChoice("m"), "m", "m", (spec,), (), {}, {}, "", {})
    return inputs_of(info)[0]


@pytest.mark.parametrize(
    ("shape", "dtype", "form", "channels", "sides", "layout"),
    [
        ([-1, 1, 28, 28], "float32", "digit", 1, (28, 28), "CHW"),
        ([-1, 28, 28, 1], "float32", "digit", 1, (28, 28), "HWC"),
        ([-1, 784], "float32", "digit", 1, (28, 28), "HW"),
        ([-1, 3, 32, 32], "float32", "picture", 3, (32, 32), "CHW"),
        ([-1, 48, 64, 3], "uint8", "picture", 3, (48, 64), "HWC"),
        ([-1, 4, 16, 8], "float64", "picture", 4, (16, 8), "CHW"),
        ([1, 3, -1, -1], "float32", "picture", 3, (224, 224), "CHW"),
        ([-1, 64, 64], "float32", "picture", 1, (64, 64), "HW"),
        ([-1, 5], "float32", "numbers", 1, (0, 0), ""),
        ([7], "float32", "numbers", 1, (0, 0), ""),
        ([-1], "int64", "numbers", 1, (0, 0), ""),
        ([-1, -1, 8], "int64", "numbers", 1, (0, 0), ""),
        ([-1, 3, 32, 32], "int64", "numbers", 1, (0, 0), ""),
    ],
)
def test_each_input_has_its_editor(
    shape: list[int], dtype: str, form: str, channels: int, sides: tuple[int, int], layout: str
) -> None:
    found = asked(shape, dtype)
    assert (found.form, found.channels, (found.height, found.width), found.layout) == (
        form,
        channels,
        sides,
        layout,
    )


@pytest.mark.parametrize(
    ("shape", "dtype", "reason"),
    [
        ([-1, 5], "complex64", "it takes complex64"),
        ([-1, -1, -1, 5], "float32", "2 of its sizes are open"),
        ([-1, 1000, 1000], "int32", "it takes 1000000 numbers"),
        ([-1, 3, 5000, 5000], "float32", "5000 \u00d7 5000 are larger"),
    ],
)
def test_inputs_without_a_form_have_a_reason(shape: list[int], dtype: str, reason: str) -> None:
    found = asked(shape, dtype)
    assert found.form == ""
    assert reason in found.why_not


def test_an_image_is_fed_in_the_layout_and_type_that_are_asked_for() -> None:
    image = np.zeros((4, 8, 3), np.float32)
    image[..., 0] = 1.0
    wide = ModelInput("x", "uint8", (3, 4, 8), 2, "picture", 3, 4, 8, "CHW")
    fed = array_of(wide, image, {}, "m")
    assert (fed.shape, fed.dtype) == ((2, 3, 4, 8), np.uint8)
    assert fed[:, 0].min() == 255
    assert fed[:, 1:].max() == 0
    scaled = array_of(asked([-1, 1, 28, 28]), np.ones((28, 28)), {"mean": 0.5, "std": 0.25}, "m")
    assert scaled.shape == (1, 1, 28, 28)
    assert scaled.max() == 2.0
    with pytest.raises(ArgumentError, match=r"takes inputs of \[-1, 1, 28, 28\]: there are 9 values"):
        array_of(asked([-1, 1, 28, 28]), np.ones((3, 3)), {}, "m")


@pytest.mark.parametrize(
    ("prepare", "placing"),
    [
        ({"resize": 32}, "stretch"),
        ({"resize": 32, "fit": "crop"}, "cover"),
        ({"resize": 32, "fit": "pad"}, "whole"),
        ({"resize": 32, "fit": ["pad"]}, "cover"),
        ({"resize": 0}, "cover"),
    ],
)
def test_an_image_is_placed_as_in_the_training(prepare: dict[str, Any], placing: str) -> None:
    spec = {"name": "x", "dtype": "float32", "shape": [-1, 3, 32, 32]}
    raw = RawInputs(DataSpec("images", "classes", (3, 32, 32), ("a", "b")))
    info = ModelInfo(ModelChoice("m"), "m", "m", (spec,), (), {}, {}, "", {"prepare": prepare}, raw=raw)
    found = placings_of(inputs_of(info)[0])
    assert found[0] == placing
    assert sorted(found) == ["cover", "stretch", "whole"]
    assert placings_of(inputs_of(replace(info, raw=None))[0])[0] == "cover"  # of an earlier version


def test_images_are_placed_in_grey_or_colour() -> None:
    image = np.zeros((20, 40, 3), np.float32)
    image[:, 20:, 1] = 1.0  # the right half is green
    colour, grey = asked([-1, 3, 16, 16]), asked([-1, 16, 16])
    cover, whole, pulled = (placed(image, colour, each, False, "p") for each in placings_of(colour))
    assert cover.shape == whole.shape == pulled.shape == (16, 16, 3)
    assert cover[:, :7].max() == 0.0
    assert cover[:, 9:, 1].min() > 0.99
    assert whole[:4].max() == whole[12:].max() == 0.0  # borders above and below
    assert whole[4:12, 9:, 1].min() > 0.99
    assert pulled[0, -1, 1] > 0.99
    assert placed(image, grey, "stretch", False, "p")[8, 12] == pytest.approx(0.587, abs=0.01)
    stroke = np.zeros((280, 280), np.float32)
    stroke[40:240, 130:150] = 1.0
    assert placings_of(asked([-1, 784]))[0] == "digit"
    assert placed(stroke, asked([-1, 784]), "digit", True, "p").shape == (28, 28)


@pytest.mark.parametrize(
    "text",
    ["1, 2.5, -3", "1\t2.5\t-3", "1 2.5 -3\n", "a;b;c\n1;2.5;-3", "1\n2.5\n-3", '"1","2.5","-3"'],
)
def test_numbers_are_read_as_people_write_them(text: str) -> None:
    assert numbers_in(text, asked([-1, 3])).tolist() == [1.0, 2.5, -3.0]


@pytest.mark.parametrize(
    ("text", "shape", "dtype", "reason"),
    [
        ("1, two, 3", [-1, 3], "float32", "x: not a number: 'two' at place 2"),
        ("1, 2.5, 3", [-1, 3], "int64", "not an integer: '2.5'"),
        ("1, 2", [-1, 3], "float32", "2 numbers where 3 are taken"),
        ("", [-1, 3], "float32", "0 numbers where 3 are taken"),
        ("1 2 3", [-1, -1, 2], "float32", "3 numbers where a multiple of 2 are taken"),
    ],
)
def test_numbers_that_do_not_fit_say_why(text: str, shape: list[Any], dtype: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        numbers_in(text, asked(shape, dtype))


def test_a_size_that_is_open_follows_the_numbers() -> None:
    open_rows = asked([-1, -1, 2], "int64")
    assert first_numbers(open_rows).shape == (1, 2)
    assert numbers_in("1 2\n3 4\n5 6", open_rows).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert array_of(open_rows, numbers_in("1 2 3 4", open_rows), {}, "m").shape == (1, 2, 2)


def test_probabilities_stay_as_they_are() -> None:
    assert rank(np.array([0.25, 0.75]), ("a", "b")) == [("b", 0.75), ("a", 0.25)]
    assert rank(np.array([0.0, np.log(3.0)]), ("a", "b"))[0][1] == pytest.approx(0.75)


def test_the_checkpoints_of_a_run_are_listed_by_their_names(tmp_path: Path) -> None:
    assert run_choice(str(tmp_path)) is None
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    for name in ("step-00000188.h5", "step-00000094.h5", "best.h5", "notes.txt", "step-1.h5"):
        (folder / name).write_bytes(b"")
    found = checkpoints_of(str(tmp_path))
    assert [(each.step, each.best) for each in found] == [(94, False), (188, False), (-1, True)]
    assert run_choice(str(tmp_path)) == ModelChoice(str(tmp_path), str(folder / "best.h5"))
