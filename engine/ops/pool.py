"""Two-dimensional pooling and its gradients.

Windows are taken a whole image at a time: entry (a, b) of all windows is one strided slice of the image, so a
pooling is a handful of elementwise operations, in any memory order.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.infer import require_floating
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.conv import Pads, is_last, pads_of


def _infer(
    x: Spec,
    *,
    pooling_type: str = "max",
    ksize: Any,
    strides: Any = (1, 1),
    paddings: Any = (0, 0),
    global_pooling: bool = False,
    ceil_mode: bool = False,
    exclusive: bool = True,
    adaptive: bool = False,
    padding_algorithm: str = "EXPLICIT",
    data_format: str = "NCHW",
) -> Spec:
    last = is_last("pool2d", data_format)
    if pooling_type not in ("max", "avg"):
        raise ArgumentError(f"pool2d: pooling_type {pooling_type!r} is none of max, avg")
    if x.ndim != 4:
        raise ShapeError(f"pool2d: x needs 4 dimensions, {'NHWC' if last else 'NCHW'}: got {x}; unsqueeze it")
    require_floating("pool2d", x=x)
    if len(ksize) != 2 or len(strides) != 2 or min(*ksize, *strides) < 1:
        raise ArgumentError(
            f"pool2d: ksize {list(ksize)} and strides {list(strides)} must be two positive numbers each"
        )
    size = x.shape[1:3] if last else x.shape[2:4]
    if global_pooling:
        out = [1, 1]
    elif adaptive:
        out = list(ksize)
    else:
        out = [
            _out_size(x, size[n], n, ksize, strides, paddings, padding_algorithm, ceil_mode) for n in (0, 1)
        ]
    shape = (x.shape[0], *out, x.shape[3]) if last else (*x.shape[:2], *out)
    return Spec(shape, x.dtype)


def _out_size(
    x: Spec, size: int, n: int, ksize: Any, strides: Any, paddings: Any, algorithm: str, ceil_mode: bool
) -> int:
    pads = pads_of("pool2d", (max(size, 1),) * 2, ksize, strides, paddings, algorithm)
    if min(pads[n]) < 0:
        raise ArgumentError(f"pool2d: paddings must not be negative: got {list(paddings)}")
    if size < 0:
        return -1
    count = _windows(size, ksize[n], strides[n], pads[n], ceil_mode)
    if count < 1:
        raise ShapeError(
            f"pool2d: x is {x}: {('height', 'width')[n]} {size} with padding {pads[n]} is smaller than "
            f"the window's {ksize[n]}; use more padding or a smaller window"
        )
    return count


def _windows(size: int, kernel: int, stride: int, pads: tuple[int, int], ceil_mode: bool) -> int:
    return (size - kernel + sum(pads) + (stride - 1 if ceil_mode else 0)) // stride + 1


class _Plan:
    """Which part of the image each window covers.

    Windows of one size are described by kernel, strides and padding. Adaptive windows of different sizes
    (where the image does not divide evenly) are listed one by one in ``ragged``.
    """

    def __init__(
        self, size: Any, ksize: Any, strides: Any, paddings: Any, global_pooling: bool, ceil_mode: bool,
        exclusive: bool, adaptive: bool, padding_algorithm: str,
    ) -> None:  # fmt: skip
        self.size = size
        self.kernel, self.strides = tuple(ksize), tuple(strides)
        self.exclusive = exclusive
        self.pads: Pads = ((0, 0), (0, 0))
        self.ragged: Any = None
        if global_pooling:
            self.out, self.kernel, self.strides = (1, 1), size, size
        elif adaptive:
            self.out = self.kernel
            if all(s % o == 0 for s, o in zip(size, self.out, strict=True)):
                self.kernel = self.strides = tuple(s // o for s, o in zip(size, self.out, strict=True))
            else:
                self.ragged = [
                    [(i * s // o, -(-(i + 1) * s // o)) for i in range(o)]
                    for s, o in zip(size, self.out, strict=True)
                ]
        else:
            self.pads = pads_of("pool2d", size, self.kernel, self.strides, paddings, padding_algorithm)
            self.out = tuple(
                _windows(size[n], self.kernel[n], self.strides[n], self.pads[n], ceil_mode) for n in (0, 1)
            )
        if min(*self.out, *self.pads[0], *self.pads[1]) < 0 or 0 in self.out or 0 in self.kernel:
            raise ValueError("shapes do not fit")  # the mode asks inference to say what is wrong

    def padded_size(self) -> tuple[int, int]:
        """Height and width that hold all windows, padding before included."""
        height, width = (
            max((self.out[n] - 1) * self.strides[n] + self.kernel[n], self.pads[n][0] + self.size[n])
            for n in (0, 1)
        )
        return height, width

    def pad(self, xp: Any, x: Any, value: float) -> Any:
        """x with ``value`` around it, x itself where no window reaches out; in the memory order of x."""
        full = self.padded_size()
        if full == self.size:
            return x
        made = xp.full_like(x, value, shape=(*x.shape[:2], *full))
        self.inside(made)[...] = x
        return made

    def inside(self, padded: Any) -> Any:
        """The part of a padded image that is the image."""
        (top, _), (left, _) = self.pads
        return padded[:, :, top : top + self.size[0], left : left + self.size[1]]

    def rows(self, a: int) -> slice:
        return slice(a, a + (self.out[0] - 1) * self.strides[0] + 1, self.strides[0])

    def columns(self, b: int) -> slice:
        return slice(b, b + (self.out[1] - 1) * self.strides[1] + 1, self.strides[1])

    def entries(self) -> Any:
        """Index of entry (a, b) of all windows, for each entry in reading order."""
        for a in range(self.kernel[0]):
            for b in range(self.kernel[1]):
                yield (slice(None), slice(None), self.rows(a), self.columns(b))

    def each_window(self) -> Any:
        """Position in the result and index into the image of each ragged window."""
        for i, (top, bottom) in enumerate(self.ragged[0]):
            for j, (left, right) in enumerate(self.ragged[1]):
                yield i, j, (slice(None), slice(None), slice(top, bottom), slice(left, right))

    def overlaps(self) -> bool:
        """True if an element can be in two windows."""
        return self.strides[0] < self.kernel[0] or self.strides[1] < self.kernel[1]

    def covers(self, full: tuple[int, int]) -> bool:
        """True if windows that do not overlap leave no element of a padded image out."""
        return self.strides == self.kernel and all(
            o * s == f for o, s, f in zip(self.out, self.strides, full, strict=True)
        )

    def counts(self, xp: Any, dtype: Any) -> Any:
        """What the sum of a window is divided by: its elements, with the padding unless ``exclusive``."""
        lengths = []
        for n in (0, 1):
            starts = [i * self.strides[n] - self.pads[n][0] for i in range(self.out[n])]
            # Paddle counts as much padding behind the image as there is before it.
            ends = [min(s + self.kernel[n], self.size[n] + self.pads[n][0]) for s in starts]
            if self.exclusive:
                starts, ends = [max(s, 0) for s in starts], [min(e, self.size[n]) for e in ends]
            lengths.append([e - s for s, e in zip(starts, ends, strict=True)])
        heights, widths = lengths
        if len({*heights}) == len({*widths}) == 1:
            return dtype.type(heights[0] * widths[0])
        return xp.asarray(heights, dtype)[:, None] * xp.asarray(widths, dtype)


def _reduced(x: Any, plan: _Plan, combine: Any) -> Any:
    """All entries of every window combined, rows first: fewer elements are touched than entry by entry."""
    part = x[:, :, plan.rows(0)]
    for a in range(1, plan.kernel[0]):
        part = combine(part, x[:, :, plan.rows(a)])
    result = part[:, :, :, plan.columns(0)]
    for b in range(1, plan.kernel[1]):
        result = combine(result, part[:, :, :, plan.columns(b)])
    return result.copy() if plan.kernel == (1, 1) else result


def _picks(x: Any, out: Any, plan: _Plan) -> Any:
    """For each entry of the windows its index, and where it is the first that equals the maximum."""
    left = None
    for entry in plan.entries():
        mask = x[entry] == out
        if left is None:
            left = ~mask
        else:
            mask &= left
            left ^= mask
        yield entry, mask


def _first_maximum(xp: Any, window: Any) -> Any:
    """1 at the first maximum of each window [N, C, h, w], else 0."""
    flat = window.reshape(*window.shape[:2], -1)
    best = xp.argmax(flat, axis=2)[..., None]
    return (xp.arange(flat.shape[2]) == best).reshape(window.shape)


def _first(x: Any) -> Any:
    """NHWC to NCHW."""
    return x.transpose(0, 3, 1, 2)


def _last(x: Any) -> Any:
    """NCHW to NHWC."""
    return x.transpose(0, 2, 3, 1)


@op("pool2d", infer=_infer)
def pool2d(xp, x, *, pooling_type="max", ksize, strides=(1, 1), paddings=(0, 0), global_pooling=False,
           ceil_mode=False, exclusive=True, adaptive=False, padding_algorithm="EXPLICIT",
           data_format="NCHW"):  # fmt: skip
    """The maximum or mean of each window of x [N, C, H, W]; NaN where the window has one.

    ``adaptive``: ksize is the size of the result, whose windows part the image evenly. A window that lies
    wholly in the padding (possible with ceil_mode) has the maximum -inf.
    """
    if data_format == "NHWC":
        x = _first(x)
    plan = _Plan(x.shape[2:], ksize, strides, paddings, global_pooling, ceil_mode, exclusive, adaptive,
                 padding_algorithm)  # fmt: skip
    if pooling_type not in ("max", "avg"):
        raise ValueError("unknown pooling_type")  # the mode asks inference to say what is wrong
    if plan.ragged is not None:
        result = xp.empty((*x.shape[:2], *plan.out), x.dtype)
        for i, j, window in plan.each_window():
            result[:, :, i, j] = (xp.max if pooling_type == "max" else xp.mean)(x[window], axis=(2, 3))
    elif pooling_type == "max":
        result = _reduced(plan.pad(xp, x, -xp.inf), plan, xp.maximum)
    else:
        result = _reduced(plan.pad(xp, x, 0), plan, xp.add)
        result /= plan.counts(xp, x.dtype)
    return _last(result) if data_format == "NHWC" else result


@op("pool2d_grad", infer=lambda x, y, g_in, **_: x, outputs=("x_grad",),
    slots={"y": "Out", "g_in": "Out@GRAD", "x_grad": "X@GRAD"})  # fmt: skip
def pool2d_grad(xp, x, y, g_in, *, pooling_type="max", ksize, strides=(1, 1), paddings=(0, 0),
                global_pooling=False, ceil_mode=False, exclusive=True, adaptive=False,
                padding_algorithm="EXPLICIT", data_format="NCHW"):  # fmt: skip
    """g_in spread evenly over each window (avg), or given to the first maximum of it (max)."""
    if data_format == "NHWC":
        x, y, g_in = _first(x), _first(y), _first(g_in)
    plan = _Plan(x.shape[2:], ksize, strides, paddings, global_pooling, ceil_mode, exclusive, adaptive,
                 padding_algorithm)  # fmt: skip
    is_max = pooling_type == "max"
    if plan.ragged is not None:
        result = xp.zeros_like(x)
        for i, j, window in plan.each_window():
            share = _first_maximum(xp, x[window]) if is_max else x.dtype.type(1 / x[window][0, 0].size)
            result[window] += g_in[:, :, i, j, None, None] * share
        return _last(result) if data_format == "NHWC" else result
    full = plan.padded_size()
    covered = not plan.overlaps() and plan.covers(full)
    result = (xp.empty_like if covered else xp.zeros_like)(x, shape=(*x.shape[:2], *full))
    share = None if is_max else g_in / plan.counts(xp, x.dtype)
    picks = _picks(plan.pad(xp, x, -xp.inf), y, plan) if is_max else ((e, None) for e in plan.entries())
    for entry, mask in picks:
        if plan.overlaps():
            result[entry] += share if mask is None else g_in * mask
        elif mask is None:
            result[entry] = share
        else:
            xp.multiply(g_in, mask, out=result[entry])
    result = plan.inside(result)
    return _last(result) if data_format == "NHWC" else result


@op("max_pool2d_pick", infer=lambda x, y, values, **_: y)
def _max_pool2d_pick(xp, x, y, values, *, ksize, strides=(1, 1), paddings=(0, 0), global_pooling=False,
                     ceil_mode=False, exclusive=True, adaptive=False, padding_algorithm="EXPLICIT",
                     data_format="NCHW"):  # fmt: skip
    """What ``values`` holds where x has the first maximum ``y`` of each window."""
    if data_format == "NHWC":
        x, y, values = _first(x), _first(y), _first(values)
    plan = _Plan(x.shape[2:], ksize, strides, paddings, global_pooling, ceil_mode, exclusive, adaptive,
                 padding_algorithm)  # fmt: skip
    result = xp.zeros_like(y)
    if plan.ragged is not None:
        for i, j, window in plan.each_window():
            result[:, :, i, j] = (values[window] * _first_maximum(xp, x[window])).sum(axis=(2, 3))
    else:
        padded = plan.pad(xp, values, 0)
        for entry, mask in _picks(plan.pad(xp, x, -xp.inf), y, plan):
            result += padded[entry] * mask
    return _last(result) if data_format == "NHWC" else result


@pool2d.grad_all("x")
def _pool2d_rule(
    g: Any, x: Any, out: Any, pooling_type: Any, ksize: Any, strides: Any, paddings: Any, global_pooling: Any,
    ceil_mode: Any, exclusive: Any, adaptive: Any, padding_algorithm: Any, data_format: Any,
) -> Any:  # fmt: skip
    return pool2d_grad(
        x, out, g, pooling_type=pooling_type, ksize=ksize, strides=strides, paddings=paddings,
        global_pooling=global_pooling, ceil_mode=ceil_mode, exclusive=exclusive, adaptive=adaptive,
        padding_algorithm=padding_algorithm, data_format=data_format,
    )  # fmt: skip


@pool2d_grad.grad_all("g_in")
def _pool2d_grad_rule(
    g: Any, x: Any, y: Any, pooling_type: Any, ksize: Any, strides: Any, paddings: Any, global_pooling: Any,
    ceil_mode: Any, exclusive: Any, adaptive: Any, padding_algorithm: Any, data_format: Any,
) -> Any:  # fmt: skip
    """Spreading is linear: backwards it averages again, or picks from where it put the gradient."""
    where = {
        "ksize": ksize, "strides": strides, "paddings": paddings, "global_pooling": global_pooling,
        "ceil_mode": ceil_mode, "exclusive": exclusive, "adaptive": adaptive,
        "padding_algorithm": padding_algorithm, "data_format": data_format,
    }  # fmt: skip
    if pooling_type == "max":
        return _max_pool2d_pick(x, y, g, **where)
    return pool2d(g, pooling_type=pooling_type, **where)


@_max_pool2d_pick.grad_all("values")
def _pick_rule(
    g: Any, x: Any, y: Any, ksize: Any, strides: Any, paddings: Any, global_pooling: Any, ceil_mode: Any,
    exclusive: Any, adaptive: Any, padding_algorithm: Any, data_format: Any,
) -> Any:  # fmt: skip
    return pool2d_grad(
        x, y, g, pooling_type="max", ksize=ksize, strides=strides, paddings=paddings,
        global_pooling=global_pooling, ceil_mode=ceil_mode, exclusive=exclusive, adaptive=adaptive,
        padding_algorithm=padding_algorithm, data_format=data_format,
    )  # fmt: skip
