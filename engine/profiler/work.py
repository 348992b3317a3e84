"""What one call of an operator's kernel did: bytes, floating-point operations, and the user's line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, NamedTuple

from engine.core.frames import is_internal
from engine.core.operators import traits
from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.core.spans import Call

Shape = tuple[int, ...]

# The global name under which a plan's function has its operators by line, and the function of the tape's
# walk that has the operator whose gradients it computes as ``node``.
PLAN, OPERATORS, WALK = "<plan>", "operators", "_timed_gradients"


class Work(NamedTuple):
    """What one call of a kernel did.

    ``file`` and ``line`` are the user's, "" and 0 where they are not known; ``bytes`` those of the arrays
    that it read and gave. ``flops``, floating-point operations, is -1 where they are not counted.
    """

    file: str
    line: int
    bytes: int
    flops: int


def work_of(name: str, call: Call) -> Work:
    """The work of one call. An array that is read twice counts twice."""
    taken, given = list(_arrays(call.args)), list(_arrays((call.result,)))
    size = sum(int(a.nbytes) for a in (*taken, *given))
    file, line = position_of(call.frame)
    shapes = [tuple(a.shape) for a in taken]
    return Work(file, line, size, flops(name, shapes, [tuple(a.shape) for a in given], call.attrs))


def shapes_of(arguments: Sequence[Any]) -> tuple[Shape, ...]:
    """The shapes of the arrays among a kernel's arguments."""
    return tuple([tuple(a.shape) for a in _arrays(arguments)])


def _arrays(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _arrays(value)
        elif hasattr(value, "nbytes") and hasattr(value, "shape"):
            yield value


def position_of(frame: FrameType | None) -> tuple[str, int]:
    """The user's file and line that a kernel runs for: of the operator in a plan, of the one whose gradient
    is computed, else of the innermost frame outside of the engine."""
    found: Operator | None = None
    inner = frame
    while inner is not None:
        code = inner.f_code
        if code.co_filename == PLAN:
            found = inner.f_globals.get(OPERATORS, {}).get(inner.f_lineno)
        elif code.co_name == WALK:
            found = inner.f_locals.get("node")
        elif not is_internal(code.co_filename):
            return code.co_filename, inner.f_lineno
        place = None if found is None else found.position
        if place is not None:
            return place
        inner = inner.f_back
    return "", 0


# -- floating-point operations -----------------------------------------------------------------------------


def flops(name: str, taken: Sequence[Shape], given: Sequence[Shape], attrs: Mapping[str, Any]) -> int:
    """Multiplications and additions of one call: two for each pair of numbers that a product multiplies, one
    for each element of an elementwise result or of what is summed up, 0 for a view; -1 where it is not known.
    """
    base = name.removesuffix("_grad")
    count = _PRODUCTS.get(base.removesuffix("_fusion"))
    try:
        if count is not None:
            return count(name != base, taken, given, attrs)
        if name.startswith("fused_elementwise("):  # its parts are named
            return (name.count(",") + 1) * max(math.prod(s) for s in given)
        if name.startswith("reduce_") and taken:
            return math.prod(taken[0])
    except (LookupError, TypeError, ValueError):  # a call that failed, or attributes that are bound elsewhere
        return -1
    opdef = OPS.get(name)
    if opdef is None or not given:
        return -1
    if opdef.view:
        return 0
    elementwise = opdef in traits.broadcasts or (opdef.has_out and base != "softmax")
    return math.prod(given[0]) if elementwise else -1


def _matmul(grad: bool, taken: Sequence[Shape], given: Sequence[Shape], attrs: Mapping[str, Any]) -> int:
    x = taken[0]
    inner = x[-2] if attrs.get("trans_x") and len(x) > 1 else x[-1]
    return 2 * math.prod(given[0]) * inner


def _mul(grad: bool, taken: Sequence[Shape], given: Sequence[Shape], attrs: Mapping[str, Any]) -> int:
    return 2 * math.prod(given[0]) * math.prod(taken[0][attrs.get("x_num_col_dims", 1) :])


def _rows(grad: bool, taken: Sequence[Shape], given: Sequence[Shape], attrs: Mapping[str, Any]) -> int:
    return 2 * math.prod(given[0]) * math.prod(taken[0][:-1])


def _convolution(grad: bool, taken: Sequence[Shape], given: Sequence[Shape], attrs: Mapping[str, Any]) -> int:
    weight = taken[1]
    places = taken[2] if grad else given[0]  # of the gradient of the result, of the result
    return 2 * math.prod(places) * math.prod(weight[1:]) * (len(given) if grad else 1)


def _transposed(grad: bool, taken: Sequence[Shape], given: Sequence[Shape], attrs: Mapping[str, Any]) -> int:
    return 2 * math.prod(taken[0]) * math.prod(taken[1][1:]) * (len(given) if grad else 1)


def _attention(grad: bool, taken: Sequence[Shape], given: Sequence[Shape], attrs: Mapping[str, Any]) -> int:
    if grad:  # the result's gradient, the weights, x, y, v; of four products as many as are wanted
        flow, weights, x = taken[:3]
        of_x, of_y, of_v = attrs["wanted"]
        width = flow[-1] * (bool(of_v) + (of_x or of_y)) + x[-1] * (bool(of_x) + bool(of_y))
    else:
        weights, width = given[1], taken[0][-1] + given[0][-1]
    count: int = 2 * math.prod(weights) * width
    return count


_PRODUCTS: dict[str, Callable[[bool, Sequence[Shape], Sequence[Shape], Mapping[str, Any]], int]] = {
    "matmul_v2": _matmul,
    "bmm": _matmul,
    "mul": _mul,
    "product_of_rows": _rows,
    "fused_attention": _attention,
    "fused_scores": _matmul,
    "conv2d": _convolution,
    "conv3d": _convolution,
    "depthwise_conv2d": _convolution,
    "conv2d_transpose": _transposed,
    "conv3d_transpose": _transposed,
    "depthwise_conv2d_transpose": _transposed,
}
