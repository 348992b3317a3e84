"""Casts in a static Program: what computes in a low dtype, and the parameters that are stored in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.core.containers.identity import IdentitySet
from engine.core.operators.operator import Operator
from engine.core.place import PlaceLike
from engine.core.precision import CASTABLE, Precision
from engine.core.values import bfloat
from engine.core.values.dtype import as_dtype
from engine.ops.elementwise import arithmetic
from engine.program.build.annotate import name_scope
from engine.program.graph.program import Block, Program, reads, variables_of
from engine.program.graph.variable import Variable
from engine.program.passes.rewriter import Rewriter
from engine.program.run.scope import Scope, global_scope
from engine.static.amp.fp16_lists import AutoMixedPrecisionLists, OperatorLists, black_list
from engine.tensor.tensor_like import DTypeLike

_GUARD = "__use_fp16__"
_SINGLE = "float32"
# They keep their parameters in float32 and have one dtype for all.
_IN_FLOAT32 = {"group_norm", "instance_norm", "layer_norm"}


@contextmanager
def fp16_guard() -> Iterator[None]:
    """Mark the operators of the block: with ``use_fp16_guard`` O2 computes them alone in the low dtype."""
    with name_scope(_GUARD):
        yield


def cast_model_to_fp16(
    program: Program,
    amp_lists: AutoMixedPrecisionLists | None = None,
    use_fp16_guard: bool = True,
    dest_type: DTypeLike = "float16",
    level: str = "O2",
    use_promote: bool = False,
) -> set[str]:
    """Insert casts into ``program``, which has no gradients yet, so that it computes in mixed precision.

    Level ``O2`` computes all but black and unsupported operators in ``dest_type`` (with ``use_fp16_guard``
    those within ``fp16_guard`` only) and keeps parameters in it; ``O1`` goes by the three lists, ``OD`` by
    the white one. ``use_promote`` computes gray operators in float32 where any input is. Operators with
    sub-blocks compute in float32. Returns the names of the Variables that are read in ``dest_type``,
    parameters among them: give it to ``cast_parameters_to_fp16``.
    """
    dtype = as_dtype(dest_type).name
    lists = AutoMixedPrecisionLists(dtype=dtype) if amp_lists is None else amp_lists
    if level == "O2":
        lists.black_list = lists.black_list - black_list
    elif level == "OD":
        lists.black_list = lists.all_list - lists.white_list
    return Caster(program, lists, dtype, level, use_fp16_guard, use_promote).cast()


def cast_parameters_to_fp16(
    place: PlaceLike | None,
    program: Program,
    scope: Scope | None = None,
    to_fp16_var_names: Iterable[str] | None = None,
    dest_type: DTypeLike = "float16",
    rewrite_master_weight: bool = False,
    master_weights: Mapping[str, Variable] | None = None,
) -> None:
    """Convert the values of the parameters in ``to_fp16_var_names`` to ``dest_type``.

    With ``rewrite_master_weight`` their float32 copies (``master_weights`` by parameter name) become what is
    left of them.
    """
    names, held = set(to_fp16_var_names or ()), scope or global_scope()
    for parameter in program.all_parameters():
        found = held.find_var(parameter.name) if parameter.name in names else None
        if found is None or found.tensor is None:
            continue
        low = bfloat.converted(np, found.tensor._array, as_dtype(dest_type), copy=False)
        found.store(low)
        master = (master_weights or {}).get(parameter.name) if rewrite_master_weight else None
        in_single = None if master is None else held.find_var(master.name)
        if in_single is not None:
            in_single.store(bfloat.converted(np, low, as_dtype(_SINGLE)))


class Caster:
    """Decides for each operator of a Program what it computes in, and inserts the casts."""

    def __init__(
        self, program: Program, lists: OperatorLists, dtype: str, level: str, guarded: bool, use_promote: bool
    ) -> None:
        self.program, self.lists, self.dtype, self.level = program, lists, dtype, level
        self.guarded, self.use_promote = guarded and level == "O2", use_promote
        self.rewriter = Rewriter(program)
        self.low_ops: IdentitySet[Operator] = IdentitySet()
        self.single_ops: IdentitySet[Operator] = IdentitySet()
        self.names: set[str] = set()

    def cast(self) -> set[str]:
        """Insert the casts; returns the names of what is read in the low dtype."""
        if self.level == "O0":
            return set()
        in_single = self._lower_parameters() if self.level == "O2" else set()
        for block in self.program.blocks:
            makers: dict[str, Operator] = {}
            for operator in list(block.ops):
                self._visit(operator, block, makers)
                makers.update({v.name: operator for v in variables_of(operator.outputs)})
        self.program.changed()
        return self.names - in_single

    def _lower_parameters(self) -> set[str]:
        """Give parameters the low dtype; returns the names of those that keep float32."""
        in_single: set[str] = set()
        for block in self.program.blocks:
            for operator in block.ops:
                if operator.opdef.name in self.lists.black_list:
                    continue
                if self._is_unsupported(operator) or operator.opdef.name in _IN_FLOAT32 or operator.regions:
                    in_single |= {v.name for v in reads(operator)}
                else:
                    in_single |= {
                        v.name
                        for n, value in enumerate(operator.inputs)
                        if not Precision.casts(operator.opdef.name, n)
                        for v in variables_of([value])
                    }
        for parameter in self.program.all_parameters():
            if parameter.name not in in_single and parameter.dtype.name == _SINGLE:
                parameter.spec = parameter.spec.with_dtype(self.dtype)
        return in_single

    def _visit(self, operator: Operator, block: Block, makers: dict[str, Operator]) -> None:
        opdef = operator.opdef
        values = [v for v in reads(operator) if v.dtype.name in CASTABLE]
        if not values or opdef.effect:
            return
        if opdef.name != "cast":
            target = self._target(operator, values, makers)
            (self.low_ops if target == self.dtype else self.single_ops).add(operator)
            operator.inputs = tuple(
                self._cast(value, target, operator, block) if Precision.casts(opdef.name, n) else value
                for n, value in enumerate(operator.inputs)
            )
        if operator.regions:
            return
        specs = opdef.infer_specs([_specs(v) for v in operator.inputs], operator.attrs)
        for variable, spec in zip(operator.outputs, specs, strict=True):
            if variable is not None:
                variable.spec = variable.spec.with_dtype(spec.dtype)

    def _target(self, operator: Operator, values: list[Variable], makers: dict[str, Operator]) -> str:
        """The dtype that an operator computes in."""
        name, lists = operator.opdef.name, self.lists
        touched = {v.name for v in (*reads(operator), *variables_of(operator.outputs))}
        if (
            self._is_unsupported(operator)
            or operator.regions
            or name in _IN_FLOAT32
            or touched & (lists.black_varnames or set())
        ):
            return _SINGLE
        if name in lists.black_list:
            self.names |= {v.name for v in values if v.is_parameter}
            return _SINGLE
        target = self.dtype
        if name not in lists.white_list:
            if self.use_promote:
                target = _SINGLE if any(v.dtype.name == _SINGLE for v in values) else self.dtype
            elif self.level != "O2":
                target = self._as_before(name, values, makers)
        if target == self.dtype:
            self.names |= {v.name for v in values}
        return target

    def _as_before(self, name: str, values: list[Variable], makers: dict[str, Operator]) -> str:
        """The dtype of a gray operator: that of the operators that make its inputs, the last one decides."""
        if name not in self.lists.gray_list:
            return _SINGLE
        target = self.dtype
        for value in values:
            maker = makers.get(value.name)
            if maker is None:
                continue
            if maker in self.single_ops or maker.opdef.name in self.lists.black_list:
                target = _SINGLE
            elif maker in self.low_ops or maker.opdef.name in self.lists.white_list:
                target = self.dtype
        return target

    def _is_unsupported(self, operator: Operator) -> bool:
        if operator.opdef.name in self.lists.unsupported_list:
            return True
        if any("learning_rate" in v.name for v in (*reads(operator), *variables_of(operator.outputs))):
            return True
        scope = (operator.notes or {}).get("attrs", {}).get("op_namescope", "")
        return self.guarded and _GUARD not in scope

    def _cast(self, value: Any, target: str, operator: Operator, block: Block) -> Any:
        """``value`` in the dtype ``target``: what an earlier cast made, or a new cast before ``operator``."""
        if isinstance(value, (list, tuple)):
            return [self._cast(v, target, operator, block) for v in value]
        if value is None or value.dtype.name not in CASTABLE or value.dtype.name == target:
            return value
        name = f"{value.name}.cast_{'fp32' if target == _SINGLE else 'fp16'}"
        for place in block.lineage():
            found = place.vars.get(name)
            if found is not None and found.dtype.name == target:
                return found
        with self.rewriter.before(operator, block):
            made = arithmetic.cast(value, out_dtype=target)
        block.vars.pop(made.name)
        made.name, made.stop_gradient = name, value.stop_gradient
        block.vars[name] = made
        return made


def _specs(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_specs(v) for v in value]
    return None if value is None else value.spec
