"""Linear and bilinear maps, cosines and label smoothing with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.eager.mode import is_unseen
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic, extremes, power
from engine.ops.linalg import products as linalg
from engine.ops.reductions import reduce
from engine.program.build.calls import called, named, starts
from engine.program.text.naming import Naming
from engine.tensor.arguments.factories import require_one_dtype
from engine.tensor.arguments.sizes import number_of
from engine.tensor.math import add
from engine.tensor.tensor_like import AnyTensor

_LINEAR = Naming("linear")


def linear(x: AnyTensor, weight: AnyTensor, bias: AnyTensor | None = None, name: str | None = None) -> Any:
    """``x @ weight + bias`` for x [..., in], weight [in, out] and bias [out]."""
    if starts(_LINEAR):
        return called(_LINEAR, name, linear, x, weight, bias)
    if bias is not None and _is_small(x, weight, bias):
        return linalg.linear(x, weight, bias)
    out = linalg.matmul(x, weight)
    if bias is None:
        return out
    return arithmetic.add(out, bias) if bias.dtype is out.dtype else add(out, bias)


# Multiplications of a layer that eager execution applies as one operator, at most: about 20 us of one thread.
_SMALL = 1 << 20


def _is_small(x: Any, weight: Any, bias: Any) -> bool:
    """Whether a layer is so small that two operators take longer to be applied than to compute.

    Only where nothing sees them, and where both would accept their inputs: other cases have their errors.
    """
    if not is_unseen(x, weight, bias):
        return False
    a, b, c = x._array, weight._array, bias._array
    if not (a.ndim == b.ndim == 2 and a.dtype is b.dtype is c.dtype and a.dtype.kind == "f"):
        return False
    return bool(a.shape[1:] == b.shape[:1] and b.shape[1:] == c.shape and a.size * c.size <= _SMALL)


def bilinear(
    x1: AnyTensor, x2: AnyTensor, weight: AnyTensor, bias: AnyTensor | None = None, name: str | None = None
) -> Any:
    """``x1[n] @ weight[k] @ x2[n] + bias[k]`` for each sample n and output k.

    x1 is [N, in1], x2 [N, in2], weight [out, in1, in2], bias [1, out]; the result is [N, out]. Raises
    ShapeError where they do not fit.
    """
    if name:
        return named(name, bilinear, x1, x2, weight, bias)
    if x1.ndim != 2 or x2.ndim != 2 or weight.ndim != 3:
        raise ShapeError(
            f"bilinear: x1 and x2 are [N, size], weight [out, in1, in2]: got {list(x1.shape)}, "
            f"{list(x2.shape)} and {list(weight.shape)}"
        )
    outputs, first, second = (int(d) for d in weight.shape)
    rows = shape.reshape(shape.transpose(weight, axis=[1, 0, 2]), shape=[first, outputs * second])
    samples = x1.shape[0] if outputs * second == 0 else -1
    through = shape.reshape(linalg.matmul(x1, rows), shape=[samples, outputs, second])
    out = linalg.matmul(through, shape.unsqueeze(x2, axes=[2]))  # [N, out, 1]
    out = shape.squeeze(out, axes=[2])
    return out if bias is None else arithmetic.add(out, bias)


def cosine_similarity(x1: AnyTensor, x2: AnyTensor, axis: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between x1 and x2 along ``axis``; the lengths' product is at least ``eps``."""
    require_one_dtype("cosine_similarity", x1=x1, x2=x2)
    along = {"axis": [axis], "keepdim": False, "reduce_all": False}
    first = reduce.sum(power.square(x1), **along)
    second = reduce.sum(power.square(x2), **along)
    least = number_of(eps)
    lengths = power.sqrt(extremes.clip(first * second, min=least * least))
    return reduce.sum(arithmetic.multiply(x1, x2), **along) / lengths


def label_smooth(
    label: AnyTensor, prior_dist: AnyTensor | None = None, epsilon: float = 0.1, name: str | None = None
) -> Any:
    """``(1 - epsilon) * label + epsilon * prior``; the prior is even over the last dimension by default."""
    if name:
        return named(name, label_smooth, label, prior_dist, epsilon)
    if not 0 <= epsilon <= 1:
        raise ArgumentError(f"label_smooth: epsilon must be a share, 0 to 1: got {epsilon}")
    if prior_dist is None:
        classes = label.shape[-1]
        none = isinstance(classes, int) and classes == 0  # else it may be a Variable that a run counts
        return arithmetic.scale(label, scale=1.0 - epsilon, bias=0.0 if none else epsilon / classes)
    return arithmetic.add(
        arithmetic.scale(label, scale=1.0 - epsilon), arithmetic.scale(prior_dist, scale=float(epsilon))
    )
