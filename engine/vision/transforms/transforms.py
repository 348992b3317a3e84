"""Transforms as objects, to be given to a dataset; each takes one image, most of them whole batches too."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image

from engine.core.errors import ArgumentError
from engine.eager.tensor import Tensor
from engine.vision.transforms import functional as F
from engine.vision.transforms.batch import ImageBatch, apply_batch
from engine.vision.transforms.cropping import check_padding
from engine.vision.transforms.kinds import Fill, pair


class Compose:
    """One transform after the other. An error says in which one it happened."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for transform in self.transforms:
            try:
                data = transform(data)
            except Exception as error:
                error.add_note(f"while performing transform [{transform}]")
                raise
        return data

    def _batched(self, images: ImageBatch) -> ImageBatch | None:
        for transform in self.transforms:
            done = apply_batch(transform, images)
            if done is None:
                return None
            images = done
        return images

    def __repr__(self) -> str:
        return "\n".join(
            [f"{type(self).__name__}(", *(f"    {transform}" for transform in self.transforms), ")"]
        )


class BaseTransform:
    """Base of transforms: subclasses define ``_apply_image`` and, if needed, ``_apply_<key>`` and
    ``_get_params``.

    Args:
        keys: what the parts of a tuple of inputs are (``'image'``, ``'boxes'``, ``'mask'`` ...); each goes
            through its ``_apply_<key>``, and parts beyond the keys pass unchanged. Default: one image.
    """

    def __init__(self, keys: Sequence[str] | None = None) -> None:
        if keys is None:
            keys = ("image",)
        elif not isinstance(keys, Sequence):
            raise ArgumentError(f"{type(self).__name__}: keys should be a sequence: got keys={keys!r}")
        for key in keys:
            if self._get_apply(key) is None:
                raise NotImplementedError(
                    f"{type(self).__name__}: {key} is unsupported data structure; define _apply_{key}"
                )
        self.keys = keys
        self.params: Any = None

    def __call__(self, inputs: Any) -> Any:
        parts = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(parts)
        done = [self._get_apply(key)(part) for key, part in zip(self.keys, parts, strict=False)]
        done.extend(parts[len(done) :])
        return done[0] if len(done) == 1 else tuple(done)

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        return None

    def _get_apply(self, key: str) -> Any:
        return getattr(self, f"_apply_{key}", None)

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: a transform of images must define _apply_image")

    def _apply_boxes(self, boxes: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__}: this transform does not change boxes: define _apply_boxes"
        )

    def _apply_mask(self, mask: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__}: this transform does not change masks: define _apply_mask"
        )


class ToTensor(BaseTransform):
    """The image as a Tensor [C, H, W], bytes as float32 from 0 to 1 (see ``functional.to_tensor``)."""

    def __init__(self, data_format: str = "CHW", keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, img: Any) -> Tensor:
        made: Tensor = F.to_tensor(img, self.data_format)
        return made

    def _batched(self, images: ImageBatch) -> ImageBatch | None:
        if self.data_format not in ("CHW", "HWC") or tuple(self.keys) != ("image",):
            return None
        data = images.data
        if images.kind == "tensor":
            return images if self.data_format == "CHW" else ImageBatch("tensor", data.transpose(0, 2, 3, 1))
        if data.ndim == 3:
            data = data[:, None] if self.data_format == "CHW" else data[..., None]
        elif self.data_format == "CHW":
            data = data.transpose(0, 3, 1, 2)
        if data.dtype == np.uint8:
            data = data.astype(np.float32)
            data *= F.UNIT
        return ImageBatch("tensor", data)


class Normalize(BaseTransform):
    """``(image - mean) / std`` per channel (``functional.normalize``); one number counts for three."""

    def __init__(
        self,
        mean: float | Sequence[float] = 0.0,
        std: float | Sequence[float] = 1.0,
        data_format: str = "CHW",
        to_rgb: bool = False,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.mean = [mean] * 3 if isinstance(mean, numbers.Number) else mean
        self.std = [std] * 3 if isinstance(std, numbers.Number) else std
        self.data_format = data_format
        self.to_rgb = to_rgb

    def _apply_image(self, img: Any) -> Any:
        return F.normalize(img, self.mean, self.std, self.data_format, self.to_rgb)  # type: ignore[arg-type]

    def _batched(self, images: ImageBatch) -> ImageBatch | None:
        if self.to_rgb or self.data_format != "CHW" or tuple(self.keys) != ("image",):
            return None
        data = images.data if images.kind == "tensor" else images.data.astype(np.float32)
        if images.kind != "tensor":
            if data.ndim != 3 or images.data.dtype not in (np.uint8, np.float32):
                return None
            data = data[:, None]
        done = F.normalize(data, self.mean, self.std)  # type: ignore[arg-type]
        return ImageBatch("tensor" if images.kind == "tensor" else "array", done)


class Transpose(BaseTransform):
    """The axes of the image reordered, by default [H, W, C] to [C, H, W]; a PIL image becomes an array."""

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.order = order

    def _apply_image(self, img: Any) -> Any:
        if isinstance(img, Tensor):
            return img.transpose(self.order)
        pixels = np.asarray(img) if isinstance(img, Image.Image) else img
        return (pixels[..., None] if pixels.ndim == 2 else pixels).transpose(self.order)


class Resize(BaseTransform):
    """The image in another size (see ``functional.resize``)."""

    def __init__(
        self, size: int | Sequence[int], interpolation: str = "bilinear", keys: Sequence[str] | None = None
    ) -> None:
        super().__init__(keys)
        self.size = size
        self.interpolation = interpolation

    def _apply_image(self, img: Any) -> Any:
        return F.resize(img, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """The middle of the image, (height, width) or a square (see ``functional.center_crop``)."""

    def __init__(self, size: int | Sequence[int], keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.size = pair("CenterCrop", size)

    def _apply_image(self, img: Any) -> Any:
        return F.center_crop(img, self.size)


class Pad(BaseTransform):
    """The image with a border around it (see ``functional.pad``)."""

    def __init__(
        self,
        padding: int | Sequence[int],
        fill: Fill = 0,
        padding_mode: str = "constant",
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        check_padding("Pad", padding, fill, padding_mode)
        self.padding = padding
        self.fill = tuple(fill) if isinstance(fill, list) else fill
        self.padding_mode = padding_mode

    def _apply_image(self, img: Any) -> Any:
        return F.pad(img, self.padding, self.fill, self.padding_mode)


class Grayscale(BaseTransform):
    """The image in grey (see ``functional.to_grayscale``)."""

    def __init__(self, num_output_channels: int = 1, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, img: Any) -> Any:
        return F.to_grayscale(img, self.num_output_channels)
