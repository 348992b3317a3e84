"""Transforms, against hand values and what Paddle 2.6.2 gives."""

import numpy as np
import pytest
from PIL import Image

from engine.core.errors import ArgumentError, DataError, DTypeError
from engine.eager.tensor import Tensor
from engine.vision import image_load
from engine.vision.transforms import (
    BaseTransform,
    Compose,
    Grayscale,
    Normalize,
    Resize,
    ToTensor,
    Transpose,
    center_crop,
    crop,
    to_tensor,
)
from engine.vision.transforms.batch import ImageBatch, apply_batch

GREY = np.arange(12, dtype=np.uint8).reshape(3, 4)
COLOUR = np.arange(36, dtype=np.uint8).reshape(3, 4, 3) * 7


@pytest.mark.parametrize(
    ("image", "shape", "dtype", "highest"),
    [
        (GREY, [1, 3, 4], "float32", 11 / 255),
        (COLOUR, [3, 3, 4], "float32", 245 / 255),
        (Image.fromarray(GREY), [1, 3, 4], "float32", 11 / 255),
        (Image.fromarray(COLOUR), [3, 3, 4], "float32", 245 / 255),
        (Image.fromarray(GREY).convert("1", dither=Image.Dither.NONE), [1, 3, 4], "float32", 0),
        (Image.fromarray(GREY.astype(np.int32)), [1, 3, 4], "int32", 11),
        (Image.fromarray(GREY.astype(np.float32)), [1, 3, 4], "float32", 11),
        (GREY.astype(np.float64), [1, 3, 4], "float64", 11),
        (GREY.astype(np.float32) / 3, [1, 3, 4], "float32", 11 / 3),
    ],
)
def test_to_tensor_scales_bytes_only(image, shape, dtype, highest):
    tensor = ToTensor()(image)
    assert isinstance(tensor, Tensor)
    assert (tensor.shape, tensor.dtype.name) == (shape, dtype)
    assert tensor.numpy().max() == pytest.approx(highest)


def test_to_tensor_puts_channels_where_asked():
    assert to_tensor(COLOUR, "HWC").shape == [3, 4, 3]
    assert to_tensor(COLOUR).numpy()[2, 1, 3] == np.float32(COLOUR[1, 3, 2]) * np.float32(1 / 255)
    with pytest.raises(ArgumentError, match="CHW or HWC"):
        to_tensor(GREY, "WHC")
    with pytest.raises(TypeError, match="ndarray of 1 dimensions"):
        to_tensor(np.zeros(3))
    with pytest.raises(TypeError, match="got list"):
        to_tensor([[1]])


def test_normalize_arrays_and_pil():
    done = Normalize([10.0], [2.0])(GREY)
    assert done.dtype == np.float32
    assert done[0, 1].tolist() == [-3.0, -2.5, -2.0, -1.5]
    assert Normalize([10.0], [2.0])(Image.fromarray(GREY)).tolist() == done.tolist()
    done = Normalize([1.0, 2.0, 3.0], 1.0, data_format="HWC", to_rgb=True)(COLOUR)
    assert done[0, 0].tolist() == [13.0, 5.0, -3.0]


def test_one_number_stands_for_three_channels():
    # As in Paddle 2.6.2, a single number broadcasts a grey image to three channels.
    assert Normalize(0.5, 0.5)(GREY).shape == (3, 3, 4)


def test_transpose_grey_and_resize():
    assert Transpose()(COLOUR).shape == (3, 3, 4)
    assert Transpose()(Image.fromarray(GREY)).shape == (1, 3, 4)
    assert Transpose((1, 0, 2))(GREY).shape == (4, 3, 1)
    assert Grayscale()(Image.fromarray(COLOUR)).mode == "L"
    assert Grayscale(3)(Image.fromarray(COLOUR)).mode == "RGB"
    white = np.full((2, 2, 3), 255, np.uint8)
    assert Grayscale()(white).tolist() == [[[255], [255]], [[255], [255]]]
    assert Grayscale(3)(np.array([[[255, 0, 0]]], np.uint8)).tolist() == [[[76, 76, 76]]]
    with pytest.raises(ArgumentError, match="1 or 3"):
        Grayscale(2)(white)


@pytest.mark.parametrize(
    ("size", "expected"), [(8, (10, 8)), ((6, 9), (9, 6)), ([5, 5], (5, 5)), (3, (4, 3))]
)
def test_resize_by_shorter_side_or_exactly(size, expected):
    assert Resize(size)(Image.fromarray(GREY)).size == expected
    assert Resize(size)(GREY).shape == expected[::-1]
    assert Resize(size)(COLOUR).shape == (*expected[::-1], 3)


def test_resize_keeps_what_it_can():
    flat = np.full((4, 4), 9, np.float32)
    assert Resize(8)(flat).tolist() == np.full((8, 8), 9.0).tolist()
    assert Resize((2, 2), "nearest")(GREY[:2]).shape == (2, 2)
    for size, interpolation in [(0, "bilinear"), ((1, -2), "bilinear"), (2, "magic")]:
        with pytest.raises(ArgumentError, match="resize"):
            Resize(size, interpolation)(GREY)
    with pytest.raises(DTypeError, match="resize"):
        Resize((1, 2, 3))(GREY)


class Brighter(BaseTransform):
    def _get_params(self, inputs):
        return len(inputs)

    def _apply_image(self, image):
        return image + self.params

    def _apply_boxes(self, boxes):
        return boxes * 2


def test_keys_say_what_goes_where():
    assert Brighter()(1) == 2
    assert Brighter(keys=("image", "boxes"))((1, 2, 3)) == (4, 4, 3)
    with pytest.raises(NotImplementedError, match="coords"):
        Brighter(keys=("image", "coords"))
    with pytest.raises(ArgumentError, match="sequence"):
        Brighter(keys=3)


def test_compose_names_the_transform_that_failed():
    def broken(image):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no") as caught:
        Compose([lambda x: x, broken])(1)
    assert "broken" in caught.value.__notes__[0]
    assert repr(Compose([1, 2])) == "Compose(\n    1\n    2\n)"


def test_a_subclass_without_its_own_batched_form_takes_single_images():
    class Inverted(ToTensor):
        def _apply_image(self, img):
            return super()._apply_image(255 - np.asarray(img))

    batch = ImageBatch("pil", GREY[None])
    assert apply_batch(ToTensor(), batch) is not None
    assert apply_batch(Inverted(), batch) is None
    assert apply_batch(Compose([Inverted()]), batch) is None
    assert apply_batch(lambda x: x, batch) is None
    assert apply_batch(Resize(4), batch) is None


def test_image_load(tmp_path):
    path = tmp_path / "p.png"
    Image.fromarray(COLOUR).save(path)
    assert np.asarray(image_load(path)).tolist() == COLOUR.tolist()
    assert image_load(path, "cv2").tolist() == COLOUR[:, :, ::-1].tolist()
    assert image_load(path, "tensor").numpy().tolist() == COLOUR.transpose(2, 0, 1).tolist()
    (tmp_path / "no.png").write_bytes(b"hello")
    with pytest.raises(DataError, match="can't be read as an image"):
        image_load(tmp_path / "no.png")
    with pytest.raises(DataError, match="No such file"):
        image_load(tmp_path / "absent.png")


def test_a_crop_that_begins_outside_does_not_wrap_around():
    array, tensor = np.zeros((4, 6, 3), "uint8"), Tensor(np.zeros((3, 4, 6), "float32"))
    for image in (array, tensor):
        with pytest.raises(ArgumentError, match=r"got row -2 and column -1, 8 x 8, of an image of 4 x 6"):
            center_crop(image, 8)
        with pytest.raises(ArgumentError, match="row 0 and column -3"):
            crop(image, 0, -3, 2, 2)
    assert np.asarray(center_crop(Image.fromarray(array), 8)).shape == (8, 8, 3)
