"""Windows of an image written out as columns (unfold), and their reverse, which adds them up (fold)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Count, Size
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.operators.windows import AXES
from engine.core.values.spec import Spec


def _check(where: str, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> None:
    if min(*kernel_sizes, *strides, *dilations) < 1 or min(paddings) < 0:
        raise ArgumentError(
            f"{where}: kernel_sizes {list(kernel_sizes)}, strides {list(strides)} and dilations "
            f"{list(dilations)} must be 1 or more, paddings {list(paddings)} 0 or more"
        )


def _counts(
    where: str, x: Spec, size: Any, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any
) -> list[int]:
    """The number of windows along height and width, -1 where not known."""
    found = []
    for n in (0, 1):
        if size[n] < 0:
            found.append(-1)
            continue
        have, span = size[n] + paddings[n] + paddings[n + 2], dilations[n] * (kernel_sizes[n] - 1) + 1
        if have < span:
            raise ShapeError(
                f"{where}: x is {x}: {AXES[2][n]} {size[n]} with padding is {have}, smaller than the "
                f"window's {span}; use more padding or a smaller window"
            )
        found.append((have - span) // strides[n] + 1)
    return found


def _infer_unfold(x: Spec, *, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> Spec:
    require_floating("unfold", x=x)
    if x.ndim != 4:
        raise ShapeError(f"unfold: x needs 4 dimensions, NCHW: got {x}; unsqueeze it")
    _check("unfold", kernel_sizes, strides, paddings, dilations)
    rows, columns = _counts("unfold", x, x.shape[2:], kernel_sizes, strides, paddings, dilations)
    entries = -1 if x.shape[1] < 0 else x.shape[1] * kernel_sizes[0] * kernel_sizes[1]
    return x.with_shape((x.shape[0], entries, -1 if -1 in (rows, columns) else rows * columns))


class _Windows:
    """The windows of an image of one size; paddings are [top, left, bottom, right]."""

    def __init__(self, size: Any, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> None:
        self.size, self.kernel, self.strides, self.dilations = size, kernel_sizes, strides, dilations
        self.paddings = paddings
        self.full = tuple([size[n] + paddings[n] + paddings[n + 2] for n in (0, 1)])
        self.out = tuple(
            [(self.full[n] - dilations[n] * (kernel_sizes[n] - 1) - 1) // strides[n] + 1 for n in (0, 1)]
        )
        if min(self.out) < 1 or min(paddings) < 0:
            raise ValueError("shapes do not fit")  # inference explains the error

    def inside(self, full: Any) -> Any:
        top, left = self.paddings[:2]
        return full[:, :, top : top + self.size[0], left : left + self.size[1]]

    def entries(self) -> Iterator[tuple[int, int, tuple[slice, slice]]]:
        """For each entry of the window, the elements of the padded image that it meets."""
        for a in range(self.kernel[0]):
            for b in range(self.kernel[1]):
                rows, columns = (
                    slice(k * d, k * d + (o - 1) * t + 1, t)
                    for k, d, o, t in zip((a, b), self.dilations, self.out, self.strides, strict=True)
                )
                yield a, b, (rows, columns)

    def columns(self, xp: Any, x: Any) -> Any:
        full = xp.zeros((*x.shape[:2], *self.full), x.dtype)
        self.inside(full)[...] = x
        made = xp.empty((*x.shape[:2], *self.kernel, *self.out), x.dtype)
        for a, b, place in self.entries():
            made[:, :, a, b] = full[(..., *place)]
        entries = x.shape[1] * self.kernel[0] * self.kernel[1]
        return made.reshape(x.shape[0], entries, self.out[0] * self.out[1])

    def added(self, xp: Any, columns: Any) -> Any:
        channels = columns.shape[1] // (self.kernel[0] * self.kernel[1])
        parts = columns.reshape(columns.shape[0], channels, *self.kernel, *self.out)
        full = xp.zeros((columns.shape[0], channels, *self.full), columns.dtype)
        for a, b, place in self.entries():
            full[(..., *place)] += parts[:, :, a, b]
        return self.inside(full).copy()


@op("unfold", infer=_infer_unfold, outputs=("y",))
def unfold(xp, x, *, kernel_sizes: Count, strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1)):
    """[N, C, H, W] as [N, C * kernel height * kernel width, windows]; paddings: top, left, bottom, right."""
    return _Windows(x.shape[2:], kernel_sizes, strides, paddings, dilations).columns(xp, x)


@op(
    "unfold_grad",
    infer=lambda x, g_in, **_: x,
    outputs=("x_grad",),
    slots={"g_in": "Y@GRAD", "x_grad": "X@GRAD"},
)
def unfold_grad(xp, x, g_in, *, kernel_sizes: Count, strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1)):
    """The gradient of the image: the sum over the windows that contain each element."""
    return _Windows(x.shape[2:], kernel_sizes, strides, paddings, dilations).added(xp, g_in)


def _infer_fold(
    x: Spec, *, output_sizes: Any, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any
) -> Spec:
    require_floating("fold", x=x)
    if x.ndim != 3:
        raise ShapeError(f"fold: x needs 3 dimensions, [N, C * kernel, windows]: got {x}; reshape it")
    _check("fold", kernel_sizes, strides, paddings, dilations)
    each = kernel_sizes[0] * kernel_sizes[1]
    if x.shape[1] % each and x.shape[1] >= 0:
        raise ShapeError(
            f"fold: x is {x}: {x.shape[1]} is not a multiple of the {each} elements of a window "
            f"{list(kernel_sizes)}; check kernel_sizes"
        )
    rows, columns = _counts("fold", x, output_sizes, kernel_sizes, strides, paddings, dilations)
    if x.shape[2] not in (-1, rows * columns):
        raise ShapeError(
            f"fold: x is {x}, so {x.shape[2]} windows, but an image of {list(output_sizes)} has {rows} x "
            f"{columns} = {rows * columns} with kernel {list(kernel_sizes)}, stride {list(strides)}, padding "
            f"{list(paddings)} and dilation {list(dilations)}; use unfold's"
        )
    return x.with_shape((x.shape[0], -1 if x.shape[1] < 0 else x.shape[1] // each, *output_sizes))


@op("fold", infer=_infer_fold, outputs=("y",))
def fold(
    xp, x, *, output_sizes: Size, kernel_sizes: Count, strides=(1, 1), paddings=(0, 0, 0, 0), dilations=(1, 1)
):
    """[N, C * kernel height * kernel width, windows] added up to an image [N, C, *output_sizes]."""
    windows = _Windows(tuple(output_sizes), kernel_sizes, strides, paddings, dilations)
    return windows.added(xp, x)


@unfold.grad_all("x")
def _unfold_rule(g: Any, x_like: Any, **attrs: Any) -> Any:
    return unfold_grad(x_like, g, **attrs)


@unfold_grad.grad_all("g_in")
def _unfold_grad_rule(g: Any, **attrs: Any) -> Any:
    return unfold(g, **attrs)


@fold.grad_all("x")
def _fold_rule(g: Any, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> Any:
    return unfold(g, kernel_sizes=kernel_sizes, strides=strides, paddings=paddings, dilations=dilations)
