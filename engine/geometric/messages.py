"""Messages along the edges of a graph: from nodes to their neighbours, with what edges hold."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError
from engine.ops.graphs import segments
from engine.program.build.calls import takes_name
from engine.tensor import creation, manipulation, math
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.elements.scattering import gather
from engine.tensor.tensor_like import AnyTensor, IntegerLike

_REDUCTIONS = ("sum", "mean", "max", "min")
_MESSAGES = ("add", "sub", "mul", "div")


def _chosen(where: str, what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        allowed = ", ".join(f"`{choice}`" for choice in choices)
        raise ArgumentError(f"{where}: {what} should be one of {allowed}: got {value!r}")


def _received(where: str, messages: Any, dst_index: Any, reduce_op: str, out_size: Any, x: Any) -> Any:
    like, size = x, 0
    if is_tensor(out_size):
        if not out_size.dtype.is_integer:
            raise DTypeError(f"{where}: out_size must be int32 or int64: got {out_size.dtype}; cast it")
        if modes.current().static:
            like = creation.zeros(manipulation.reshape(out_size, [1]), messages.dtype)
        else:
            size = int(out_size.numpy().reshape(-1)[0])
    elif out_size is not None:
        size = int(out_size)
    return segments.segment_pool(
        messages, dst_index, like, pooltype=reduce_op.upper(), size=max(size, 0), rising=False
    )


def _alike(*values: Any) -> list[Any]:
    """All with at least two dimensions, and as many, so that those behind the first are broadcast."""
    most = max(2, *(value.ndim for value in values))
    return [
        value if value.ndim == most else manipulation.unsqueeze(value, list(range(1, 1 + most - value.ndim)))
        for value in values
    ]


def _message(x: Any, y: Any, message_op: str) -> Any:
    if message_op == "add":
        return math.add(x, y)
    if message_op == "sub":
        return math.add(x, -y)
    return math.multiply(x, y if message_op == "mul" else 1.0 / (y + 1e-12))


@takes_name
def send_u_recv(
    x: AnyTensor,
    src_index: AnyTensor,
    dst_index: AnyTensor,
    reduce_op: str = "sum",
    out_size: IntegerLike | None = None,
    name: str | None = None,
) -> Any:
    """The rows of nodes sent along edges, and reduced where they meet.

    Args:
        x: the nodes' rows [nodes, ...].
        src_index: where each edge begins, [edges].
        dst_index: where it ends, [edges].
        reduce_op: 'sum', 'mean', 'max' or 'min'. A node that nothing reaches is 0.
        out_size: rows of the result, a number or a Tensor; as many as of ``x`` for None and below 1.
        name: of the result in a Program.

    Raises:
        ArgumentError: another reduction.
        OutOfRangeError: an index outside the nodes.
    """
    _chosen("send_u_recv", "reduce_op", reduce_op, _REDUCTIONS)
    return _received("send_u_recv", gather(x, src_index), dst_index, reduce_op, out_size, x)


@takes_name
def send_ue_recv(
    x: AnyTensor,
    y: AnyTensor,
    src_index: AnyTensor,
    dst_index: AnyTensor,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: IntegerLike | None = None,
    name: str | None = None,
) -> Any:
    """As ``send_u_recv``, where the rows sent are combined with those of the edges, ``y`` [edges, ...].

    ``message_op`` is 'add', 'sub', 'mul' or 'div'. All dimensions but the first are broadcast; one dimension
    becomes [n, 1].
    """
    _chosen("send_ue_recv", "message_op", message_op, _MESSAGES)
    _chosen("send_ue_recv", "reduce_op", reduce_op, _REDUCTIONS)
    x, y = _alike(x, y)
    messages = _message(gather(x, src_index), y, message_op)
    return _received("send_ue_recv", messages, dst_index, reduce_op, out_size, x)


@takes_name
def send_uv(
    x: AnyTensor,
    y: AnyTensor,
    src_index: AnyTensor,
    dst_index: AnyTensor,
    message_op: str = "add",
    name: str | None = None,
) -> Any:
    """For each edge, the row of ``x`` where it begins with that of ``y`` where it ends.

    ``message_op`` is 'add', 'sub', 'mul' or 'div'. Raises ArgumentError for another.
    """
    _chosen("send_uv", "message_op", message_op, _MESSAGES)
    x, y = _alike(x, y)
    return _message(gather(x, src_index), gather(y, dst_index), message_op)
