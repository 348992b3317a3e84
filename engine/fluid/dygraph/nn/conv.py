"""Convolutions, transposed ones, and ``Pool2D``."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.fluid.dygraph.nn.forms import Formed, alias, form
from engine.fluid.layers.windows import pooled
from engine.fluid.values.variable import result
from engine.nn import functional
from engine.nn.initializer import Normal


class _Conv(Formed):
    """A convolution of RANK dimensions; in the early form the first input gives the channels."""

    RANK: int

    def _make(self) -> None:
        if "num_channels" in self.given:
            self._make_filter(int(self.given["num_channels"]))

    def _build_once(self, input: Any) -> None:
        if "num_channels" not in self.given:
            self._make_filter(int(input.shape[1]))

    def _make_filter(self, channels: int) -> None:
        given, groups = self.given, self.given["groups"] or 1
        if channels < 0 or channels % groups:
            raise ShapeError(
                f"{self.full_name()}: the input's channels must be known and a multiple of groups={groups}: "
                f"got {channels}"
            )
        self.weight = self.create_parameter(
            given["param_attr"], self._filter_shape(channels, groups), self._dtype,
            default_initializer=self._first_values(channels),
        )  # fmt: skip
        self.bias = self.create_parameter(
            given["bias_attr"], [given["num_filters"]], self._dtype, is_bias=True
        )

    def _filter_shape(self, channels: int, groups: int) -> list[int]:
        return [self.given["num_filters"], channels // groups, *self._window()]

    def _first_values(self, channels: int) -> Any:
        return Normal(0.0, math.sqrt(2.0 / (math.prod(self._window()) * channels)))

    def _window(self) -> list[int]:
        return window(self.given["filter_size"], self.RANK)

    _filter_param = alias("weight")
    _bias_param = alias("bias")

    def forward(self, input: Any) -> Any:
        """``input`` [N, channels, *size]."""
        given = self.given
        convolve = getattr(functional, f"conv{self.RANK}d")
        out = convolve(
            input, self.weight, self.bias, given["stride"], given["padding"], given["dilation"],
            given["groups"] or 1,
        )  # fmt: skip
        return self._activated(out)


class Conv2D(_Conv):
    """``act(conv2d(input, filter) + bias)``; in the early form the first input gives the channels."""

    RANK = 2
    EARLY = form(
        lambda name_scope, num_filters, filter_size, stride=1, padding=0, dilation=1, groups=None,
        param_attr=None, bias_attr=None, use_cudnn=True, act=None, dtype="float32": None
    )  # fmt: skip
    LATE = form(
        lambda num_channels, num_filters, filter_size, stride=1, padding=0, dilation=1, groups=None,
        param_attr=None, bias_attr=None, use_cudnn=True, act=None, dtype="float32": None
    )  # fmt: skip


class Conv3D(_Conv):
    """``act(conv3d(input, filter) + bias)`` of [N, channels, depth, height, width]."""

    RANK = 3
    EARLY, LATE = Conv2D.EARLY, Conv2D.LATE


class _ConvTranspose(_Conv):
    """A transposed convolution; without ``filter_size`` the window follows from ``output_size``."""

    _img_filter = alias("weight")  # [channels, num_filters / groups, *window]

    def _build_once(self, input: Any) -> None:
        if self.given["filter_size"] is None:
            self.given["filter_size"] = self._window_for([int(n) for n in input.shape[2:]])
        super()._build_once(input)

    def _window_for(self, sizes: list[int]) -> list[int]:
        """The window whose transposed convolution of ``sizes`` has the output size."""
        given = self.given
        if given["output_size"] is None:
            raise ArgumentError(f"{self.full_name()}: output_size must be set when filter_size is None")
        wanted, stride, padding, dilation = (
            window(given[name], self.RANK) for name in ("output_size", "stride", "padding", "dilation")
        )
        found = [
            (wanted[n] - (sizes[n] - 1) * stride[n] + 2 * padding[n] - 1) // dilation[n] + 1
            for n in range(self.RANK)
        ]
        if min(sizes) < 0 or min(found) < 1:
            raise ArgumentError(
                f"{self.full_name()}: no window makes output_size {wanted} of {sizes}; give filter_size"
            )
        return found

    def _filter_shape(self, channels: int, groups: int) -> list[int]:
        return [channels, self.given["num_filters"] // groups, *self._window()]

    def _first_values(self, channels: int) -> Any:
        return None

    def forward(self, input: Any) -> Any:
        """``input`` [N, channels, *size]."""
        given = self.given
        convolve = getattr(functional, f"conv{self.RANK}d_transpose")
        out = convolve(
            input, self.weight, self.bias, given["stride"], given["padding"],
            dilation=given["dilation"], groups=given["groups"] or 1, output_size=given["output_size"],
        )  # fmt: skip
        return self._activated(out)


class Conv2DTranspose(_ConvTranspose):
    """``act(conv2d_transpose(input, filter) + bias)`` of [N, channels, height, width]."""

    RANK = 2
    EARLY = form(
        lambda name_scope, num_filters, output_size=None, filter_size=None, padding=0, stride=1, dilation=1,
        groups=None, param_attr=None, bias_attr=None, use_cudnn=True, act=None, dtype="float32": None
    )  # fmt: skip
    LATE = form(
        lambda num_channels, num_filters, filter_size, output_size=None, padding=0, stride=1, dilation=1,
        groups=None, param_attr=None, bias_attr=None, use_cudnn=True, act=None, dtype="float32": None
    )  # fmt: skip


class Conv3DTranspose(_ConvTranspose):
    """``act(conv3d_transpose(input, filter) + bias)`` of [N, channels, depth, height, width]."""

    RANK = 3
    EARLY = form(
        lambda name_scope, num_filters, output_size=None, filter_size=None, padding=0, stride=1, dilation=1,
        groups=None, param_attr=None, bias_attr=None, use_cudnn=True, act=None, name=None,
        dtype="float32": None
    )  # fmt: skip
    LATE = form(
        lambda num_channels, num_filters, filter_size, padding=0, stride=1, dilation=1, groups=None,
        param_attr=None, bias_attr=None, use_cudnn=True, act=None, output_size=None, dtype="float32": None
    )  # fmt: skip


class Pool2D(Formed):
    """The largest element or the mean of windows of [N, C, H, W]; of the whole image: global_pooling."""

    EARLY = form(
        lambda name_scope, pool_size=-1, pool_type="max", pool_stride=1, pool_padding=0,
        global_pooling=False, use_cudnn=True, ceil_mode=False, exclusive=True, dtype="float32": None
    )  # fmt: skip
    LATE = form(
        lambda pool_size=-1, pool_type="max", pool_stride=1, pool_padding=0, global_pooling=False,
        use_cudnn=True, ceil_mode=False, exclusive=True, data_format="NCHW": None
    )  # fmt: skip

    def _make(self) -> None:
        given = self.given
        if given["pool_type"] not in ("max", "avg"):
            raise ArgumentError(f"Pool2D: pool_type must be 'max' or 'avg': got {given['pool_type']!r}")
        if not given["global_pooling"] and given["pool_size"] == -1:
            raise ArgumentError(
                "Pool2D: When the global_pooling is False, pool_size must be passed and be a valid value: "
                "got -1"
            )

    def forward(self, input: Any) -> Any:
        """``input`` [N, C, H, W]."""
        return result(pooled(input, **{k: v for k, v in self.given.items() if k != "use_cudnn"}))


def window(size: Any, rank: int) -> list[int]:
    """``rank`` sizes from one number for all, or from one for each."""
    found = list(size) if isinstance(size, (list, tuple)) else [size]
    return [int(each) for each in (found * rank if len(found) == 1 else found)]
