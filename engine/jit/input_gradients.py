"""Gradients of a Program's outputs with respect to some of its inputs, recorded on no tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.core import mode as modes
from engine.eager.tensor import Tensor
from engine.jit.run_program import ProgramRunner


def input_gradients(
    runner: ProgramRunner,
    tensors: Sequence[Tensor],
    wanted: tuple[int, ...],
    incoming: Callable[[list[Tensor]], Sequence[Tensor | None]],
) -> tuple[list[Tensor], list[Tensor]]:
    """The outputs, and the gradients of the inputs at ``wanted``, without those that have none.

    Those of the weights are not computed. ``incoming`` gives the gradients of the outputs, None for zeros.

    Raises GradientError for an operator on the way that has no gradient.
    """
    everything = [*tensors, *[v.tensor for v in runner.bound]]
    arrays = [t._array for t in everything]
    key = (arrays[0].__class__, *[(a.shape, a.dtype) for a in arrays[: len(tensors)]])
    with modes.use(modes.current().with_grad(False)):
        run, outputs, activation = runner.forward_run(key, wanted, everything, arrays)
        return outputs, runner.backward(run, activation, incoming(outputs)) if run.wanted else []
