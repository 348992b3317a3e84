"""A weight divided by its largest singular value, estimated by power iteration."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError
from engine.core.operators.bounds import Turns
from engine.core.operators.infer import normal_axis, require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.kernels.cpu.products import product
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic, power
from engine.ops.linalg import products as linalg


def _infer(weight: Spec, u: Spec, v: Spec, *, dim: int = 0, **_: Any) -> Spec:
    require_floating("spectral_norm", weight=weight)
    require_same_dtype("spectral_norm", weight=weight, u=u, v=v)
    rows = weight.shape[normal_axis("spectral_norm", dim, weight.ndim)]
    columns = weight.size // rows if weight.known and rows else -1
    for name, spec, size in (("u", u, rows), ("v", v, columns)):
        if spec.ndim != 1 or (-1 not in (size, spec.shape[0]) and spec.shape[0] != size):
            raise ShapeError(
                f"spectral_norm: weight is {weight} and dim {dim}, so {name} needs shape [{size}]: got "
                f"{spec}; make weight_shape of the layer the weight's"
            )
    return weight


def _iterated(xp: Any, weight: Any, u: Any, v: Any, dim: int, power_iters: int, eps: float) -> Any:
    """The weight as a matrix, and its singular vectors after some steps."""
    matrix = xp.moveaxis(weight, dim, 0).reshape(weight.shape[dim], -1)
    small = weight.dtype.type(eps)
    for _ in range(power_iters):
        v = product(xp, matrix.T, u)
        v = v / (xp.sqrt(product(xp, v, v)) + small)
        u = product(xp, matrix, v)
        u = u / (xp.sqrt(product(xp, u, u)) + small)
    return matrix, u, v


@op("spectral_norm", infer=_infer, slots={"weight": "Weight", "u": "U", "v": "V"})
def spectral_norm(xp, weight, u, v, *, dim=0, power_iters: Turns = 1, eps=1e-12):
    """weight / (u' W v), with the rows of W along ``dim``, after ``power_iters`` steps of u and v."""
    matrix, u, v = _iterated(xp, weight, u, v, dim, power_iters, eps)
    return weight / product(xp, product(xp, u, matrix), v)


def _infer_vectors(weight: Spec, u: Spec, v: Spec, **attrs: Any) -> Any:
    _infer(weight, u, v, **attrs)
    return u, v


@op("spectral_norm_vectors", infer=_infer_vectors, outputs=("u_out", "v_out"))
def _vectors(xp, weight, u, v, *, dim=0, power_iters: Turns = 1, eps=1e-12):
    """u and v after ``power_iters`` steps; they count as constants."""
    _, u, v = _iterated(xp, weight, u, v, dim, power_iters, eps)
    return u.copy(), v.copy()


@spectral_norm.grad_all("weight")
def _rule(g: Any, weight: Any, u: Any, v: Any, dim: int, **attrs: Any) -> Any:
    u, v = _vectors(weight, u, v, dim=dim, **attrs)
    rank = weight.ndim
    front = [dim % rank, *[n for n in range(rank) if n != dim % rank]]
    back = [front.index(n) for n in range(rank)]

    def flat(value: Any) -> Any:
        moved = shape.transpose(value, axis=front)
        return shape.flatten(moved, start_axis=1) if rank > 1 else shape.unsqueeze(moved, axes=[1])

    def row(value: Any) -> Any:
        return shape.reshape(value, shape=[1, -1])

    def column(value: Any) -> Any:
        return shape.reshape(value, shape=[-1, 1])

    sigma = linalg.matmul(linalg.matmul(row(u), flat(weight)), column(v))
    through = linalg.matmul(row(flat(g)), column(flat(weight)))
    across = arithmetic.multiply(
        arithmetic.divide(through, power.square(sigma)), arithmetic.multiply(column(u), row(v))
    )
    found = arithmetic.subtract(arithmetic.divide(flat(g), sigma), across)
    return shape.transpose(shape.reshape_to(found, shape.transpose(weight, axis=front)), axis=back)
