"""The methods and operators of sparse tensors."""

from __future__ import annotations

from typing import Any

from engine.core.errors import UnsupportedError
from engine.eager.sparse import Sparse, SparseTensor
from engine.tensor.members.printing import sparse_text
from engine.tensor.sparse import binary, conversion, products, rearranging, unary

_NAMED = {
    unary: "sin tan asin atan sinh tanh asinh atanh sqrt square log1p abs neg deg2rad rad2deg expm1 pow "
    "isnan",
    binary: "add subtract multiply divide is_same_shape",
    products: "matmul mv addmm masked_matmul",
    rearranging: "transpose reshape sum slice",
    conversion: "coalesce to_sparse_coo to_sparse_csr",
}


def _astype(x: Any, dtype: Any) -> Any:
    """The tensor with values of another dtype."""
    return unary.cast(x, None, dtype)


def _negative(x: Any) -> Any:
    return unary.neg(x)


def _refused(symbol: str) -> Any:
    def method(x: Any, other: Any) -> Any:
        raise UnsupportedError(
            f"{symbol}: zero would not stay zero in a sparse tensor of shape {list(x.shape)}; use to_dense()"
        )

    return method


def _attach() -> None:
    for module, names in _NAMED.items():
        for name in names.split():
            setattr(Sparse, name, getattr(module, name))
    operators: dict[str, Any] = {
        "astype": _astype,
        "cast": _astype,
        "__add__": binary.add,
        "__sub__": binary.subtract,
        "__mul__": binary.multiply,
        "__truediv__": binary.divide,
        "__matmul__": products.matmul,
        "__pow__": unary.pow,
        "__neg__": _negative,
        "__abs__": unary.abs,
        "__rmul__": lambda x, other: binary.multiply(x, other),
        "__radd__": _refused("+"),
        "__rsub__": _refused("-"),
        "__rtruediv__": _refused("/"),
        "T": property(lambda x: rearranging.transpose(x, list(range(x.ndim))[::-1])),
    }
    for name, function in operators.items():
        setattr(Sparse, name, function)
    for name in ("__str__", "__repr__"):
        setattr(SparseTensor, name, sparse_text)


_attach()
