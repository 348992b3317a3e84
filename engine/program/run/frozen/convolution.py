"""Convolutions of few images with constant weights: a copy of the windows, and one product.

The copy has two steps. The first takes, for each column of the filter, the columns that it meets, so that in
the second one the windows of each entry of the filter are one run of memory, or a run for each output row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.operators.windows import pads_of
from engine.program.run.frozen.site import Array, Bound, Site

# Bytes of the largest copy of the windows: where it is larger, laying samples last in memory is faster.
_WINDOWS = 1 << 20


def plain(site: Site) -> Bound | None:
    """A convolution."""
    return _bound(site, None, False)


def fused(site: Site) -> Bound | None:
    """A convolution with its bias and activation."""
    bias = site.values[2]
    return None if bias is None else _bound(site, bias, bool(site.attrs["activation"]))


def _bound(site: Site, bias: Array | None, rectified: bool) -> Bound | None:
    x, weight, attrs = site.inputs[0], site.values[1], site.attrs
    usual = attrs["data_format"] in ("NCHW", "AnyLayout") and attrs["groups"] == 1 and site.plain
    if weight is None or not usual or min(x.shape) < 1:
        return None
    windows = _Windows(site, bias is not None)
    if windows.size * weight.itemsize > _WINDOWS:
        return None
    matrix = site.once("matrix", lambda: _matrix(weight, bias))
    columns = windows.columns[0] if windows.samples == 1 else windows.columns
    buffer = site.buffer()
    gather = windows.gather(site.known(0))
    shape = site.out.shape
    filters, places = shape[1], windows.oh * windows.ow
    flat = (filters, places) if windows.samples == 1 else (windows.samples, filters, places)
    matmul, maximum, zero = np.matmul, np.maximum, np.zeros((), weight.dtype)

    if buffer is None:

        def call(*given: Any) -> Array:
            gather(*given)
            result = matmul(matrix, columns)
            if rectified:
                maximum(result, zero, out=result)
            made: Array = result.reshape(shape)
            return made

        return Bound(call, None)
    out = buffer.reshape(flat)

    def fixed(*given: Any) -> None:
        gather(*given)
        matmul(matrix, columns, out)
        if rectified:
            maximum(out, zero, out=out)

    return Bound(fixed, buffer)


def _matrix(weight: Array, bias: Array | None) -> Array:
    """Filters as rows [column of the filter, channel, row], the bias behind them."""
    rows = weight.transpose(0, 3, 1, 2).reshape(len(weight), -1)
    return np.ascontiguousarray(rows if bias is None else np.column_stack((rows, bias)))


class _Windows:
    """The windows of all output places as columns, whose last row is 1 where there is a bias."""

    def __init__(self, site: Site, with_bias: bool) -> None:
        attrs = site.attrs
        self.samples, self.channels, self.height, self.width = site.inputs[0].shape
        _, _, self.kh, self.kw = site.inputs[1].shape
        (self.sh, self.sw), (self.dh, self.dw) = attrs["strides"], attrs["dilations"]
        algorithm = attrs["padding_algorithm"]
        if algorithm == "SAME":
            self.dh = self.dw = 1  # as in Paddle
        kernel, strides = (self.kh, self.kw), (self.sh, self.sw)
        pads = pads_of("conv2d", (self.height, self.width), kernel, strides, attrs["paddings"], algorithm)
        (self.top, self.bottom), (self.left, self.right) = pads
        self.oh, self.ow = site.out.shape[2:]
        self.dtype = site.out.dtype.np
        self.entries = self.channels * self.kh * self.kw
        self.size = self.samples * (self.entries + with_bias) * self.oh * self.ow
        self._with_bias = with_bias
        self._made: Array | None = None

    @property
    def columns(self) -> Array:
        """[sample, entry of the filter, place]."""
        if self._made is None:
            shape = (self.samples, self.entries + self._with_bias, self.oh * self.ow)
            self._made = np.ones(shape, self.dtype)
        return self._made

    def gather(self, place: Array | None) -> Callable[..., None]:
        """A function that fills ``columns`` from an image, at ``place`` if that is the same in each call."""
        copyto = np.copyto
        steps: list[tuple[Array, Array]] = []
        source = place
        inner = None
        if self.top or self.bottom or self.left or self.right or place is None:
            full = (self.height + self.top + self.bottom, self.width + self.left + self.right)
            source = np.zeros((self.samples, self.channels, *full), self.dtype)
            inner = source[:, :, self.top : self.top + self.height, self.left : self.left + self.width]
            if place is not None:
                steps.append((inner, place))
        assert source is not None
        steps += self._copies(source)
        if place is None:
            assert inner is not None
            into = inner

            def from_call(x: Array) -> None:
                copyto(into, x)
                for target, taken in steps:
                    copyto(target, taken)

            return from_call
        if len(steps) == 1:
            ((only, taken),) = steps
            return lambda: copyto(only, taken)

        def from_place() -> None:
            for target, taken in steps:
                copyto(target, taken)

        return from_place

    def _copies(self, source: Array) -> list[tuple[Array, Array]]:
        per_sample, per_channel, per_row, per_column = source.strides
        target = self.columns[:, : self.entries]
        target = target.reshape(self.samples, self.kw, self.channels, self.kh, self.oh, self.ow)
        if self.kh == self.kw == 1:
            taken = source[
                :,
                None,
                :,
                None,
                : (self.oh - 1) * self.sh + 1 : self.sh,
                : (self.ow - 1) * self.sw + 1 : self.sw,
            ]
            return [(target, taken)]
        rows = source.shape[2]
        shifted = np.empty((self.samples, self.kw, self.channels, rows, self.ow), self.dtype)
        steps = (per_sample, per_column * self.dw, per_channel, per_row, per_column * self.sw)
        taken = np.lib.stride_tricks.as_strided(source, shifted.shape, steps, writeable=False)
        a, b, c, row, column = shifted.strides
        strides: tuple[int, ...]
        strides = (a, b, c, row * self.dh, row * self.sh, column)
        shape: tuple[int, ...] = target.shape
        if self.sh == 1:  # all places of an entry are one run
            shape, strides = (*shape[:4], self.oh * self.ow), (*strides[:4], column)
            target = target.reshape(shape)
        return [
            (shifted, taken),
            (target, np.lib.stride_tricks.as_strided(shifted, shape, strides, writeable=False)),
        ]
