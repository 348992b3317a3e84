"""Images at another size, cut into windows and reordered, as layers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.nn import functional
from engine.nn.functional.windows import whole
from engine.nn.layer.layers import Layer


class _Shuffle(Layer):
    """What the layers share that move elements by an integer."""

    _word: str
    _function: str

    def __init__(self, value: int, data_format: str, name: str | None) -> None:
        super().__init__()
        where = type(self).__name__
        if not whole(value):
            raise DTypeError(f"{where}: {self._word} is an integer: got {value!r}; pass e.g. 2")
        if value < 1:
            raise ArgumentError(f"{where}: {self._word} must be 1 or more: got {value!r}")
        if data_format not in ("NCHW", "NHWC"):
            raise ArgumentError(f"{where}: data_format {data_format!r} is not one of 'NCHW', 'NHWC'")
        setattr(self, f"_{self._word}", value)
        self._data_format = data_format
        self._name = name

    def forward(self, x: Any) -> Any:
        return getattr(functional, self._function)(
            x, getattr(self, f"_{self._word}"), self._data_format, self._name
        )

    def extra_repr(self) -> str:
        text = f"{self._word}={getattr(self, f'_{self._word}')}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return text + (f", name={self._name}" if self._name is not None else "")


class PixelShuffle(_Shuffle):
    """Channels as pixels; see functional.pixel_shuffle."""

    _word, _function = "upscale_factor", "pixel_shuffle"

    def __init__(self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(upscale_factor, data_format, name)


class PixelUnshuffle(_Shuffle):
    """Pixels as channels; see functional.pixel_unshuffle."""

    _word, _function = "downscale_factor", "pixel_unshuffle"

    def __init__(self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(downscale_factor, data_format, name)


class ChannelShuffle(_Shuffle):
    """One channel of each group in turn; see functional.channel_shuffle."""

    _word, _function = "groups", "channel_shuffle"

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(groups, data_format, name)


class Unfold(Layer):
    """The windows of images as columns; see functional.unfold."""

    def __init__(
        self,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.kernel_sizes = kernel_sizes
        self.dilations = dilations
        self.paddings = paddings
        self.strides = strides
        self.name = name

    def forward(self, input: Any) -> Any:
        return functional.unfold(
            input,
            kernel_sizes=self.kernel_sizes,
            strides=self.strides,
            paddings=self.paddings,
            dilations=self.dilations,
            name=self.name,
        )

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return (
            f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, "
            f"stride={self.strides}{name}"
        )


class Fold(Layer):
    """Columns added up to images; see functional.fold."""

    def __init__(
        self,
        output_sizes: Any,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.output_sizes = output_sizes
        self.kernel_sizes = kernel_sizes
        self.dilations = dilations
        self.paddings = paddings
        self.strides = strides
        self.name = name

    def forward(self, input: Any) -> Any:
        return functional.fold(
            input,
            output_sizes=self.output_sizes,
            kernel_sizes=self.kernel_sizes,
            strides=self.strides,
            paddings=self.paddings,
            dilations=self.dilations,
            name=self.name,
        )

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return (
            f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, "
            f"stride={self.strides}{name}"
        )


class Upsample(Layer):
    """Images at another size; see functional.interpolate."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode.lower()
        self.align_corners = align_corners
        self.align_mode = align_mode
        self.data_format = data_format
        self.name = name

    def forward(self, x: Any) -> Any:
        return functional.interpolate(
            x,
            size=self.size,
            scale_factor=self.scale_factor,
            mode=self.mode,
            align_corners=self.align_corners,
            align_mode=self.align_mode,
            data_format=self.data_format,
            name=self.name,
        )

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return (
            f"{_wanted(self)}, mode={self.mode}, align_corners={self.align_corners}, "
            f"align_mode={self.align_mode}, data_format={self.data_format}{name}"
        )


def _wanted(layer: Any) -> str:
    if layer.scale_factor is not None:
        return f"scale_factor={layer.scale_factor}"
    return f"size={layer.size}"


class _Upsampling2D(Layer):
    """What the upsamplings of images share."""

    _mode: str
    _corners: bool

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size = [size, size] if isinstance(size, int) else size
        self.scale_factor = scale_factor
        self.data_format = data_format
        self.name = name

    def forward(self, x: Any) -> Any:
        return functional.interpolate(
            x,
            size=self.size,
            scale_factor=self.scale_factor,
            mode=self._mode,
            align_corners=self._corners,
            align_mode=0,
            data_format=self.data_format,
            name=self.name,
        )

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"{_wanted(self)}, data_format={self.data_format}{name}"


class UpsamplingNearest2D(_Upsampling2D):
    """Images at another size, each pixel the nearest one."""

    _mode, _corners = "nearest", False


class UpsamplingBilinear2D(_Upsampling2D):
    """Images at another size, interpolated, with their corners on each other."""

    _mode, _corners = "bilinear", True
