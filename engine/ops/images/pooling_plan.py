"""The windows of a pooling as slices of the image.

All windows of an image are computed at once: entry (a, b) of all windows is one strided slice of the image,
so a pooling is a few elementwise operations, in any memory order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from engine.core.operators.windows import Pads, pads_of
from engine.core.place import Array, ArrayModule
from engine.ops.arrays.along_axis import in_rows

Place = tuple[Any, ...]


_ALL = (slice(None), slice(None))
_AT_ONCE = 1 << 18  # elements of the windows of one image whose positions are listed
# Elements of the windows of all images that are copied, and windows of theirs; more are taken axis by axis.
_COPIED, _SEGMENTS = 1 << 18, 1 << 14
_LONG = 32  # elements of a window whose maxima are looked for window by window


def window_count(size: int, kernel: int, stride: int, pads: tuple[int, int], ceil_mode: bool) -> int:
    """The number of windows that fit in one dimension; below 1 where none does."""
    return (size - kernel + sum(pads) + (stride - 1 if ceil_mode else 0)) // stride + 1


class _Spans(NamedTuple):
    """The adaptive windows along one axis, which are not listed: there may be more than memory holds."""

    size: int
    windows: int

    def each(self) -> Iterator[tuple[int, slice]]:
        """The number and the elements of each window."""
        for n in range(self.windows):
            yield n, slice(n * self.size // self.windows, -(-(n + 1) * self.size // self.windows))


class PoolPlan:
    """The windows of one pooling of [N, C, ...].

    Windows of one size are described by kernel, strides and padding. Adaptive windows of different sizes
    (where the image does not divide evenly) are listed one by one in ``ragged``.
    """

    def __init__(
        self,
        size: Sequence[int],
        ksize: Sequence[int],
        strides: Sequence[int],
        paddings: Sequence[int],
        global_pooling: bool,
        ceil_mode: bool,
        exclusive: bool,
        adaptive: bool,
        padding_algorithm: str,
    ) -> None:
        self.size = tuple(size)
        self.kernel, self.strides = tuple(ksize), tuple(strides)
        self.exclusive = exclusive
        rank = len(self.size)
        self.pads: Pads = ((0, 0),) * rank
        self.ragged: Any = None
        if len(self.kernel) != rank:
            raise ValueError("shapes do not fit")  # inference explains the error
        if global_pooling:
            self.out, self.kernel, self.strides = (1,) * rank, self.size, self.size
        elif adaptive:
            self.out = self.kernel
            if all(s % o == 0 for s, o in zip(self.size, self.out, strict=True)):
                self.kernel = self.strides = tuple([s // o for s, o in zip(self.size, self.out, strict=True)])
            else:
                self.ragged = list(map(_Spans, self.size, self.out))
        else:
            self.pads = pads_of("pooling", self.size, self.kernel, self.strides, paddings, padding_algorithm)
            self.out = tuple(
                [
                    window_count(*each, ceil_mode)
                    for each in zip(self.size, self.kernel, self.strides, self.pads, strict=True)
                ]
            )
        if min(self.out) < 1 or 0 in self.kernel or any(b < 0 or a < 0 for b, a in self.pads):
            raise ValueError("shapes do not fit")
        self._gathers: list[Any] | None = None
        self._counts: dict[Any, Any] = {}
        self._lists: dict[bool, Any] = {}
        self._full = self._held()
        self._slices = [] if self.ragged else [self._entries_of(n) for n in range(rank)]

    def full(self) -> tuple[int, ...]:
        """The size that holds all windows, padding before included."""
        return self._full

    def _held(self) -> tuple[int, ...]:
        every = zip(self.out, self.strides, self.kernel, self.pads, self.size, strict=True)
        return tuple([max((o - 1) * t + k, p[0] + s) for o, t, k, p, s in every])

    def pad(self, xp: ArrayModule, x: Array, value: float) -> Any:
        """x with ``value`` around it, or x itself where no window exceeds it; in the memory order of x."""
        full = self.full()
        if full == self.size:
            return x
        made = xp.full_like(x, value, shape=(*x.shape[:2], *full))
        self.inside(made)[...] = x
        return made

    def inside(self, padded: Array) -> Any:
        """The part of a padded image that is the image."""
        return padded[(*_ALL, *[slice(p[0], p[0] + s) for p, s in zip(self.pads, self.size, strict=True)])]

    def slices(self, axis: int) -> list[slice]:
        """For each entry of the windows along one axis, the elements of the image that it meets."""
        return self._slices[axis]

    def _entries_of(self, axis: int) -> list[slice]:
        span, stride = (self.out[axis] - 1) * self.strides[axis] + 1, self.strides[axis]
        return [slice(a, a + span, stride) for a in range(self.kernel[axis])]

    def entries(self) -> Iterator[Place]:
        """Index of entry (a, b, ...) of all windows, for each entry in reading order."""
        for place in itertools.product(*[self.slices(n) for n in range(len(self.size))]):
            yield (*_ALL, *place)

    def overlaps(self) -> bool:
        """True if an element can be in two windows."""
        return any(t < k for t, k in zip(self.strides, self.kernel, strict=True))

    def covers(self, full: tuple[int, ...]) -> bool:
        """True if windows without overlap cover every element of a padded image."""
        return self.strides == self.kernel and all(
            o * s == f for o, s, f in zip(self.out, self.strides, full, strict=True)
        )

    def counts(self, xp: ArrayModule, dtype: np.dtype[Any]) -> Any:
        """The divisor of each window's sum: the number of its elements, with padding unless ``exclusive``."""
        found = self._counts.get((xp, dtype))
        if found is None:
            found = self._counts[xp, dtype] = self._counted(xp, dtype)
        return found

    def _counted(self, xp: ArrayModule, dtype: np.dtype[Any]) -> Any:
        lengths = [[counted for _, _, counted in axis] for axis in self.windows()]
        if all(len({*each}) == 1 for each in lengths):
            return dtype.type(math.prod(each[0] for each in lengths))
        total = xp.asarray(lengths[0], dtype)
        for each in lengths[1:]:
            total = total[..., None] * xp.asarray(each, dtype)
        return total

    def windows(self) -> list[list[tuple[int, int, int]]]:
        """For each axis its windows: the first element, the one behind the last, and how many count in a
        mean."""
        if self.ragged is not None:
            return [[(s.start, s.stop, s.stop - s.start) for _, s in spans.each()] for spans in self.ragged]
        found = []
        for size, out, kernel, stride, pads in zip(
            self.size, self.out, self.kernel, self.strides, self.pads, strict=True
        ):
            axis = []
            for start in range(-pads[0], out * stride - pads[0], stride):
                # Paddle counts as much padding behind the image as there is before it.
                end = min(start + kernel, size + pads[0])
                begin, stop = max(start, 0), min(end, size)
                axis.append((begin, stop, stop - begin if self.exclusive else end - start))
            found.append(axis)
        return found

    def spans(self) -> list[list[tuple[int, int, bool]]]:
        """For each axis its windows: the first element, the one behind the last, and whether all before the
        first are in the image."""
        found = []
        for axis, windows in enumerate(self.windows()):
            stride = 0 if self.ragged is not None else self.strides[axis]
            first = -self.pads[axis][0]
            found.append([(b, max(b, e), first + n * stride >= 0) for n, (b, e, _) in enumerate(windows)])
        return found

    def readers(self) -> list[list[tuple[int, int, bool]]]:
        """For each axis and each of its elements: the first window that contains it, and the one behind the
        last, as spans."""
        found = []
        for size, spans in zip(self.size, self.spans(), strict=True):
            begins, ends, _ = np.array(spans).T
            elements = np.arange(size)
            first = np.searchsorted(ends, elements, side="right")
            last = np.maximum(first, np.searchsorted(begins, elements, side="right"))
            found.append([(b, e, True) for b, e in zip(first.tolist(), last.tolist(), strict=True)])
        return found

    def reduced(self, x: Array, combine: Callable[..., Any]) -> Any:
        """All entries of every window combined, axis by axis: fewer elements are touched than one by one."""
        for axis in range(len(self.size)):
            whole = (slice(None),) * (axis + 2)
            first, *rest = [x[(*whole, part)] for part in self.slices(axis)]
            x = first
            for n, part in enumerate(rest):
                x = combine(x, part) if n == 0 else combine(x, part, out=x)
        return x.copy() if math.prod(self.kernel) == 1 else x

    def ragged_reduced(self, xp: ArrayModule, x: Array, combine: np.ufunc) -> Any:
        """The elements of every ragged window combined: gathered, or axis by axis where they are many.

        Raises MemoryError where there is no room for the result, before windows are listed.
        """
        xp.empty((*x.shape[:2], *self.out), x.dtype)
        if (listed := self._listed(xp, x, False)) is not None:
            return _gathered(x, combine, *listed).reshape(*x.shape[:2], *self.out)
        for axis, spans in enumerate(self.ragged, 2):
            before = (slice(None),) * axis
            name = "max" if combine is xp.maximum else "sum"  # CuPy has no reduce of a ufunc
            parts = [getattr(x[(*before, span)], name)(axis=axis) for _, span in spans.each()]
            x = xp.stack(parts, axis=axis)
        return x

    def ragged_spread(self, xp: ArrayModule, share: Array) -> Any:
        """For each element of the image the sum of ``share`` of the ragged windows that contain it."""
        if (listed := self._listed(xp, share, True)) is not None:
            return _gathered(share, np.add, *listed).reshape(*share.shape[:2], *self.size)
        for axis, spans in enumerate(self.ragged, 2):
            before = (slice(None),) * axis
            shape = (*share.shape[:axis], spans.size, *share.shape[axis + 1 :])
            made = xp.zeros(shape, share.dtype)
            for n, span in spans.each():
                made[(*before, span)] += share[(*before, slice(n, n + 1))]
            share = made
        return share

    def _listed(self, xp: ArrayModule, x: Array, readers: bool) -> tuple[Any, Any] | None:
        """The elements of all ragged windows one after the other, and where each window begins; of the
        ``readers`` of each element. None where x is not contiguous or they are many."""
        if xp is not np or not x.flags.c_contiguous:
            return None
        planes = math.prod(x.shape[:2])
        if readers:
            many = planes * math.prod(self.size) > _SEGMENTS
        else:
            longest = [-(-spans.size // spans.windows) + 1 for spans in self.ragged]
            many = planes * math.prod(self.out) * math.prod(longest) > _COPIED
        if many:
            return None
        if readers not in self._lists:
            axes, size = (self.readers(), self.out) if readers else (self.spans(), self.size)
            self._lists[readers] = _elements_of(axes, size)
        return self._lists[readers]  # type: ignore[no-any-return]

    def at(self, xp: ArrayModule, x: Array, positions: Array) -> Any:
        """The elements of the image x at ``positions`` in the flattened image."""
        return x.reshape(-1).take(in_images(xp, x.shape, positions)).reshape(positions.shape)

    def has_window_positions(self, images: int) -> bool:
        """Whether :meth:`window_positions` finds maxima, and faster than :meth:`positions`."""
        if self.ragged is not None:
            return True
        windows = math.prod(self.out)
        if math.prod(self.kernel) < _LONG and windows * images > _SEGMENTS:
            return False
        if windows * math.prod(self.kernel) > _AT_ONCE:
            return False
        return all(begin < end for spans in self.spans() for begin, end, _ in spans)

    def window_positions(self, xp: ArrayModule, x: Array) -> Any:
        """The position of the first maximum (or NaN) of each window in the flattened image.

        Raises MemoryError where there is no room for them, before windows are listed.
        """
        xp.empty((*x.shape[:2], *self.out), xp.int64)
        flat, found = x.reshape(*x.shape[:2], math.prod(x.shape[2:])), []
        for index in self._gathered():
            given = xp.asarray(index)
            best = xp.argmax(flat[:, :, given] if xp is not np else flat.take(given, 2, mode="clip"), axis=3)
            best += xp.arange(0, given.size, given.shape[1])
            found.append(given.reshape(-1).take(best))
        whole = found[0] if len(found) == 1 else xp.concatenate(found, axis=2)
        return whole.reshape(*x.shape[:2], *self.out)

    def _gathered(self) -> Iterable[Any]:
        """The elements of the windows [windows, elements], those of many in parts."""
        if self._gathers is None:
            if self.ragged is None:
                longest = list(self.kernel)
            else:
                longest = [-(-spans.size // spans.windows) + 1 for spans in self.ragged]
            few = math.prod(self.out) * math.prod(longest) <= _AT_ONCE
            parts = self._parts_of(self.out[0] if few else 1, longest)
            self._gathers = list(parts) if few else None
            return parts if self._gathers is None else self._gathers
        return self._gathers

    def _parts_of(self, together: int, longest: Sequence[int]) -> Iterator[Any]:
        # Shorter windows repeat their last element, which is never the first maximum.
        rows = []
        for spans, length in zip(self.spans(), longest, strict=True):
            bounds = np.array([(begin, end - 1) for begin, end, _ in spans])
            rows.append(np.minimum(bounds[:, :1] + np.arange(length), bounds[:, 1:]))
        for first in range(0, self.out[0], together):
            index = rows[0][first : first + together]
            for n, each in enumerate(rows[1:], 1):
                index = index[..., None, :, None] * self.size[n] + each[:, None, :]
                index = index.reshape(-1, index.shape[-2] * index.shape[-1])
            yield index.astype(np.int32)

    def picks(self, x: Array, out: Array) -> Iterator[tuple[Place, Any]]:
        """For each entry of the windows its index, and a mask of where it is the first maximum."""
        left = None
        for entry in self.entries():
            mask = x[entry] == out
            if left is None:
                left = ~mask
            else:
                mask &= left
                left ^= mask
            yield entry, mask

    def positions(self, xp: ArrayModule, x: Array, out: Array) -> Any:
        """The position of the first maximum (or NaN) of each window in the flattened image."""
        found = xp.zeros(out.shape, xp.int32)
        strides = [math.prod(self.size[n + 1 :]) for n in range(len(self.size))]
        image = self.pad(xp, x, -xp.inf)
        taken = xp.zeros(out.shape, bool)
        has_nan = bool(xp.isnan(out).any())
        for place in itertools.product(*map(range, self.kernel)):
            window = image[(*_ALL, *[self.slices(n)[a] for n, a in enumerate(place)])]
            mask = window == out
            if has_nan:
                mask |= xp.isnan(window)
            where = xp.zeros((), xp.int32)
            inside = xp.ones((), bool)
            for n, a in enumerate(place):
                at = xp.arange(self.out[n], dtype=xp.int32) * self.strides[n] + (a - self.pads[n][0])
                where = where[..., None] + at * strides[n]
                inside = inside[..., None] & (at >= 0) & (at < self.size[n])
            mask &= inside & ~taken
            taken |= mask
            found += where * mask
        return found


def in_images(xp: ArrayModule, shape: Sequence[int], positions: Array) -> Any:
    """Positions in each channel's image, of an array of this shape, as positions in the whole array."""
    flat = positions.reshape(*shape[:2], math.prod(positions.shape[2:]))
    return in_rows(xp, flat, math.prod(shape[2:]))


def _elements_of(axes: Sequence[Any], size: Sequence[int]) -> tuple[Any, Any]:
    """The elements of all windows one after the other, in the flattened image of ``size``, and where each
    window begins; the spans of each axis are not empty."""
    index, window = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for spans, length in zip(axes, size, strict=True):
        elements = np.concatenate([np.arange(begin, end) for begin, end, _ in spans])
        numbers = np.repeat(np.arange(len(spans)), [end - begin for begin, end, _ in spans])
        index = (index[:, None] * length + elements).reshape(-1)
        window = (window[:, None] * len(spans) + numbers).reshape(-1)
    order = np.argsort(window, kind="stable")
    return index[order], np.searchsorted(window[order], np.arange(math.prod(map(len, axes))))


def _gathered(x: Array, combine: np.ufunc, index: Array, starts: Array) -> Any:
    flat = x.reshape(math.prod(x.shape[:2]), math.prod(x.shape[2:]))
    return combine.reduceat(flat.take(index, 1), starts, axis=1)


@lru_cache(maxsize=1024)
def _cached_plan(*arguments: Any) -> PoolPlan:
    return PoolPlan(*arguments)


def pool_plan(
    x: Array,
    ksize: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    global_pooling: bool,
    ceil_mode: bool,
    exclusive: bool,
    adaptive: bool,
    padding_algorithm: str,
) -> PoolPlan:
    """The windows of a pooling of x [N, C, ...]; the plans used last are cached."""
    return _cached_plan(
        x.shape[2:],
        tuple(ksize),
        tuple(strides),
        tuple(paddings),
        global_pooling,
        ceil_mode,
        exclusive,
        adaptive,
        padding_algorithm,
    )
