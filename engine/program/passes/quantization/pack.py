"""Quantized models as small as they can be in a file: integers as integers, and no zero points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.core.containers.identity import IdentitySet
from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.eager.tensor import Parameter, Tensor
from engine.program.graph.program import Program, variables_of
from engine.program.graph.variable import Variable
from engine.program.passes.pattern import Uses, each
from engine.program.passes.quantization.selection import PAIRS

_BACK = "dequantize_linear"


def pack_integers(programs: Sequence[Program]) -> dict[int, Tensor]:
    """Keep floating weights that hold integers, and that only ``dequantize_linear`` reads, as int8 or int16.

    ::

        w: float32[6, 1, 5, 5]                        w: int8[6, 1, 5, 5]
        a = dequantize_linear(w, scale)        ->     a = dequantize_linear(w, scale)
        y = conv2d(x, a)                              y = conv2d(x, a)
        return y                                      return y

    ``programs`` are those of one model, which share Tensors; they are changed. The values computed stay the
    same to the last bit. Returns the new Tensors by the ids of those that they replace.
    """
    if not any(any(each(program, _BACK)) for program in programs):
        return {}
    places: dict[int, list[tuple[Program, Variable]]] = {}
    bits: dict[int, int] = {}  # the most that a reader takes; 0 where another operator has to do with it
    for program in programs:
        uses = Uses(program)
        for variable in program.bound():
            key, taken = id(variable.tensor), _bits(uses, variable)
            bits[key] = max(bits.get(key, taken), taken) if taken and bits.get(key, taken) else 0
            places.setdefault(key, []).append((program, variable))
    packed: dict[int, Tensor] = {}
    for key, found in places.items():
        dtype = _dtype(found[0][1].tensor, bits[key])
        if dtype is not None:
            packed[key] = _packed(found, dtype)
    return packed


def drop_zero_points(program: Program) -> None:
    """Omit zero points, which no operator reads: integers are centred on 0.

    ::

        q = quantize_linear(x, scale, zero)             q = quantize_linear(x, scale)
        a = dequantize_linear(q, scale, zero)    ->     a = dequantize_linear(q, scale)
        return a                                        return a

    Layers of ``paddle.quantization`` keep some, and each would be a separate tensor in the file.
    """
    dropped: IdentitySet[Variable] = IdentitySet()
    for _, operator in each(program, *PAIRS):
        place = operator.opdef.index_of["zero_point"]
        zero = operator.inputs[place]
        if zero is not None and zero.tensor is not None and not np.any(zero.tensor._array):
            operator.inputs = (*operator.inputs[:place], None, *operator.inputs[place + 1 :])
            dropped.add(zero)
    if dropped:
        program.changed()
        uses, names = Uses(program), program.global_block().vars
        for zero in dropped:
            if not uses.read_by.get(zero) and zero not in uses.made_by and zero.name not in program.outputs:
                names.pop(zero.name, None)
        program.changed()


def _bits(uses: Uses, variable: Variable) -> int:
    """The most bits that the readers of a weight take, 0 where not all turn its integers back."""
    if variable in uses.made_by or variable.name in uses.program.outputs:
        return 0
    bits = 0
    for operator in uses.read_by.get(variable, []):
        if operator.regions and _hands_on(operator, variable):
            continue  # to operators in a branch or loop, which are among the readers themselves
        back = operator.opdef.name == _BACK and not operator.attrs["only_observer"]
        if not back or operator.inputs[0] is not variable or operator.inputs[1] is variable:
            return 0
        bits = max(bits, operator.attrs["bit_length"])
    return bits


def _hands_on(operator: Operator, variable: Variable) -> bool:
    """Whether a branch or loop does nothing with a weight but let the operators within it read it."""
    captured = operator.opdef.index_of["captured"]
    taken = [v for n, value in enumerate(operator.inputs) if n != captured for v in variables_of(value)]
    given = [v for region in operator.regions for v in region.results]
    return not any(v is variable for v in (*taken, *given))


def _dtype(tensor: Tensor, bits: int) -> str | None:
    """The smallest dtype that holds the values of a Tensor, if they are integers of these bits."""
    array = tensor._array
    if not bits or not isinstance(array, np.ndarray) or array.dtype not in (np.float32, np.float64):
        return None
    if array.size and not (array == np.rint(array)).all():
        return None
    dtype = "int8" if bits <= 8 else "int16"
    limits = np.iinfo(dtype)
    return dtype if not array.size or (array.min() >= limits.min and array.max() <= limits.max) else None


def _packed(places: Sequence[tuple[Program, Variable]], dtype: str) -> Tensor:
    old = places[0][1].tensor
    array = old._array.astype(dtype)
    made: Tensor
    if isinstance(old, Parameter):
        made = Parameter(array, name=old.name, trainable=False)
    else:
        made = Tensor(array, name=old.name)
        made.persistable = True
    for program, variable in places:
        variable.spec, variable.stop_gradient = Spec(variable.spec.shape, dtype), True
        program.bind(variable, made)
        program.changed()
    return made
