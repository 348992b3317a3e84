"""``paddle.sparse``: sparse tensors, COO and CSR."""

from engine.sparse import nn as nn
from engine.tensor.sparse.binary import add, divide, is_same_shape, multiply, subtract
from engine.tensor.sparse.conversion import coalesce
from engine.tensor.sparse.creation import sparse_coo_tensor, sparse_csr_tensor
from engine.tensor.sparse.lowrank import pca_lowrank
from engine.tensor.sparse.products import addmm, masked_matmul, matmul, mv
from engine.tensor.sparse.rearranging import reshape, slice, sum, transpose
from engine.tensor.sparse.unary import (
    abs,
    asin,
    asinh,
    atan,
    atanh,
    cast,
    deg2rad,
    expm1,
    isnan,
    log1p,
    neg,
    pow,
    rad2deg,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)

__all__ = [
    "abs",
    "add",
    "addmm",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cast",
    "coalesce",
    "deg2rad",
    "divide",
    "expm1",
    "is_same_shape",
    "isnan",
    "log1p",
    "masked_matmul",
    "matmul",
    "multiply",
    "mv",
    "neg",
    "pca_lowrank",
    "pow",
    "rad2deg",
    "reshape",
    "sin",
    "sinh",
    "slice",
    "sparse_coo_tensor",
    "sparse_csr_tensor",
    "sqrt",
    "square",
    "subtract",
    "sum",
    "tan",
    "tanh",
    "transpose",
]
