"""Images of different sizes, modes and proportions: what is reported, and what they become."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from engine.core.errors import ArgumentError, DataError
from engine.training.data import load_data
from engine.training.sources.images.sizes import SizesDiffer, image_sizes
from engine.training.sources.opening import open_source
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.prepare import Prepare, resized
from engine.training.sources.survey import Survey
from tests.engine.training.sources import writing


@pytest.fixture
def mixed(tmp_path):
    folder = writing.image_folder(tmp_path, count=4)
    for number, size in enumerate([(10, 10), (800, 60), (40, 30), (50, 40)]):
        Image.new("RGB", size, (200, 30, 30)).save(folder / "ant" / f"photo{number}.jpg")
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.new("RGB", (40, 30)).save(folder / "bee" / "turned.jpg", exif=turned)
    (folder / "bee" / "broken.png").write_bytes((folder / "bee" / "0.png").read_bytes()[:12])
    return folder


def test_sizes_modes_and_unreadable_files_are_found_in_headers(mixed):
    found = image_sizes(open_source(str(mixed)))
    assert found.sizes == {(8, 8): 8, (10, 10): 1, (800, 60): 1, (40, 30): 1, (50, 40): 1, (30, 40): 1}
    assert (found.smallest, found.largest, found.median) == ((8, 8), (800, 60), (8, 8))
    assert (found.modes, found.unreadable) == ({"RGB": 13}, ["bee/broken.png"])


def test_different_sizes_are_refused_before_the_first_step_with_what_to_do(mixed):
    with pytest.raises(
        SizesDiffer,
        match=r"images of 6 different sizes, from 8x8 to 800x60: choose Resize \(resize\), e\.g\. 8",
    ) as raised:
        load_data(str(mixed))
    assert (raised.value.smallest, raised.value.largest, raised.value.median) == ((8, 8), (800, 60), (8, 8))
    assert Survey(str(mixed), DataOptions()).facts()["raw"] == [8, 8, 3]


@pytest.mark.parametrize(
    ("fit", "expected"),
    [
        ("stretch", [[1, 1, 9, 9], [1, 1, 9, 9], [1, 1, 9, 9], [1, 1, 9, 9]]),
        ("crop", [[5, 5, 5, 5]] * 4),
        ("pad", [[0, 0, 0, 0], [1, 5, 5, 9], [1, 5, 5, 9], [0, 0, 0, 0]]),
    ],
)
def test_an_image_of_other_proportions_is_stretched_cropped_or_padded(fit, expected):
    image = np.zeros((40, 80, 1), np.uint8)
    image[:, :20], image[:, 20:60], image[:, 60:] = 10, 50, 90
    if fit == "stretch":
        image[:, :40], image[:, 40:] = 10, 90
    for raw in (image, image.astype(np.float32), np.repeat(image, 4, axis=2)):
        done = resized(raw, 4, fit)
        assert (done.shape, done.dtype) == ((4, 4, raw.shape[2]), raw.dtype)
        # Bilinear filtering mixes a little across the edges.
        assert np.abs(done[..., 0].astype(float) / 10 - expected).max() <= 1.1
        tall = resized(raw.transpose(1, 0, 2), 4, fit)
        assert np.array_equal(tall.transpose(1, 0, 2), done)


def test_the_fit_is_recorded_where_it_is_not_stretch():
    assert "fit" not in Prepare(True, 8).as_plain()
    assert Prepare(True, 8, fit="crop").as_plain()["fit"] == "crop"


def test_a_folder_with_one_class_is_refused_but_shown(tmp_path):
    folder = writing.image_folder(tmp_path, ("ant",), count=2)
    with pytest.raises(
        DataError, match=r"only one class has images: 'ant', 2 of them; .* folder with its name"
    ):
        load_data(str(folder))
    assert Survey(str(folder), DataOptions()).facts()["train_balance"] == [1]


def test_a_folder_without_class_folders_explains_the_layout(tmp_path):
    for name in ("a.png", "b.JPG"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    with pytest.raises(ArgumentError, match=r": 2 images, but no folder for each class .*/cat and .*/dog"):
        load_data(str(tmp_path))
