"""Depthwise convolutions: each channel has its own filters.

A row of the result is one small product: a band matrix, which holds the filter once for each column of the
result, times the rows of the image that the filter meets. Channels come first and samples last in memory, so
these rows are contiguous: nothing is copied or padded, and padding is the entries that the band lacks. A
band holds mostly zeros, which a product costs less than the passes over memory that it saves, up to a width.

Zeros of the band times infinity would be NaN where the filter does not reach. Results are added up, which is
cheap, and where the sum is not finite the general way computes the positions that the filter reaches again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import numpy as np

from engine.core.place import Array
from engine.kernels.cpu.ranges import in_ranges
from engine.ops.images.conv_plan import Finish, Plan

_WIDEST = 48  # columns of image or result; wider ones multiply too many zeros

# The first row that is read for a row, the filter's row that meets it, and how many rows are read.
Reach = tuple[int, int, int]


class DepthwisePlan(Plan):
    """The numbers of one convolution whose filters take one channel each, and its products.

    In its methods an image is [channel, row, column, sample] in memory, a result [channel, row, filter of the
    channel * column, sample].
    """

    def suits(self) -> bool:
        """True where bands are faster than the general way."""
        narrow = max(self.width, self.ow) <= _WIDEST
        return self.xp is np and self.taken == 1 < self.groups and self.dh == 1 and narrow

    def forward(self, x: Array, weight: Array, finish: Finish | None = None) -> Any:
        """The result [sample, filter, row, column], samples last in memory; ``finish`` as for any plan."""
        image = self._together(x)
        band = self._band(weight)
        result = np.empty((self.channels, self.oh, self.each * self.ow, self.samples), x.dtype)
        runs = list(self._runs(self.oh, 1, self._read_by))
        finite = []

        def compute(part: slice) -> None:
            for rows, (first, used, count) in runs:
                out = result[part, rows.start : rows.stop]
                matrix = band[part, :, used : used + count].reshape(
                    len(out), 1, self.each * self.ow, count * self.width
                )
                windows = _windows(image[part], first, self.sh, len(rows), count)
                np.matmul(matrix, windows, out=out)  # no rows that are met: zeros
            finite.append(_all_finite(result[part]))
            if finish is not None and self.each == 1 and finite[-1]:
                finish(result[part].reshape(part.stop - part.start, -1), part)

        in_ranges(self.channels, result.size * self.kh, compute)
        if not all(finite):
            return super().forward(x, weight, finish)
        result = result.reshape(self.channels, self.oh, self.each, self.ow, self.samples).swapaxes(1, 2)
        result = result.reshape(self.filters, self.oh, self.ow, self.samples)
        if finish is not None and self.each > 1:
            finish(result.reshape(self.filters, -1), slice(None))
        return result.transpose(3, 0, 1, 2)

    def gradients(
        self, x: Array | None, weight: Array, g: Array, need_x: bool, need_weight: bool
    ) -> tuple[Any, Any]:
        """The gradients of image and filters, each only if needed (else None), from that of the result."""
        laid = self._together(g)
        x_grad = self._image_by_bands(x, weight, laid) if need_x else None
        if need_x and not _all_finite(x_grad):
            x_grad, _ = super().gradients(x, weight, g, True, False)
        return x_grad, self._weight_by_columns(x, laid) if need_weight else None

    def _image_by_bands(self, x: Any, weight: Any, g: Any) -> Any:
        """The gradient of the image: bands times the rows that read its rows.

        Samples come last in memory, rows or channels first as in x, with which others combine it; channels
        where x is None.
        """
        if self.each > 1:
            g = g.reshape(self.channels, self.each, self.oh, self.ow, self.samples).swapaxes(1, 2)
            g = np.ascontiguousarray(g)
        g = g.reshape(self.channels, self.oh, self.each * self.ow, self.samples)
        # Rows of the filter in reverse: a later row of the result meets the image with an earlier one.
        band = np.ascontiguousarray(self._band(weight).transpose(0, 3, 2, 1)[:, :, ::-1])
        shape = (self.channels, self.height, self.width, self.samples)
        if x is not None and x.strides[1] < x.strides[2]:
            result = np.empty((shape[1], shape[0], *shape[2:]), g.dtype).swapaxes(0, 1)
        else:
            result = np.empty(shape, g.dtype)
        runs = list(self._runs(self.height, self.sh, self._reading))

        def compute(part: slice) -> None:
            for rows, (first, used, count) in runs:
                out = result[part, rows.start : rows.stop : rows.step]
                turned = self.kh - 1 - used
                taken = band[part, :, turned : turned + max(count - 1, 0) * self.sh + 1 : self.sh]
                matrix = taken[:, :, :count].reshape(len(out), 1, self.width, count * self.each * self.ow)
                np.matmul(matrix, _windows(g[part], first, 1, len(rows), count), out=out)

        in_ranges(self.channels, result.size * self.kh, compute)
        return result.transpose(3, 0, 1, 2)

    def _weight_by_columns(self, x: Any, g: Any) -> Any:
        """The gradient of the filters: a dot product of whole rows for each of their entries."""
        image = self._together(x)
        made = np.zeros((self.channels, self.each, self.kh, self.kw), g.dtype)
        g = g.reshape(self.channels, self.each, self.oh, self.ow, self.samples)

        def compute(part: slice) -> None:
            for b in range(self.kw):
                columns, met = _meeting(self.ow, self.width, self.sw, b * self.dw - self.left)
                if not len(columns):
                    continue
                seen = image[part, :, met]
                seen = seen.reshape(len(seen), 1, self.height, -1)
                sent = g[part, :, :, columns.start : columns.stop]
                sent = sent.reshape(len(sent), self.each, self.oh, -1)
                for a in range(self.kh):
                    rows, read = _meeting(self.oh, self.height, self.sh, a - self.top)
                    if len(rows):
                        flow = sent[:, :, rows.start : rows.stop]
                        made[part, :, a, b] = np.vecdot(seen[:, :, read], flow).sum(2)

        in_ranges(self.channels, image.size * self.kh, compute)
        return made.reshape(self.filters, 1, self.kh, self.kw)

    def _together(self, x: Any) -> Any:
        """[N, C, H, W] as [channel, row, column, sample], with the rows of a channel side by side."""
        image = x.transpose(1, 2, 3, 0)
        item = image.itemsize
        _, height, width, samples = image.shape
        near = (width * samples * item, samples * item, item)
        return image if image.strides[1:] == near and height else np.ascontiguousarray(image)

    def _band(self, weight: Any) -> Any:
        """The filters as matrices: [channel, filter of the channel * column out, kh, column]."""
        weight = weight.reshape(self.channels, self.each, 1, self.kh, self.kw)
        made = np.zeros((self.channels, self.each, self.ow, self.kh, self.width), weight.dtype)
        for b in range(self.kw):
            columns, met = _meeting(self.ow, self.width, self.sw, b * self.dw - self.left)
            if len(columns):
                made[:, :, np.asarray(columns), :, np.arange(met.start, met.stop, met.step)] = np.moveaxis(
                    weight[..., b], 2, 0
                )
        return made.reshape(self.channels, self.each * self.ow, self.kh, self.width)

    def _read_by(self, row: int) -> Reach:
        """The rows that row ``row`` of the result reads: the image's first row, the filter's first row, how
        many."""
        start = row * self.sh - self.top
        used = max(0, -start)
        return start + used, used, max(min(self.kh, self.height - start) - used, 0)

    def _reading(self, row: int) -> Reach:
        """The rows that read row ``row`` of the image: the result's first row, the filter's row there, how
        many."""
        place = row + self.top
        first = max(-((self.kh - 1 - place) // self.sh), 0)
        last = min(place // self.sh, self.oh - 1)
        return first, place - first * self.sh, max(last - first + 1, 0)

    def _runs(self, height: int, step: int, reach: Callable[[int], Reach]) -> Iterator[tuple[range, Reach]]:
        """Rows that differ only in where they read, ``step`` apart, and the reach of the first."""
        for phase in range(step):
            rows = range(phase, height, step)
            for _, run in groupby(rows, lambda row: reach(row)[1:]):
                found = list(run)
                yield range(found[0], found[-1] + 1, step), reach(found[0])


def _meeting(outputs: int, size: int, stride: int, offset: int) -> tuple[range, slice]:
    """The results whose place ``n * stride + offset`` is in the image, and these places."""
    first = max(-(offset // stride), 0)
    last = min((size - 1 - offset) // stride, outputs - 1)
    start = first * stride + offset
    return range(first, max(last + 1, first)), slice(start, start + max(last - first, 0) * stride + 1, stride)


def _windows(image: Any, first: int, step: int, length: int, count: int) -> Any:
    """``count`` rows from every ``step``-th, no copy: [channel, length, count * column, sample]."""
    channels, _, width, samples = image.shape
    per_channel, per_row, per_column, per_sample = image.strides
    return np.lib.stride_tricks.as_strided(
        image[:, first:],
        (channels, length, count * width, samples),
        (per_channel, per_row * step, per_column, per_sample),
        writeable=False,
    )


def _all_finite(values: Any) -> bool:
    """False where a value is NaN or infinite (or their sum is)."""
    with np.errstate(all="ignore"):
        return math.isfinite(values.sum())
