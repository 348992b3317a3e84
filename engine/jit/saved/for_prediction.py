"""Programs optimized before they are saved: for prediction only, with the weights as they are now."""

from __future__ import annotations

from engine.core.containers.identity import IdentitySet
from engine.core.errors import ArgumentError
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import Program
from engine.program.passes.inference import inference_program
from engine.program.passes.pipeline import INFERENCE, optimize


def for_prediction(programs: dict[str, Program]) -> dict[str, Program]:
    """Copies of Programs of one model, by the name of the method, after the passes for inference.

    They keep the weights that they still read, and new ones, such as filters with a batch norm in them.
    Raises ArgumentError where an operator is in the mode for training.
    """
    made = {name: _optimized(program) for name, program in programs.items()}
    known = IdentitySet(v.tensor for program in programs.values() for v in program.bound())
    for name, program in list(made.items())[1:]:  # the new weights of each method have names of their own
        names = program.global_block().vars
        for variable in program.bound():
            if variable.tensor not in known:
                old, variable.name = variable.name, f"{name}.{variable.name}"
                variable.tensor.name = variable.name
                names[variable.name] = names.pop(old)
                program.outputs = [variable.name if each == old else each for each in program.outputs]
    return made


def count(program: Program) -> int:
    """How many operators a Program has, those in branches and loops too."""
    return sum(1 for _ in with_sub_blocks(program.global_block().ops))


def _optimized(program: Program) -> Program:
    operators = with_sub_blocks(program.global_block().ops)
    training = {o.opdef.name for o in operators if o.attrs.get("is_test") is False}
    if training:
        raise ArgumentError(
            f"save: optimize=True is for prediction only: {sorted(training)} are in the mode for "
            "training; call eval() on the network first"
        )
    made = optimize(program, INFERENCE)
    block = made.global_block()
    inputs, outputs = ([block.var(name) for name in names] for names in (made.inputs, made.outputs))
    return inference_program(made, inputs, outputs)  # without the weights that nothing reads any more
