"""Products of vectors and matrices, and norms that are products of a tensor with itself."""

from __future__ import annotations

import math as python_math
from typing import Any

from engine.core.errors import ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Count
from engine.core.operators.infer import (
    broadcast_shapes,
    normal_axes,
    normal_axis,
    reduced_shape,
    require_floating,
    require_same_dtype,
)
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.kernels.cpu.products import product
from engine.kernels.cpu.sums import summed
from engine.ops.arrays import creation, shape
from engine.ops.elementwise import arithmetic
from engine.ops.reductions import reduce


def _size(dims: Any) -> int:
    return -1 if any(d < 0 for d in dims) else python_math.prod(dims)


def _infer_mul(x: Spec, y: Spec, *, x_num_col_dims: int = 1, y_num_col_dims: int = 1) -> Spec:
    dtype = require_same_dtype("mul", x=x, y=y)
    if not 0 < x_num_col_dims < max(x.ndim, 1) or not 0 < y_num_col_dims < max(y.ndim, 1):
        raise ShapeError(
            f"mul: x is {x} and y is {y}: {x_num_col_dims} and {y_num_col_dims} leading dimensions of "
            "them are the rows, and at least one more must follow"
        )
    inner, other = _size(x.shape[x_num_col_dims:]), _size(y.shape[:y_num_col_dims])
    if inner != other and -1 not in (inner, other):
        raise ShapeError(
            f"mul: x is {x} and y is {y}: rows of x have {inner} elements and columns of y {other}; they "
            "must be equal"
        )
    return Spec((*x.shape[:x_num_col_dims], *y.shape[y_num_col_dims:]), dtype)


@op("mul", infer=_infer_mul)
def mul(xp, x, y, *, x_num_col_dims=1, y_num_col_dims=1):
    """The product of x and y as matrices: the first ``*_num_col_dims`` dimensions of each are its rows."""
    rows, columns = x.shape[:x_num_col_dims], y.shape[y_num_col_dims:]
    inner = python_math.prod(y.shape[:y_num_col_dims])
    x, y = x.reshape(python_math.prod(rows), inner), y.reshape(inner, python_math.prod(columns))
    return product(xp, x, y).reshape(*rows, *columns)


@mul.grad_all("x", "y")
def _mul_grad(
    g: Any, x: Any, y: Any, x_num_col_dims: int, y_num_col_dims: int, wanted: frozenset[str]
) -> Any:
    flat = _matrix(g, x_num_col_dims)
    gx = gy = None
    if "x" in wanted:
        gx = matmul(flat, _matrix(y, y_num_col_dims), trans_y=True)
        gx = shape.reshape_to(gx, x)
    if "y" in wanted:
        gy = matmul(_matrix(x, x_num_col_dims), flat, trans_x=True)
        gy = shape.reshape_to(gy, y)
    return gx, gy


def _matrix(x: Any, rows: int) -> Any:
    """x with its first ``rows`` dimensions as one and the others as one."""
    if x.ndim > rows + 1:
        x = shape.flatten(x, start_axis=rows, stop_axis=x.ndim - 1)
    return shape.flatten(x, start_axis=0, stop_axis=rows - 1) if rows > 1 else x


def _infer_matmul(x: Spec, y: Spec, *, trans_x: bool = False, trans_y: bool = False) -> Spec:
    dtype = require_same_dtype("matmul", x=x, y=y)
    if x.ndim == 0 or y.ndim == 0:
        raise ShapeError(f"matmul: x is {x} and y is {y}; both need at least one dimension")
    a = list(x.shape) if x.ndim > 1 else [1, x.shape[0]]
    b = list(y.shape) if y.ndim > 1 else [y.shape[0], 1]
    if trans_x and x.ndim > 1:
        a[-1], a[-2] = a[-2], a[-1]
    if trans_y and y.ndim > 1:
        b[-1], b[-2] = b[-2], b[-1]
    if a[-1] != b[-2] and -1 not in (a[-1], b[-2]):
        raise ShapeError(
            f"matmul: x is {x}{' transposed' if trans_x else ''} and y is "
            f"{y}{' transposed' if trans_y else ''}: the inner dimensions are {a[-1]} and {b[-2]}; they must "
            "be equal"
        )
    result = [*broadcast_shapes("matmul", a[:-2], b[:-2]), a[-2], b[-1]]
    if x.ndim == 1:
        result.pop(-2)
    if y.ndim == 1:
        result.pop(-1)
    return Spec(result, dtype)


@traits.broadcasts
@traits.complex_gradient
@op("matmul_v2", infer=_infer_matmul)
def matmul(xp, x, y, *, trans_x=False, trans_y=False):
    """Matrix product over the last two dimensions, broadcast over the others."""
    if x.dtype != y.dtype:  # NumPy would promote them: a product of labels and weights is a mistake
        require_same_dtype("matmul", x=Spec(x.shape, x.dtype.name), y=Spec(y.shape, y.dtype.name))
    if trans_x and x.ndim > 1:
        x = x.swapaxes(-1, -2)
    if trans_y and y.ndim > 1:
        y = y.swapaxes(-1, -2)
    if y.ndim == 2 and x.ndim > 2 and not trans_x and x.flags.c_contiguous:
        # One product of all rows: one for each matrix of the batch takes up to half as long again.
        return product(xp, x.reshape(-1, x.shape[-1]), y).reshape(*x.shape[:-1], y.shape[1])
    return product(xp, x, y)


@matmul.grad_all("x", "y")
def _matmul_grad(g: Any, x: Any, y: Any, trans_x: bool, trans_y: bool, wanted: frozenset[str]) -> Any:
    if x.ndim == 1 or y.ndim == 1:
        return _vector_grad(g, x, y, trans_x, trans_y)
    x, y = arithmetic.conjugate(x), arithmetic.conjugate(y)
    gx = gy = None
    if "y" in wanted and y.ndim == 2 and x.ndim > 2 and not trans_x:
        # A weight: one product over all rows, where a product for each matrix would have to be summed.
        gy = product_of_rows(g, x) if trans_y else product_of_rows(x, g)
        wanted = wanted - {"y"}
    if "x" in wanted:
        gx = matmul(y, g, trans_x=trans_y, trans_y=True) if trans_x else matmul(g, y, trans_y=not trans_y)
    if "y" in wanted:
        gy = matmul(g, x, trans_x=True, trans_y=trans_x) if trans_y else matmul(x, g, trans_x=not trans_x)
    return gx, gy


def _infer_product_of_rows(x: Spec, y: Spec) -> Spec:
    dtype = require_same_dtype("product_of_rows", x=x, y=y)
    if x.ndim < 2 or x.ndim != y.ndim or not _may_be_equal(x.shape[:-1], y.shape[:-1]):
        raise ShapeError(
            f"product_of_rows: x is {x} and y is {y}: both need rows, as many and in the same dimensions"
        )
    return Spec((x.shape[-1], y.shape[-1]), dtype)


@traits.complex_gradient
@op("product_of_rows", infer=_infer_product_of_rows)
def product_of_rows(xp, x, y):
    """x.T @ y with all dimensions but the last as one: the gradient of a weight."""
    if x.shape[:-1] != y.shape[:-1] or x.ndim < 2 or x.dtype != y.dtype:
        raise ValueError("wrong shapes")  # inference explains the error
    rows = python_math.prod(x.shape[:-1])
    return product(xp, x.reshape(rows, x.shape[-1]).T, y.reshape(rows, y.shape[-1]))


product_of_rows.grad(
    x=lambda g, y: matmul(arithmetic.conjugate(y), g, trans_y=True),
    y=lambda g, x: matmul(arithmetic.conjugate(x), g),
)


def _vector_grad(g: Any, x: Any, y: Any, trans_x: bool, trans_y: bool) -> tuple[Any, Any]:
    """Vectors as matrices of one row or column, and back."""
    a = shape.unsqueeze(x, axes=[0]) if x.ndim == 1 else x
    b = shape.unsqueeze(y, axes=[1]) if y.ndim == 1 else y
    if x.ndim == 1:
        g = shape.unsqueeze(g, axes=[g.ndim if y.ndim == 1 else g.ndim - 1])
        trans_x = False
    if y.ndim == 1:
        g = shape.unsqueeze(g, axes=[g.ndim])
        trans_y = False
    gx, gy = _matmul_grad(g, a, b, trans_x, trans_y, frozenset(("x", "y")))
    if x.ndim == 1:
        gx = shape.squeeze(gx, axes=[gx.ndim - 2])
    if y.ndim == 1:
        gy = shape.squeeze(gy, axes=[gy.ndim - 1])
    return gx, gy


def _infer_dot(x: Spec, y: Spec) -> Spec:
    dtype = require_same_dtype("dot", x=x, y=y)
    if x.ndim not in (1, 2) or x.ndim != y.ndim or not _may_be_equal(x.shape, y.shape):
        raise ShapeError(f"dot: x is {x} and y is {y}; both must be vectors, or rows of them, of one shape")
    return Spec(x.shape[:-1], dtype)


def _may_be_equal(x: Any, y: Any) -> bool:
    """Whether two shapes are equal as far as they are known."""
    return len(x) == len(y) and all(a == b or -1 in (a, b) for a, b in zip(x, y, strict=True))


@traits.complex_gradient
@op("dot", infer=_infer_dot)
def dot(xp, x, y):
    """The sum of products of two vectors, or of corresponding rows of two matrices."""
    if x.ndim not in (1, 2) or x.shape != y.shape or x.dtype != y.dtype:
        raise ValueError("wrong shapes")  # inference explains the error
    return xp.dot(x, y) if x.ndim == 1 else xp.sum(x * y, axis=-1, dtype=x.dtype)


dot.grad(
    x=lambda g, y: shape.unsqueeze(g, axes=[g.ndim]) * arithmetic.conjugate(y),
    y=lambda g, x: shape.unsqueeze(g, axes=[g.ndim]) * arithmetic.conjugate(x),
)


def _infer_bmm(x: Spec, y: Spec) -> Spec:
    require_same_dtype("bmm", x=x, y=y)
    if x.ndim != 3 or y.ndim != 3 or (x.shape[0] != y.shape[0] and -1 not in (x.shape[0], y.shape[0])):
        raise ShapeError(f"bmm: x is {x} and y is {y}; both must have 3 dimensions, the first of one size")
    return _infer_matmul(x, y)


@traits.complex_gradient
@op("bmm", infer=_infer_bmm)
def bmm(xp, x, y):
    """The matrix products of two batches of matrices."""
    if x.ndim != 3 or y.ndim != 3 or x.shape[0] != y.shape[0] or x.dtype != y.dtype:
        raise ValueError("wrong shapes")  # inference explains the error
    return product(xp, x, y)


bmm.grad(
    x=lambda g, y: matmul(g, arithmetic.conjugate(y), trans_y=True),
    y=lambda g, x: matmul(arithmetic.conjugate(x), g, trans_x=True),
)


def _infer_mv(x: Spec, vec: Spec) -> Spec:
    if x.ndim != 2 or vec.ndim != 1:
        raise ShapeError(f"mv: x is {x} and vec is {vec}; x must be a matrix, vec a vector")
    return _infer_matmul(x, vec)


@traits.holomorphic
@op("mv", infer=_infer_mv)
def mv(xp, x, vec):
    """A matrix times a vector."""
    if x.ndim != 2 or vec.ndim != 1 or x.dtype != vec.dtype:
        raise ValueError("wrong shapes")  # inference explains the error
    return xp.matmul(x, vec)


mv.grad(
    x=lambda g, vec: arithmetic.multiply(shape.unsqueeze(g, axes=[1]), shape.unsqueeze(vec, axes=[0])),
    vec=lambda g, x: matmul(x, g, trans_x=True),
)


def _infer_addmm(input: Spec, x: Spec, y: Spec, **_: Any) -> Spec:
    require_same_dtype("addmm", input=input, x=x, y=y)
    if x.ndim != 2 or y.ndim != 2:
        raise ShapeError(f"addmm: x is {x} and y is {y}; both must be matrices")
    made = _infer_matmul(x, y)
    got = broadcast_shapes("addmm", input.shape, made.shape) if input.ndim in (1, 2) else ()
    if not _may_be_equal(got, made.shape):
        raise ShapeError(f"addmm: input is {input}, x @ y {made}; input must be broadcast to that shape")
    return made


@traits.holomorphic
@traits.broadcasts
@op("addmm", infer=_infer_addmm)
def addmm(xp, input, x, y, *, alpha=1.0, beta=1.0):
    """beta * input + alpha * (x @ y)."""
    alike = input.dtype == x.dtype == y.dtype
    if x.ndim != 2 or y.ndim != 2 or input.ndim not in (1, 2) or not alike:
        raise ValueError("wrong shapes")  # inference explains the error
    number = x.dtype.type
    made = product(xp, x, y)
    found = number(beta) * input + (made if alpha == 1 else number(alpha) * made)
    if found.shape != made.shape:
        raise ValueError("input is too large")  # inference explains the error
    return found


addmm.grad(
    input=lambda g, beta: arithmetic.scale(g, scale=beta),
    x=lambda g, y, alpha: arithmetic.scale(matmul(g, y, trans_y=True), scale=alpha),
    y=lambda g, x, alpha: arithmetic.scale(matmul(x, g, trans_x=True), scale=alpha),
)


def _infer_cross(x: Spec, y: Spec, *, dim: int) -> Spec:
    require_same_dtype("cross", x=x, y=y)
    if dim == 9:
        dim = next((x.shape.index(size) for size in (3, -1) if size in x.shape), 0)
    axis = normal_axis("cross", dim, x.ndim)
    if not _may_be_equal(x.shape, y.shape) or x.ndim == 0 or x.shape[axis] not in (3, -1):
        raise ShapeError(
            f"cross: x is {x} and y is {y}; both need one shape, with 3 elements along axis {dim}"
        )
    return x


@traits.holomorphic
@op("cross", infer=_infer_cross)
def cross(xp, x, y, *, dim: Count):
    """The cross product of vectors of 3 elements along an axis; 9 stands for the first of that size."""
    dim = x.shape.index(3) if dim == 9 and 3 in x.shape else dim
    if x.ndim <= dim or x.shape != y.shape or x.dtype != y.dtype or x.ndim == 0 or x.shape[dim] != 3:
        raise ValueError("wrong shapes")  # inference explains the error
    a, b = xp.moveaxis(x, dim, 0), xp.moveaxis(y, dim, 0)
    found = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return xp.stack(found, axis=dim)


cross.grad(x=lambda g, y, dim: cross(y, g, dim=dim), y=lambda g, x, dim: cross(g, x, dim=dim))


def _infer_norm(x: Spec, **_: Any) -> Spec:
    require_floating("squared_l2_norm", x=x)
    return Spec((1,), x.dtype)


@op("squared_l2_norm", infer=_infer_norm)
def squared_l2_norm(xp, x):
    """Sum of squares over everything, as one element."""
    flat = x.reshape(-1)
    return xp.dot(flat, flat).reshape(1)


squared_l2_norm.grad(x=lambda g, x: shape.reshape(g, shape=[]) * x * 2.0)


def _infer_frobenius(x: Spec, *, dim: Any = (), keep_dim: bool = False, reduce_all: bool = False) -> Spec:
    require_floating("frobenius_norm", x=x)
    return x.with_shape(reduced_shape("frobenius_norm", x.shape, dim, keep_dim, reduce_all))


@op("frobenius_norm", infer=_infer_frobenius)
def frobenius_norm(xp, x, *, dim: Count = (), keep_dim=False, reduce_all=False):
    """The root of the sum of squares over axes; its gradient at 0 is 0."""
    axes = None if reduce_all or not dim else normal_axes("frobenius_norm", dim, x.ndim)
    return xp.sqrt(xp.sum(xp.square(x), axis=axes, keepdims=keep_dim, dtype=x.dtype))


def _frobenius_grad(g: Any, x: Any, out: Any, dim: Any, keep_dim: bool, reduce_all: bool) -> Any:
    where = {"axis": dim, "keepdim": keep_dim, "reduce_all": reduce_all}
    safe = out + arithmetic.cast(out == 0.0, out_dtype=x.dtype)
    return reduce.spread(g / safe, x, **where) * x


frobenius_norm.grad(x=_frobenius_grad)


# -- product and bias as one operator, which small eager layers apply; a Program has the two -----------------
def _infer_linear(x: Spec, y: Spec, bias: Spec) -> Spec:
    dtype = require_same_dtype("linear", x=x, y=y, bias=bias)
    fits = x.ndim == y.ndim == 2 and _may_be_equal(x.shape[1:], y.shape[:1])
    if not fits or not _may_be_equal(y.shape[1:], bias.shape):
        raise ShapeError(f"linear: x is {x}, y {y} and bias {bias}; use matrices and a vector that fit")
    return Spec((x.shape[0], y.shape[1]), dtype)


@op("linear", infer=_infer_linear)
def linear(xp, x, y, bias):
    """x @ y + bias for x [rows, in], y [in, out] and bias [out]."""
    made = product(xp, x, y)
    made += bias
    return made


def _infer_linear_grad(g_in: Spec, x: Spec, y: Spec, *, with_x: bool) -> tuple[Spec | None, Spec, Spec]:
    return x if with_x else None, y, y.with_shape(y.shape[1:])


@op("linear_grad", infer=_infer_linear_grad, outputs=("x_grad", "y_grad", "bias_grad"))
def linear_grad(xp, g_in, x, y, *, with_x=True):
    """The gradients of x (None without it), y and bias."""
    x_grad = product(xp, g_in, y.T) if with_x else None
    return x_grad, product(xp, x.T, g_in), summed(xp, g_in, (0,))


@linear.grad_all("x", "y", "bias")
def _linear_rule(g: Any, x: Any, y: Any, wanted: frozenset[str]) -> Any:
    return linear_grad(g, x, y, with_x="x" in wanted)


@linear_grad.grad_all("g_in", "x", "y")
def _linear_grad_rule(
    g_x_grad: Any, g_y_grad: Any, g_bias_grad: Any, g_in: Any, x: Any, y: Any, wanted: frozenset[str]
) -> Any:
    of_g = of_x = of_y = None
    if "g_in" in wanted:
        terms = [] if g_x_grad is None else [matmul(g_x_grad, y)]
        terms += [] if g_y_grad is None else [matmul(x, g_y_grad)]
        if g_bias_grad is not None:
            terms.append(arithmetic.add(creation.fill_like(g_in), g_bias_grad))
        of_g = terms[0]
        for term in terms[1:]:
            of_g = arithmetic.add(of_g, term)
    if "x" in wanted and g_y_grad is not None:
        of_x = matmul(g_in, g_y_grad, trans_y=True)
    if "y" in wanted and g_x_grad is not None:
        of_y = matmul(g_x_grad, g_in, trans_x=True)
    return of_g, of_x, of_y
