"""``Conv2D`` and ``Pool2D``."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.fluid.dygraph.nn.forms import Formed, form
from engine.fluid.layers.windows import pooled
from engine.fluid.variable import result
from engine.nn import functional
from engine.nn.initializer import Normal


class Conv2D(Formed):
    """``act(conv2d(input, filter) + bias)``; in the early form the first input gives the channels."""

    EARLY = form(
        lambda name_scope, num_filters, filter_size, stride=1, padding=0, dilation=1, groups=None,
        param_attr=None, bias_attr=None, use_cudnn=True, act=None, dtype="float32": None
    )  # fmt: skip
    LATE = form(
        lambda num_channels, num_filters, filter_size, stride=1, padding=0, dilation=1, groups=None,
        param_attr=None, bias_attr=None, use_cudnn=True, act=None, dtype="float32": None
    )  # fmt: skip

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
        window = pair(given["filter_size"])
        first = Normal(0.0, math.sqrt(2.0 / (math.prod(window) * channels)))
        shape = [given["num_filters"], channels // groups, *window]
        self._filter_param = self.create_parameter(
            given["param_attr"], shape, self._dtype, default_initializer=first
        )
        self._bias_param = self.create_parameter(
            given["bias_attr"], [given["num_filters"]], self._dtype, is_bias=True
        )

    @property
    def weight(self) -> Any:
        """The filter [num_filters, channels / groups, height, width]."""
        return self._filter_param

    @property
    def bias(self) -> Any:
        """The bias [num_filters], or None."""
        return self._bias_param

    def forward(self, input: Any) -> Any:
        """``input`` [N, channels, height, width]."""
        given = self.given
        out = functional.conv2d(
            input, self._filter_param, self._bias_param, given["stride"], given["padding"], given["dilation"],
            given["groups"] or 1,
        )  # fmt: skip
        return self._activated(out)


class Pool2D(Formed):
    """The largest element or the mean of windows of [N, C, H, W]; of the whole picture: global_pooling."""

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
            raise ArgumentError(f"Pool2D: pool_type is 'max' or 'avg': got {given['pool_type']!r}")
        if not given["global_pooling"] and given["pool_size"] == -1:
            raise ArgumentError(
                "Pool2D: When the global_pooling is False, pool_size must be passed and be a valid value: "
                "got -1"
            )

    def forward(self, input: Any) -> Any:
        """``input`` [N, C, H, W]."""
        return result(pooled(input, **{k: v for k, v in self.given.items() if k != "use_cudnn"}))


def pair(size: Any) -> list[int]:
    """Height and width from one number for both, or from two."""
    found = list(size) if isinstance(size, (list, tuple)) else [size, size]
    return [int(each) for each in (found * 2 if len(found) == 1 else found)]
