"""dataset.image: images for training with readers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.core.errors import ConditionError, DataError, UnsupportedError
from engine.dataset import image


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An image of 6 x 4 points: red 10 times the column, green 10 times the row, blue 7."""
    pixels = np.zeros((4, 6, 3), np.uint8)
    pixels[..., 0], pixels[..., 1], pixels[..., 2] = np.arange(6) * 10, np.arange(4)[:, None] * 10, 7
    Image.fromarray(pixels).save(tmp_path / "image.png")
    return tmp_path / "image.png"


def test_images_are_blue_green_red(file: Path) -> None:
    for found in (image.load_image(file), image.load_image_bytes(file.read_bytes())):
        assert (found.shape, found.dtype) == ((4, 6, 3), np.uint8)
        assert found[2, 5].tolist() == [7, 20, 50]
    gray = image.load_image(str(file), is_color=False)
    assert gray.shape == (4, 6)
    assert gray[2, 5] == round(0.299 * 50 + 0.587 * 20 + 0.114 * 7)
    with pytest.raises(DataError):
        image.load_image_bytes(b"no image")


def test_images_are_cut_mirrored_and_reordered(file: Path) -> None:
    im = image.load_image(file)
    np.testing.assert_array_equal(image.center_crop(im, 2), im[1:3, 2:4])
    np.testing.assert_array_equal(image.left_right_flip(im), im[:, ::-1])
    np.testing.assert_array_equal(image.to_chw(im)[2], im[:, :, 2])
    np.random.seed(4)
    top, left = np.random.randint(0, 3), np.random.randint(0, 5)
    np.random.seed(4)
    np.testing.assert_array_equal(image.random_crop(im, 2), im[top : top + 2, left : left + 2])
    with pytest.raises(ConditionError, match="the order is"):
        image.to_chw(im[..., 0])


def test_the_shorter_side_gets_the_size(file: Path) -> None:
    im = image.load_image(file)
    assert image.resize_short(im, 8).shape == (8, 12, 3)
    assert image.resize_short(im.transpose(1, 0, 2), 8).shape == (12, 8, 3)
    assert image.resize_short(im[..., 0], 2).shape == (2, 3)
    assert image.resize_short(im, 4).tolist() == im.tolist()


def test_transformed_images_are_less_their_mean(file: Path) -> None:
    im = image.load_image(file)
    plain = image.simple_transform(im, 4, 4, False)
    assert (plain.shape, plain.dtype) == ((3, 4, 4), np.float32)
    np.testing.assert_array_equal(plain, im[:, 1:5].transpose(2, 0, 1))
    less = image.load_and_transform(file, 4, 4, False, mean=[7.0, 5.0, 0.0])
    np.testing.assert_array_equal(less, plain - np.reshape([7.0, 5.0, 0.0], (3, 1, 1)))
    np.testing.assert_array_equal(image.simple_transform(im, 4, 4, False, mean=plain), np.zeros((3, 4, 4)))
    gray = image.simple_transform(im[..., 0], 4, 2, False, is_color=False)
    np.testing.assert_array_equal(gray, im[1:3, 2:4, 0])
    seen = {image.simple_transform(im, 4, 4, True)[2].tobytes() for _ in range(40)}
    assert len(seen) == 6  # three places, mirrored or not


def test_batches_of_pickles_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="pickles"):
        image.batch_images_from_tar(str(tmp_path / "a.tar"), "train", {})
