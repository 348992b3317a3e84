"""Products with sparse matrices."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError, UnsupportedError
from engine.eager.sparse import Sparse
from engine.ops.arrays import shape as shapes
from engine.ops.sparse import patterns, products, rows
from engine.tensor import math
from engine.tensor.sparse import parts
from engine.tensor.sparse.binary import add
from engine.tensor.sparse.unary import scaled
from engine.tensor.tensor_like import AnyTensor


def matmul(x: Sparse, y: AnyTensor | Sparse, name: str | None = None) -> Any:
    """The matrix product of a sparse x, [m, k] or [batch, m, k], with y.

    A dense y gives a dense result, a sparse y of the same layout a sparse one. Works on the CPU too, where
    Paddle 2.6 has no kernel.
    """
    parts.require_sparse("matmul", x=x)
    _require_matrices("matmul", x, y)
    if not isinstance(y, Sparse):
        return _times_dense("matmul", x, y)
    if x.is_sparse_csr() != y.is_sparse_csr():
        raise UnsupportedError("matmul: x and y must both be COO or both be CSR; convert one of them")
    return _times_sparse(x, y)


def _require_matrices(where: str, x: Any, y: Any) -> None:
    a, b = list(x.shape), list(y.shape)
    if len(a) not in (2, 3) or len(a) != len(b) or a[-1] != b[-2] or a[:-2] != b[:-2]:
        raise ShapeError(f"{where}: needs [m, k] and [k, n], or a batch of both: got {a} and {b}")
    for value in (x, y):
        if isinstance(value, Sparse) and value.depth != value.ndim:
            raise UnsupportedError(
                f"{where}: all dimensions must be sparse: {list(value.shape)} has {value.depth}"
            )


def flat_places(x: Sparse) -> tuple[Any, Any]:
    """Row and column of each element if the matrices of a batch form one block diagonal."""
    indices = x.coordinates()
    if x.ndim == 2:
        return indices[0], indices[1]
    _, height, width = x.shape
    return indices[0] * height + indices[1], indices[0] * width + indices[2]


def _times_dense(where: str, x: Sparse, y: Any) -> Any:
    if y.dtype is not x.dtype:
        y = math.cast(y, x.dtype)
    flat_rows, flat_columns = flat_places(x)
    width = y.shape[-1]
    flat = y if x.ndim == 2 else shapes.reshape(y, shape=[-1, width])
    height = x.shape[-2] if x.ndim == 2 else x.shape[0] * x.shape[1]
    out = products.matmul(x._values, flat_rows, flat_columns, flat, height=height)
    return out if x.ndim == 2 else shapes.reshape(out, shape=[*x.shape[:2], width])


def _times_sparse(x: Sparse, y: Sparse) -> Sparse:
    flat_columns, top = flat_places(x)[1], flat_places(y)[0]
    batches = x.shape[0] if x.ndim == 3 else 1
    first, second = patterns.pairs(flat_columns, top, height=batches * x.shape[-1])
    values = math.multiply(
        rows.take_rows(x._values, first),
        rows.take_rows(y._values if y.dtype is x.dtype else math.cast(y._values, x.dtype), second),
    )
    at_x, at_y = parts.columns(x.coordinates(), first), parts.columns(y.coordinates(), second)
    places = shapes.concat([at_x[:-1], at_y[-1:]], axis=0)
    shape = [*x.shape[:-1], y.shape[-1]]
    unique, numbers = patterns.groups(places, shape=shape)
    summed = rows.sum_rows(values, numbers, unique[0])
    make = parts.csr_of_sorted if x.is_sparse_csr() else parts.coo
    return make(unique, summed, shape)


def masked_matmul(x: AnyTensor, y: AnyTensor, mask: Sparse, name: str | None = None) -> Sparse:
    """The product of dense matrices x and y at the positions of a sparse ``mask``, whose values do not
    matter.

    Works on the CPU too, where Paddle 2.6 has no kernel, and for COO masks.
    """
    parts.require_sparse("masked_matmul", mask=mask)
    _require_matrices("masked_matmul", x, y)
    if list(mask.shape) != [*x.shape[:-1], y.shape[-1]] or isinstance(x, Sparse) or isinstance(y, Sparse):
        raise ShapeError(
            f"masked_matmul: x and y must be dense, and mask of the shape of their product: "
            f"got {list(x.shape)}, {list(y.shape)} and {list(mask.shape)}"
        )
    flat_rows, flat_columns = flat_places(mask)
    last = y.ndim - 1
    turned = shapes.transpose(y, axis=[*range(last - 1), last, last - 1])
    if x.ndim == 3:
        x, turned = (shapes.reshape(m, shape=[-1, m.shape[-1]]) for m in (x, turned))
    return mask.with_values(products.sampled_matmul(x, turned, flat_rows, flat_columns))


def mv(x: Sparse, vec: AnyTensor, name: str | None = None) -> Any:
    """The product of a sparse matrix and a dense vector.

    Works on the CPU too, where Paddle 2.6 has no kernel.
    """
    parts.require_sparse("mv", x=x)
    if x.ndim != 2 or vec.ndim != 1:
        raise ShapeError(f"mv: needs a matrix and a vector: got {list(x.shape)} and {list(vec.shape)}")
    column = shapes.unsqueeze(vec, axes=[1])
    _require_matrices("mv", x, column)
    return shapes.squeeze(_times_dense("mv", x, column), axes=[1])


def addmm(
    input: AnyTensor | Sparse,
    x: Sparse,
    y: AnyTensor | Sparse,
    beta: float = 1.0,
    alpha: float = 1.0,
    name: str | None = None,
) -> Any:
    """beta * input + alpha * (x @ y): a dense input and y, or all three sparse in the same layout.

    Works on the CPU too, where Paddle 2.6 has no kernel.
    """
    product = matmul(x, y)
    if list(input.shape) != list(product.shape):
        raise ShapeError(f"addmm: input must be {list(product.shape)} like x @ y: got {list(input.shape)}")
    if isinstance(input, Sparse) != isinstance(product, Sparse):
        raise UnsupportedError(
            "addmm: input and x @ y must both be dense or both be sparse; convert one of them"
        )
    if isinstance(input, Sparse):
        return add(scaled(input, beta), scaled(product, alpha))
    return math.add(math.scale(input, beta), math.scale(product, alpha))
