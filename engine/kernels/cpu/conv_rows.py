"""Convolutions as products of output rows, in tiles that stay in the cache, over the threads of the pool.

A tile is a few output rows and as many columns as a product is fast with. Its input is copied once for
each column of the filter, in long contiguous runs; then the window of an output row is one matrix, which
overlaps with that of the next row. The gradient of the image goes the other way: a product for each row of
the image with the few output rows that read it, whose columns of the filter are then added up.

How a convolution is cut follows from its sizes alone, and so do the bits of its results: tiles of the
gradient of filters are added up within each task, and tasks in their order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from engine.kernels.cpu import pool, products
from engine.kernels.cpu import threads as threads_
from engine.kernels.cpu.ranges import in_ranges, unbuffered

# Numbers of the matrix that a product multiplies the filters by; more of them are slower (decision 0098).
_WINDOW = 5 << 15
# Numbers of all copies of a tile.
_TILE = 3 << 17
# The same of the gradients: columns times samples, or numbers of a small matrix, and numbers of a tile.
_COLUMNS, _SMALL = 512, 1 << 16
# Rows and columns of the gradient of filters from which it is computed by rows of the image.
_WIDE = 64
_LINES = 1 << 18
# Multiplications from which on several threads share a convolution, and those of one task at least.
_SHARED, _TASK = 1 << 22, 1 << 22
# Tasks of a large convolution: a thread that another program keeps busy takes fewer of them.
_MOST_TASKS = 8

_ALL = slice(None)
# Changes results [..., filter, positions] of these filters in place.
Finish = Callable[[Any, slice], None]
# First row, end of rows, first column, end of columns.
Tile = tuple[int, int, int, int]
# Rows of an image that are read alike: the rows, the output rows that read the first of them (those of each
# next row begin one later), and the rows of the flipped filter that they read it with.
Run = tuple[range, range, slice]


class Rows:
    """The tiles of one convolution, and its products; the numbers are those of a ``Plan`` of
    ``engine.ops.images.conv_plan``."""

    def __init__(self, plan: Any) -> None:
        self.plan = plan
        self.xp = plan.xp
        # A tile is one task of the pool, so its product is one call on the CPU.
        self.matmul = np.matmul if plan.xp is np else functools.partial(products.product, plan.xp)
        p = plan
        self.inner = p.kh * p.kw * p.taken  # numbers of a window
        if self.xp is not np:
            self.columns = self.seen = p.ow
            self.height, self.lines, self.tasks = p.oh, p.height, 1
        else:
            self._cut(p.filters * self.inner * p.oh * p.ow * p.samples)
        self.tiles = self._tiles()
        self.runs = list(self._reading())
        self._met: dict[tuple[int, int], list[tuple[int, slice, slice]]] = {}

    def _cut(self, work: int) -> None:
        """Choose the sizes of tiles and the number of tasks for a number of multiplications."""
        p = self.plan
        tasks = min(_MOST_TASKS, max(2, 1 << (work // _TASK).bit_length() >> 1)) if work >= _SHARED else 1
        most = max(1, min(p.ow, _WINDOW // max(1, self.inner * p.samples)))
        # Columns are cut for free; rows that two tiles read are copied for each of them.
        blocks = max(-(-p.ow // most), min(tasks, 2, p.ow))
        self.columns = -(-p.ow // blocks)
        lines = _TILE // max(1, p.groups * p.kw * p.taken * self.columns * p.samples)
        self.height = max(1, min(p.oh, (lines - p.kh) // p.sh + 1 if p.dh == 1 else lines // p.kh))
        most = max(1, min(p.ow, max(_COLUMNS, _SMALL // (p.kh * p.each)) // max(1, p.samples)))
        self.seen = -(-p.ow // -(-p.ow // most))
        line = p.groups * p.kw * p.taken * self.seen * p.samples
        self.lines = max(1, min(p.height, _LINES // max(1, line)))
        self.tasks = max(1, tasks)

    def forward(self, x: Any, weight: Any, finish: Finish | None) -> Any:
        """The result [sample, filter, row, column], rows first and samples last in memory."""
        p = self.plan
        matrix = self.xp.ascontiguousarray(weight.transpose(0, 2, 3, 1))
        matrix = matrix.reshape(p.groups, p.each, self.inner)
        source = self._samples_last(x)
        result = self.xp.empty((p.oh, p.groups, p.each, p.ow * p.samples), x.dtype)
        whole = result.reshape(p.oh, p.filters, p.ow * p.samples)

        def compute(tiles: Sequence[Tile]) -> None:
            for rows, place, windows in self._windows(source, tiles):
                self.matmul(matrix, windows, out=result[rows, :, :, place])
                if finish is not None:
                    finish(whole[rows, :, place], _ALL)

        self._share([functools.partial(compute, tiles) for tiles in self.tiles])
        return result.reshape(p.oh, p.filters, p.ow, p.samples).transpose(3, 1, 0, 2)

    def gradients(self, x: Any, weight: Any, g: Any, need_x: bool, need_weight: bool) -> tuple[Any, Any]:
        """The gradients of image and filters, each only if needed (else None), from that of the result."""
        p = self.plan
        laid = g.transpose(2, 1, 3, 0).reshape(p.oh, p.groups, p.each, p.ow, p.samples)
        laid = self.xp.ascontiguousarray(laid.swapaxes(0, 1))
        flow = laid.reshape(p.groups, p.oh, p.each, p.ow * p.samples)
        image = turned = source = None
        parts: list[Any] = []
        if need_x:
            image = self.xp.empty((p.height, p.groups, p.taken, p.width, p.samples), g.dtype)
            turned = weight.reshape(p.groups, p.each, p.taken, p.kh, p.kw)[:, :, :, ::-1]
            turned = self.xp.ascontiguousarray(turned.transpose(0, 4, 2, 3, 1))
            turned = turned.reshape(p.groups, p.kw * p.taken, p.kh, p.each)
        if need_weight:
            source = self._samples_last(x)
        by_lines = need_weight and min(p.kw * p.taken, p.kh * p.each) >= _WIDE
        tasks: list[pool.Task] = []
        if need_weight and not by_lines:
            parts = [self.xp.zeros((p.groups, self.inner, p.each), g.dtype) for _ in self.tiles]
            tasks += [
                functools.partial(self._by_windows, *one, source, flow)
                for one in zip(self.tiles, parts, strict=True)
            ]
        for begin, end in self._ends(p.height) if need_x or by_lines else ():
            total = None
            if by_lines:
                total = self.xp.zeros((p.groups, p.kw * p.taken, p.kh, p.each), g.dtype)
                parts.append(total)
            tasks.append(functools.partial(self._by_lines, begin, end, flow, turned, image, source, total))
        self._share(tasks)
        x_grad = weight_grad = None
        if need_x:
            image = image.reshape(p.height, p.channels, p.width, p.samples)
            x_grad = image.transpose(3, 1, 0, 2)
        if need_weight:
            total = functools.reduce(self.xp.add, parts)
            if by_lines:
                total = total.reshape(p.groups, p.kw, p.taken, p.kh, p.each)[:, :, :, ::-1]
                total = total.transpose(0, 4, 2, 3, 1)
            else:
                total = total.reshape(p.groups, p.kh, p.kw, p.taken, p.each).transpose(0, 4, 3, 1, 2)
            weight_grad = self.xp.ascontiguousarray(total).reshape(p.filters, p.taken, p.kh, p.kw)
        return x_grad, weight_grad

    def _by_windows(self, tiles: Sequence[Tile], total: Any, source: Any, flow: Any) -> None:
        """Add the gradients of tiles to that of the filters."""
        turned = flow.transpose(1, 0, 3, 2)
        for rows, place, windows in self._windows(source, tiles):
            each = self.matmul(windows, turned[rows, :, place])
            total += each.sum(axis=0) if len(each) > 1 else each[0]

    def _by_lines(
        self, begin: int, end: int, flow: Any, turned: Any, image: Any, source: Any, total: Any
    ) -> None:
        """Rows ``begin`` to ``end`` of the image: their gradient, and their part of the filters'."""
        p = self.plan
        if image is not None:
            image[begin:end] = 0
        size = p.groups * self.lines * p.kw * p.taken * self.seen * p.samples
        memory = self.xp.empty(size, flow.dtype)
        for first, last in _evenly(begin, end, self.lines):
            for column in range(0, p.ow, self.seen):
                stop = min(column + self.seen, p.ow)
                place = slice(column * p.samples, stop * p.samples)
                shape = (last - first, p.groups, p.kw, p.taken, stop - column, p.samples)
                if image is not None:
                    made = _shaped(memory, shape)
                    flat = made.reshape(last - first, p.groups, p.kw * p.taken, place.stop - place.start)
                    for rows, places, seen in self._reads(first, last, flow):
                        out = flat[rows.start - first : rows.stop - first : rows.step]
                        if seen is None:
                            out[...] = 0
                            continue
                        matrix = turned[:, :, places].reshape(p.groups, p.kw * p.taken, -1)
                        self.matmul(matrix, seen[..., place], out=out)
                    for b, columns, met in self._columns(column, stop):
                        image[first:last, :, :, met] += made[:, :, b, :, columns]
                if total is not None:
                    made = _shaped(memory, shape)
                    for b, columns, met in self._columns(column, stop):
                        _fill(made[:, :, b], columns, source[first:last, :, :, met])
                    flat = made.reshape(last - first, p.groups, p.kw * p.taken, place.stop - place.start)
                    for rows, places, seen in self._reads(first, last, flow):
                        if seen is not None:
                            lines = flat[rows.start - first : rows.stop - first : rows.step]
                            each = self.matmul(lines, seen[..., place].swapaxes(2, 3))
                            each = each.sum(axis=0) if len(each) > 1 else each[0]
                            total[:, :, places] += each.reshape(p.groups, p.kw * p.taken, -1, p.each)

    def _reads(self, begin: int, end: int, flow: Any) -> Iterator[tuple[range, slice, Any]]:
        """The runs within rows ``begin`` to ``end`` of the image: rows, rows of the flipped filter, and the
        output rows that read each of them; None for rows that none reads."""
        for run, outputs, places in self.runs:
            rows = _within(run, begin, end)
            if len(rows):
                first = outputs.start + (rows.start - run.start) // run.step
                yield rows, places, self._seen(flow, first, len(rows), outputs) if outputs else None

    def _columns(self, begin: int, end: int) -> list[tuple[int, slice, slice]]:
        """For each column of the filter: which of the output columns from ``begin`` on meet the image, and
        the columns of the image that they meet."""
        found = self._met.get((begin, end))
        if found is None:
            p, found = self.plan, []
            for b in range(p.kw):
                columns, met = meeting(begin, end, p.width, p.sw, b * p.dw - p.left)
                found.append((b, slice(columns.start - begin, columns.stop - begin), met))
            self._met[begin, end] = found
        return found

    # -- tasks -----------------------------------------------------------------------------------------------
    def _tiles(self) -> list[list[Tile]]:
        """The tiles of each task."""
        p = self.plan
        rows = _evenly(0, p.oh, self.height)
        tiles = [
            (*pair, column, min(column + self.columns, p.ow))
            for column in range(0, p.ow, self.columns)
            for pair in rows
        ]
        return [tiles[slice(*pair)] for pair in self._ends(len(tiles))]

    def _ends(self, length: int) -> list[tuple[int, int]]:
        """Begin and end of the tasks that ``length`` tiles or rows are divided into."""
        count = min(self.tasks, length)
        return list(pairwise([length * n // count for n in range(count + 1)]))

    def _share(self, tasks: list[pool.Task]) -> None:
        if self.xp is not np:
            for task in tasks:
                task()
            return
        if not threads_.blas_is_ours:
            threads_.claim_blas()
        with unbuffered():
            if self.tasks > 1:
                pool.run(tasks)
            else:
                for task in tasks:
                    task()

    def _reading(self) -> Iterator[Run]:
        """Rows of the image that are read alike."""
        p = self.plan
        for phase in range(p.sh):
            rows = range(phase, p.height, p.sh)
            for alike, run in groupby(rows, lambda row: self._read_by(row)[1]):
                found = list(run)
                outputs = self._read_by(found[0])[0]
                yield range(found[0], found[-1] + 1, p.sh), outputs, slice(*alike)

    def _read_by(self, row: int) -> tuple[range, tuple[int, int, int]]:
        """The output rows that read row ``row`` of the image, and those of the flipped filter: a slice."""
        p = self.plan
        place = row + p.top
        first = max(-(-(place - p.dh * (p.kh - 1)) // p.sh), 0)
        last = min(place // p.sh, p.oh - 1)
        outputs = [n for n in range(first, last + 1) if (place - n * p.sh) % p.dh == 0]
        if not outputs:
            return range(0), (0, 0, 1)
        places = [p.kh - 1 - (place - n * p.sh) // p.dh for n in outputs]
        step, turn = (outputs[1] - outputs[0], places[1] - places[0]) if len(outputs) > 1 else (1, 1)
        return range(outputs[0], outputs[-1] + 1, step), (places[0], places[-1] + 1, turn)

    def _seen(self, flow: Any, first: int, rows: int, outputs: range) -> Any:
        """The output rows that read each of ``rows``, if they read like the first of a run and begin there:
        [row, groups, output row * filter, column * sample]."""
        p = self.plan
        count, step = len(outputs), outputs.step
        size = p.ow * p.samples
        if step == 1:
            per_group, per_row, per_filter, per_number = flow.strides
            shape = (rows, p.groups, count * p.each, size)
            strides = (per_row, per_group, per_filter, per_number)
            data = flow.reshape(flow.size)[first * p.each * size :].data
            return self.xp.ndarray(shape, flow.dtype, data, strides=strides)
        picked = [flow[:, n : n + (count - 1) * step + 1 : step] for n in range(first, first + rows)]
        return self.xp.stack(picked).reshape(rows, p.groups, count * p.each, size)

    # -- tiles of the image ----------------------------------------------------------------------------------
    def _samples_last(self, x: Any) -> Any:
        """x as [row, groups, channel, column, sample], where samples are contiguous."""
        p = self.plan
        source = x.transpose(2, 1, 3, 0)
        if p.samples > 1 and source.strides[-1] != source.itemsize:
            made = self.xp.empty(source.shape, x.dtype)

            def copy(part: slice) -> None:
                made[part] = source[part]

            in_ranges(p.height, source.size if self.xp is np else 0, copy)
            source = made
        return source.reshape(p.height, p.groups, p.taken, p.width, p.samples)

    def _windows(self, source: Any, tiles: Sequence[Tile]) -> Iterator[tuple[slice, slice, Any]]:
        """For each tile its rows, its columns times samples, and its windows
        [row, groups, kh * kw * channel, column * sample], which are good until the next tile."""
        p = self.plan
        lines = (self.height - 1) * p.sh + p.kh if p.dh == 1 else self.height * p.kh
        size = p.groups * lines * p.kw * p.taken * self.columns * p.samples
        memory = self.xp.empty(size, source.dtype)
        for first, last, column, stop in tiles:
            windows = self._copied(source, memory, first, last, column, stop)
            yield slice(first, last), slice(column * p.samples, stop * p.samples), windows

    def _copied(self, source: Any, memory: Any, first: int, last: int, column: int, stop: int) -> Any:
        p = self.plan
        rows, columns = last - first, stop - column
        if p.dh == 1:
            lines = (rows - 1) * p.sh + p.kh
            made = _shaped(memory, (p.groups, lines, p.kw, p.taken, columns, p.samples))
            self._fill_rows(made, source, first * p.sh - p.top, 1, column, stop)
            per_group, per_line, _, per_channel, _, per_number = made.strides
            # The same as as_strided, without its overhead of 4 us, and in both array modules.
            return self.xp.ndarray(
                (rows, p.groups, self.inner, columns * p.samples),
                made.dtype,
                made.data,
                strides=(per_line * p.sh, per_group, per_channel, per_number),
            )
        made = _shaped(memory, (rows, p.groups, p.kh, p.kw, p.taken, columns, p.samples))
        for a in range(p.kh):
            part = made[:, :, a].swapaxes(0, 1)
            self._fill_rows(part, source, first * p.sh + a * p.dh - p.top, p.sh, column, stop)
        return made.reshape(rows, p.groups, self.inner, columns * p.samples)

    def _fill_rows(self, made: Any, source: Any, first: int, step: int, column: int, stop: int) -> None:
        """Copy rows ``first``, ``first + step`` ... of the image to ``made`` [groups, row, kw, ...], with
        zeros for padding."""
        p = self.plan
        lines, read = meeting(0, made.shape[1], p.height, step, first)
        if lines.start:
            made[:, : lines.start] = 0
        if lines.stop < made.shape[1]:
            made[:, lines.stop :] = 0
        inside = made[:, lines.start : lines.stop]
        image = source[read].swapaxes(0, 1)
        for b, columns, met in self._columns(column, stop):
            _fill(inside[:, :, b], columns, image[:, :, :, met])


def _fill(target: Any, columns: slice, values: Any) -> None:
    """Copy values to these columns, and zeros, which are padding, to the others."""
    target[:, :, :, columns] = values
    if columns.start:
        target[:, :, :, : columns.start] = 0
    if columns.stop < target.shape[3]:
        target[:, :, :, columns.stop :] = 0


def meeting(begin: int, end: int, size: int, stride: int, offset: int) -> tuple[range, slice]:
    """The places n from ``begin`` to ``end`` whose ``n * stride + offset`` is in ``size``, and these."""
    first = max(-(offset // stride), begin)
    last = min((size - 1 - offset) // stride, end - 1)
    if last < first:
        return range(begin, begin), slice(0, 0)
    start = first * stride + offset
    return range(first, last + 1), slice(start, start + (last - first) * stride + 1, stride)


def _evenly(begin: int, end: int, most: int) -> list[tuple[int, int]]:
    """Ranges of nearly the same length, up to ``most``."""
    count = -(-(end - begin) // most)
    return list(pairwise([begin + (end - begin) * n // count for n in range(count + 1)]))


def _within(rows: range, begin: int, end: int) -> range:
    """Those of ``rows`` from ``begin`` to ``end``."""
    first = rows.start if rows.start >= begin else begin + (rows.start - begin) % rows.step
    return range(first, min(rows.stop, end), rows.step)


def _shaped(memory: Any, shape: tuple[int, ...]) -> Any:
    """The beginning of ``memory`` in that shape."""
    size = 1
    for length in shape:
        size *= length
    return memory[:size].reshape(shape)
