"""Convolutions as matrix products.

There are two ways, chosen by size. Where the image is larger than the filters, every output row is a product
(``engine/kernels/cpu/conv_rows.py``). Where the filters are larger (many channels, small planes), they stay
as they are, every window is written out as a column, and all is one product.

Either way samples come last in memory, under the usual shape; elementwise operators keep that order, so a
network reorders once, not at every operator.

A three-dimensional convolution is computed as a two-dimensional one: the depth of the filter becomes
channels, and the depth of the result becomes samples.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core.operators.windows import Pads
from engine.core.place import Array, ArrayModule
from engine.kernels.cpu.products import product
from engine.kernels.cpu.ranges import in_ranges, unbuffered

_LARGE = 1 << 27  # elements of images that memory may not hold
_SMALL = 1 << 14  # elements of filters whose copies cost nothing

# Changes results [..., filter, positions] of these filters in place.
Finish = Callable[[Any, slice], None]


class Plan:
    """The numbers of one convolution of [N, C, H, W], and its products.

    ``shape`` is the image's, ``out`` the height and width of the result where they do not follow from it
    (a transposed convolution whose image is larger than it need be).
    """

    def __init__(
        self,
        xp: ArrayModule,
        shape: Sequence[int],
        weight_shape: Sequence[int],
        strides: Sequence[int],
        pads: Pads,
        dilations: Sequence[int],
        groups: int,
        out: Sequence[int] | None = None,
    ) -> None:
        self.xp = xp
        self.samples, self.channels, self.height, self.width = shape
        self.filters, self.taken, self.kh, self.kw = weight_shape
        self.groups = groups
        self.sh, self.sw = strides
        self.dh, self.dw = dilations
        (self.top, bottom), (self.left, right) = pads
        self.full_height = self.height + self.top + bottom
        self.full_width = self.width + self.left + right
        self.oh, self.ow = out or (
            (self.full_height - self.dh * (self.kh - 1) - 1) // self.sh + 1,
            (self.full_width - self.dw * (self.kw - 1) - 1) // self.sw + 1,
        )
        # A longer stride than the image has no effect.
        self.sh, self.sw = min(self.sh, max(1, self.full_height)), min(self.sw, max(1, self.full_width))
        if (
            self.channels != self.taken * groups
            or min(self.top, self.left, bottom, right) < 0
            or min(self.oh, self.ow) < 1
            or self.filters % groups
        ):
            raise ValueError("shapes do not fit")  # inference explains the error
        self.padded = self.full_height != self.height or self.full_width != self.width
        self.each = self.filters // groups
        self._large = [
            sizes
            for sizes in (
                (self.channels, self.full_height, self.full_width, self.samples),
                (self.filters, self.oh, self.ow, self.samples),
            )
            if xp is np and math.prod(sizes) > _LARGE
        ]

    def row(self, a: int) -> slice:
        """The rows of the padded image that row ``a`` of the filter meets."""
        first = a * self.dh
        return slice(first, first + (self.oh - 1) * self.sh + 1, self.sh)

    def column(self, b: int) -> slice:
        """The columns of the padded image that column ``b`` of the filter meets."""
        first = b * self.dw
        return slice(first, first + (self.ow - 1) * self.sw + 1, self.sw)

    def forward(self, x: Array, weight: Array, finish: Finish | None = None) -> Any:
        """The result [sample, filter, row, column], samples last in memory.

        ``finish`` changes parts of it in place, [..., filter, positions], while they are in the cache.
        """
        self._require_room(x.dtype)
        compute = self._by_windows if self.by_windows() else self._rows.forward
        return compute(x, weight, finish)

    def gradients(
        self, x: Array | None, weight: Array, g: Array, need_x: bool, need_weight: bool
    ) -> tuple[Any, Any]:
        """The gradients of image and filters, each only if needed (else None), from that of the result."""
        self._require_room(weight.dtype)
        if self.by_windows():
            flat = self.xp.ascontiguousarray(g.transpose(1, 2, 3, 0)).reshape(self.groups, self.each, -1)
            return (
                self._image_by_windows(weight, flat) if need_x else None,
                self._weight_by_windows(x, flat) if need_weight else None,
            )
        found: tuple[Any, Any] = self._rows.gradients(x, weight, g, need_x, need_weight)
        return found

    def _require_room(self, dtype: Any) -> None:
        """Raise NumPy's MemoryError where memory can't hold the image or the result, before they are cut."""
        for sizes in self._large:
            np.empty(sizes, dtype)

    @functools.cached_property
    def _rows(self) -> Any:
        """The products of output rows; with the first convolution, not with the engine."""
        from engine.kernels.cpu.conv_rows import Rows

        return Rows(self)

    def by_windows(self) -> bool:
        """Whether windows are written out: where all are smaller than the filters that the other way copies.

        Results begin with channels in memory then, not with rows.
        """
        if self.kh == self.kw == 1:
            return True
        few = self.oh * self.ow * self.samples < self.each * (3 + self.oh)
        return few and self.filters * self.taken * self.kh * self.kw > _SMALL

    # -- all windows as columns ------------------------------------------------------------------------------
    def _image(self, x: Any) -> Any:
        """x with its padding: [channel, row, column, sample]."""
        source = x.transpose(1, 2, 3, 0)
        if not self.padded:
            return source
        image = self.xp.zeros((self.channels, self.full_height, self.full_width, self.samples), x.dtype)
        inside = image[:, self.top : self.top + self.height, self.left : self.left + self.width]

        def copy(part: slice) -> None:
            inside[part] = source[part]

        self._by_channels(self.channels, image, copy)
        return image

    def _columns_shape(self) -> tuple[int, ...]:
        return (self.channels, self.kh, self.kw, self.oh, self.ow, self.samples)

    def _columns(self, x: Any) -> Any:
        """Every window as a column: [groups, channel * kh * kw, row out * column out * sample]."""
        image = self._image(x)
        if self.kh == self.kw == 1:
            made = self.xp.ascontiguousarray(image[:, self.row(0), self.column(0)])
        else:
            made = self.xp.empty(self._columns_shape(), x.dtype)

            def copy(part: slice) -> None:
                for a in range(self.kh):
                    for b in range(self.kw):
                        made[part, a, b] = image[part, self.row(a), self.column(b)]

            self._by_channels(self.channels, made, copy)
        return made.reshape(self.groups, self.taken * self.kh * self.kw, self._size())

    def _by_channels(self, count: int, values: Any, work: Callable[[slice], None]) -> None:
        """``work`` for all channels or filters, over the pool where ``values`` are many."""
        in_ranges(count, values.size if self.xp is np else 0, work)

    def _size(self) -> int:
        return self.oh * self.ow * self.samples

    def _by_windows(self, x: Any, weight: Any, finish: Finish | None) -> Any:
        matrix = weight.reshape(self.groups, self.each, self.taken * self.kh * self.kw)
        result = product(self.xp, matrix, self._columns(x))
        if finish is not None:
            flat = result.reshape(self.filters, self._size())
            with unbuffered():
                self._by_channels(self.filters, result, lambda part: finish(flat[part], part))
        return result.reshape(self.filters, self.oh, self.ow, self.samples).transpose(3, 0, 1, 2)

    def _weight_by_windows(self, x: Any, g: Any) -> Any:
        made = self.xp.empty((self.filters, self.taken, self.kh, self.kw), g.dtype)
        length = self.taken * self.kh * self.kw
        product(self.xp, g, self._columns(x).swapaxes(1, 2), out=made.reshape(self.groups, self.each, length))
        return made

    def _image_by_windows(self, weight: Any, g: Any) -> Any:
        """Each window's share, added up to an image."""
        matrix = weight.reshape(self.groups, self.each, self.taken * self.kh * self.kw)
        parts = product(self.xp, matrix.swapaxes(1, 2), g).reshape(self._columns_shape())
        if self.kh == self.kw == self.sh == self.sw == 1 and not self.padded:
            return parts[:, 0, 0].transpose(3, 0, 1, 2)
        image = self.xp.empty((self.channels, self.full_height, self.full_width, self.samples), g.dtype)

        def add(part: slice) -> None:
            image[part] = 0
            for a in range(self.kh):
                for b in range(self.kw):
                    image[part, self.row(a), self.column(b)] += parts[part, a, b]

        with unbuffered():
            self._by_channels(self.channels, parts, add)
        image = image[:, self.top : self.top + self.height, self.left : self.left + self.width]
        return image.transpose(3, 0, 1, 2)


class DeepPlan:
    """A convolution of [N, C, D, H, W] as one of images: depth becomes channels and samples."""

    def __init__(
        self,
        xp: ArrayModule,
        shape: Sequence[int],
        weight_shape: Sequence[int],
        strides: Sequence[int],
        pads: Pads,
        dilations: Sequence[int],
        groups: int,
        out: Sequence[int] | None = None,
    ) -> None:
        self.xp = xp
        self.samples, self.channels, self.depth, height, width = shape
        filters, self.taken, self.kd, kh, kw = weight_shape
        self.groups, self.step, self.dilation = groups, strides[0], dilations[0]
        self.front, back = pads[0]
        full = self.depth + self.front + back
        self.od = out[0] if out else (full - self.dilation * (self.kd - 1) - 1) // self.step + 1
        if self.od < 1 or min(self.front, back) < 0 or self.channels != self.taken * groups:
            raise ValueError("shapes do not fit")  # inference explains the error
        self.flat = Plan(
            xp,
            (self.samples * self.od, self.channels * self.kd, height, width),
            (filters, self.kd * self.taken, kh, kw),
            strides[1:],
            pads[1:],
            dilations[1:],
            groups,
            out[1:] if out else None,
        )

    def _slices(self) -> Any:
        """For each slice of the filter, the slices of the image and of the result that it connects."""
        for a in range(self.kd):
            offset = a * self.dilation - self.front
            first = max(-(offset // self.step), 0)
            last = min((self.depth - 1 - offset) // self.step, self.od - 1)
            if first <= last:
                start = first * self.step + offset
                stop = last * self.step + offset + 1
                yield a, slice(start, stop, self.step), slice(first, last + 1)

    def _deep_shape(self) -> tuple[int, ...]:
        plan = self.flat
        return (plan.height, self.groups, self.kd, self.taken, plan.width, self.samples, self.od)

    def _stacked(self, x: Any) -> Any:
        """[N * od, groups * kd * C / groups, H, W], batch-last in memory."""
        plan = self.flat
        source = x.reshape(self.samples, self.groups, self.taken, self.depth, plan.height, plan.width)
        source = source.transpose(4, 1, 2, 5, 0, 3)
        made = self.xp.zeros(self._deep_shape(), x.dtype)
        for a, of_image, of_result in self._slices():
            made[:, :, a, :, :, :, of_result] = source[..., of_image]
        made = made.reshape(plan.height, plan.channels, plan.width, plan.samples)
        return made.transpose(3, 1, 0, 2)

    def _flat_weight(self, weight: Any) -> Any:
        return weight.transpose(0, 2, 1, 3, 4).reshape(-1, self.kd * self.taken, *weight.shape[3:])

    def forward(self, x: Array, weight: Array, finish: Finish | None = None) -> Any:
        """The result [N, filter, depth, row, column]; ``finish`` as a plan of images takes it."""
        plan = self.flat
        result = plan.forward(self._stacked(x), self._flat_weight(weight), finish).transpose(2, 1, 3, 0)
        result = result.reshape(plan.oh, plan.filters, plan.ow, self.samples, self.od)
        return result.transpose(3, 1, 4, 0, 2)

    def gradients(
        self, x: Array | None, weight: Array, g: Array, need_x: bool, need_weight: bool
    ) -> tuple[Any, Any]:
        """The gradients of image and filters, each only if needed (else None), from that of the result."""
        plan = self.flat
        g = self.xp.ascontiguousarray(g.transpose(3, 1, 4, 0, 2))
        g = g.reshape(plan.oh, plan.filters, plan.ow, plan.samples).transpose(3, 1, 0, 2)
        stacked = self._stacked(x) if need_weight else None
        x_grad, weight_grad = plan.gradients(stacked, self._flat_weight(weight), g, need_x, need_weight)
        if need_x:
            x_grad = self._unstacked(x_grad)
        if need_weight:
            weight_grad = weight_grad.reshape(-1, self.kd, self.taken, plan.kh, plan.kw)
            weight_grad = self.xp.ascontiguousarray(weight_grad.transpose(0, 2, 1, 3, 4))
        return x_grad, weight_grad

    def _unstacked(self, grad: Any) -> Any:
        """The reverse of ``_stacked``: the gradients of each slice of the image, summed."""
        plan = self.flat
        deep = grad.transpose(2, 1, 3, 0).reshape(self._deep_shape())
        shape = (plan.height, self.groups, self.taken, plan.width, self.samples, self.depth)
        total = self.xp.zeros(shape, grad.dtype)
        for a, of_image, of_result in self._slices():
            total[..., of_image] += deep[:, :, a, :, :, :, of_result]
        total = total.reshape(plan.height, self.channels, plan.width, self.samples, self.depth)
        return total.transpose(3, 1, 4, 0, 2)
