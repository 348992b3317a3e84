"""Pooling as layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsInt

from engine.nn.functional.windows import Padding, Sizes
from engine.nn.layer.function_layer import FunctionLayer, OfInput, OfX
from engine.tensor.tensor_like import AnyTensor, IntegersLike

_WINDOW = ("kernel_size", "stride", "padding")


class _PoolNd(OfX):
    """A pooling of images or volumes."""

    _stored, _shown = {"kernel_size": "ksize", "divisor_override": "divisor"}, _WINDOW


class _AdaptiveAvgPoolNd(OfX):
    """Means of images or volumes in as many windows as the result has elements."""

    _prefix, _shown = "_", ("output_size",)


class _AdaptiveMaxPoolNd(OfX):
    """Maxima of images or volumes in as many windows as the result has elements."""

    _prefix, _shown = "_", ("output_size", "return_mask")

    def __init__(
        self, output_size: IntegersLike | None, return_mask: bool = False, name: str | None = None
    ) -> None:
        super().__init__(output_size, return_mask, name)


class _MaxUnPoolNd(FunctionLayer):
    """An unpooling, which has the positions of the maxima as ``indices``."""

    _stored, _shown = {"kernel_size": "ksize"}, ("output_size",)

    def forward(self, x: AnyTensor, indices: AnyTensor) -> Any:
        return self._applied(x, indices)


class MaxPool1D(OfInput):
    """The largest element of every window of [N, C, L]; see functional.max_pool1d."""

    _function, _shown = "max_pool1d", _WINDOW

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, return_mask, ceil_mode, name)


class AvgPool1D(OfX):
    """The mean of every window of [N, C, L]; see functional.avg_pool1d."""

    _function, _shown = "avg_pool1d", _WINDOW

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, exclusive, ceil_mode, name)


class MaxPool2D(_PoolNd):
    """The largest element of every window of an image; see functional.max_pool2d."""

    _function = "max_pool2d"

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, return_mask, ceil_mode, data_format, name)


class MaxPool3D(_PoolNd):
    """The largest element of every window of a volume; see functional.max_pool3d."""

    _function = "max_pool3d"

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, return_mask, ceil_mode, data_format, name)


class AvgPool2D(_PoolNd):
    """The mean of every window of an image; see functional.avg_pool2d."""

    _function = "avg_pool2d"

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(
            kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format, name
        )


class AvgPool3D(_PoolNd):
    """The mean of every window of a volume; see functional.avg_pool3d."""

    _function = "avg_pool3d"

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(
            kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format, name
        )


class AdaptiveAvgPool1D(OfInput):
    """Means of windows chosen so that the result is ``output_size`` long."""

    _function, _shown = "adaptive_avg_pool1d", ("output_size",)

    def __init__(self, output_size: IntegersLike, name: str | None = None) -> None:
        super().__init__(output_size, name)


class AdaptiveAvgPool2D(_AdaptiveAvgPoolNd):
    """Means of windows chosen so that the result has ``output_size``; see functional.adaptive_avg_pool2d."""

    _function = "adaptive_avg_pool2d"

    def __init__(
        self, output_size: IntegersLike | None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(output_size, data_format, name)


class AdaptiveAvgPool3D(_AdaptiveAvgPoolNd):
    """Means of windows chosen so that the result has ``output_size``; see functional.adaptive_avg_pool3d."""

    _function = "adaptive_avg_pool3d"

    def __init__(
        self, output_size: IntegersLike | None, data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(output_size, data_format, name)


class AdaptiveMaxPool1D(OfInput):
    """Maxima of windows chosen so that the result is ``output_size`` long."""

    _function, _shown = "adaptive_max_pool1d", ("output_size", "return_mask")

    def __init__(self, output_size: IntegersLike, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__(output_size, return_mask, name)


class AdaptiveMaxPool2D(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen so that the result has ``output_size``; see functional.adaptive_max_pool2d."""

    _function = "adaptive_max_pool2d"


class AdaptiveMaxPool3D(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen so that the result has ``output_size``; see functional.adaptive_max_pool3d."""

    _function = "adaptive_max_pool3d"


class MaxUnPool1D(_MaxUnPoolNd):
    """Puts maxima of [N, C, L] back to where they were; see functional.max_unpool1d."""

    _function = "max_unpool1d"

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        data_format: str = "NCL",
        output_size: Sequence[SupportsInt] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)


class MaxUnPool2D(_MaxUnPoolNd):
    """Puts maxima of images back to where they were; see functional.max_unpool2d."""

    _function = "max_unpool2d"

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        data_format: str = "NCHW",
        output_size: Sequence[SupportsInt] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)


class MaxUnPool3D(_MaxUnPoolNd):
    """Puts maxima of volumes back to where they were; see functional.max_unpool3d."""

    _function = "max_unpool3d"

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        data_format: str = "NCDHW",
        output_size: Sequence[SupportsInt] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)
