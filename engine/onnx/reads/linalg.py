"""Rows of ``engine.ops.linalg``."""

from __future__ import annotations

from typing import Any

from engine.onnx.reads.rows import reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import like


def _floating(*tensors: Any) -> tuple[list[Any], str | None]:
    """Integers as float64, which the engine's products take, and the dtype of the result."""
    name = tensors[0].dtype.name
    if not tensors[0].dtype.is_integer:
        return list(tensors), None
    return [T.cast(x, "float64") for x in tensors], name


@reads("MatMul")
def _(A: Any, B: Any) -> Any:
    (a, b), name = _floating(A, B)
    made = T.matmul(a, b)
    return made if name is None else T.cast(made, name)


@reads("Gemm")
def _(
    A: Any, B: Any, C: Any = None, *, alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0
) -> Any:
    (a, b), name = _floating(A, B)
    made = T.matmul(a, b, transpose_x=bool(transA), transpose_y=bool(transB))
    if alpha != 1.0:
        made = T.multiply(made, like(alpha, made))
    if C is not None and beta != 0.0:
        c = C if name is None else T.cast(C, "float64")
        made = T.add(made, c if beta == 1.0 else T.multiply(c, like(beta, c)))
    return made if name is None else T.cast(made, name)


@reads("Det")
def _(X: Any) -> Any:
    return T.det(X)


@reads("Einsum")
def _(*Inputs: Any, equation: str) -> Any:
    return T.einsum(equation.replace(" ", ""), *Inputs)
