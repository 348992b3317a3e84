"""Images at another size, cut into windows and reordered, as layers."""

from __future__ import annotations

from engine.core.errors import ArgumentError, DTypeError
from engine.nn.functional.resampling import Scale
from engine.nn.functional.windows import Sizes, whole
from engine.nn.layer.base.naming import with_name
from engine.nn.layer.function_layer import OfInput, OfX
from engine.tensor.tensor_like import IntegersLike


class _Shuffle(OfX):
    """A layer that moves elements by an integer."""

    _prefix, _hidden = "_", {"data_format": "NCHW"}

    def __init__(self, value: int, data_format: str, name: str | None) -> None:
        super().__init__(value, data_format, name)
        where, word = type(self).__name__, self._attributes[0].removeprefix("_")
        if not whole(value):
            raise DTypeError(f"{where}: {word} is an integer: got {value!r}; pass e.g. 2")
        if value < 1:
            raise ArgumentError(f"{where}: {word} must be 1 or more: got {value!r}")
        if data_format not in ("NCHW", "NHWC"):
            raise ArgumentError(f"{where}: data_format {data_format!r} is not one of 'NCHW', 'NHWC'")


class PixelShuffle(_Shuffle):
    """Channels as pixels; see functional.pixel_shuffle."""

    _function = "pixel_shuffle"

    def __init__(self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(upscale_factor, data_format, name)


class PixelUnshuffle(_Shuffle):
    """Pixels as channels; see functional.pixel_unshuffle."""

    _function = "pixel_unshuffle"

    def __init__(self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(downscale_factor, data_format, name)


class ChannelShuffle(_Shuffle):
    """One channel of each group in turn; see functional.channel_shuffle."""

    _function = "channel_shuffle"

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(groups, data_format, name)


class _Windows(OfInput):
    """A layer between images and their windows."""

    def extra_repr(self) -> str:
        sizes = f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}"
        return with_name(f"{sizes}, stride={self.strides}", self.name)


class Unfold(_Windows):
    """The windows of images as columns; see functional.unfold."""

    _function, _passed = "unfold", ("kernel_sizes", "strides", "paddings", "dilations", "name")

    def __init__(
        self,
        kernel_sizes: Sizes,
        dilations: Sizes = 1,
        paddings: Sizes = 0,
        strides: Sizes = 1,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_sizes, dilations, paddings, strides, name)


class Fold(_Windows):
    """Columns added up to images; see functional.fold."""

    _function = "fold"
    _passed = ("output_sizes", "kernel_sizes", "strides", "paddings", "dilations", "name")

    def __init__(
        self,
        output_sizes: Sizes,
        kernel_sizes: Sizes,
        dilations: Sizes = 1,
        paddings: Sizes = 0,
        strides: Sizes = 1,
        name: str | None = None,
    ) -> None:
        super().__init__(output_sizes, kernel_sizes, dilations, paddings, strides, name)


class _Resized(OfX):
    """Images at another size, which is given, or a factor in its place."""

    def extra_repr(self) -> str:
        given = "size" if self.scale_factor is None else "scale_factor"
        return f"{given}={getattr(self, given)}, {super().extra_repr()}"


class Upsample(_Resized):
    """Images at another size; see functional.interpolate."""

    _function, _shown = "interpolate", ("mode", "align_corners", "align_mode", "data_format", "name")

    def __init__(
        self,
        size: IntegersLike | None = None,
        scale_factor: Scale | None = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode.lower(), align_corners, align_mode, data_format, name)


class _Upsampling2D(_Resized):
    """An upsampling of images; one number is for both of their sizes."""

    _passed = ("size", "scale_factor", "_mode", "_corners", "_align_mode", "data_format", "name")
    _shown = ("data_format", "name")
    _mode: str
    _corners: bool
    _align_mode = 0

    def __init__(
        self,
        size: IntegersLike | None = None,
        scale_factor: Scale | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__([size, size] if isinstance(size, int) else size, scale_factor, data_format, name)


class UpsamplingNearest2D(_Upsampling2D):
    """Images at another size, each pixel the nearest one."""

    _function, _mode, _corners = "interpolate", "nearest", False


class UpsamplingBilinear2D(_Upsampling2D):
    """Images at another size, interpolated, with their corners on each other."""

    _function, _mode, _corners = "interpolate", "bilinear", True
