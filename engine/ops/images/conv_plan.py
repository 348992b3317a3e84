"""Convolutions as matrix products.

There are two ways, chosen by size. Where the image is larger than the filters, it is laid out by rows: rows,
then columns of the filter, channels, columns and samples. One copy of the image for each column of the filter
makes the window of a whole output row one matrix, which overlaps with that of the next output row. So every
output row is one matrix product, the image is not copied for each row of the filter, and the copies are long
contiguous runs. Where the filters are larger (many channels, small planes), they stay as they are, every
window is written out as a column, and all is one product.

Either way samples come last in memory, under the usual shape; elementwise operators keep that order, so a
network reorders once, not at every operator.

A three-dimensional convolution is computed as a two-dimensional one: the depth of the filter becomes
channels, and the depth of the result becomes samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.kernels.cpu.products import product
from engine.kernels.cpu.ranges import in_ranges
from engine.ops.images.windows import Pads

_SMALL = 1 << 14  # elements of filters whose copies cost nothing


class Plan:
    """The numbers of one convolution of [N, C, H, W], and its products.

    ``shape`` is the image's, ``out`` the height and width of the result where they do not follow from it
    (a transposed convolution whose image is larger than it need be).
    """

    def __init__(
        self,
        xp: Any,
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
        if (
            self.channels != self.taken * groups
            or min(self.top, self.left, bottom, right) < 0
            or min(self.oh, self.ow) < 1
            or self.filters % groups
        ):
            raise ValueError("shapes do not fit")  # inference explains what is wrong
        self.padded = self.full_height != self.height or self.full_width != self.width
        self.each = self.filters // groups

    def row(self, a: int) -> slice:
        """The rows of the padded image that row ``a`` of the filter meets."""
        first = a * self.dh
        return slice(first, first + (self.oh - 1) * self.sh + 1, self.sh)

    def column(self, b: int) -> slice:
        """The columns of the padded image that column ``b`` of the filter meets."""
        first = b * self.dw
        return slice(first, first + (self.ow - 1) * self.sw + 1, self.sw)

    def forward(self, x: Any, weight: Any) -> Any:
        """The result [sample, filter, row, column], samples last in memory."""
        return self._by_windows(x, weight) if self.by_windows() else self._by_rows(x, weight)

    def gradients(self, x: Any, weight: Any, g: Any, need_x: bool, need_weight: bool) -> tuple[Any, Any]:
        """The gradients of image and filters, each only if needed (else None), from that of the result."""
        if self.by_windows():
            flat = self.xp.ascontiguousarray(g.transpose(1, 2, 3, 0)).reshape(self.groups, self.each, -1)
            return (
                self._image_by_windows(weight, flat) if need_x else None,
                self._weight_by_windows(x, flat) if need_weight else None,
            )
        rows = self._gradient_rows(g)
        return (
            self._image_by_rows(weight, rows) if need_x else None,
            self._weight_by_rows(x, rows) if need_weight else None,
        )

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
        image[:, self.top : self.top + self.height, self.left : self.left + self.width] = source
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
            for a in range(self.kh):
                for b in range(self.kw):
                    made[:, a, b] = image[:, self.row(a), self.column(b)]
        return made.reshape(self.groups, self.taken * self.kh * self.kw, self._size())

    def _size(self) -> int:
        return self.oh * self.ow * self.samples

    def _by_windows(self, x: Any, weight: Any) -> Any:
        matrix = weight.reshape(self.groups, self.each, self.taken * self.kh * self.kw)
        result = product(self.xp, matrix, self._columns(x))
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
        image = self.xp.zeros((self.channels, self.full_height, self.full_width, self.samples), g.dtype)
        for a in range(self.kh):
            for b in range(self.kw):
                image[:, self.row(a), self.column(b)] += parts[:, a, b]
        image = image[:, self.top : self.top + self.height, self.left : self.left + self.width]
        return image.transpose(3, 0, 1, 2)

    # -- output rows -----------------------------------------------------------------------------------------
    def image(self, x: Any) -> Any:
        """x with its padding: [row, channel, column, sample]."""
        source = x.transpose(2, 1, 3, 0)
        if not self.padded:
            return self.xp.ascontiguousarray(source)
        shape = (self.full_height, self.channels, self.full_width, self.samples)
        image = self.xp.zeros(shape, x.dtype)
        image[self.top : self.top + self.height, :, self.left : self.left + self.width] = source
        return image

    def _rows(self, x: Any) -> Any:
        """The padded image once a column of the filter: [groups, row, kw, channel, column out, sample]."""
        image = self.image(x).reshape(
            self.full_height, self.groups, self.taken, self.full_width, self.samples
        )
        image = image.swapaxes(0, 1)
        made = self.xp.empty(self._rows_shape(), x.dtype)

        def copy(part: slice) -> None:
            for b in range(self.kw):
                made[:, part, b] = image[:, part, :, self.column(b)]

        self._by_rows_of(made, copy)
        return made

    def _by_rows_of(self, rows: Any, work: Callable[[slice], None]) -> None:
        """``work`` for all rows of the image, over the pool where ``rows`` is large."""
        in_ranges(self.full_height, rows.size if self.xp is np else 0, work)

    def _rows_shape(self) -> tuple[int, ...]:
        return (self.groups, self.full_height, self.kw, self.taken, self.ow, self.samples)

    def _windows(self, rows: Any) -> Any:
        """Windows of output rows, no copy: [row out, groups, kh * kw * channel, column out * sample]."""
        per_group, per_row, _, per_channel, _, per_number = rows.strides
        size = self.ow * self.samples
        if self.dh == 1:
            shape = (self.oh, self.groups, self.kh * self.kw * self.taken, size)
            strides = (per_row * self.sh, per_group, per_channel, per_number)
            # The same as as_strided, without its overhead of 4 us, and in both array modules.
            return self.xp.ndarray(shape, rows.dtype, rows.data, strides=strides)
        stacked = self.xp.stack([rows[:, self.row(a)] for a in range(self.kh)], axis=2).swapaxes(0, 1)
        return stacked.reshape(self.oh, self.groups, self.kh * self.kw * self.taken, size)

    def _by_rows(self, x: Any, weight: Any) -> Any:
        matrix = self.xp.ascontiguousarray(weight.transpose(0, 2, 3, 1))
        matrix = matrix.reshape(self.groups, self.each, self.kh * self.kw * self.taken)
        result = product(self.xp, matrix, self._windows(self._rows(x)))
        return result.reshape(self.oh, self.filters, self.ow, self.samples).transpose(3, 1, 0, 2)

    def _gradient_rows(self, g: Any) -> Any:
        """The gradient of the result as [groups, row out, filter, column out * sample]."""
        laid = g.transpose(2, 1, 3, 0).reshape(self.oh, self.groups, self.each, self.ow, self.samples)
        laid = self.xp.ascontiguousarray(laid.swapaxes(0, 1))
        return laid.reshape(self.groups, self.oh, self.each, self.ow * self.samples)

    def _weight_by_rows(self, x: Any, g: Any) -> Any:
        total = product(self.xp, self._windows(self._rows(x)), g.transpose(1, 0, 3, 2)).sum(axis=0)
        total = total.swapaxes(1, 2).reshape(self.filters, self.kh, self.kw, self.taken)
        return self.xp.ascontiguousarray(total.transpose(0, 3, 1, 2))

    def _image_by_rows(self, weight: Any, g: Any) -> Any:
        """The gradient of the image, samples last in memory, from the filters and the gradient rows.

        A row of the image gets its gradient from the few output rows that read it: one product of those with
        the filters' rows in reverse order. Then the columns of the filter are added up.
        """
        turned = weight.reshape(self.groups, self.each, self.taken, self.kh, self.kw)[:, :, :, ::-1]
        turned = self.xp.ascontiguousarray(turned.transpose(0, 4, 2, 3, 1))
        turned = turned.reshape(self.groups, self.kw * self.taken, self.kh, self.each)
        rows = self.xp.empty(self._rows_shape(), g.dtype)
        flat = rows.reshape(self.groups, self.full_height, self.kw * self.taken, self.ow * self.samples)
        for row in range(self.full_height):
            seen = self._seen_by(row)
            if seen is None:
                flat[:, row] = 0
                continue
            outputs, filter_rows = seen
            taken = turned[:, :, filter_rows]
            length = taken.shape[2] * self.each
            product(
                self.xp,
                taken.reshape(self.groups, self.kw * self.taken, length),
                g[:, outputs].reshape(self.groups, length, self.ow * self.samples),
                out=flat[:, row],
            )
        return self._columns_added(rows)

    def _seen_by(self, row: int) -> tuple[slice, slice] | None:
        """The output rows that read ``row`` of the padded image, and the rows of the flipped filters."""
        first = max(-(-(row - self.dh * (self.kh - 1)) // self.sh), 0)
        last = min(row // self.sh, self.oh - 1)
        outputs = [n for n in range(first, last + 1) if (row - n * self.sh) % self.dh == 0]
        if not outputs:
            return None
        places = [self.kh - 1 - (row - n * self.sh) // self.dh for n in outputs]
        step, turn = (outputs[1] - outputs[0], places[1] - places[0]) if len(outputs) > 1 else (1, 1)
        return slice(outputs[0], outputs[-1] + 1, step), slice(places[0], places[-1] + 1, turn)

    def _columns_added(self, rows: Any) -> Any:
        """The reverse of ``_rows``: its columns of the filter added up to an image, without the padding."""
        image = self.xp.zeros((self.full_height, self.channels, self.full_width, self.samples), rows.dtype)
        target = image.reshape(self.full_height, self.groups, self.taken, self.full_width, self.samples)
        target = target.swapaxes(0, 1)

        def add(part: slice) -> None:
            for b in range(self.kw):
                target[:, part, :, self.column(b)] += rows[:, part, b]

        self._by_rows_of(rows, add)
        image = image.transpose(3, 1, 0, 2)
        return image[:, :, self.top : self.top + self.height, self.left : self.left + self.width]


class DeepPlan:
    """A convolution of [N, C, D, H, W] as one of images: depth becomes channels and samples."""

    def __init__(
        self,
        xp: Any,
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
            raise ValueError("shapes do not fit")  # inference explains what is wrong
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

    def forward(self, x: Any, weight: Any) -> Any:
        """The result [N, filter, depth, row, column]."""
        plan = self.flat
        result = plan.forward(self._stacked(x), self._flat_weight(weight)).transpose(2, 1, 3, 0)
        result = result.reshape(plan.oh, plan.filters, plan.ow, self.samples, self.od)
        return result.transpose(3, 1, 4, 0, 2)

    def gradients(self, x: Any, weight: Any, g: Any, need_x: bool, need_weight: bool) -> tuple[Any, Any]:
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
