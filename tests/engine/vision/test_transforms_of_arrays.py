"""Transforms of arrays: the same as of PIL images, without OpenCV. (PIL and Tensors: tests/oracle.)"""

import random

import numpy as np
import pytest
from PIL import Image

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError
from engine.vision import transforms as T

RGB = (np.arange(6 * 8 * 3).reshape(6, 8, 3) * 37 % 251).astype("uint8")
GREY = RGB[:, :, 0]
CORNERS = [[0, 0], [7, 0], [7, 5], [0, 5]], [[0.3, 0.2], [6.6, 0.4], [6.1, 4.3], [0.4, 4.7]]


@pytest.mark.parametrize("image", [RGB, GREY], ids=["colour", "grey"])
@pytest.mark.parametrize(
    "change",
    [
        T.hflip,
        T.vflip,
        lambda p: T.crop(p, 1, 2, 3, 4),
        lambda p: T.center_crop(p, (4, 5)),
        lambda p: T.pad(p, (1, 2, 3, 4)),
        lambda p: T.pad(p, (1, 2), padding_mode="edge"),
        lambda p: T.pad(p, 2, padding_mode="reflect"),
        lambda p: T.pad(p, 2, padding_mode="symmetric"),
        lambda p: T.resize(p, (11, 5)),
        lambda p: T.resize(p, 4, "nearest"),
        lambda p: T.rotate(p, 40),
        lambda p: T.rotate(p, 40, "bilinear", expand=True),
        lambda p: T.rotate(p, -20, center=[2, 3], fill=7),
        lambda p: T.affine(p, 30, (1, -2), 1.2, (10, 5)),
        lambda p: T.affine(p, 30.5, [0, 0], 0.7, 4, center=[2, 3], fill=9),
        lambda p: T.perspective(p, *CORNERS),
        lambda p: T.adjust_brightness(p, 0.5),
    ],
)
def test_an_array_is_changed_as_its_image_is(image, change):
    done = change(image)
    assert isinstance(done, np.ndarray)
    assert done.dtype == np.uint8
    wanted = np.asarray(change(Image.fromarray(image)))
    if image is GREY or done.shape == wanted.shape:
        np.testing.assert_allclose(done.astype(int), wanted.astype(int), atol=1)


def test_colours_of_arrays():
    bgr = RGB[:, :, ::-1].copy()
    for change in (T.adjust_hue, T.functional.adjust_saturation):
        wanted = np.asarray(change(Image.fromarray(RGB), 0.3))[:, :, ::-1]
        np.testing.assert_allclose(change(bgr, 0.3).astype(int), wanted.astype(int), atol=2)
        assert (change(GREY, 0.3) == GREY).all()
        assert (change(RGB[:, :, :1], 0.3) == RGB[:, :, :1]).all()
    assert (T.adjust_contrast(GREY, 0.0) == 74).all()
    assert (T.adjust_contrast(GREY, 1.0) == GREY).all()


def test_floats_stay_floats():
    floats = RGB.astype("float64") / 3
    assert T.rotate(floats, 10).dtype == np.float32
    np.testing.assert_allclose(T.rotate(floats, 0), floats, rtol=1e-6)
    assert T.pad(floats, 1, fill=(1.5, 2.5, 3.5))[0, 0].tolist() == [1.5, 2.5, 3.5]
    assert T.hflip(floats)[0, 0].tolist() == floats[0, -1].tolist()


def test_erasing_leaves_the_array_alone_unless_in_place():
    image = RGB.copy()
    done = T.erase(image, 1, 2, 3, 4, 0)
    assert (image == RGB).all()
    assert done[1:4, 2:6].max() == 0
    assert T.erase(image, 1, 2, 3, 4, 0, inplace=True) is image
    tensor = paddle.ones([3, 6, 8])
    assert float(T.erase(tensor, 0, 0, 2, 2, paddle.zeros([3, 1, 1])).sum()) == 144 - 12
    assert float(tensor.sum()) == 144
    assert T.erase(tensor, 0, 0, 2, 2, paddle.zeros([3, 1, 1]), inplace=True) is tensor


@pytest.mark.parametrize(
    ("transform", "shape"),
    [
        (T.RandomCrop(4), (4, 4)),
        (T.RandomCrop((9, 10), padding=1, pad_if_needed=True), (9, 10)),
        (T.RandomResizedCrop((5, 3)), (5, 3)),
        (T.RandomHorizontalFlip(1.0), (6, 8)),
        (T.RandomVerticalFlip(1.0), (6, 8)),
        (T.RandomRotation(20), (6, 8)),
        (T.RandomAffine(20, (0.1, 0.2), (0.8, 1.2), (-3, 3)), (6, 8)),
        (T.RandomPerspective(1.0), (6, 8)),
        (T.RandomErasing(1.0, value="random"), (6, 8)),
        (T.RandomErasing(1.0, value=5), (6, 8)),
        (T.ColorJitter(0.1, 0.1, 0.1, 0.1), (6, 8)),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("image", [RGB, GREY], ids=["colour", "grey"])
def test_random_transforms_take_arrays_and_follow_their_seeds(transform, shape, image):
    def draw():
        random.seed(3)
        np.random.seed(3)
        return transform(image)

    first = draw()
    assert first.shape[:2] == shape
    assert (first == draw()).all()


def test_tensors_in_batches():
    batch = paddle.rand([2, 3, 6, 8])
    for change in (
        T.hflip,
        lambda x: T.rotate(x, 30),
        lambda x: T.adjust_hue(x, 0.2),
        T.to_grayscale,
        lambda x: T.affine(x, 10, (0, 0), 1.0, 0),
        lambda x: T.resize(x, (4, 4)),
        lambda x: T.perspective(x, *CORNERS),
    ):
        whole = change(batch)
        for n in range(2):
            np.testing.assert_allclose(whole[n].numpy(), change(batch[n]).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: T.RandomCrop(9)(RGB), ArgumentError, "6 x 8 for 9 x 9; give padding"),
        (lambda: T.pad(RGB, None), DTypeError, "padding is a number"),
        (lambda: T.pad(paddle.ones([3, 4, 4]), 1, padding_mode="symmetric"), ArgumentError, "symmetrically"),
        (lambda: T.rotate(RGB, 3, "area"), ArgumentError, "choose nearest, bilinear, bicubic"),
        (lambda: T.rotate(paddle.ones([3, 4, 4]), 3, "bicubic"), ArgumentError, "nearest or bilinear"),
        (lambda: T.rotate(RGB, 3, fill=(1, 2)), ArgumentError, "3 channels"),
        (lambda: T.perspective(RGB, CORNERS[0][:3], CORNERS[1]), ArgumentError, "got 3 and 4"),
        (lambda: T.adjust_brightness(paddle.ones([2, 4, 4]), 1), ArgumentError, r"1 or 3: got \[2, 4, 4\]"),
        (lambda: T.adjust_contrast(paddle.ones([3, 4, 4]), -1), ArgumentError, "non-negative"),
        (lambda: T.hflip([1]), DTypeError, "got list"),
        (lambda: T.CenterCrop((1, 2, 3)), ArgumentError, "height, width"),
        (lambda: T.RandomErasing(value=[1, 2]), ArgumentError, "3 channels: got 2"),
        (lambda: T.RandomHorizontalFlip(2), ArgumentError, "between 0 and 1: got 2"),
        (lambda: T.RandomResizedCrop(4, scale=(1, 0.5)), ArgumentError, "min, max"),
    ],
)
def test_transforms_refuse_invalid_arrays_and_arguments(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()


def test_a_border_of_an_array_has_no_colour_with_a_name():
    with pytest.raises(DTypeError, match=r"fill is a number or one for each channel.*got 'red'"):
        T.pad(np.zeros((2, 2, 3), "uint8"), 1, "red")
