"""Where the lengths of the sequences come from whose rows a Variable has (LoD).

A Variable that is fed with ``lod_level`` has them as further inputs of its Program (``level_name``); the
operator ``with_lengths`` gives them to its result. Operators that compute each row from a row pass them on.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.containers.nest import flatten
from engine.core.operators.operator import Operator
from engine.ops.sequences.uneven import level_name, with_lengths
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable

# Operators of 1.x pass lengths on here that do not in 2.6.2, so an array that is fetched may lose them.
_LOOSE = frozenset(
    (
        "reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_all", "reduce_any",
        "arg_max", "arg_min", "matmul_v2",
    )
)  # fmt: skip
_ELEMENTWISE = ("engine.ops.elementwise.", "engine.ops.activations.")
# Their first input's rows; the attribute, where there is one, says along which dimensions they compute.
_FIRST: dict[str, str] = {
    **dict.fromkeys(
        (
            "assign", "share_data", "lookup_table_v2", "one_hot_v2", "mul", "linear", "dropout", "batch_norm",
            "layer_norm", "reshape2", "flatten_contiguous_range", "pick_class", "softmax_with_cross_entropy",
            "sigmoid_cross_entropy_with_logits", "bce_loss", "uniform_random_inplace",
        ),
        "",
    ),
    **dict.fromkeys(
        (
            "reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_all",
            "reduce_any", "arg_max", "arg_min", "top_k_v2", "cumsum", "concat", "split",
        ),
        "axis",
    ),
    "squeeze2": "axes",
    "unsqueeze2": "axes",
}  # fmt: skip


def without_levels(names: Sequence[str]) -> list[str]:
    """The names of the values to feed among ``names``, without those of their lengths."""
    return [name for name in names if name.rpartition("@LOD_")[0] not in names]


def with_levels(variables: Sequence[Variable]) -> list[Variable]:
    """Fed Variables, with those of their lengths that the Program reads."""
    found = {variable.name: variable for variable in variables}
    for variable in variables:
        known = variable.block.program.global_block().vars
        names = [level_name(variable.name, level) for level in range(variable.lod_level)]
        found |= {name: known[name] for name in names if name in known}
    return list(found.values())


def mark_levels(program: Program) -> None:
    """Give the fed Variables of a Program that was read the number of levels that it reads of them."""
    known = program.global_block().vars
    for name, variable in known.items():
        while variable.is_data and level_name(name, variable.lod_level) in known:
            variable.lod_level += 1


def is_on_sequences(program: Program) -> bool:
    """Whether values of the Program may have lengths."""
    block = program.global_block()
    return any(v.lod_level for v in block.vars.values()) or any(
        o.opdef is with_lengths.opdef for o in block.ops
    )


def source(variable: Variable, loose: bool = True) -> Variable | Operator | None:
    """What gives ``variable`` its lengths: a fed Variable, or an operator ``with_lengths``, or nothing.

    Without ``loose`` only operators that pass lengths on in Paddle 2.6.2 do.
    """
    makers: dict[int, Operator] = {}
    blocks: set[int] = set()
    seen: set[int] = set()
    waiting = [variable]
    while waiting:
        value = waiting.pop()
        if id(value.block) not in blocks:
            blocks.add(id(value.block))
            makers |= {id(made): o for o in value.block.ops for made in flatten(o.outputs or ())}
        operator = makers.get(id(value))
        if value.is_data and operator is None and value.lod_level:
            return value
        if operator is not None and operator.opdef is with_lengths.opdef:
            return operator
        if operator is not None and id(value) not in seen and (loose or operator.opdef.name not in _LOOSE):
            seen.add(id(value))
            waiting += reversed(_rowwise(operator, value))
    return None


def lengths_of(operator: Operator) -> list[Variable]:
    """The lengths that an operator ``with_lengths`` gives its result."""
    found: list[Variable] = operator.inputs[1]
    return found


def _rowwise(operator: Operator, result: Variable) -> list[Variable]:
    """The inputs with as many rows as ``result``, each of which is made of the row of the same number."""
    name, inputs = operator.opdef.name, [v for v in flatten(operator.inputs or ()) if v is not None]
    if operator.opdef.kernel.__module__.startswith(_ELEMENTWISE):
        inputs = [v for v in inputs if v.ndim == result.ndim]
    elif name in ("slice_view", "getitem"):
        inputs = inputs[: operator.attrs["index"][:1] == (("slice", None, None, None),)]
    elif name == "matmul_v2":
        inputs = inputs[: not operator.attrs["trans_x"] and inputs[0].ndim == result.ndim]
    elif name in _FIRST and not _along_rows(operator, max(inputs[0].ndim, result.ndim)):
        inputs = inputs if name == "concat" else inputs[:1]
    else:
        return []
    rows = result.spec.shape[:1]
    return [v for v in inputs if rows and v.spec.shape[:1] == rows]


def _along_rows(operator: Operator, ndim: int) -> bool:
    """Whether the dimensions along which it computes are all, or have the first among them."""
    attrs, name = operator.attrs, _FIRST[operator.opdef.name]
    if not name:
        return False
    axes = attrs[name]
    if attrs.get("reduce_all") or attrs.get("flatten") or axes is None or axes == () or axes == []:
        return True
    return any(axis in (0, -ndim) for axis in (axes if isinstance(axes, (list, tuple)) else [axes]))
