"""Copies operators between Blocks: a Program into the one being built, a branch into its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.operator import Operator
from engine.core.spec import Spec
from engine.program.build.builder import Builder
from engine.program.graph.liveness import SUB_BLOCKS
from engine.program.graph.program import Block, Program, Variable, variables_of

_NAME_ATTRIBUTES = ("true_results", "false_results", "loop_names", "body_results", "cond_result")
_SHOWN_ONCE = ("print", "assert")


class Copier:
    """Copies operators with their sub-blocks.

    ``mapped`` says what stands for a Variable (by id) in the copy; it is extended on the way. With
    ``replay`` the copies are a second run of the first ones: they draw the random numbers that those drew
    and have no effects.
    """

    def __init__(
        self, builder: Builder, source: Program, mapped: dict[int, Variable], replay: bool = False
    ) -> None:
        self.builder = builder
        self.source = source
        self.mapped = mapped
        self.replay = replay
        self._renamed: dict[str, str] = {}
        self._blocks: dict[int, Block] = {}

    def copy(self, block: Block, target: Block) -> list[Operator]:
        """Append copies of the operators of ``block`` to ``target``."""
        self._blocks[block.idx] = target
        for variable in block.vars.values():
            if variable.is_data and block.idx:  # a loop's values
                self._variable(variable, target)
        return [self._operator(o, target) for o in block.ops if not self._dropped(o)]

    def _dropped(self, operator: Operator) -> bool:
        if not self.replay or operator.opdef.name not in _SHOWN_ONCE:
            return False
        for made, given in zip(variables_of(operator.outputs), variables_of(operator.inputs), strict=False):
            self.mapped[id(made)] = self.mapped.get(id(given), given)
        return True

    def _operator(self, operator: Operator, target: Block) -> Operator:
        attrs = dict(operator.attrs)
        for key in SUB_BLOCKS:
            if key in attrs:
                attrs[key] = self._sub_block(attrs[key], target)
        for key in _NAME_ATTRIBUTES:
            if key in attrs:
                value = attrs[key]
                attrs[key] = self._name(value) if isinstance(value, str) else [self._name(n) for n in value]
        if "steps" in attrs:
            attrs["steps"] = ""
        made = Operator(operator.opdef, tuple(self._moved(v) for v in operator.inputs), attrs)
        made.code, made.instruction, made.replay = operator.code, operator.instruction, self.replay
        if self.replay and operator.opdef.random:
            if operator.key is None:
                block = next(variables_of(operator.outputs)).block
                operator.key = block.create_var(block.program.unique_name("random_key"), Spec((2,), "int64"))
            made.key = operator.key
        made.outputs = tuple(None if v is None else self._variable(v, target) for v in operator.outputs)
        return target.append(made)

    def _name(self, name: str) -> str:
        return self._renamed.get(name, name)

    def _moved(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [self._moved(v) for v in value]
        return self.mapped.get(id(value), value) if isinstance(value, Variable) else value

    def _variable(self, variable: Variable, target: Block) -> Variable:
        found = self.mapped.get(id(variable))
        if found is None or (self.replay and variable.persistable):  # a replay writes no statistics
            base = variable.name.partition(".tmp_")[0].rpartition("_")[0] or variable.name
            found = self.mapped[id(variable)] = target.create_var(
                f"{self.builder.program.unique_name(base)}.tmp_0",
                variable.spec,
                stop_gradient=variable.stop_gradient or not self.builder.grad,
                is_data=variable.is_data,
            )
        self._renamed[variable.name] = found.name
        return found

    def _sub_block(self, index: int, target: Block) -> int:
        block = self.source.blocks[index]
        parent = block.parent_idx
        if parent not in self._blocks:  # the block of a loop's values, shared by its condition and body
            self._blocks[parent] = self.builder.program.create_block(target)
            for variable in self.source.blocks[parent].vars.values():
                self._variable(variable, self._blocks[parent])
        made = self.builder.program.create_block(self._blocks[parent])
        self.copy(block, made)
        return made.idx


def inline(
    builder: Builder, source: Program, inputs: Sequence[Variable], given: Sequence[Any]
) -> dict[int, Variable]:
    """Append copies of the operators of ``source`` to the current block, with ``given`` for its ``inputs``.

    Returns what stands for each Variable of ``source``, by id. Tensors that it shares storage with
    stay shared.
    """
    mapped: dict[int, Variable] = {id(v): g for v, g in zip(inputs, given, strict=True)}
    for variable in source.bound():
        mapped[id(variable)] = builder.program.capture(variable.tensor)
    Copier(builder, source, mapped).copy(source.global_block(), builder.block)
    return mapped
