"""Models whose parameters are stored in half precision."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.errors import ArgumentError
from engine.core.values.dtype import float16, float32
from engine.core.values.spec import Spec
from engine.eager.tensor import wrap
from engine.files import inference as files
from engine.inference.kinds import PlaceType, PrecisionType
from engine.jit.export import write_model
from engine.jit.saved.model_files import describe_model_files, model_paths
from engine.ops.elementwise import arithmetic
from engine.program.build.builder import Builder
from engine.program.graph.liveness import Liveness, reads_inside
from engine.program.graph.program import Program, Variable, reads
from engine.program.passes.rewriter import Rewriter
from engine.program.run.scope import Scope
from engine.static.inference_files import model_at


def convert_to_mixed_precision(
    model_file: str,
    params_file: str,
    mixed_model_file: str,
    mixed_params_file: str,
    mixed_precision: PrecisionType,
    backend: PlaceType,
    keep_io_types: bool = True,
    black_list: Set[str] = set(),
    **kwargs: Any,
) -> None:
    """Write a copy of a model whose float32 parameters are stored as float16, in half the space.

    Parameters that operators of ``black_list`` read stay as they are, and with ``white_list`` those that no
    operator of it reads. With ``keep_io_types=False`` inputs and outputs of float32 become float16 too.

    Raises ArgumentError for another precision than Half, for files that are not of one model, or for an
    unknown option; and as ``create_predictor`` and ``jit.save``.

    Differs from Paddle: operators compute in float32, as they do on its CPU where there is no kernel for half
    precision, so ``backend`` changes nothing.
    """
    where = "convert_to_mixed_precision"
    if set(kwargs) - {"white_list"}:
        raise ArgumentError(f"{where}: unknown option {sorted(set(kwargs) - {'white_list'})}")
    if mixed_precision is not PrecisionType.Half:
        raise ArgumentError(
            f"{where}: mixed_precision {mixed_precision} is not possible: parameters are kept as Half "
            "or Float32"
        )
    source = _one_model(where, model_file, params_file)
    target = _one_model(where, mixed_model_file, mixed_params_file)
    scope = Scope()
    program = model_at(source, scope)
    _keep_halves(program, scope, set(black_list), kwargs.get("white_list"))
    if not keep_io_types:
        _halve_interface(program)
    info = describe_model_files(source).info if len(model_paths(source)) != _PAIR else {}
    write_model(target, program, {}, {}, info.get("info", {}) if isinstance(info, dict) else {})


_PAIR = 2  # Program and weights without information, as callers write them from bytes


def _one_model(where: str, model: str, params: str) -> str:
    """The prefix of the two files of a model."""
    prefix = str(files.inference_prefix(model))
    if params and str(files.inference_prefix(params)) != prefix:
        raise ArgumentError(
            f"{where}: {model!r} and {params!r} are not of one model: its files have one name with the "
            "endings .pdmodel and .pdiparams"
        )
    return prefix


def _keep_halves(program: Program, scope: Scope, black: set[str], white: set[str] | None) -> None:
    """Give every Variable its value, and those that may be halved an operator that casts it back."""
    block = program.global_block()
    replaced = Liveness.of(program).written
    fixed: IdentitySet[Variable] = IdentitySet()
    chosen: IdentitySet[Variable] = IdentitySet()
    for operator in block.ops:
        read = [*reads(operator), *(v for region in operator.regions for v in reads_inside(region.block))]
        (fixed if operator.type in black else chosen).update(read)
        if white is not None and operator.type not in white:
            fixed.update(read)
    found: IdentityMap[Variable, Variable] = IdentityMap()
    rewriter = Rewriter(program)
    for variable in [v for v in block.vars.values() if v.persistable]:
        held = scope.find_var(variable.name)
        if held is None or held.tensor is None:
            continue
        program.bind(variable, held.tensor)
        halved = variable.dtype is float32 and variable.is_parameter and variable in chosen
        if not halved or variable in fixed or variable in replaced or variable.name in program.outputs:
            continue
        tensor = wrap(held.tensor.numpy().astype(np.float16))
        tensor.name, tensor.persistable = f"{variable.name}.half", True
        half = block.create_var(tensor.name, Spec(variable.spec.shape, "float16"), persistable=True)
        program.bind(half, tensor)
        with rewriter.before(block.ops[0], block):
            found[variable] = arithmetic.cast(half, out_dtype=float32)
    rewriter.substitute(found)
    for variable in found:
        del block.vars[variable.name]


def _halve_interface(program: Program) -> None:
    """Cast inputs to float32 and outputs to float16."""
    block = program.global_block()
    rewriter = Rewriter(program)
    found: IdentityMap[Variable, Variable] = IdentityMap()
    for variable in (block.var(name) for name in program.inputs):
        if variable.dtype is float32:
            variable.spec = Spec(variable.spec.shape, "float16")
            with rewriter.before(block.ops[0], block):
                found[variable] = arithmetic.cast(variable, out_dtype=float32)
    casts = list(found.values())
    own = {id(v.op): v.op for v in casts}
    rewriter.substitute(found)
    for old, new in found.items():
        operator = own[id(new.op)]
        assert operator is not None, "a cast was appended"
        operator.inputs = (old,)
    outputs = []
    for variable in (block.var(name) for name in program.outputs):
        outputs.append(_half_of(program, variable) if variable.dtype is float32 else variable)
    program.outputs = [variable.name for variable in outputs]
    program.changed()


def _half_of(program: Program, variable: Variable) -> Variable:
    with modes.use(Builder(program, block=program.global_block())):
        made: Variable = arithmetic.cast(variable, out_dtype=float16)
    return made
