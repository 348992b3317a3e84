"""Two-dimensional convolution and its gradients.

The kernel works on images laid out batch-last: rows, then channels, columns and samples. A copy of the
image once for each column of the filter then makes the window of a whole output row one matrix, which
overlaps with that of the next output row. So every output row is one matrix product, nothing is copied once
for each row of the filter, and what is copied is long contiguous runs. The result stays batch-last in
memory under its usual shape; elementwise operators keep that order, so it is paid for once in a network,
not at every operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.infer import require_floating, require_same_dtype
from engine.core.opdef import op
from engine.core.spec import Spec

Pads = tuple[tuple[int, int], tuple[int, int]]


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Padding before and after that gives ``ceil(size / stride)`` outputs; the odd one comes after."""
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def explicit_padding(where: str, paddings: Sequence[int]) -> Pads:
    """``[height, width]`` or ``[top, bottom, left, right]`` as pairs."""
    if len(paddings) == 2:
        return (paddings[0], paddings[0]), (paddings[1], paddings[1])
    if len(paddings) == 4:
        return (paddings[0], paddings[1]), (paddings[2], paddings[3])
    raise ArgumentError(
        f"{where}: paddings are 2 numbers (height, width) or 4 (top, bottom, left, right): "
        f"got {list(paddings)}"
    )


def pads_of(
    where: str,
    size: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    paddings: Any,
    algorithm: str,
) -> Pads:
    """Padding before and after in height and width, for image and kernel sizes in height and width."""
    if algorithm == "EXPLICIT":
        return explicit_padding(where, paddings)
    if algorithm == "VALID":
        return (0, 0), (0, 0)
    if algorithm == "SAME":
        return same_padding(size[0], kernel[0], strides[0]), same_padding(size[1], kernel[1], strides[1])
    raise ArgumentError(f"{where}: padding_algorithm {algorithm!r} is none of EXPLICIT, SAME, VALID")


def is_last(where: str, data_format: str) -> bool:
    """True for NHWC, False for NCHW."""
    if data_format not in ("NCHW", "NHWC", "AnyLayout"):
        raise ArgumentError(f"{where}: data_format {data_format!r} is none of NCHW, NHWC")
    return data_format == "NHWC"


def _infer(
    x: Spec,
    weight: Spec,
    *,
    strides: Any = (1, 1),
    paddings: Any = (0, 0),
    padding_algorithm: str = "EXPLICIT",
    dilations: Any = (1, 1),
    groups: int = 1,
    data_format: str = "NCHW",
) -> Spec:
    last = is_last("conv2d", data_format)
    if x.ndim != 4 or weight.ndim != 4:
        raise ShapeError(
            f"conv2d: x is {x} and weight {weight}: both need 4 dimensions, x {'NHWC' if last else 'NCHW'} "
            "and weight [out_channels, in_channels / groups, height, width]; unsqueeze a single image"
        )
    require_floating("conv2d", x=x)
    require_same_dtype("conv2d", x=x, weight=weight)
    channels = x.shape[3] if last else x.shape[1]
    filters, taken = weight.shape[:2]
    if groups < 1 or (filters >= 0 and filters % groups):
        raise ShapeError(
            f"conv2d: weight is {weight}: {filters} filters do not divide into groups={groups}; use a divisor"
        )
    if -1 not in (channels, taken) and channels != taken * groups:
        raise ShapeError(
            f"conv2d: x is {x} and weight {weight}, groups={groups}: x has {channels} channels, but the "
            f"filters take {taken * groups}; make in_channels of the layer {channels}, or check "
            f"data_format={data_format!r}"
        )
    if len(strides) != 2 or len(dilations) != 2 or min(*strides, *dilations) < 1:
        raise ArgumentError(
            f"conv2d: strides {list(strides)} and dilations {list(dilations)} are two positive numbers each"
        )
    size = x.shape[1:3] if last else x.shape[2:4]
    out = [
        _out_size(x, weight, size[n], weight.shape[2 + n], n, strides, paddings, padding_algorithm, dilations)
        for n in (0, 1)
    ]
    shape = (x.shape[0], *out, filters) if last else (x.shape[0], filters, *out)
    return Spec(shape, x.dtype)


def _out_size(
    x: Spec,
    weight: Spec,
    size: int,
    kernel: int,
    n: int,
    strides: Any,
    paddings: Any,
    algorithm: str,
    dilations: Any,
) -> int:
    pads = pads_of("conv2d", (max(size, 1),) * 2, (max(kernel, 1),) * 2, strides, paddings, algorithm)
    if min(pads[n]) < 0:
        raise ArgumentError(f"conv2d: paddings must not be negative: got {list(paddings)}")
    if size < 0 or kernel < 0:
        return -1
    if algorithm == "SAME":
        return -(-size // strides[n])
    span = dilations[n] * (kernel - 1) + 1
    have = size + sum(pads[n])
    if kernel < 1 or have < span:
        raise ShapeError(
            f"conv2d: x is {x} and weight {weight}: {('height', 'width')[n]} {size} with padding "
            f"{pads[n]} is {have}, smaller than the filter's {span}; use more padding or a smaller filter"
        )
    return (have - span) // strides[n] + 1


class _Plan:
    """The numbers of one convolution, and the matrices it is made of."""

    def __init__(
        self,
        xp: Any,
        x: Any,
        weight: Any,
        strides: Any,
        paddings: Any,
        algorithm: str,
        dilations: Any,
        groups: int,
    ) -> None:
        self.xp = xp
        self.samples, self.channels, self.height, self.width = x.shape
        self.filters, self.taken, self.kh, self.kw = weight.shape
        self.groups = groups
        self.sh, self.sw = strides
        self.dh, self.dw = (1, 1) if algorithm == "SAME" else dilations
        size = (self.height, self.width)
        pads = pads_of("conv2d", size, (self.kh, self.kw), strides, paddings, algorithm)
        (self.top, bottom), (self.left, right) = pads
        self.full_height = self.height + self.top + bottom
        self.full_width = self.width + self.left + right
        self.oh = (self.full_height - self.dh * (self.kh - 1) - 1) // self.sh + 1
        self.ow = (self.full_width - self.dw * (self.kw - 1) - 1) // self.sw + 1
        if x.dtype != weight.dtype:
            raise TypeError("dtypes differ")  # the mode asks inference to say what is wrong
        if (
            self.channels != self.taken * groups
            or min(self.oh, self.ow, self.top, self.left, bottom, right) < 0
        ):
            raise ValueError("shapes do not fit")  # the mode asks inference to say what is wrong
        self.padded = (self.full_height, self.full_width) != size

    def columns(self, b: int) -> slice:
        """The columns of the padded image that column ``b`` of the filter meets."""
        first = b * self.dw
        return slice(first, first + (self.ow - 1) * self.sw + 1, self.sw)

    def rows(self, x: Any) -> Any:
        """The padded image once a column of the filter: [groups, row, channel, kw, column out, sample]."""
        source = x.transpose(2, 1, 3, 0)
        if self.padded:
            shape = (self.full_height, self.channels, self.full_width, self.samples)
            image = self.xp.zeros(shape, x.dtype)
            image[self.top : self.top + self.height, :, self.left : self.left + self.width] = source
        else:
            image = self.xp.ascontiguousarray(source)
        image = image.reshape(
            self.full_height, self.groups, self.taken, self.full_width, self.samples
        ).swapaxes(0, 1)
        made = self.xp.empty(self._rows_shape(), x.dtype)
        for b in range(self.kw):
            made[:, :, :, b] = image[:, :, :, self.columns(b)]
        return made

    def _rows_shape(self) -> tuple[int, ...]:
        return (self.groups, self.full_height, self.taken, self.kw, self.ow, self.samples)

    def windows(self, rows: Any) -> Any:
        """What each output row sees, no copy: [row out, groups, kh * channel * kw, column out * sample]."""
        per_group, per_row, _, per_entry, _, per_number = rows.strides
        size = self.ow * self.samples
        if self.dh == 1:
            shape = (self.oh, self.groups, self.kh * self.taken * self.kw, size)
            strides = (per_row * self.sh, per_group, per_entry, per_number)
            # What as_strided makes, without the 4 us that its generality costs, and in both array modules.
            return self.xp.ndarray(shape, rows.dtype, rows.data, strides=strides)
        taken = [
            rows[:, a * self.dh : a * self.dh + (self.oh - 1) * self.sh + 1 : self.sh] for a in range(self.kh)
        ]
        stacked = self.xp.stack(taken, axis=2).swapaxes(0, 1)
        return stacked.reshape(self.oh, self.groups, self.kh * self.taken * self.kw, size)

    def weight_matrix(self, weight: Any) -> Any:
        """The filters as [groups, filter, kh * channel * kw]."""
        return self.xp.ascontiguousarray(weight.transpose(0, 2, 1, 3)).reshape(
            self.groups, self.filters // self.groups, self.kh * self.taken * self.kw
        )

    def gradient_rows(self, g: Any) -> Any:
        """The gradient of the result as [groups, row out, filter, column out * sample]."""
        laid = g.transpose(2, 1, 3, 0).reshape(
            self.oh, self.groups, self.filters // self.groups, self.ow, self.samples
        )
        laid = self.xp.ascontiguousarray(laid.swapaxes(0, 1))
        return laid.reshape(self.groups, self.oh, self.filters // self.groups, self.ow * self.samples)

    def forward(self, x: Any, weight: Any) -> Any:
        """The result [sample, filter, row, column], batch-last in memory."""
        result = self.xp.matmul(self.weight_matrix(weight), self.windows(self.rows(x)))
        return result.reshape(self.oh, self.filters, self.ow, self.samples).transpose(3, 1, 0, 2)

    def weight_gradient(self, x: Any, g: Any) -> Any:
        """The gradient of the filters, from the image and the gradient rows."""
        windows = self.windows(self.rows(x))
        total = self.xp.matmul(windows, g.transpose(1, 0, 3, 2)).sum(axis=0)
        total = total.swapaxes(1, 2).reshape(self.filters, self.kh, self.taken, self.kw)
        return self.xp.ascontiguousarray(total.transpose(0, 2, 1, 3))

    def image_gradient(self, weight: Any, g: Any) -> Any:
        """The gradient of the image, batch-last in memory, from the filters and the gradient rows.

        A row of the image gets its gradient from the few output rows that saw it: one product of those with
        the filters' rows in reverse order. What is left is to add up the columns of the filter.
        """
        each = self.filters // self.groups
        turned = weight.reshape(self.groups, each, self.taken, self.kh, self.kw)[:, :, :, ::-1]
        turned = self.xp.ascontiguousarray(turned.transpose(0, 2, 4, 3, 1))
        turned = turned.reshape(self.groups, self.taken * self.kw, self.kh, each)
        rows = self.xp.empty(self._rows_shape(), g.dtype)
        flat = rows.reshape(self.groups, self.full_height, self.taken * self.kw, self.ow * self.samples)
        for row in range(self.full_height):
            seen = self._seen_by(row)
            if seen is None:
                flat[:, row] = 0
                continue
            outputs, filter_rows = seen
            taken = turned[:, :, filter_rows]
            length = taken.shape[2] * each
            self.xp.matmul(
                taken.reshape(self.groups, self.taken * self.kw, length),
                g[:, outputs].reshape(self.groups, length, self.ow * self.samples),
                out=flat[:, row],
            )
        return self._columns_added(rows)

    def _seen_by(self, row: int) -> tuple[slice, slice] | None:
        """The output rows that see ``row`` of the padded image, and by which rows of the turned filters."""
        first = max(-(-(row - self.dh * (self.kh - 1)) // self.sh), 0)
        last = min(row // self.sh, self.oh - 1)
        outputs = [n for n in range(first, last + 1) if (row - n * self.sh) % self.dh == 0]
        if not outputs:
            return None
        places = [self.kh - 1 - (row - n * self.sh) // self.dh for n in outputs]
        step, turn = (outputs[1] - outputs[0], places[1] - places[0]) if len(outputs) > 1 else (1, 1)
        return slice(outputs[0], outputs[-1] + 1, step), slice(places[0], places[-1] + 1, turn)

    def _columns_added(self, rows: Any) -> Any:
        """The reverse of ``rows``: its columns of the filter added up to an image, without the padding."""
        image = self.xp.zeros((self.full_height, self.channels, self.full_width, self.samples), rows.dtype)
        target = image.reshape(self.full_height, self.groups, self.taken, self.full_width, self.samples)
        target = target.swapaxes(0, 1)
        for b in range(self.kw):
            target[:, :, :, self.columns(b)] += rows[:, :, :, b]
        image = image.transpose(3, 1, 0, 2)
        return image[:, :, self.top : self.top + self.height, self.left : self.left + self.width]


@op("conv2d", infer=_infer, outputs=("output",), slots={"x": "Input", "weight": "Filter"})
def conv2d(xp, x, weight, *, strides=(1, 1), paddings=(0, 0), padding_algorithm="EXPLICIT", dilations=(1, 1),
           groups=1, data_format="NCHW"):  # fmt: skip
    """Cross-correlation of x [N, C, H, W] with weight [filters, C / groups, kh, kw]."""
    last = data_format == "NHWC"
    if last:
        x = x.transpose(0, 3, 1, 2)
    plan = _Plan(xp, x, weight, strides, paddings, padding_algorithm, dilations, groups)
    result = plan.forward(x, weight)
    return result.transpose(0, 2, 3, 1) if last else result


def _infer_grad(x: Spec, weight: Spec, g_in: Spec, *, need_x: bool, need_weight: bool, **_: Any) -> Any:
    return (x if need_x else None), (weight if need_weight else None)


@op("conv2d_grad", infer=_infer_grad, outputs=("x_grad", "weight_grad"),
    slots={"x": "Input", "weight": "Filter", "g_in": "Output@GRAD", "x_grad": "Input@GRAD",
           "weight_grad": "Filter@GRAD"})  # fmt: skip
def conv2d_grad(xp, x, weight, g_in, *, strides=(1, 1), paddings=(0, 0), padding_algorithm="EXPLICIT",
                dilations=(1, 1), groups=1, data_format="NCHW", need_x=True, need_weight=True):  # fmt: skip
    """The gradients of conv2d's image and filters, each only if needed (else None)."""
    last = data_format == "NHWC"
    if last:
        x, g_in = x.transpose(0, 3, 1, 2), g_in.transpose(0, 3, 1, 2)
    plan = _Plan(xp, x, weight, strides, paddings, padding_algorithm, dilations, groups)
    x_grad = weight_grad = None
    g = plan.gradient_rows(g_in)
    if need_x:
        x_grad = plan.image_gradient(weight, g)
        if last:
            x_grad = x_grad.transpose(0, 2, 3, 1)
    if need_weight:
        weight_grad = plan.weight_gradient(x, g)
    return x_grad, weight_grad


@conv2d.grad_all("x", "weight")
def _conv2d_rule(
    g: Any, x: Any, weight: Any, wanted: frozenset[str], strides: Any, paddings: Any, padding_algorithm: str,
    dilations: Any, groups: int, data_format: str,
) -> Any:  # fmt: skip
    return conv2d_grad(
        x, weight, g, strides=strides, paddings=paddings, padding_algorithm=padding_algorithm,
        dilations=dilations, groups=groups, data_format=data_format,
        need_x="x" in wanted, need_weight="weight" in wanted,
    )  # fmt: skip


@conv2d_grad.grad_all("x", "weight", "g_in")
def _conv2d_grad_rule(
    g_x_grad: Any, g_weight_grad: Any, x: Any, weight: Any, g_in: Any, wanted: frozenset[str], strides: Any,
    paddings: Any, padding_algorithm: str, dilations: Any, groups: int, data_format: str,
) -> Any:  # fmt: skip
    """All is linear in each of x, weight and g_in, so the second order is made of the same operators."""
    where = {
        "strides": strides, "paddings": paddings, "padding_algorithm": padding_algorithm,
        "dilations": dilations, "groups": groups, "data_format": data_format,
    }  # fmt: skip
    to_x = to_weight = to_g = None
    if g_x_grad is not None:
        if "weight" in wanted:
            _, to_weight = conv2d_grad(g_x_grad, weight, g_in, need_x=False, need_weight=True, **where)
        if "g_in" in wanted:
            to_g = conv2d(g_x_grad, weight, **where)
    if g_weight_grad is not None:
        if "x" in wanted:
            to_x, _ = conv2d_grad(x, g_weight_grad, g_in, need_x=True, need_weight=False, **where)
        if "g_in" in wanted:
            through = conv2d(x, g_weight_grad, **where)
            to_g = through if to_g is None else to_g + through
    return to_x, to_weight, to_g
