"""Gradients with respect to tensors: eager ones by the tape, Variables by operators of the Program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast

from engine.core import mode as modes
from engine.core.containers.identity import IdentitySet
from engine.core.errors import ArgumentError, BlockGradientError, DTypeError, GradientError, ShapeError
from engine.core.frames import located, user_frame
from engine.core.operators.operator import Operator
from engine.eager import backward as eager
from engine.eager.tensor import Tensor
from engine.ops.arrays import creation
from engine.program.backward.inline_gradients import inline_gradients
from engine.program.build.builder import Builder, current_builder
from engine.program.graph.liveness import arguments, needed
from engine.program.graph.program import Block, Variable

Tensors: TypeAlias = Tensor | Variable | Sequence[Tensor | Variable]


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensor | Variable | Sequence[Tensor | Variable | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Tensor | Variable | Iterable[Tensor | Variable] | None = None,
) -> list[Any]:
    """Gradients of ``outputs`` with respect to ``inputs``, touching no ``grad``.

    With ``create_graph`` the result can be differentiated again. Nothing flows into ``no_grad_vars``. Raises
    GradientError for an input that the outputs do not depend on, unless ``allow_unused`` (then its gradient
    is None). While a Program is built the operators that compute the gradients are appended to it.
    """
    builder = current_builder()
    if builder is None:
        return list(
            eager.grad(
                cast(Any, outputs),
                cast(Any, inputs),
                cast(Any, grad_outputs),
                retain_graph,
                create_graph,
                only_inputs,
                allow_unused,
                cast(Any, no_grad_vars),
            )
        )
    if not only_inputs:
        raise ArgumentError("grad: only_inputs=False is not supported by Paddle either; leave it True")
    found = _in_program(
        builder,
        _variables(builder, "outputs", outputs),
        _variables(builder, "inputs", inputs),
        grad_outputs,
        create_graph,
        _variables(builder, "no_grad_vars", [] if no_grad_vars is None else no_grad_vars),
    )
    for n, value in enumerate(found):
        if value is None and not allow_unused:
            whole = builder.block is builder.program.global_block()
            error = (GradientError if whole else BlockGradientError)(
                f"grad: in this block of the Program the outputs do not depend on inputs[{n}]; pass "
                "allow_unused=True to get None for it"
            )
            raise located(error, user_frame())
    return found


def _in_program(
    builder: Builder,
    outputs: list[Any],
    inputs: list[Any],
    starts: Any,
    create_graph: bool,
    blocked: list[Any],
) -> list[Any]:
    given = [starts] if starts is None or not isinstance(starts, (list, tuple)) else list(starts)
    given = given * len(outputs) if len(given) == 1 and given[0] is None else given
    if len(given) != len(outputs):
        raise ArgumentError(f"grad: {len(outputs)} outputs but {len(given)} grad_outputs; pass one for each")
    ops = _ops_so_far(builder.block, outputs, inputs)
    opened = [v for v in inputs if v.stop_gradient]
    if opened:
        raise GradientError(
            f"grad: {opened[0].name!r} has stop_gradient=True; set it to False before the computation"
        )
    begun: list[tuple[Variable, Any]] = []
    with modes.use(builder.with_grad(create_graph).with_precision(None)):
        for output, start in zip(outputs, given, strict=True):
            if start is None:
                start = creation.fill_like(output, value=1.0)
            elif list(start.shape) != list(output.shape):
                raise ShapeError(
                    f"grad: the gradient has shape {list(start.shape)}: the output {list(output.shape)}"
                )
            begun.append((output, start))
        return inline_gradients(ops, begun, inputs, IdentitySet(blocked))


def _ops_so_far(block: Block, outputs: list[Any], inputs: list[Any]) -> tuple[Operator, ...]:
    """The operators that ran when those of a block do, without what other iterations of a loop compute.

    Raises BlockGradientError where these count: an output depends on a value that the loop carries, and the
    gradient is that of a value from before the loop.
    """
    found: list[Operator] = []
    inside: list[Block] = []
    for each in block.lineage():
        if each.loops:
            if any(not any(v.block is own for own in (*inside, each)) for v in inputs):
                _require_no_carried(each, found, outputs)
            break
        inside.append(each)
        found[:0] = each.ops
    return tuple(found)


def _require_no_carried(loop: Block, ops: list[Operator], outputs: list[Any]) -> None:
    read = [v for operator in needed(ops, outputs) for v in arguments(operator)]
    carried = [v for v in (*read, *outputs) if v.block is loop and not v.stop_gradient]
    if carried:
        error = BlockGradientError(
            f"grad: the outputs depend on {carried[0].spec} that earlier iterations of a loop computed; a "
            "Program does not keep them for a gradient in the loop: call grad behind the loop, or loop over "
            "a Python range"
        )
        raise located(error, user_frame())


def _variables(builder: Builder, name: str, values: object) -> list[Any]:
    listed = list(values) if isinstance(values, (list, tuple, set, frozenset)) else [values]
    if not all(isinstance(v, (Variable, Tensor)) for v in listed):
        raise DTypeError(f"grad: {name} is a Tensor or a list of them: got {type(values).__name__}")
    return [builder.result(v) for v in listed]
