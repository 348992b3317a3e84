"""Pooling as layers."""

from __future__ import annotations

from typing import Any

from engine.nn import functional
from engine.nn.layer.layers import Layer


class _Pool1D(Layer):
    """What MaxPool1D and AvgPool1D share."""

    def __init__(
        self, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, name: str | None
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.name = name

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool1D(_Pool1D):
    """The largest element of every window of [N, C, L]; see functional.max_pool1d."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, name)
        self.return_mask = return_mask

    def forward(self, input: Any) -> Any:
        return functional.max_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.return_mask, self.ceil_mode, self.name
        )


class AvgPool1D(_Pool1D):
    """The mean of every window of [N, C, L]; see functional.avg_pool1d."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, name)
        self.exclusive = exclusive

    def forward(self, x: Any) -> Any:
        return functional.avg_pool1d(
            x, self.kernel_size, self.stride, self.padding, self.exclusive, self.ceil_mode, self.name
        )


class _MaxPoolNd(Layer):
    """What MaxPool2D and MaxPool3D share."""

    _function: str

    def __init__(
        self,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        return_mask: bool,
        ceil_mode: bool,
        data_format: str,
        name: str | None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.return_mask = return_mask
        self.ceil_mode = ceil_mode
        self.data_format = data_format
        self.name = name

    def forward(self, x: Any) -> Any:
        return getattr(functional, self._function)(
            x,
            kernel_size=self.ksize,
            stride=self.stride,
            padding=self.padding,
            return_mask=self.return_mask,
            ceil_mode=self.ceil_mode,
            data_format=self.data_format,
            name=self.name,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"


class MaxPool2D(_MaxPoolNd):
    """The largest element of every window of an image; see functional.max_pool2d."""

    _function = "max_pool2d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, return_mask, ceil_mode, data_format, name)


class MaxPool3D(_MaxPoolNd):
    """The largest element of every window of a volume; see functional.max_pool3d."""

    _function = "max_pool3d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, return_mask, ceil_mode, data_format, name)


class _AvgPoolNd(Layer):
    """What AvgPool2D and AvgPool3D share."""

    _function: str

    def __init__(
        self,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: bool,
        exclusive: bool,
        divisor_override: float | None,
        data_format: str,
        name: str | None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.exclusive = exclusive
        self.divisor = divisor_override
        self.data_format = data_format
        self.name = name

    def forward(self, x: Any) -> Any:
        return getattr(functional, self._function)(
            x,
            kernel_size=self.ksize,
            stride=self.stride,
            padding=self.padding,
            ceil_mode=self.ceil_mode,
            exclusive=self.exclusive,
            divisor_override=self.divisor,
            data_format=self.data_format,
            name=self.name,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"


class AvgPool2D(_AvgPoolNd):
    """The mean of every window of an image; see functional.avg_pool2d."""

    _function = "avg_pool2d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(
            kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format, name
        )


class AvgPool3D(_AvgPoolNd):
    """The mean of every window of a volume; see functional.avg_pool3d."""

    _function = "avg_pool3d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(
            kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format, name
        )


class AdaptiveAvgPool1D(Layer):
    """Means of windows chosen so that the result is ``output_size`` long."""

    def __init__(self, output_size: Any, name: str | None = None) -> None:
        super().__init__()
        self.output_size = output_size
        self.name = name

    def forward(self, input: Any) -> Any:
        return functional.adaptive_avg_pool1d(input, self.output_size, self.name)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveAvgPoolNd(Layer):
    """What AdaptiveAvgPool2D and AdaptiveAvgPool3D share."""

    _function: str

    def __init__(self, output_size: Any, data_format: str, name: str | None) -> None:
        super().__init__()
        self._output_size = output_size
        self._data_format = data_format
        self._name = name

    def forward(self, x: Any) -> Any:
        return getattr(functional, self._function)(
            x, self._output_size, data_format=self._data_format, name=self._name
        )

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}"


class AdaptiveAvgPool2D(_AdaptiveAvgPoolNd):
    """Means of windows chosen so that the result has ``output_size``; see functional.adaptive_avg_pool2d."""

    _function = "adaptive_avg_pool2d"

    def __init__(self, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(output_size, data_format, name)


class AdaptiveAvgPool3D(_AdaptiveAvgPoolNd):
    """Means of windows chosen so that the result has ``output_size``; see functional.adaptive_avg_pool3d."""

    _function = "adaptive_avg_pool3d"

    def __init__(self, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(output_size, data_format, name)


class AdaptiveMaxPool1D(Layer):
    """Maxima of windows chosen so that the result is ``output_size`` long."""

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_mask = return_mask
        self.name = name

    def forward(self, input: Any) -> Any:
        return functional.adaptive_max_pool1d(input, self.output_size, self.return_mask, self.name)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, return_mask={self.return_mask}"


class _AdaptiveMaxPoolNd(Layer):
    """What AdaptiveMaxPool2D and AdaptiveMaxPool3D share."""

    _function: str

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__()
        self._output_size = output_size
        self._return_mask = return_mask
        self._name = name

    def forward(self, x: Any) -> Any:
        return getattr(functional, self._function)(
            x, self._output_size, return_mask=self._return_mask, name=self._name
        )

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


class AdaptiveMaxPool2D(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen so that the result has ``output_size``; see functional.adaptive_max_pool2d."""

    _function = "adaptive_max_pool2d"


class AdaptiveMaxPool3D(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen so that the result has ``output_size``; see functional.adaptive_max_pool3d."""

    _function = "adaptive_max_pool3d"


class _MaxUnPoolNd(Layer):
    """What the unpoolings of all ranks share."""

    _function: str

    def __init__(
        self,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        data_format: str,
        output_size: Any,
        name: str | None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.data_format = data_format
        self.output_size = output_size
        self.name = name

    def forward(self, x: Any, indices: Any) -> Any:
        return getattr(functional, self._function)(
            x,
            indices,
            kernel_size=self.ksize,
            stride=self.stride,
            padding=self.padding,
            data_format=self.data_format,
            output_size=self.output_size,
            name=self.name,
        )

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class MaxUnPool1D(_MaxUnPoolNd):
    """Puts maxima of [N, C, L] back to where they were; see functional.max_unpool1d."""

    _function = "max_unpool1d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        data_format: str = "NCL",
        output_size: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)


class MaxUnPool2D(_MaxUnPoolNd):
    """Puts maxima of images back to where they were; see functional.max_unpool2d."""

    _function = "max_unpool2d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        data_format: str = "NCHW",
        output_size: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)


class MaxUnPool3D(_MaxUnPoolNd):
    """Puts maxima of volumes back to where they were; see functional.max_unpool3d."""

    _function = "max_unpool3d"

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        data_format: str = "NCDHW",
        output_size: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)
