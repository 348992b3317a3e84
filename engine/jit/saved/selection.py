"""Which inputs and outputs of a traced function are saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.containers import nest
from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.strictness import tolerate
from engine.eager.tensor import Tensor
from engine.jit.concrete_program import ConcreteProgram
from engine.jit.input_spec import InputSpec
from engine.jit.static_function import StaticFunction
from engine.program.graph.liveness import needed_values
from engine.program.graph.program import Variable


def chosen_outputs(concrete: ConcreteProgram, output_spec: object) -> list[Variable]:
    outputs = concrete.outputs_by_key
    if output_spec is None:
        if not outputs:
            raise ArgumentError("jit.save: the function returns no Tensor; return the Tensors to predict")
        return outputs
    if not isinstance(output_spec, (list, tuple)):
        raise DTypeError(f"jit.save: output_spec must be a list of results: got {type(output_spec).__name__}")
    wanted = [getattr(o, "name", o) for o in output_spec]
    by_name: dict[Any, Variable] = {v.name: v for v in outputs}
    missing = [n for n in wanted if n not in by_name]
    if missing:
        error = ArgumentError(f"jit.save: output_spec names {missing}: the outputs are {sorted(by_name)}")
        if len(wanted) != len(by_name):
            raise error
        tolerate(error)
    return outputs if missing else [by_name[n] for n in wanted]


def chosen_inputs(
    concrete: ConcreteProgram,
    input_spec: object,
    input_names: Sequence[str] | None,
    outputs: Sequence[Variable],
) -> list[Variable]:
    """The inputs that stay. Raises ArgumentError where the outputs need another one."""
    given = [s.name for s in nest.flatten(input_spec) if isinstance(s, InputSpec)] if input_spec else None
    wanted = set(input_names) if input_names is not None else None
    names = [v.name for v in concrete.inputs]
    unknown = [name for name in given or () if name is not None and name not in names]
    if unknown and len(given or ()) == len(names):
        tolerate(
            ArgumentError(
                f"jit.save: input_spec names {unknown}: the inputs are {names} and keep these names"
            )
        )
    if wanted is None and given is not None and len(given) < len(concrete.inputs):
        wanted = {name for name in given if name is not None}
    if wanted is None:
        return concrete.inputs
    chosen = [v for v in concrete.inputs if v.name in wanted]
    read = needed_values(concrete.main_program.global_block().ops, outputs)
    lacking = [v.name for v in concrete.inputs if v.name not in wanted and id(v) in read]
    if lacking or len(chosen) < len(wanted):
        raise ArgumentError(
            f"jit.save: of the inputs {[v.name for v in concrete.inputs]} only {sorted(wanted)} are to stay, "
            f"but the outputs need {lacking or 'others'}; give an InputSpec of the same name for each"
        )
    return chosen


def with_specs(input_spec: object) -> Any:
    """The input_spec with the InputSpec of its shape for every Tensor."""
    if input_spec is None:
        return None
    return nest.map_structure(
        lambda leaf: InputSpec.from_tensor(leaf) if isinstance(leaf, Tensor) else leaf, input_spec
    )


def with_open_sizes(input_spec: object, error: ShapeError) -> Any:
    """The input_spec with any size in each dimension of the inputs that a product could not multiply.

    None for other errors, and where its operands are not inputs.
    """
    found: list[InputSpec] = []
    if "the inner dimensions are" not in error.message:
        return None

    def opened(leaf: Any) -> Any:
        if not isinstance(leaf, InputSpec) or f" is {leaf.to_spec()} " not in error.message:
            return leaf
        found.append(leaf)
        return InputSpec([None] * len(leaf.shape), leaf.dtype, leaf.name, leaf.stop_gradient)

    made = nest.map_structure(opened, input_spec)
    return made if found else None


def agreed(function: StaticFunction, input_spec: object) -> bool:
    """Whether the function's own specs stand for those given. Raises ArgumentError where they differ."""
    own = function.signature.input_spec
    if own is None or input_spec is None:
        return False
    mine, given = nest.flatten(own), nest.flatten(input_spec)
    if len(mine) == len(given):
        fits = all(map(_compatible, mine, given))
    else:
        fits = all(spec in mine for spec in given)
    if not fits:
        raise ArgumentError(
            f"jit.save: the `input_spec` {given} is in conflict with the `input_spec` {mine} of to_static; "
            "give the same specs, or leave them out here"
        )
    return True


def _compatible(own: Any, given: Any) -> bool:
    if not isinstance(own, InputSpec) or not isinstance(given, InputSpec):
        return bool(own == given) and type(own) is type(given)
    return (
        own.dtype is given.dtype
        and len(own.shape) == len(given.shape)
        and all(a == b or -1 in (a, b) for a, b in zip(own.shape, given.shape, strict=True))
    )
