"""A copy of a whole Program, for training or for testing."""

from __future__ import annotations

from engine.core.operators.operator import Operator
from engine.program.graph import delegates
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import BACKWARD, LR_SCHEDULE, OPTIMIZE, Block, Program
from engine.program.passes.rewriter import Rewriter, like

_TRAINING = BACKWARD | OPTIMIZE | LR_SCHEDULE


class _Twins(Rewriter):
    """A Rewriter that copies every block and Variable of the source."""

    for_test = False

    def block_for(self, block: Block, target: Block) -> Block:
        return self.program.blocks[block.idx]

    def leaves_out(self, operator: Operator) -> bool:
        return self.for_test and bool(role(operator) & _TRAINING)


@delegates.clone.define
def clone(program: Program, for_test: bool = False) -> Program:
    """Before: a Program. After: a Program with its own blocks, Variables and operators, sharing values by
    name (and with eager Tensors). ``for_test``: without gradients and updates, dropout and batch norm as in
    prediction.
    """
    made = Program()
    made.random_seed, made.foreign = program.random_seed, program.foreign
    made.inputs, made.outputs = list(program.inputs), list(program.outputs)
    made.rates = [] if for_test else list(program.rates)
    made.gradients = [] if for_test else list(program.gradients)
    made.readers = list(program.readers)
    made.blocks = [Block(made, b.idx, b.parent_idx) for b in program.blocks]
    rewriter = _Twins(made)
    rewriter.for_test = for_test
    for block, twin in zip(program.blocks, made.blocks, strict=True):
        for name, variable in block.vars.items():
            rewriter.mapped[variable] = twin.vars[name] = like(variable, twin)
    for variable in program.bound():
        made.bind(rewriter.mapped[variable], variable.tensor)
    rewriter.copy_block(program.global_block(), made.global_block())
    for variable, value in program.rebound.values():
        if variable in rewriter.mapped and value in rewriter.mapped:
            copied = rewriter.mapped[variable]
            made.rebound[id(copied)] = (copied, rewriter.mapped[value])
    if for_test:
        _drop_unused(program, made)
        for operator in with_sub_blocks(made.global_block().ops):
            switch_to_prediction(operator)
            _drop_training_results(operator)
        for block in made.blocks:
            block.vars = dict(sorted(block.vars.items()))  # as Paddle lists them, which takes them from a map
    made.changed()
    return made


def switch_to_prediction(operator: Operator) -> None:
    """Let ``operator`` compute as in prediction, where it has a mode; outputs for training only are not
    written."""
    if "is_test" not in operator.attrs:
        return
    opdef = operator.opdef
    operator.attrs["is_test"] = True
    if opdef.only_writes:
        given = [None if v is None else v.spec for v in operator.inputs]
        specs = opdef.infer_specs(given, operator.attrs)
        outputs = zip(operator.outputs, specs, strict=True)
        operator.outputs = tuple([None if spec is None else v for v, spec in outputs])


def _drop_training_results(operator: Operator) -> None:
    """Drop the outputs that Paddle's operators have in training only."""
    extra = dict((operator.notes or {}).get("extra", {}))
    if operator.attrs.get("is_test") and "ReserveSpace" in extra:
        del extra["ReserveSpace"]
        operator.note("extra", extra)


def role(operator: Operator) -> int:
    """Paddle's op_role: 0 forward, 1 backward, 2 update, 16 learning rate, 256 the loss."""
    return int((operator.notes or {}).get("attrs", {}).get("op_role", 0))


def _drop_unused(source: Program, made: Program) -> None:
    """Omit the Variables that only omitted operators read or wrote."""
    for old, new in zip(source.blocks, made.blocks, strict=True):
        dropped = _touched([o for o in old.ops if role(o) & _TRAINING])
        used = _touched([o for b in made.blocks for o in b.ops])
        for name in dropped - used:
            variable = new.vars.get(name)
            if variable is not None and not variable.is_parameter and not variable.is_data:
                del new.vars[name]


def _touched(operators: list[Operator]) -> set[str]:
    from engine.program.text.describe import describe

    return {
        name
        for o in operators
        for names in (*describe(o).inputs.values(), *describe(o).outputs.values())
        for name in names
    }
