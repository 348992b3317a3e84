"""Several elementwise operators as one: plans build them from chains and trees.

Values are numbered: the inputs first, then the result of each step. The operator gives the bits, and the
layout in memory, that the operators give one by one.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from engine.core.errors import ArgumentError
from engine.core.operators import traits
from engine.core.operators.opdef import OPS, op
from engine.core.values.spec import Spec

if TYPE_CHECKING:
    from engine.kernels.cpu.fused_elementwise import Loop

# The name of an operator, the numbers of the values that it reads, its attributes.
Step = tuple[str, tuple[int, ...], tuple[tuple[str, Any], ...]]


class Steps(tuple[Step, ...]):
    """Steps that cache the code written for them, from call to call."""

    @cached_property
    def loop(self) -> Loop:
        """Computes the steps in NumPy or CuPy."""
        from engine.kernels.cpu.fused_elementwise import Loop  # with the first one, not with the engine

        return Loop(self)

    @cached_property
    def launches(self) -> dict[Any, Any]:
        """The launches of a GPU for these steps, by outputs and layouts of the arrays; its kernel bounds
        it."""
        return {}


def _infer(xs: list[Spec], *, steps: tuple[Step, ...], outputs: tuple[int, ...]) -> list[Spec]:
    values = list(xs)
    for name, read, attrs in steps:
        if any(not 0 <= n < len(values) for n in read):
            raise ArgumentError(
                f"fused_elementwise: step {name} reads values {list(read)}: only 0 to {len(values) - 1} are "
                "made before it; number the inputs first, then the steps in order"
            )
        values += OPS[name].infer_specs([values[n] for n in read], dict(attrs))
    return [values[n] for n in outputs]


# Opaque: files and untrusted Programs contain the operators that it combines.
@traits.opaque
@op(
    "fused_elementwise",
    infer=_infer,
    outputs=("outs",),
    output_list="outs",
    slots={"xs": "X", "outs": "Out"},
)
def fused_elementwise(xp, xs: list, *, steps, outputs, out=None):
    """The values numbered ``outputs`` after ``steps``: (operator, numbers of its inputs, attributes) each.

    ``out`` has an array to write into, or None, for each output. It may be the array of an input that no step
    after the one that makes the output reads.
    """
    program = steps if isinstance(steps, Steps) else Steps(steps)
    return program.loop(xp, xs, outputs, out)
