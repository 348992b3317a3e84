"""predict.py of deployed folders prepares what people have as the product does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.onnx.deployed import predict
from engine.training.exporting.raw_inputs import RawInputs
from engine.training.exporting.raw_sequences import as_fed
from engine.training.sources.images.folder import as_pixels
from engine.training.sources.preparing.prepare import fitted_to
from engine.training.sources.spec import Column, DataSpec
from studio.session.predict import digit_images


@pytest.mark.parametrize("fit", ["stretch", "crop", "pad"])
@pytest.mark.parametrize("size", [(40, 33, 3), (9, 31, 1), (16, 16, 3), (8, 16, 3)])
def test_an_image_is_fitted_as_in_the_training(size: tuple[int, int, int], fit: str) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, size).astype(np.uint8)
    assert np.array_equal(predict.fit_image(pixels, 16, 16, fit), fitted_to(pixels, 16, 16, fit))


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "P", "CMYK", "I;16"])
def test_an_image_is_read_as_in_the_training(tmp_path: Path, mode: str) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (7, 5, 4)).astype(np.uint8)
    image = Image.fromarray(pixels)
    image = Image.fromarray(pixels[..., 0].astype(np.uint16) * 200) if mode == "I;16" else image.convert(mode)
    file = tmp_path / ("image.tif" if mode == "CMYK" else "image.png")
    image.save(file)
    for grey in (True, False):
        with Image.open(file) as stored:
            assert np.array_equal(predict.open_image(file, grey), as_pixels(stored, grey))


@pytest.mark.parametrize("paper", [0, 230])
def test_a_drawn_digit_is_placed_as_the_page_does(paper: int) -> None:
    grey = np.full((90, 70), paper, np.float32) / 255
    grey[20:70, 30:38] = 0.9 if paper == 0 else 0.1
    stroke = predict.bright_on_dark(grey)
    assert np.array_equal(stroke, digit_images.bright_on_dark(grey))
    assert np.array_equal(predict.fit_digit(stroke, "it"), digit_images.fit_digit(stroke, "it"))
    placed = predict.fit_digit(stroke, "it")
    assert np.array_equal(predict.fit_digit(placed, "it"), digit_images.fit_digit(placed, "it"))
    with pytest.raises(predict.InputError, match="no digit"):
        predict.fit_digit(np.zeros((28, 28)), "it")


SPEC = DataSpec(
    "table",
    "numbers",
    (4,),
    (),
    ("price",),
    (
        Column("area", "input", "number", fill=7.5),
        Column("id", "excluded", "number"),
        Column("color", "input", "word", words=("blue", "red")),
        Column("built", "input", "date", fill=3.0, month_first=True),
        Column("rooms", "input", "number", fill=2.0),
        Column("price", "target", "number"),
    ),
)
TABLES = {
    "names in another order": "rooms,color,built,area\n3,red,1/31/2026,61.5\n2,violet,2026-01-31 06:00,80\n",
    "decimal commas": "color;area;rooms;built\n blue ;1.061,5;3;2026-01-31\nred;80,25;2;12/1/2025\n",
    "missing values": "area\tcolor\tbuilt\trooms\n\tred\tNA\t?\n5\t\t2026-02-03\tn/a\n",
    "quotes": 'color,"area",built,rooms\n"red","4,5",2026-02-03,1\n'.replace("4,5", "4"),
    "a name on top of data": "price;rooms;built;color;area;id\n1;2;2026-02-03;red;4;9\n",
    "no header": "61.5,red,2026-01-31,3\n80,blue,2026-01-30,2\n",
    "no header, all columns but the target": "61.5,8,red,2026-01-31,3\n80,9,blue,2026-01-30,2\n",
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_rows_are_read_as_by_the_product(tmp_path: Path, text: str) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(text)
    info = {"data_spec": SPEC.as_plain()}
    raw = RawInputs.of(info)
    assert raw is not None
    wanted = raw.csv(file).sound().values
    if "NA" in text:  # a missing date has a value of its column too
        assert np.isfinite(wanted).all()
    assert np.array_equal(predict.read_table(file, info), wanted)


def test_a_word_for_a_number_names_row_and_column(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("area,color,built,rooms\n1,red,2026-01-31,2\nmuch,red,2026-01-31,2\n")
    with pytest.raises(predict.InputError, match="row 1, column area"):
        predict.read_table(file, {"data_spec": SPEC.as_plain()})


@pytest.mark.parametrize("masked", [True, False])
def test_sequences_are_padded_as_by_the_product(masked: bool) -> None:
    spec = DataSpec("sequences", "classes", (6, 2 + masked), ("a", "b"), masked=masked)
    for shape in ((4, 2), (3, 6, 2)):
        values = np.random.default_rng(2).random(shape, np.float32)
        assert np.array_equal(predict.padded(values, spec.as_plain(), "it"), as_fed(spec, values)[0])
    with pytest.raises(predict.InputError, match="up to"):
        predict.padded(np.zeros((7, 2), np.float32), spec.as_plain(), "it")


@pytest.mark.parametrize(
    "names", [("x", "lengths", "y"), ("y", "x", "lengths"), ("x_test", "y_test", "x_lengths")]
)
def test_lengths_and_labels_of_an_npz_file_are_read_as_by_the_product(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    rng = np.random.default_rng(3)
    arrays = {name: rng.random((5, 6, 2), np.float32) for name in names if name.startswith("x")}
    arrays |= {name: np.arange(1, 6) for name in names if "len" in name}
    arrays |= {name: np.arange(5) % 2 for name in names if name.startswith("y")}
    np.savez(tmp_path / "many.npz", **{name: arrays[name] for name in names})
    for spec in (
        DataSpec("sequences", "classes", (6, 3), ("a", "b"), masked=True),
        DataSpec("sequences", "classes", (6, 2), ("a", "b")),
    ):
        info = {"data_spec": spec.as_plain()}
        raw = RawInputs.of(info)
        assert raw is not None
        wanted = raw.file(tmp_path / "many.npz").values
        assert np.array_equal(predict.read_arrays(tmp_path / "many.npz", info), wanted)


def test_sequences_that_have_their_mask_are_taken_as_they_are() -> None:
    spec = DataSpec("sequences", "classes", (6, 3), ("a", "b"), masked=True)
    values = predict.padded(np.ones((2, 4, 2), np.float32), spec.as_plain(), "it")
    assert np.array_equal(predict.padded(values, spec.as_plain(), "it"), as_fed(spec, values)[0])


def test_arrays_of_images_are_scaled_and_may_have_channels_last(tmp_path: Path) -> None:
    info = {"data_spec": DataSpec("images", "classes", (3, 9, 8), ("a", "b")).as_plain()}
    pixels = np.random.default_rng(4).integers(0, 256, (2, 9, 8, 3)).astype(np.uint8)
    wanted = pixels.transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255.0)
    for values in (pixels, pixels.transpose(0, 3, 1, 2), pixels.astype(np.float64), wanted):
        np.save(tmp_path / "images.npy", values)
        assert np.array_equal(predict.read_arrays(tmp_path / "images.npy", info), wanted)
    np.save(tmp_path / "images.npy", pixels[:, :8, :, 0])
    with pytest.raises(predict.InputError, match="the model takes"):
        predict.read_arrays(tmp_path / "images.npy", info)


def test_missing_numbers_of_an_array_are_filled_as_by_the_product(tmp_path: Path) -> None:
    columns = tuple(Column(name, "input", "number", fill=fill) for name, fill in (("a", 1.5), ("b", 2.5)))
    info = {"data_spec": DataSpec("table", "numbers", (2,), (), ("c",), columns).as_plain()}
    values = np.array([[np.nan, 4.0], [3.0, np.nan]], np.float32)
    np.save(tmp_path / "rows.npy", values)
    raw = RawInputs.of(info)
    assert raw is not None
    assert np.array_equal(predict.read_arrays(tmp_path / "rows.npy", info), raw.listed(values.copy()).values)
    with pytest.raises(predict.InputError, match="without missing"):
        predict.read_arrays(tmp_path / "rows.npy", {**info, "prepare": {}})
