"""Products of vectors and matrices, norms and distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, OutOfRangeError, ShapeError
from engine.core.operators.infer import normal_axes, normal_axis, require_floating
from engine.ops.arrays import creation
from engine.ops.arrays import flip_roll as flip_roll_ops
from engine.ops.arrays import index as index_ops
from engine.ops.arrays import shape as shape_ops
from engine.ops.elementwise import arithmetic, power
from engine.ops.linalg import diagonal as diagonal_ops
from engine.ops.linalg import products as ops
from engine.ops.reductions import cumulative as cumulative_ops
from engine.ops.reductions import reduce as reduce_ops
from engine.ops.reductions import vector_norm as norm_ops
from engine.program.build.calls import called, named, starts
from engine.program.text.naming import Naming
from engine.tensor.arguments.factories import require_one_dtype, require_tensor
from engine.tensor.arguments.promote import operands
from engine.tensor.contraction import tensordot
from engine.tensor.tensor_like import AnyTensor, IntegersLike


def matmul(
    x: AnyTensor, y: AnyTensor, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Any:
    """Matrix product over the last two dimensions. Raises ShapeError where the inner dimensions differ."""
    if name:
        return named(name, matmul, x, y, transpose_x, transpose_y)
    return ops.matmul(x, y, trans_x=transpose_x, trans_y=transpose_y)


_MM = Naming("mm", outer=True)


def mm(input: AnyTensor, mat2: AnyTensor, name: str | None = None) -> Any:
    """Matrix product. Raises ShapeError where the inner dimensions differ."""
    if starts(_MM):
        return called(_MM, name, mm, input, mat2)
    return ops.matmul(input, mat2)


def bmm(x: AnyTensor, y: AnyTensor, name: str | None = None) -> Any:
    """Matrix products of two batches: [b, n, k] and [b, k, m] give [b, n, m]."""
    if name:
        return named(name, bmm, x, y)
    return ops.bmm(x, y)


def mv(x: AnyTensor, vec: AnyTensor, name: str | None = None) -> Any:
    """A matrix [n, k] times a vector [k]."""
    if name:
        return named(name, mv, x, vec)
    return ops.mv(x, vec)


def dot(x: AnyTensor, y: AnyTensor, name: str | None = None) -> Any:
    """The sum of products of two vectors [n], or of the rows of [b, n]."""
    if name:
        return named(name, dot, x, y)
    return ops.dot(x, y)


def inner(x: AnyTensor, y: AnyTensor, name: str | None = None) -> Any:
    """Sums of products over the last dimensions: shape x.shape[:-1] + y.shape[:-1]; a number scales."""
    if name:
        return named(name, inner, x, y)
    require_tensor("inner", x=x, y=y)
    if x.ndim == 0 or y.ndim == 0:
        return arithmetic.multiply(x, y)
    if x.shape[-1] != y.shape[-1] and -1 not in (x.shape[-1], y.shape[-1]):
        raise ShapeError(
            f"inner: x has shape {list(x.shape)}, y {list(y.shape)}; the last dimensions must be equal"
        )
    if y.ndim <= 2:
        return ops.matmul(x, y, trans_y=y.ndim == 2)
    return tensordot(x, y, [[-1], [-1]])


def outer(x: AnyTensor, y: AnyTensor, name: str | None = None) -> Any:
    """All products of an element of x with one of y: a matrix of as many rows as x has elements."""
    if name:
        return named(name, outer, x, y)
    require_tensor("outer", x=x, y=y)
    require_one_dtype("outer", x=x, y=y)
    return arithmetic.multiply(shape_ops.reshape(x, shape=[-1, 1]), shape_ops.reshape(y, shape=[1, -1]))


def addmm(
    input: AnyTensor,
    x: AnyTensor,
    y: AnyTensor,
    beta: float = 1.0,
    alpha: float = 1.0,
    name: str | None = None,
) -> Any:
    """beta * input + alpha * (x @ y) of matrices; ``input`` is broadcast."""
    if name:
        return named(name, addmm, input, x, y, beta, alpha)
    return ops.addmm(input, x, y, alpha=float(alpha), beta=float(beta))


def cross(x: AnyTensor, y: AnyTensor, axis: int | None = 9, name: str | None = None) -> Any:
    """The cross product along ``axis`` (by default the first of size 3)."""
    if name:
        return named(name, cross, x, y, axis)
    require_tensor("cross", x=x, y=y)
    if axis in (9, None):
        found = [n for n, d in enumerate(x.shape) if d == 3]
        if not found and -1 in x.shape:
            return ops.cross(x, y, dim=9)  # the sizes of a run decide
        if not found:
            raise ShapeError(
                f"cross: no dimension of x, shape {list(x.shape)}, is 3; the vectors have 3 elements"
            )
        axis = found[0]
    return ops.cross(x, y, dim=int(axis or 0))


def kron(x: AnyTensor, y: AnyTensor, name: str | None = None) -> Any:
    """The Kronecker product: blocks of y, each times one element of x."""
    if name:
        return named(name, kron, x, y)
    require_tensor("kron", x=x, y=y)
    ndim = max(x.ndim, y.ndim)
    left = shape_ops.unsqueeze(x, axes=[0] * (ndim - x.ndim)) if x.ndim < ndim else x
    right = shape_ops.unsqueeze(y, axes=[0] * (ndim - y.ndim)) if y.ndim < ndim else y
    left = shape_ops.unsqueeze(left, axes=[2 * n + 1 for n in range(ndim)])
    right = shape_ops.unsqueeze(right, axes=[2 * n for n in range(ndim)])
    product = arithmetic.multiply(*operands("kron", left, right))
    for n in range(ndim):
        product = shape_ops.flatten(product, start_axis=n, stop_axis=n + 1)
    return product


def trace(x: AnyTensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Any:
    """The sum of a diagonal of the planes of two dimensions. Raises OutOfRangeError for fewer than two."""
    if name:
        return named(name, trace, x, offset, axis1, axis2)
    require_tensor("trace", x=x)
    if x.ndim < 2:
        raise OutOfRangeError(f"trace: x has shape {list(x.shape)}; it needs 2 dimensions or more")
    found = diagonal_ops.diagonal(x, offset=int(offset), axis1=int(axis1), axis2=int(axis2))
    return reduce_ops.sum(found, axis=[found.ndim - 1])


def multi_dot(x: Sequence[AnyTensor], name: str | None = None) -> Any:
    """The product of two or more matrices in the order that needs the fewest multiplications.

    The first and the last may be vectors.
    """
    if name:
        return named(name, multi_dot, x)
    matrices = list(x)
    if len(matrices) < 2:
        raise ArgumentError(f"multi_dot: takes two matrices or more: got {len(matrices)}")
    for n, matrix in enumerate(matrices):
        if matrix.ndim != 2 and not (matrix.ndim == 1 and n in (0, len(matrices) - 1)):
            raise ShapeError(
                f"multi_dot: x[{n}] has shape {list(matrix.shape)}; all are matrices, only the first and the "
                "last may be vectors"
            )
    sizes = [1 if matrices[0].ndim == 1 else matrices[0].shape[0]]
    sizes += [m.shape[0] if m.ndim == 1 else m.shape[-2] for m in matrices[1:]]
    sizes.append(1 if matrices[-1].ndim == 1 else matrices[-1].shape[-1])
    if -1 in sizes:
        found = matrices[0]
        for matrix in matrices[1:]:
            found = ops.matmul(found, matrix)
        return found
    return _multiplied(matrices, _best_splits(sizes), 0, len(matrices) - 1)


def _best_splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """The best split of each run of matrices, sizes[n] by sizes[n + 1]."""
    count = len(sizes) - 1
    cost = {(n, n): 0 for n in range(count)}
    splits = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            options = [
                (cost[first, k] + cost[k + 1, last] + sizes[first] * sizes[k + 1] * sizes[last + 1], k)
                for k in range(first, last)
            ]
            cost[first, last], splits[first, last] = min(options)
    return splits


def _multiplied(matrices: list[Any], splits: dict[tuple[int, int], int], first: int, last: int) -> Any:
    if first == last:
        return matrices[first]
    k = splits[first, last]
    return ops.matmul(_multiplied(matrices, splits, first, k), _multiplied(matrices, splits, k + 1, last))


def norm(
    x: AnyTensor,
    p: float | str = "fro",
    axis: IntegersLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Any:
    """The norm of order ``p`` over one or two axes, or over everything.

    ``p`` is 'fro' (the root of the sum of squares), a number for (sum of |x|**p) ** (1 / p), or inf and -inf
    for the largest and the smallest absolute value; over two axes too it is that of their elements. 0 counts
    nonzero elements, along one axis or over everything. The gradient at 0 is 0.
    """
    if name:
        return named(name, norm, x, p, axis, keepdim)
    require_tensor("norm", x=x)
    require_floating("norm", x=x)
    if isinstance(p, str):
        if p != "fro":
            raise ArgumentError(f"norm: p {p!r} is not a norm; the only one with a name is 'fro'")
        order = 2.0
    else:
        order = float(p)
    axes = [] if axis is None else [int(a) for a in axis] if isinstance(axis, (list, tuple)) else [int(axis)]
    if len(axes) > 2:
        raise ArgumentError(f"norm: axis must be one or two dimensions: got {axes}; reshape x for more")
    if p == "fro" and len(axes) != 1:
        return ops.frobenius_norm(x, dim=axes, keep_dim=keepdim, reduce_all=not axes)
    if not axes:
        return norm_ops.p_norm(x, porder=order, axis=-1, keepdim=keepdim, asvector=True)
    if len(axes) == 1:
        return norm_ops.p_norm(x, porder=order, axis=normal_axis("norm", axes[0], x.ndim), keepdim=keepdim)
    if order == 0.0:
        raise ArgumentError(f"norm: p=0 counts along one axis or over everything: got axis {axes}")
    joined = _joined(x, normal_axes("norm", axes, x.ndim))
    found = norm_ops.p_norm(joined, porder=order, axis=joined.ndim - 1)
    return shape_ops.unsqueeze(found, axes=sorted(normal_axes("norm", axes, x.ndim))) if keepdim else found


def _joined(x: Any, axes: Sequence[int]) -> Any:
    """x with the dimensions ``axes`` as one, the last."""
    rest = [n for n in range(x.ndim) if n not in axes]
    moved = shape_ops.transpose(x, axis=[*rest, *axes])
    return shape_ops.reshape(moved, shape=[*[0] * len(rest), -1])


def dist(x: AnyTensor, y: AnyTensor, p: float = 2, name: str | None = None) -> Any:
    """The p-norm of x - y, broadcast, over everything."""
    if name:
        return named(name, dist, x, y, p)
    require_tensor("dist", x=x, y=y)
    require_one_dtype("dist", x=x, y=y)
    return norm_ops.p_norm(arithmetic.subtract(x, y), porder=float(p), axis=-1, asvector=True)


_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


def cdist(
    x: AnyTensor,
    y: AnyTensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
    name: str | None = None,
) -> Any:
    """The p-norm distance of each of the n rows of x [..., n, k] to each of the m of y [..., m, k].

    The result has shape [..., n, m]. For p = 2 a matrix product is quicker for many rows, but less exact for
    near ones: ``compute_mode`` decides when to use it (by default for more than 25 rows).
    """
    if name:
        return named(name, cdist, x, y, p, compute_mode)
    require_tensor("cdist", x=x, y=y)
    require_one_dtype("cdist", x=x, y=y)
    if compute_mode not in _MODES:
        raise ArgumentError(f"cdist: compute_mode {compute_mode!r} is not one of {list(_MODES)}")
    if p < 0:
        raise ArgumentError(f"cdist: p must be at least 0: got {p}")
    if x.ndim < 2 or y.ndim < 2 or (x.shape[-1] != y.shape[-1] and -1 not in (x.shape[-1], y.shape[-1])):
        raise ShapeError(
            f"cdist: x has shape {list(x.shape)}, y {list(y.shape)}; both need 2 dimensions or more, the "
            "last of one size"
        )
    many = compute_mode == _MODES[1] or (
        compute_mode == _MODES[0] and (int(x.shape[-2]) > 25 or int(y.shape[-2]) > 25)
    )
    if p == 2.0 and many:
        return _by_product(x, y)
    gaps = arithmetic.subtract(
        shape_ops.unsqueeze(x, axes=[x.ndim - 1]), shape_ops.unsqueeze(y, axes=[y.ndim - 2])
    )
    return norm_ops.p_norm(gaps, porder=float(p), axis=gaps.ndim - 1)


def _by_product(x: Any, y: Any) -> Any:
    """Euclidean distances from |x|**2 + |y|**2 - 2 x y."""
    left = reduce_ops.sum(power.square(x), axis=[x.ndim - 1], keepdim=True)
    right = reduce_ops.sum(power.square(y), axis=[y.ndim - 1], keepdim=True)
    right = shape_ops.transpose(right, axis=[*range(y.ndim - 2), y.ndim - 1, y.ndim - 2])
    product = arithmetic.scale(ops.matmul(x, y, trans_y=True), scale=-2.0)
    squares = arithmetic.add(arithmetic.add(left, right), product)
    apart = squares > 0.0
    root = power.sqrt(index_ops.where(apart, squares, creation.fill_like(squares, value=1.0)))
    return index_ops.where(apart, root, creation.fill_like(squares, value=0.0))


def renorm(x: AnyTensor, p: float, axis: int, max_norm: float) -> Any:
    """x with each slice along ``axis`` scaled down to a p-norm of ``max_norm`` where it is larger."""
    require_tensor("renorm", x=x)
    axis = normal_axis("renorm", int(axis), x.ndim)
    if p <= 0 or max_norm < 0:
        raise ArgumentError(f"renorm: p must be above 0, max_norm not below: got p={p}, max_norm={max_norm}")
    if 0 in x.shape:
        return shape_ops.assign(x)
    rest = [n for n in range(x.ndim) if n != axis]
    moved = shape_ops.transpose(x, axis=[axis, *rest])
    norms = norm_ops.p_norm(shape_ops.reshape(moved, shape=[0, -1]), porder=float(p), axis=1)
    most = float(np.float32(max_norm))  # as Paddle passes it
    large = norms > most
    one = creation.fill_like(norms, value=1.0)
    factor = arithmetic.scale(power.reciprocal(index_ops.where(large, norms, one)), scale=most)
    factor = index_ops.where(large, factor, one)
    return arithmetic.multiply(x, shape_ops.unsqueeze(factor, axes=_new_axes(axis, x.ndim)))


def _new_axes(axis: int, ndim: int) -> list[int]:
    """The axes of size 1 to insert, so that a vector lies along ``axis``."""
    return [n for n in range(ndim) if n != axis]


def vander(x: AnyTensor, n: int | None = None, increasing: bool = False, name: str | None = None) -> Any:
    """The matrix of powers of the vector x: n columns (as many as x has elements), the highest power first.

    The lowest first with ``increasing``.
    """
    if name:
        return named(name, vander, x, n, increasing)
    require_tensor("vander", x=x)
    if x.ndim != 1:
        raise ShapeError(f"vander: x must be a vector: got shape {list(x.shape)}")
    count = int(x.shape[0]) if n is None else int(n)
    if count < 0:
        raise ArgumentError(
            f"vander: n must be at least 0: got {n if n is not None else 'an x of unknown length'}"
        )
    column = shape_ops.unsqueeze(x, axes=[1])
    ones = creation.fill_like(column, value=1.0)
    if count < 2:
        return index_ops.slice_view(ones, index=(("slice", None, None, None), ("slice", 0, count, None)))
    powers = cumulative_ops.cumprod(shape_ops.tile(column, repeat_times=[1, count - 1]), dim=1)
    found = shape_ops.concat([ones, powers], axis=1)
    return found if increasing else flip_roll_ops.flip(found, axis=[1])
