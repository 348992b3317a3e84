"""What one call of an operator's kernel did: bytes, floating-point operations, and the user's line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, NamedTuple

from engine.core.frames import is_internal
from engine.core.layer_calls import layer_call
from engine.core.operators import traits
from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.core.spans import Call

Shape = tuple[int, ...]

# The global name under which a plan's function has its operators by line, and the function of the tape's
# walk that has the operator whose gradients it computes as ``node``. A call of several products has as
# ``operator`` the one that it computes.
PLAN, OPERATORS, WALK, ONE_BY_ONE = "<plan>", "operators", "_timed_gradients", "_one_by_one"


class Work(NamedTuple):
    """What one call of a kernel did.

    ``file`` and ``line`` are the user's, "" and 0 where they are not known; ``bytes`` those of the arrays
    that it read and gave. ``flops``, floating-point operations, is -1 where they are not counted. ``layer``
    is the path of the call of a Layer that it ran in, ``operator`` that of the plan, which files do not have.
    """

    file: str
    line: int
    bytes: int
    flops: int
    layer: str = ""
    operator: Operator | None = None


def work_of(name: str, call: Call) -> Work:
    """The work of one call. An array that is read twice counts twice."""
    taken, given = list(_arrays(call.args)), list(_arrays((call.result,)))
    size = sum(int(a.nbytes) for a in (*taken, *given))
    (file, line), operator, layer = _origin(call.frame)
    if operator is not None:
        layer = operator.layer
    elif layer is None:
        layer = layer_call()
    shapes = [tuple(a.shape) for a in taken]
    count = flops(name, shapes, [tuple(a.shape) for a in given], call.attrs)
    return Work(file, line, size, count, layer, operator)


def shapes_of(arguments: Sequence[Any]) -> tuple[Shape, ...]:
    """The shapes of the arrays among a kernel's arguments."""
    return tuple([tuple(a.shape) for a in _arrays(arguments)])


def _arrays(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _arrays(value)
        elif hasattr(value, "nbytes") and hasattr(value, "shape"):
            yield value


class _Origin(NamedTuple):
    """Where a kernel is called from: the user's file and line, the operator of a plan, the path of a call of
    a Layer (None where it is the running one)."""

    place: tuple[str, int]
    operator: Operator | None
    layer: str | None


def _origin(frame: FrameType | None) -> _Origin:
    """The operator in a plan, or the one whose gradient is computed, has the place; else it is that of the
    innermost frame outside of the engine."""
    planned: Operator | None = None
    layer: str | None = None
    inner = frame
    while inner is not None:
        code, place = inner.f_code, None
        if code.co_filename == PLAN or code.co_name == ONE_BY_ONE:
            if planned is None:
                planned = (
                    inner.f_locals.get("operator")
                    if code.co_name == ONE_BY_ONE
                    else inner.f_globals.get(OPERATORS, {}).get(inner.f_lineno)
                )
            place = None if planned is None else planned.position
        elif code.co_name == WALK:
            node: Operator | None = inner.f_locals.get("node")
            if node is not None:
                place = node.position
                layer = getattr(node, "layer", "") if layer is None else layer  # generated code sets none
        elif not is_internal(code.co_filename):
            place = (code.co_filename, inner.f_lineno)
        if place is not None:
            return _Origin(place, planned, layer)
        inner = inner.f_back
    return _Origin(("", 0), planned, layer)


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
